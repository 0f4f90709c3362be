// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/bench_report.h"
#include "app/commands/bench/bench_run.h"
#include "app/commands/bench/bench_setup.h"
#include "app/commands/commands.h"
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/text_options.h"
#include "app/number_check.h"
#include "app/program_paths.h"

#include <algorithm>
#include <numeric>

namespace app {

using namespace engine;

namespace {

constexpr int kMostRows = 64;
constexpr int kMostPromptTokens = 1 << 30;

/// Measures, and reports the results so far even if the user has stopped it.
Result<void> measure(const BenchOptions& options,
                     const Console& console,
                     BenchParts& parts,
                     BenchResults& results) {
    console.jsonLine(benchStartLine(results.facts));
    const auto run = BenchRun(options, console, parts, results).run();
    if (!run && run.error().code != ErrorCode::Cancelled)
        return run;
    results.isIncomplete = !run.hasValue();
    results.roofGbps = parts.roof.readings();
    if (!console.isJson())
        console.text(benchTable(results));
    console.jsonLine(benchDoneLine(results));
    return run;
}

Result<void> runBench(const BenchOptions& options, CommandContext& context) {
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY_DO(checkBenchOptions(options));
    ENGINE_TRY_DO(checkRivals(options));
    DecoderRegistry registry(moduleFolder());
    BenchResults results;
    ENGINE_TRY(const DraftingChoice choice, chooseDrafting(options, registry));
    results.facts.decoder = choice.decoder;
    if (!choice.note.empty())
        results.facts.notes.push_back(choice.note);
    ENGINE_TRY(BenchModel model, openBenchModel(options, stop));
    ENGINE_TRY(auto plans, readPlans(options.skipSets, model.loaded.config.layerCount));
    for (const NamedPlan& plan : plans)
        results.skipSets.push_back(emptySamples(plan, model.loaded.config));
    describeModel(options, model, results.facts);
    ENGINE_TRY(const auto rivals, startRivals(options, model, stop));
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        if (rivals[i])
            results.facts.rivalVersions[i] = rivals[i]->version();
    ENGINE_TRY(const auto roof, openRoof(options, *model.loaded.transformer, results.facts));
    for (const std::string& note : results.facts.notes)
        Console::note(note);
    ENGINE_TRY(
        PassClock clock,
        PassClock::make(*model.loaded.transformer,
                        {.cachedTokens = options.cachedTokens,
                         .mostRows = *std::max_element(options.rows.begin(), options.rows.end()),
                         .prefillTokens = options.prefillTokens,
                         .stop = stop}));
    ENGINE_TRY(BenchDecoders decoders, makeDecoders(registry, choice, model));
    RoofSampler sampler(*roof);
    BenchParts parts = {.model = model,
                        .roof = sampler,
                        .clock = clock,
                        .plans = std::move(plans),
                        .vanilla = std::move(decoders.vanilla),
                        .drafting = std::move(decoders.drafting),
                        .stop = stop};
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        parts.rivals[i] = rivals[i].get();
    return measure(options, context.console, parts, results);
}

void addWhat(CLI::App& command, BenchOptions& options) {
    command.add_option("--shape",
                       options.shape,
                       "Use made-up weights in the shape of a LLaMA of about 1b, 3b, 7b or 13b "
                       "parameters instead of a model");
    command.get_option("--weights")
        ->description("How the cpu backend holds weights, as in the other commands. With --shape, "
                      "how the made-up file stores them: f32 (default), bf16, int8 or 4bit; they "
                      "are held in the same form");
    command
        .add_option("--layers",
                    options.layers,
                    "Number of layers of the --shape; 0 keeps the "
                    "shape's own number")
        ->transform(wholeFrom(0))
        ->capture_default_str();
    command.add_option(
        "--prompts",
        options.data.paths,
        "Prompts to decode: a file or folder in the format of compare's --data (only the "
        "first turn of a list is used); may be given several times; default: a few "
        "built-in prompts");
    addLimitOption(command, options.data);
    addRawOption(command, options.isRaw);
    command.add_option("--decoder",
                       options.decoder,
                       "The decoder that is compared with vanilla; default: auto, "
                       "if this build has it");
    command.add_option("--set",
                       options.settings,
                       "A setting of that decoder, NAME=VALUE; may be given several times");
    command.add_option("--skip-set",
                       options.skipSets,
                       "Skip sets whose cost c is measured: JSON, or a file in the format of "
                       "forward's --skip (all sets of a collection); may be given several times");
}

void addHowMuch(CLI::App& command, BenchOptions& options) {
    options.rows.resize(16);
    std::iota(options.rows.begin(), options.rows.end(), 1);
    command
        .add_option("--rows",
                    options.rows,
                    "Numbers of rows whose passes are timed; default: 1 to "
                    "16")
        ->delimiter(',')
        ->transform(numberFrom(1, kMostRows));
    command
        .add_option(
            "--cached", options.cachedTokens, "Number of tokens in the cache during those passes")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    command
        .add_option("--prefill",
                    options.prefillTokens,
                    "Length, in tokens, of the prompt whose prefill is timed")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    command
        .add_option(
            "--prompt-tokens",
            options.promptTokens,
            "Give each prompt that is decoded exactly this many tokens: its last ones, with "
            "the other prompts before it; only --pairs of them are decoded. Default: "
            "prompts as they are")
        ->transform(numberFrom(1, kMostPromptTokens));
    command.add_option("--max-tokens", options.maxTokens, "Longest answer, in tokens")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    command
        .add_option("--pairs",
                    options.pairs,
                    "Interleaved repetitions; every prompt of a file is decoded at least once")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    command
        .add_option("--roof-mib",
                    options.roofMib,
                    "MiB of memory that the bandwidth probe reads; below 1024 it may measure the "
                    "caches instead")
        ->transform(numberFrom(1, 1 << 20))
        ->capture_default_str();
}

void addAgainst(CLI::App& command, BenchOptions& options) {
    command.add_flag("--against-llama-cpp",
                     options.isAgainstLlama,
                     "Also run the same GGUF file through llama-cpp-python, in turn with our own "
                     "runs");
    command.add_option("--llama-python",
                       options.llamaPython,
                       "Python interpreter that has llama-cpp-python; default: the one that "
                       "tests/benchmarks/set_up_llama_cpp.sh installs");
    command.add_option("--llama-script",
                       options.llamaScript,
                       "Script that this interpreter runs; default: "
                       "tests/benchmarks/llama_cpp_bench.py");
    command.add_option(
        "--against-ik",
        options.ikProgram,
        "Also run the same GGUF file through ik_llama.cpp, in turn with our own runs: "
        "the program that tests/benchmarks/set_up_ik_llama_cpp.sh makes");
    command.add_option("--ik-model",
                       options.ikModel,
                       "The GGUF file that ik_llama.cpp reads instead of --model: the same model, "
                       "in a form of its own");
}

} // namespace

void addBenchCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand(
        "bench", "Measure speed: share of the memory bandwidth, cost of rows, prefill, tokens/s");
    const auto options = std::make_shared<BenchOptions>();
    addModelOptions(*command, options->model);
    addContextOption(*command, options->model);
    addWhat(*command, *options);
    addHowMuch(*command, *options);
    addAgainst(*command, *options);
    addRun(*command, chosen, options, runBench);
}

} // namespace app
