// SPDX-License-Identifier: Apache-2.0
#include "app/commands/search/skip_set_search.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"

#include <algorithm>

namespace app {

using namespace engine;

namespace {

/// Only first turns: later ones would depend on answers.
Result<std::vector<std::vector<TokenId>>> calibrationPrompts(const OfflineSearchChoice& search,
                                                             const std::vector<DataPrompt>& asked,
                                                             const AnswerRequest& request,
                                                             const SearchWatcher& watcher) {
    std::vector<std::vector<TokenId>> prompts;
    const auto visit = [&](const DataPrompt& prompt) -> Result<bool> {
        ENGINE_TRY(std::vector<TokenId> ids,
                   request.model.encoder->encode({{{"user", prompt.record.turns.front()}, {}}}));
        const auto room =
            static_cast<std::size_t>(std::max(request.model.contextLength - search.maxTokens, 0));
        if (ids.size() >= room)
            watcher.onNote(fmt::format("{}: line {} was skipped: it is too long ({}).",
                                       prompt.file,
                                       prompt.record.line,
                                       counted(ids.size(), "token")));
        else
            prompts.push_back(std::move(ids));
        return !request.stop.stop_requested();
    };
    ENGINE_TRY_DO(forEachPrompt(asked, visit));
    if (prompts.empty())
        return Error{ErrorCode::InvalidInput,
                     "No prompt fits into the context, so there is nothing to decode.",
                     "Give shorter prompts or raise --context."};
    return prompts;
}

TrialRecord recordOf(const OfflineTrial& trial, const OfflineTrial& best) {
    TrialRecord record;
    record.kind = trialKindName(trial.kind);
    record.index = trial.index;
    record.score = trial.measured.score;
    record.best = best.measured.score;
    record.isBest = trial.index == best.index;
    record.plan = trial.plan;
    return record;
}

double skippedShare(const LayerPlan& plan) {
    const auto skipped =
        std::count(plan.attention.begin(), plan.attention.end(), SublayerAction::Skip) +
        std::count(plan.mlp.begin(), plan.mlp.end(), SublayerAction::Skip);
    return static_cast<double>(skipped) / (2.0 * plan.layerCount());
}

} // namespace

Result<FoundSet> searchByDecoding(const OfflineSearchChoice& search,
                                  const std::vector<DataPrompt>& asked,
                                  const AnswerRequest& request,
                                  const SearchWatcher& watcher) {
    ENGINE_TRY(auto prompts, calibrationPrompts(search, asked, request, watcher));
    DecoderRegistry registry(moduleFolder());
    FoundSet found;
    found.prompts = static_cast<int>(prompts.size());
    OfflineSearchOptions options;
    options.objective = search.objective;
    options.iterations = search.trials;
    options.maxTokens = search.maxTokens;
    options.seed = search.seed;
    ENGINE_TRY(const OfflineSearchResult result,
               searchOffline({.decoders = registry,
                              .transformer = *request.model.loaded.transformer,
                              .prompts = std::move(prompts),
                              .options = std::move(options),
                              .onTrial =
                                  [&](const OfflineTrial& trial, const OfflineTrial& best) {
                                      watcher.onTrial(recordOf(trial, best));
                                  },
                              .stop = request.stop,
                              .takeTurn = request.takeTurn}));
    found.plan = result.bestTrial().plan;
    found.score = result.bestTrial().measured.score;
    found.measure = search.objective == SearchObjective::TokensPerSecond ? "tokens per second"
                                                                         : "expected speed";
    found.ratio = skippedShare(*found.plan);
    found.trials = found.scored = static_cast<int>(result.trials.size());
    found.isCancelled = !result.isComplete;
    return found;
}

} // namespace app
