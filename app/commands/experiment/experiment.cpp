// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_executor.h"
#include "app/commands/experiment/experiment_run.h"
#include "app/commands/experiment/run_control.h"
#include "app/commands/experiment/run_report.h"
#include "app/commands/experiment/setup/preview.h"
#include "app/commands/experiment/setup/recipe_catalogue.h"
#include "app/commands/experiment/shards/shard_model.h"
#include "app/commands/options/decoder_options.h"
#include "app/number_check.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/base/locks/turn_lock.h"
#include "engine/experiments/data/data_sources.h"
#include "engine/experiments/run/progress/duration_words.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

namespace app {

using namespace engine;

namespace {

Result<void> list(const Console& console) {
    ENGINE_TRY(const std::vector<Recipe> recipes, listRecipes());
    for (const Recipe& recipe : recipes) {
        if (!console.isJson())
            console.line(fmt::format("{:<22} {} ({})", recipe.name, recipe.summary, recipe.source));
        std::vector<std::string> sizes;
        for (const auto& [name, size] : recipe.sizes)
            sizes.push_back(name);
        console.jsonLine({{"event", "recipe"},
                          {"name", recipe.name},
                          {"title", recipe.title},
                          {"source", recipe.source},
                          {"summary", recipe.summary},
                          {"sizes", sizes}});
    }
    return {};
}

Result<void>
preview(const ExperimentOptions& options, const Console& console, std::stop_token stop) {
    ENGINE_TRY(const PreparedRun run, prepareRun(options, stop));
    ENGINE_TRY(const RunCost cost, previewRun(run, stop));
    const std::string time = durationWords(cost.minutes * 60.0);
    if (!console.isJson())
        console.line(fmt::format("{}: {} in {}, at most {}; {}{} if all of it runs on this "
                                 "machine, at {:.{}f} tokens/s.",
                                 run.recipe.title,
                                 counted(cost.answers, "answer"),
                                 counted(cost.shards, "part"),
                                 counted(cost.tokens, "token"),
                                 time.starts_with("less") ? "" : "about ",
                                 time,
                                 cost.tokensPerSecond,
                                 cost.tokensPerSecond < 10.0 ? 1 : 0));
    console.jsonLine({{"event", "preview"},
                      {"recipe", run.recipe.name},
                      {"size", run.recipe.run->size},
                      {"shards", cost.shards},
                      {"answers", cost.answers},
                      {"tokens", cost.tokens},
                      {"prompt_tokens", cost.promptTokens},
                      {"minutes", cost.minutes},
                      {"tokens_per_second", cost.tokensPerSecond}});
    return {};
}

/// A run that is gone on with alone is as it was begun: nothing that was given is passed over. Only
/// the files of its models may lie elsewhere.
Result<RunFolder> resumeAlone(const ExperimentOptions& options) {
    ENGINE_TRY(RunFolder folder, RunFolder::open(options.out));
    ExperimentOptions others = options;
    std::vector<std::string> moved = std::move(others.otherModels);
    others.otherModels.clear();
    if (!options.model.model.empty())
        moved.insert(moved.begin(), std::exchange(others.model.model, {}));
    const std::vector<std::string> given = givenOptions(others);
    if (!given.empty())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The run in {} says itself how it is run, so these options cannot "
                                 "be used: {}.",
                                 options.out,
                                 fmt::join(given, ", ")),
                     "Go on with --resume --out alone, or give the recipe and --data as well."};
    if (!moved.empty())
        ENGINE_TRY_DO(useMovedModels(folder, moved));
    return folder;
}

/// Whether a path is a folder, or lies in it at any depth; links are followed.
bool isWithin(const std::filesystem::path& path, const std::filesystem::path& folder) {
    std::error_code failure;
    if (!std::filesystem::exists(path, failure) || !std::filesystem::exists(folder, failure))
        return false;
    const std::filesystem::path whole = std::filesystem::canonical(path, failure);
    const std::filesystem::path around = std::filesystem::canonical(folder, failure);
    const auto [inPath, inFolder] =
        std::mismatch(whole.begin(), whole.end(), around.begin(), around.end());
    return !failure && inFolder == around.end();
}

