// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/search/layer_search.h"
#include "engine/search/skip_choices.h"
#include "plugins/auto/chain_promise.h"
#include "plugins/auto/round_rates.h"

#include <bitset>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace automatic {

/// A plan that might be drafted with. A plain value.
struct Candidate {
    engine::LayerPlan plan;
    std::string_view kind; ///< "stored", "influence", "random", "exit"
    PassShares shares = {};
    double ratio = 0.0; ///< of what could be skipped; 0 for an exit

    bool isExit() const { return kind == "exit"; }
};

/// What the worth of a search is judged by.
struct SearchTerms {
    const std::vector<double>& influence; ///< [2 * layers], not empty
    const engine::StepCosts& costs;
    const RoundRates& rounds;
    double presentRate = 1.0; ///< of the skip set that is drafted with now; 1 without any
    double leastRate = 1.0;   ///< below this nothing is drafted
    int maxNodes = 0;
    double elapsed = 0.0; ///< plain steps' time since the decoder was made
};

/// Which drafters may be tried at all.
struct DraftersWanted {
    bool skips = true;
    bool exits = true;
};

/// Looks for a plan that pays and says when looking is worth its time. Before anything is tried it
/// judges by what draft passes cost and by how much sublayers change the stream; each score then
/// corrects that, and each trial that brought nothing halves the hope a little. Thread: engine.
class PlanSearch {
public:
    explicit PlanSearch(const engine::ModelConfig& config);

    /// Weighs anew what skipping could gain.
    void judge(const SearchTerms& terms);

    /// Whether what the best set could still save, over as much time as has passed (at least
    /// kHorizon plain steps), repays a trial of `trialCost` plain steps.
    bool isWorthIt(double trialCost) const;

    /// Whether some draft could pay if the model always took it: else nothing is ever tried.
    bool couldPay(const DraftersWanted& wanted) const;

    /// A plan of an earlier run, tried before all others.
    void suggest(engine::LayerPlan plan) { m_stored = std::move(plan); }

    bool hasSuggestion() const { return m_stored.has_value(); }

    /// What to try next. `isProbe`: nothing is promising, but what is believed may be wrong.
    /// Errors: Cancelled.
    engine::Result<std::optional<Candidate>>
    next(const DraftersWanted& wanted, bool isProbe, std::stop_token stop);

    /// About half of the layers: what draft passes cost is measured with it.
    engine::LayerPlan halfPlan() const;

    /// Rounds have shown how often the tokens of such a plan are taken.
    void weigh(const engine::LayerPlan& plan, double acceptance);

    /// What came of a candidate.
    void learn(const Candidate& candidate, double score, bool isAdopted);

    /// Plain steps that a search is taken to be of use for, at least.
    static constexpr double kHorizon = 1000.0;

private:
    static constexpr int kRatios = 18; // .05, .1, ... of what can be skipped

    static double ratioAt(int index) { return 0.05 * (index + 1); }

    double harmOf(const engine::LayerPlan& plan, const std::vector<double>& influence) const;
    double believedAcceptance(double harm) const;
    Candidate candidate(engine::LayerPlan plan, std::string_view kind) const;
    Candidate nextExit();
    engine::Result<Candidate> randomCandidate(std::stop_token stop);

    engine::ModelConfig m_config;
    engine::SkipChoices m_choices;
    std::vector<double> m_influence;
    std::optional<engine::LayerPlan> m_stored;
    std::bitset<kRatios> m_isTried; // the set of least influence of a ratio
    std::unique_ptr<engine::LayerSearch> m_random;
    int m_randomRatio = -1;

    Promise m_believed;
    int m_ratio = -1;            // of that; -1 = none is known
    double m_possibleSkip = 0.0; // rates if every drafted token were taken
    double m_possibleExit = 0.0;
    double m_savable = 0.0; // share of the time, beyond what is saved now
    double m_horizon = kHorizon;
    double m_elapsed = 0.0;

    double m_evidence = 1.0; // the harm that was measured over what was feared
    double m_idle = 0.0;     // trials that brought nothing
    double m_restartAt = 0.0;
    int m_exits = 0;
    int m_probes = 0;
};

} // namespace automatic
