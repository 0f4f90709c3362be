// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/answering.h"
#include "app/data/prompt_source.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/experiments/offline_search.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// The best set so far and what it cost.
struct FoundSet {
    std::optional<engine::LayerPlan> plan;
    std::optional<double> score; ///< none if this set itself was not scored
    std::string measure = "matchness";
    double ratio = 0.0; ///< requested share of the searchable sublayers to skip
    int trials = 0;
    int scored = 0; ///< trials, start sets and re-scores
    int prompts = 0;
    bool isCancelled = false;
};

/// Called after each trial, and after each prompt.
struct SearchWatcher {
    std::function<void(const engine::TrialRecord&)> onTrial;
    std::function<void(const std::string& note)> onNote;
    std::function<void(const std::string& doing)> onProgress;
};

/// The options of a search by trials on windows that vanilla has collected.
struct TrialSearch {
    bool isBayesian = false;
    int trials = 300;
    double ratio = 0.45;
    int windowTokens = 33; ///< of each prompt's answer
    std::uint64_t seed = 1;
};

/// Answers the prompts with a decoder that searches while it decodes, until its search is over or
/// there are no more prompts; the result is the set it uses last. Errors: those of decoding;
/// prompts that no decoder can take are skipped and reported.
engine::Result<FoundSet> searchWhileDecoding(engine::Decoder& decoder,
                                             const std::vector<DataPrompt>& prompts,
                                             const AnswerRequest& request,
                                             const SearchWatcher& watcher);

/// Windows of a search by trials at most: each holds its prompt's cache.
inline constexpr std::size_t kMostWindows = 64;

/// Collects one window per prompt with vanilla, then tries sets; a set's score is its matchness
/// averaged over the windows. Of more than kMostWindows prompts it takes so many that are spread
/// evenly over them, and notes that; others only in place of those with too short an answer. The
/// uniform set is the first one tried and counts as a trial. Every pass and every suggestion is
/// made in a turn of the request. Errors: Unsupported for a model without searchable layers;
/// InvalidInput when no answer is long enough; NoMemory for the prompts' caches.
engine::Result<FoundSet> searchByTrials(const TrialSearch& search,
                                        const std::vector<DataPrompt>& prompts,
                                        const AnswerRequest& request,
                                        const SearchWatcher& watcher);

/// The options of Self-SD's search, which decodes with each set.
struct OfflineSearchChoice {
    engine::SearchObjective objective = engine::SearchObjective::TokensPerSecond;
    int trials = 100;
    int maxTokens = 32; ///< of each prompt's answer
    std::uint64_t seed = 1;
};

/// Bayesian search over all sublayers with the decoder self_sd; the prompts are all held.
/// Errors: those of searchOffline; InvalidInput when no prompt can be taken.
engine::Result<FoundSet> searchByDecoding(const OfflineSearchChoice& search,
                                          const std::vector<DataPrompt>& prompts,
                                          const AnswerRequest& request,
                                          const SearchWatcher& watcher);

} // namespace app
