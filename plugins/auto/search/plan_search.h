// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/search/layer_search.h"
#include "engine/search/skip_choices.h"
#include "plugins/auto/chain_promise.h"
#include "plugins/auto/search/round_rates.h"

#include <bitset>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace automatic {

/// A plan that might be drafted with. A plain value.
struct Candidate {
    engine::LayerPlan plan;
    std::string_view kind; ///< "stored", "influence", "stream", "random", "exit"
    PassShares shares = {};
    double ratio = 0.0; ///< share of the skippable weights; 0 for an exit

    bool isExit() const { return kind == "exit"; }
};

/// What decides whether a search is worth its time.
struct SearchTerms {
    const std::vector<double>& influence; ///< [2 * layers], not empty
    const engine::StepCosts& costs;
    const RoundRates& rounds;
    double presentRate = 1.0; ///< of the skip set in use; 1 without one
    double leastRate = 1.0;   ///< no draft is made below this rate
    int maxNodes = 0;
    double elapsed = 0.0; ///< since the decoder was made, in plain steps
};

/// Which kinds of plans the settings allow.
struct DraftersWanted {
    bool skips = true;
    bool exits = true;
};

/// Looks for a plan that pays and says when looking is worth its time. Before any trial it judges
/// by what draft passes cost and by how much sublayers change the residual stream. Each score
/// corrects that estimate, and each trial without success lowers the hope. Thread: engine.
class PlanSearch {
public:
    explicit PlanSearch(const engine::ModelConfig& config);

    /// The part of the head that drafts read from now on, see engine::weightShare().
    void readHead(double part) { m_headPart = part; }

    /// Estimates anew what skipping could gain.
    void judge(const SearchTerms& terms);

    /// Whether a trial of `trialCost` plain steps would be repaid by what the best set could still
    /// save over as much time as has passed (at least kHorizon plain steps).
    bool isWorthIt(double trialCost) const;

    /// Whether any draft could pay if the model accepted all of it: otherwise nothing is ever
    /// tried.
    bool couldPay(const DraftersWanted& wanted) const;

    /// Proposes a plan of an earlier run before all others.
    void suggest(engine::LayerPlan plan) { m_stored = std::move(plan); }

    bool hasSuggestion() const { return m_stored.has_value(); }

    /// Whether next() could propose it: skip sets are wanted and could pay.
    bool canTrySuggestion(const DraftersWanted& wanted) const {
        return hasSuggestion() && canSkip(wanted);
    }

    /// Whole layers whose absence a token's stream should be asked about, at the present ratio:
    /// once for each ratio, behind the set of least influence, which costs nothing to make. 0 =
    /// none.
    int streamLayers(const DraftersWanted& wanted) const;

    /// Proposes what the stream said; nothing if it had no answer.
    void suggestStream(std::optional<engine::LayerPlan> plan);

    /// What to try next. `isProbe`: nothing looks promising, but the estimates may be wrong.
    /// Errors: Cancelled.
    engine::Result<std::optional<Candidate>>
    next(const DraftersWanted& wanted, bool isProbe, std::stop_token stop);

    /// Runs about half of the layers; measures what draft passes cost.
    engine::LayerPlan halfPlan() const;

    /// Learns from rounds how often the tokens of such a plan are accepted.
    void weigh(const engine::LayerPlan& plan, double acceptance);

    /// Learns from the trial of a candidate.
    void learn(const Candidate& candidate, double score, bool isAdopted);

    /// A search is assumed to be useful for at least so many plain steps.
    static constexpr double kHorizon = 1000.0;

private:
    static constexpr int kRatios = 18; // .05, .1, ... of the skippable weights

    static double ratioAt(int index) { return 0.05 * (index + 1); }

    bool canSkip(const DraftersWanted& wanted) const {
        return wanted.skips && m_possibleSkip > 0.0 && m_ratio >= 0;
    }

    double harmOf(const engine::LayerPlan& plan, const std::vector<double>& influence) const;
    double believedAcceptance(double harm) const;
    Candidate candidate(engine::LayerPlan plan, std::string_view kind) const;
    Candidate nextExit();
    engine::Result<Candidate> randomCandidate(std::stop_token stop);

    engine::ModelConfig m_config;
    engine::SkipChoices m_choices;
    std::vector<double> m_influence;
    std::optional<engine::LayerPlan> m_stored;
    std::bitset<kRatios> m_isTried;    // the set of least influence of a ratio
    std::bitset<kRatios> m_isFollowed; // a stream was asked about the ratio
    std::optional<engine::LayerPlan> m_stream;
    std::unique_ptr<engine::LayerSearch> m_random;
    int m_randomRatio = -1;

    Promise m_believed;
    int m_ratio = -1;            // index of its ratio; -1 = none is known
    double m_possibleSkip = 0.0; // rates above the least one if every drafted token were accepted
    double m_possibleExit = 0.0;
    double m_savable = 0.0; // share of the time, beyond what is saved now
    double m_horizon = kHorizon;
    double m_elapsed = 0.0;
    double m_headPart = 1.0;

    double m_evidence = 1.0; // measured over expected loss of agreement
    double m_idle = 0.0;     // trials without success
    double m_restartAt = 0.0;
    int m_exits = 0;
    int m_probes = 0;
};

} // namespace automatic