/// What is made in a folder may replace all that is there, so nothing is read from it.
Result<void> checkInputs(const ExperimentOptions& options, const PreparedRun& run) {
    std::vector<std::string> inputs = options.data.paths;
    if (options.recipe.find_first_of("/.") != std::string::npos) // else it is a name
        inputs.push_back(options.recipe);
    inputs.push_back(run.recipe.run->draftAdapter);
    for (const RunModel& model : run.plan.models)
        inputs.push_back(model.path);
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.out, ignored))
        return {}; // what is wrong with that is told elsewhere
    for (const std::string& input : inputs)
        if (!input.empty() && isWithin(input, options.out))
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("{} lies in {}, whose files a new run replaces.", input, options.out),
                "Name another folder with --out."};
    return {};
}

/// The run that the options name: made, or opened to go on with it.
Result<RunFolder> openRun(const ExperimentOptions& options, const std::stop_token& stop) {
    const bool isThere = RunFolder::isRun(options.out);
    if (options.resumes && (options.recipe.empty() || options.data.paths.empty()))
        return resumeAlone(options);
    ENGINE_TRY(const PreparedRun run, prepareRun(options, stop));
    if (!options.resumes || !isThere) {
        ENGINE_TRY_DO(checkInputs(options, run));
        return RunFolder::create(
            options.out, run.recipe, run.plan, run.prompts, options.mayOverwrite);
    }
    ENGINE_TRY(RunFolder folder, RunFolder::open(options.out));
    if (folder.plan().runHash != run.plan.runHash)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The run in {} was begun with another recipe, other prompts, "
                                 "another model or other options.",
                                 options.out),
                     "Go on with --resume --out alone, or name another folder."};
    std::vector<std::string> places; // they may have moved
    for (const RunModel& model : run.plan.models)
        places.push_back(model.path);
    ENGINE_TRY_DO(folder.moveModels(places));
    return folder;
}

/// Whether what is run lies in the folder of a run already.
bool usesFolder(const ExperimentOptions& options) {
    return options.resumes || options.merges || options.shard >= 0;
}

/// A new run for which no prompts were named takes the examples that come with the program.
ExperimentOptions withExamples(ExperimentOptions options) {
    if (!options.data.paths.empty() || options.recipe.empty() || usesFolder(options))
        return options;
    if (const auto examples = findDataSources({exampleFolder().string()}))
        for (const DataSource& example : examples.value())
            options.data.paths.push_back(example.path.string());
    return options;
}

/// What a combination of options lacks.
Result<void> checkOptions(const ExperimentOptions& options) {
    const auto missing = [](const std::string& what, const std::string& hint) {
        return Error{ErrorCode::InvalidInput, what, hint};
    };
    if (options.recipe.empty() && !usesFolder(options))
        return missing("No recipe was named.",
                       "Write one before --data; swift-run experiment --list names them.");
    if (options.data.paths.empty() && !usesFolder(options))
        return missing("No prompts were given.", "Name files of prompts with --data.");
    if (options.out.empty() && !options.previews)
        return missing("No folder for the run was named.", "Name one with --out.");
    if (options.executor != "slurm" && options.slurm != SlurmOptions{})
        return missing("Options of a cluster were given, but the run is to stay on this machine.",
                       "Add --executor slurm, or leave out what begins with --slurm.");
    return options.executor == "slurm" ? checkSlurm(options.slurm) : Result<void>();
}

