// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/shards/shard_search.h"

#include "app/commands/options/text_options.h"
#include "app/commands/search/skip_set_search.h"
#include "engine/model/skip_sets/skip_set.h"

namespace app {

using namespace engine;

namespace {

Result<FoundSet> searchBy(const RecipeSearch& search,
                          std::uint64_t seed,
                          const std::vector<DataPrompt>& prompts,
                          const AnswerRequest& request,
                          const SearchWatcher& watcher) {
    if (search.method == "self_sd") {
        OfflineSearchChoice choice;
        choice.objective =
            search.byTime ? SearchObjective::TokensPerSecond : SearchObjective::ExpectedSpeed;
        choice.trials = search.trials;
        choice.maxTokens = search.maxTokens;
        choice.seed = seed;
        return searchByDecoding(choice, prompts, request, watcher);
    }
    TrialSearch trials;
    trials.isBayesian = search.method == "bayes";
    trials.trials = search.trials;
    trials.ratio = search.ratio;
    trials.windowTokens = search.maxTokens + 1;
    trials.seed = seed;
    return searchByTrials(trials, prompts, request, watcher);
}

} // namespace

Result<void> runSearch(const RunFolder& folder,
                       const PlannedShard& shard,
                       const RunVariant& variant,
                       const AnswerRequest& request,
                       ShardLog& log,
                       const ShardWork& work) {
    std::vector<DataPrompt> prompts;
    for (const int prompt : shard.prompts)
        prompts.push_back({(folder.path() / "data.jsonl").string(),
                           folder.prompts()[static_cast<std::size_t>(prompt)]});
    SearchWatcher watcher;
    watcher.onTrial = [&](const TrialRecord& trial) {
        log.add(trial);
        work.pause.wait(work.stop);
    };
    watcher.onNote = [&](const std::string& note) {
        if (work.onNote)
            work.onNote(note);
    };
    watcher.onProgress = [](const std::string&) {};
    ENGINE_TRY(const FoundSet found,
               searchBy(*variant.search, shard.seed, prompts, request, watcher));
    if (found.isCancelled || work.stop.stop_requested())
        return cancelledError();
    if (!found.plan)
        return {};
    const SkipSet set = skipSetOf(*found.plan);
    ShardPlan plan;
    plan.variant = variant.name;
    plan.task =
        shard.task.value_or(folder.prompts()[static_cast<std::size_t>(shard.prompts.front())].task);
    plan.prompt = shard.prompts.back();
    plan.attention = set.attention;
    plan.mlp = set.mlp;
    plan.ratio = found.ratio;
    plan.score = found.score.value_or(0.0);
    plan.reason = "found";
    plan.at = log.now();
    log.add(ShardRecord(std::move(plan)));
    return {};
}

} // namespace app
