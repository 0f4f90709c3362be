// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/output_options.h"
#include "app/commands/options/text_options.h"
#include "app/commands/stream/stream_run.h"
#include "app/number_check.h"
#include "app/program_paths.h"
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/session/recording/run_recording.h"

namespace app {

using namespace engine;

namespace {

struct StreamOptions {
    ModelOptions model;
    DataOptions data;
    std::string decoder;
    std::vector<std::string> settings;
    TypedSampling sampling;
    OutputOptions out;
    int maxTokens = 128;
    bool isRaw = false;
    bool json = false;
};

Result<StreamSetup> makeSetup(const StreamOptions& options) {
    ENGINE_TRY_DO(options.sampling.options.validate());
    DecoderRegistry registry(moduleFolder());
    StreamSetup setup;
    setup.decoder.name = options.decoder;
    ENGINE_TRY(setup.decoder.settings, parseSettings(registry, options.decoder, options.settings));
    // Opened only to report its faults before the data files are read.
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    setup.model = {.path = files.path().string(),
                   .backend = options.model.backend,
                   .settings = options.model.settings,
                   .contextLength = options.model.context};
    ENGINE_TRY(const auto tokenizer, openTokenizer(files));
    ENGINE_TRY(setup.sampling.sampling, resolveSampling(options.sampling, tokenizer.get()));
    setup.recording = {options.out.path, options.out.mayOverwrite};
    return setup;
}

Result<void> runStream(const StreamOptions& options, CommandContext& context) {
    const Console& console = context.console;
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY(StreamSetup setup, makeSetup(options));
    ENGINE_TRY(const DataSummary data, checkData(options.data));
    if (!options.out.path.empty())
        ENGINE_TRY_DO(checkOutput(outputPlace(options.out,
                                              options.model,
                                              options.data,
                                              options.settings,
                                              options.sampling,
                                              isRecording)));
    EngineSession session({.moduleFolder = moduleFolder(), .dataFolder = defaultDataFolder()});
    StreamReport report;
    StreamRun run(session, report, console, stop);
    ENGINE_TRY_DO(run.prepare(std::move(setup)));
    bool isCancelled = false;
    const auto visited = forEachPrompt(options.data, [&](const DataPrompt& prompt) -> Result<bool> {
        ENGINE_TRY(const bool goesOn, run.ask(prompt, {options.maxTokens, options.isRaw}));
        isCancelled = !goesOn;
        return goesOn;
    });
    const auto finished = run.finish();
    const bool isIncomplete = isCancelled || !visited;
    if (!console.isJson())
        console.text(report.table(data, isIncomplete));
    console.jsonLine(report.doneLine(data, isIncomplete));
    if (isCancelled)
        return cancelledError();
    ENGINE_TRY_DO(visited);
    return finished;
}

} // namespace

void addStreamCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("stream", "Run data files with one decoder that keeps its search");
    const auto options = std::make_shared<StreamOptions>();
    addDataOptions(*command, options->data);
    command
        ->add_option("--text-field",
                     options->data.stream.textField,
                     "Name of the field that "
                     "holds the prompt")
        ->capture_default_str();
    command
        ->add_option("--task-field",
                     options->data.stream.taskField,
                     "Name of the field that "
                     "holds the task")
        ->capture_default_str();
    command
        ->add_option("--decoder",
                     options->decoder,
                     "The decoder; swift-run decoders lists "
                     "them")
        ->required();
    command->add_option("--set",
                        options->settings,
                        "A setting of the decoder, NAME=VALUE; may be given several times");
    command->add_option("--max-tokens", options->maxTokens, "Longest answer, in tokens")
        ->check(wholeFrom(1))
        ->capture_default_str();
    addOutputOptions(*command, options->out, "--out", "Record all events of the run (.swiftrun)");
    addModelOptions(*command, options->model);
    addContextOption(*command, options->model);
    addSamplingOptions(*command, options->sampling);
    command->add_flag("--raw",
                      options->isRaw,
                      "Use the prompts as they are, without a chat "
                      "template");
    command->add_flag("--json", options->json, "Write one JSON object per line to standard output");
    command->callback([options, &chosen] {
        chosen.json = options->json;
        chosen.run = [options](CommandContext& context) { return runStream(*options, context); };
    });
}

} // namespace app