/// A turn before each step, if other programs shall have the processor in between. Errors: Io.
Result<decltype(ShardHooks::takeTurn)> turnTaker(const std::string& file,
                                                 const std::stop_token& stop) {
    if (file.empty())
        return decltype(ShardHooks::takeTurn)();
    ENGINE_TRY(TurnLock opened, TurnLock::open(file));
    const auto lock = std::make_shared<TurnLock>(std::move(opened));
    return decltype(ShardHooks::takeTurn)([lock, stop]() -> std::shared_ptr<void> {
        auto turn = lock->take(stop);
        if (!turn || !turn.value()) // stopped, or the file is gone: the step does not wait
            return nullptr;
        return std::make_shared<TurnLock::Turn>(std::move(*turn.value()));
    });
}

Result<void> runOneShard(const RunFolder& folder,
                         const ExperimentOptions& options,
                         const Console& console,
                         RunPause& pause,
                         const std::stop_token& stop) {
    const int shard = options.shard;
    if (shard >= static_cast<int>(folder.plan().shards.size()))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The run in {} has {}, so there is no part {}.",
                                 folder.path().string(),
                                 counted(folder.plan().shards.size(), "part"),
                                 shard + 1),
                     "Parts are counted from 1."};
    if (folder.state(shard).phase == ShardPhase::Finished) {
        Console::note(fmt::format("Part {} is finished already.", shard + 1));
        return {};
    }
    if (!folder.isReady(shard)) {
        std::vector<int> parts;
        for (const int needed :
             folder.plan().needs(folder.plan().shards[static_cast<std::size_t>(shard)]))
            parts.push_back(needed + 1);
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Part {} needs skip sets of parts that are not finished: {}.",
                                 shard + 1,
                                 fmt::join(parts, ", ")),
                     "Run those first."};
    }
    ExperimentRun told(folder, console, pause);
    ENGINE_TRY(auto takeTurn, turnTaker(options.turns, stop));
    const auto executor =
        makeLocalExecutor(folder,
                          {.onRecord = [&](const ShardRecord& record) { told.tell(record); },
                           .takeTurn = std::move(takeTurn)});
    return told.runOne(*executor, shard, stop);
}

/// Errors: those of the run; what is finished is in the report either way.
Result<void> lead(const RunFolder& folder,
                  const ExperimentOptions& options,
                  const Console& console,
                  RunPause& pause,
                  const std::stop_token& stop) {
    long answers = 0;
    for (const PlannedShard& shard : folder.plan().shards)
        answers += answersOf(folder.recipe(), folder.plan(), shard);
    console.jsonLine({{"event", "run"},
                      {"folder", folder.path().string()},
                      {"recipe", folder.recipe().name},
                      {"size", folder.recipe().run->size},
                      {"run_hash", folder.plan().runHash},
                      {"data", options.data.paths},
                      {"shards", folder.plan().shards.size()},
                      {"answers", answers}});
    ExperimentRun run(folder, console, pause);
    std::unique_ptr<Executor> executor;
    if (options.executor == "slurm") {
        ENGINE_TRY(executor, makeSlurmExecutor(folder, options.slurm));
    } else {
        ENGINE_TRY(auto takeTurn, turnTaker(options.turns, stop));
        executor =
            makeLocalExecutor(folder,
                              {.onRecord = [&](const ShardRecord& record) { run.tell(record); },
                               .takeTurn = std::move(takeTurn)});
    }
    return run.run(*executor, stop);
}

Result<void> runExperiment(const ExperimentOptions& typed, CommandContext& context) {
    if (typed.lists)
        return list(context.console);
    if (!typed.compared.empty())
        return compareRuns(typed.compared[0], typed.compared[1], context.console);
    const ExperimentOptions options = withExamples(typed);
    ENGINE_TRY_DO(checkOptions(options));
    if (options.data.paths != typed.data.paths)
        Console::note(fmt::format("No prompts were named with --data, so the examples are used "
                                  "that come with the program, in {}.",
                                  exampleFolder().string()));
    const std::stop_token stop = context.interrupt.beginWork();
    if (options.previews)
        return preview(options, context.console, stop);
    if (options.merges) {
        ENGINE_TRY(const RunFolder folder, RunFolder::open(options.out));
        return reportRun(folder, context.console);
    }
    RunPause pause;
    std::optional<RunControl> control;
    if (options.followsInput)
        control.emplace(pause, context.interrupt);
    if (options.shard >= 0) {
        ENGINE_TRY(const RunFolder folder, RunFolder::open(options.out));
        return runOneShard(folder, options, context.console, pause, stop);
    }
    ENGINE_TRY(const RunFolder folder, openRun(options, stop));
    return lead(folder, options, context.console, pause, stop);
}

