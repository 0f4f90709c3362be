// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/output_options.h"
#include "app/commands/options/text_options.h"
#include "app/commands/search/skip_set_search.h"
#include "app/number_check.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/experiments/saved_plans.h"
#include "engine/loading/json/json_document.h"
#include "engine/model/skip_sets/skip_set.h"

#include <nlohmann/json.hpp>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

constexpr int kDefaultWindows = 16;
constexpr int kDefaultCalibration = 8;
constexpr int kDefaultMaxTokens = 128;
constexpr const char* kSearchingDecoder = "swift";

struct SearchOptions {
    ModelOptions model;
    DataOptions data;
    std::string task;
    std::string method;
    OutputOptions out;
    std::vector<std::string> settings;
    std::optional<int> maxTokens;
    std::optional<int> trials;
    std::optional<double> ratio;
    std::optional<std::uint64_t> seed;
    std::optional<std::string> objective;
    bool isRaw = false;

    std::string entry; ///< in a collection; empty = the file holds only this set

    bool isByTrials() const { return method == "random" || method == "bayes"; }

    bool isByDecoding() const { return method == "self_sd"; }

    bool isOnline() const { return !isByTrials() && !isByDecoding(); }
};

/// Refuses options of one kind of method that were given for the other.
Result<void> checkOptions(const SearchOptions& options) {
    if (!options.isOnline() && !options.settings.empty())
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("--set works with the methods swift and guided, not with {}.",
                        options.method),
            "The others have --trials, --seed and --max-tokens, random and bayes also --ratio."};
    if (!options.isByDecoding() && options.objective)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("--objective works with the method self_sd, not with {}.", options.method),
            "Leave it out."};
    if (options.isOnline() && options.seed)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("--seed works with the methods random, bayes and self_sd, not "
                                 "with {}.",
                                 options.method),
                     "Leave it out."};
    if (options.isByDecoding() && options.ratio)
        return Error{ErrorCode::InvalidInput,
                     "--ratio works with the methods random and bayes; self_sd finds the ratio "
                     "itself.",
                     "Leave it out."};
    if (options.isOnline() && (options.trials || options.ratio))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} works with the methods random and bayes, not with {}.",
                                 options.trials ? "--trials" : "--ratio",
                                 options.method),
                     "Write it as a setting: --set S=300, --set r=0.45."};
    return {};
}

/// Whether a file holds one set as foundJson() makes it; a set written by hand does not say how it
/// was found.
Result<bool> isFoundSet(const std::filesystem::path& path) {
    return isJsonFile(path, [&path](const JsonValue& root) {
        return readSkipSet(root, path.string()) && root["method"].isString() &&
               root["measure"].isString();
    });
}

/// A collection is extended and never replaced, so --overwrite has no effect there.
OutputPlace outPlace(const SearchOptions& options) {
    const bool isAdded = !options.entry.empty();
    OutputPlace place = outputPlace(options.out,
                                    options.model,
                                    options.data,
                                    options.settings,
                                    {},
                                    isAdded ? isSkipSetCollection : isFoundSet);
    if (isAdded) {
        place.mayOverwrite = false;
        place.overwriteOption.clear();
    }
    return place;
}

/// The method determines the profile; everything else may be set.
Result<SettingValues> decoderSettings(const SearchOptions& options, DecoderRegistry& registry) {
    ENGINE_TRY(SettingValues settings,
               parseSettings(registry, kSearchingDecoder, options.settings));
    if (settings.contains("profile"))
        return Error{ErrorCode::InvalidInput,
                     "The profile is chosen by --method here, but --set gives one as well.",
                     "Leave --set profile out; --method guided is the profile guided."};
    settings["profile"] = std::string(options.method == "guided" ? "guided" : "ours");
    settings.try_emplace("search_share", 0.0); // here trials are what is wanted, not speed
    return settings;
}

