// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/search/layer_search.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// The objective that an offline search maximises.
enum class SearchObjective {
    /// Tokens per vanilla step, counted: each full pass costs 1, each draft pass the plan's
    /// weightShare(). Below 1 a plan is slower than vanilla. The same on every machine.
    /// Source: equation 6 of arXiv 2410.06916.
    ExpectedSpeed,
    /// Measured tokens per second of decoding, as published.
    TokensPerSecond,
};

/// Settings of an offline search; the defaults are those of the published code of Self-SD
/// (arXiv 2309.08168).
struct OfflineSearchOptions {
    SearchObjective objective = SearchObjective::TokensPerSecond;
    int iterations = 1000; ///< Bayesian suggestions, after the probe sets
    int maxTokens = 32;    ///< of each calibration prompt's answer
    std::uint64_t seed = 1;
    BayesianMaximiser maximiser = BayesianMaximiser::ContinuousTopK;
    /// The cost that each further row adds to a verification, in vanilla steps; 0 as in equation 6.
    /// For ExpectedSpeed.
    double rowCost = 0.0;
    /// The decoder, which must have the settings "start" and "skip_set".
    std::string decoder = "self_sd";
    SettingValues settings = {}; ///< its other settings
    SamplingOptions sampling = {};
};

/// One plan's results on all calibration prompts together.
struct PlanMeasurement {
    int tokens = 0;
    int steps = 0;        ///< rounds, each with one full pass
    int draftSteps = 0;   ///< draft passes
    int accepted = 0;     ///< drafted tokens that were emitted
    int verifiedRows = 0; ///< rows of the full passes
    double seconds = 0.0; ///< decoding after the prompts
    double score = 0.0;   ///< value of the objective

    bool operator==(const PlanMeasurement&) const = default;
};

/// One observation of the search. A plain value.
struct OfflineTrial {
    int index = 0; ///< counted from 1
    TrialKind kind = TrialKind::Start;
    LayerPlan plan;
    PlanMeasurement measured;
};

struct OfflineSearchResult {
    std::vector<OfflineTrial> trials; ///< in their order, at least one
    std::size_t best = 0;   ///< index into `trials`: the highest score, the first of equals
    bool isComplete = true; ///< false: stopped from outside

    const OfflineTrial& bestTrial() const { return trials[best]; }
};

/// The task of a search. References are borrowed.
struct OfflineSearchTask {
    DecoderRegistry& decoders;
    Transformer& transformer;
    std::vector<std::vector<TokenId>> prompts = {}; ///< for calibration; 8 are usual
    OfflineSearchOptions options = {};
    /// Called with each trial and the best one so far.
    std::function<void(const OfflineTrial& trial, const OfflineTrial& best)> onTrial = {};
    std::stop_token stop = {};
    /// Called before each suggestion and each part of an answer, which is made while the result
    /// lives. Its waiting belongs to no measured time.
    std::function<std::shared_ptr<void>()> takeTurn = {};
};

/// Looks for the plan that decodes the calibration prompts fastest: probe sets first, then Bayesian
/// suggestions over all sublayers of all layers, with the ratio free. Every answer has exactly
/// `maxTokens` tokens and ignores end tokens. With ExpectedSpeed the same seed gives the same
/// plans. A stop ends it between passes and keeps the results so far. Errors: InvalidInput for no
/// prompts, empty ones or those too long for the model (names the first); those of the registry and
/// the decoder; Cancelled before the first trial is complete. Thread: engine. Source: arXiv
/// 2309.08168, section 3.2; differs: time counts from the end of the prompt, and the surrogate
/// learns the measured set.
Result<OfflineSearchResult> searchOffline(const OfflineSearchTask& task);

/// Measures one plan as searchOffline() does. Errors: as there; InvalidInput for another model's
/// plan.
Result<PlanMeasurement> measurePlan(const OfflineSearchTask& task, const LayerPlan& plan);

/// The sets that a search tries first: the attention of the later half of the layers, both
/// sublayers of every second layer, and the uniform set at r = .43.
std::vector<LayerPlan> probePlans(int layerCount);

} // namespace engine