void addAmountOptions(CLI::App& command, ExperimentOptions& options) {
    command
        .add_option("--size", options.size, "How much is run; recipes have quick, standard, paper")
        ->capture_default_str();
    command
        .add_option(
            "--prompts", options.prompts, "Prompts of each task and stage, instead of the size's")
        ->transform(wholeFrom(1));
    command
        .add_option(
            "--max-tokens", options.maxTokens, "Longest answer, in tokens, instead of the size's")
        ->transform(wholeFrom(1));
    command.add_option("--seeds", options.seeds, "Repeat everything with this many seeds")
        ->transform(wholeFrom(1));
    command
        .add_option("--seed",
                    options.seed,
                    "The first seed, of sampling and of searches: the same seed gives the same "
                    "tokens")
        ->transform(numberFrom<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max()))
        ->capture_default_str();
}

void addFolderOptions(CLI::App& command, ExperimentOptions& options) {
    command.add_option("--out", options.out, "The folder of the run: new, empty, or of that run");
    command.add_flag("--resume",
                     options.resumes,
                     "Go on with the run in --out: what is finished is not run again");
    command.add_flag("--overwrite", options.mayOverwrite, "Delete an earlier run in --out first");
    command.add_flag(
        "--merge", options.merges, "Make result.json and the report of what is finished in --out");
    command
        .add_option("--compare",
                    options.compared,
                    "Set two runs of the same recipe side by side: two folders, or their "
                    "result.json")
        ->expected(2);
    command
        .add_option_function<int>(
            "--run-part",
            [&options](int part) { options.shard = part - 1; },
            "Run one part of the run in --out, counted from 1")
        ->transform(wholeFrom(1));
    command
        .add_option("--executor",
                    options.executor,
                    "Where the parts run: local (this machine) or slurm (a cluster that sees the "
                    "folder of the run)")
        ->check(CLI::IsMember({"local", "slurm"}))
        ->capture_default_str();
    addSlurmOptions(command, options.slurm);
}

} // namespace

void addExperimentCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand(
        "experiment", "Run a recipe: decoders, settings and searches on prompts, with a report");
    const auto options = std::make_shared<ExperimentOptions>();
    command->add_option("recipe", options->recipe, "The name of a recipe, or a .swiftexp file");
    command->add_flag("--list", options->lists, "Name the recipes, one a line");
    command->add_flag("--preview", options->previews, "Say what the run costs, and run nothing");
    addDataOptions(*command, options->data);
    CLI::Option* data = command->get_option("--data")->required(false);
    data->description(data->get_description() +
                      "; default, for a new run: the examples that come with the program");
    addModelOptions(*command, options->model);
    addContextOption(*command, options->model);
    command->add_option("--and-model",
                        options->otherModels,
                        "A further model, for recipes that compare models; \"planted\" is the "
                        "lesson model made from --model; may be given several times");
    addRawOption(*command, options->isRaw);
    addAmountOptions(*command, *options);
    addFolderOptions(*command, *options);
    command
        ->add_option_function<std::string>(
            "--control",
            [options](const std::string&) { options->followsInput = true; },
            "stdin: follow the lines pause, resume and stop; the end of the input stops, too")
        ->check(CLI::IsMember({"stdin"}));
    command->add_option("--turns",
                        options->turns,
                        "A file: before each decoding step wait for a turn among all programs that "
                        "name it; the wait is part of no measured time");
    addRun(*command, chosen, options, runExperiment);
}

} // namespace app