Json foundJson(const SearchOptions& options, const DataModel& model, const FoundSet& found) {
    const SkipSet set = skipSetOf(*found.plan);
    return {{"attention", set.attention},
            {"mlp", set.mlp},
            {"score", found.score ? Json(*found.score) : Json(nullptr)},
            {"measure", found.measure},
            {"ratio", found.ratio},
            {"trials", found.trials},
            {"prompts", found.prompts},
            {"task", options.task},
            {"method", options.method},
            {"model", model.name},
            {"layers", model.loaded.config.layerCount},
            {"incomplete", found.isCancelled}};
}

/// Writes the set, and prints it.
Result<void> finish(const SearchOptions& options,
                    const DataModel& model,
                    const FoundSet& found,
                    const Console& console) {
    if (found.isCancelled && found.scored == 0)
        return cancelledError();
    if (!found.plan || found.scored == 0)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The search has tried no skip set on {} with answers of at most {}.",
                        counted(found.prompts, "prompt"),
                        counted(options.maxTokens.value_or(kDefaultMaxTokens), "token")),
            "Give more prompts, a larger --max-tokens, or --set gamma=16."};
    const Json json = foundJson(options, model, found);
    const SkipSet set = skipSetOf(*found.plan);
    if (options.entry.empty())
        ENGINE_TRY_DO(writeOutput(outPlace(options),
                                  json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n"));
    else
        ENGINE_TRY_DO(savePlan(options.out.path, options.entry, set));
    const std::string score = found.score ? fmt::format("{:.3f}", *found.score) : "not known";
    if (!console.isJson())
        console.line(fmt::format("{}: {} attention and {} MLP sublayers of {} layers skipped, "
                                 "{} {}; {}, {}{}",
                                 options.out.path,
                                 set.attention.size(),
                                 set.mlp.size(),
                                 model.loaded.config.layerCount,
                                 found.measure,
                                 score,
                                 counted(found.trials, "trial"),
                                 counted(found.prompts, "prompt"),
                                 found.isCancelled ? "; stopped before its end" : ""));
    Json done = {{"event", "done"}, {"out", options.out.path}};
    done.update(json);
    console.jsonLine(done);
    if (found.isCancelled)
        return cancelledError();
    return {};
}

Result<FoundSet> search(const SearchOptions& options,
                        const SettingValues& settings,
                        const std::vector<DataPrompt>& prompts,
                        const AnswerRequest& request,
                        const SearchWatcher& watcher) {
    if (options.isByTrials()) {
        TrialSearch trials;
        trials.isBayesian = options.method == "bayes";
        trials.trials = options.trials.value_or(trials.trials);
        trials.ratio = options.ratio.value_or(trials.ratio);
        trials.windowTokens = options.maxTokens.value_or(trials.windowTokens);
        trials.seed = options.seed.value_or(trials.seed);
        return searchByTrials(trials, prompts, request, watcher);
    }
    if (options.isByDecoding()) {
        OfflineSearchChoice offline;
        if (options.objective == "expected_speed")
            offline.objective = SearchObjective::ExpectedSpeed;
        offline.trials = options.trials.value_or(offline.trials);
        offline.maxTokens = options.maxTokens.value_or(offline.maxTokens);
        offline.seed = options.seed.value_or(offline.seed);
        return searchByDecoding(offline, prompts, request, watcher);
    }
    DecoderRegistry registry(moduleFolder());
    ENGINE_TRY(auto decoder,
               registry.make(kSearchingDecoder,
                             {.transformer = *request.model.loaded.transformer,
                              .contextLength = request.model.contextLength,
                              .settings = settings}));
    return searchWhileDecoding(*decoder, prompts, request, watcher);
}

Result<void> runSearch(const SearchOptions& typed, CommandContext& context) {
    SearchOptions options = typed;
    const Console& console = context.console;
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY_DO(checkOptions(options));
    options.data.onlyTask = options.task;
    if (!options.isOnline() && !options.data.limits.perFile)
        options.data.limits.perFile = options.isByTrials() ? kDefaultWindows : kDefaultCalibration;
    SettingValues settings;
    if (options.isOnline()) {
        DecoderRegistry registry(moduleFolder());
        ENGINE_TRY(settings, decoderSettings(options, registry));
    }
    ENGINE_TRY(const PromptSet set, readPrompts(options.data, stop));
    ENGINE_TRY_DO(checkOutput(outPlace(options)));
    ENGINE_TRY(const DataModel model, loadDataModel(options.model, options.isRaw, stop));
    StatusLine status;
    SearchWatcher watcher;
    watcher.onProgress = [&](const std::string& doing) { status.show(doing); };
    watcher.onNote = [&](const std::string& note) {
        status.clear();
        Console::note(note);
    };
    watcher.onTrial = [&](const TrialRecord& trial) {
        status.show(fmt::format("trial {} ({}): {:.3f}, best {:.3f}",
                                trial.index,
                                trial.kind,
                                trial.score,
                                trial.best));
        console.jsonLine({{"event", "trial"},
                          {"index", trial.index},
                          {"kind", trial.kind},
                          {"counts", trial.counts},
                          {"score", trial.score},
                          {"best", trial.best},
                          {"is_best", trial.isBest}});
    };
    const int maxTokens = options.maxTokens.value_or(kDefaultMaxTokens);
    ENGINE_TRY(const FoundSet found,
               search(options,
                      settings,
                      set.prompts,
                      {.model = model, .maxTokens = maxTokens, .stop = stop},
                      watcher));
    status.clear();
    return finish(options, model, found, console);
}

void addMethodOptions(CLI::App& command, SearchOptions& options) {
    command
        .add_option(
            "--method",
            options.method,
            "swift or guided: search while decoding, as these profiles of the swift decoder do; "
            "random or bayes: score sets on windows that vanilla decoding has collected; self_sd: "
            "decode with each set, which may skip any sublayer")
        ->check(CLI::IsMember({"swift", "guided", "random", "bayes", "self_sd"}))
        ->required();
    command.add_option("--set",
                       options.settings,
                       "swift, guided: a setting of the decoder, NAME=VALUE; may be given several "
                       "times");
    command
        .add_option("--trials",
                    options.trials,
                    "Number of sets to try; default: 300, for self_sd 100; not for swift and "
                    "guided")
        ->transform(wholeFrom(1));
    command
        .add_option("--ratio",
                    options.ratio,
                    "random, bayes: share of the sublayers that is skipped; default: 0.45")
        ->transform(numberFrom(0.0, 0.95));
    command
        .add_option("--objective",
                    options.objective,
                    "self_sd: tokens_per_second (default), or expected_speed, which counts passes "
                    "and is therefore reproducible")
        ->check(CLI::IsMember({"tokens_per_second", "expected_speed"}));
    command
        .add_option("--seed",
                    options.seed,
                    "random, bayes, self_sd: the same seed gives the same trials; default: 1")
        ->transform(numberFrom<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()));
    command
        .add_option("--max-tokens",
                    options.maxTokens,
                    "Longest answer, in tokens; default: 128, for random and bayes 33, for self_sd "
                    "32")
        ->transform(wholeFrom(1));
}

} // namespace

void addSearchCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("search", "Search for a task's skip set on prompts, and save it");
    const auto options = std::make_shared<SearchOptions>();
    addDataOptions(*command, options->data);
    command->add_option("--task", options->task, "The task; prompts of other tasks are skipped")
        ->required();
    addOutputOptions(*command, options->out, "--out", "The file to write the set to (JSON)")
        ->required();
    command->add_option(
        "--entry",
        options->entry,
        "Write the set into a collection under this name, such as MODEL_TASK, and "
        "keep the other sets of the file: {\"NAME\":{\"attention\":[...],\"mlp\":[...]}}");
    addMethodOptions(*command, *options);
    addModelOptions(*command, options->model);
    addContextOption(*command, options->model);
    addRawOption(*command, options->isRaw);
    command->footer(fmt::format("Without --limit, random and bayes use the first {} prompts of "
                                "each file, self_sd the first {}.",
                                kDefaultWindows,
                                kDefaultCalibration));
    addRun(*command, chosen, options, runSearch);
}

} // namespace app
