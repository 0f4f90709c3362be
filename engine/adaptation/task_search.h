// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/phases/optimisation.h"
#include "engine/adaptation/phases/settlement.h"
#include "engine/adaptation/start_sets.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/search/layer_search.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_choices.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Scores a plan on the present context window.
using Scorer = std::function<Result<Matchness>(const LayerPlan&)>;

/// The window that candidates are scored on now.
struct ScoredWindow {
    std::uint64_t id = 0; ///< another number for another window
    Scorer score;
    std::span<const TokenId> expected; ///< what a plan must predict
    std::stop_token stop;
};

/// What the search works with besides the settings.
struct SearchSurroundings {
    const ModelConfig& config;
    const SkipSetMemory* memory = nullptr;
    std::string task;
    std::vector<double> influence; ///< [2 * layers], empty = not known yet
    StreamPlanner stream = {};     ///< for StartSet::Stream; must outlive the search's last call
};

/// The search for one task's skip set: the phases behind Accumulation, and the set that is drafted
/// with. Optimisation tries sets until it ends; then Settlement watches acceptance and may begin
/// the search again. In both, r is lowered while acceptance stays low. Lives as long as the
/// decoder; windows come and go. Thread: engine. Source: arXiv 2410.06916 section 4.1 and appendix
/// C.2.
class TaskSearch {
public:
    /// Errors: InvalidInput for a manual set that does not fit the model. The start set is
    /// reported.
    static Result<TaskSearch>
    make(const SearchSettings& settings, SearchSurroundings surroundings, SearchReport& report);

    /// What to draft with now.
    const LayerPlan& plan() const { return m_incumbent.plan; }

    double ratio() const { return m_incumbent.ratio; }

    /// Whether the set has a score already.
    bool isScored() const {
        return m_incumbent.window != 0 && !(m_waiting && m_waiting->plan == m_incumbent.plan);
    }

    double bestScore() const { return m_incumbent.score; }

    /// The matchness that others must exceed; 0 while it says nothing of what is left to find:
    /// before the set is scored, and while r grows.
    double scoreToExceed() const {
        return isScored() && !m_optimisation.isGrowing() ? m_incumbent.score : 0.0;
    }

    int trials() const { return m_trials; }

    /// The plan once more, for a task that is back: a change without a number.
    PlanChange planAgain() const { return planChange("task"); }

    /// No further trial is wanted.
    bool isOver() const { return m_isSettled || !m_settings.isOn; }

    /// A set that the user gave waits for its score, also when nothing is searched.
    bool hasUnscoredManualSet() const { return m_waiting && m_waiting->kind == TrialKind::Manual; }

    double rowsPerTrial() const { return m_optimisation.rowsPerTrial(m_settings); }

    /// Settings that need no new search.
    void adopt(const SearchSettings& settings) { m_settings = settings; }

    /// One optimisation step: scores one set, and on a new window the incumbent first, while r
    /// grows only if it was scored on fewer tokens. Errors: those of a pass; Cancelled.
    Result<void> advance(const ScoredWindow& window, SearchReport& report);

    /// The same, but ends after one pass of the model: on a new window only the incumbent is
    /// scored.
    Result<void> advanceByOnePass(const ScoredWindow& window, SearchReport& report);

    /// Learns from a round: lowers r or restarts when acceptance says so. A round that no plan
    /// drafted (its planId is 0) says nothing about one.
    void
    observe(const DecodeStep& step, const std::vector<double>& influence, SearchReport& report);

private:
    /// The set that is drafted with.
    struct Incumbent {
        LayerPlan plan;
        double score = 0.0; ///< on the window of that id
        double ratio = 0.0;
        std::uint64_t window = 0;
        std::size_t tokens = 0; ///< of that window
    };

    /// A set that is scored before others are proposed.
    struct Waiting {
        LayerPlan plan;
        TrialKind kind = TrialKind::Start;
    };

    TaskSearch(const SearchSettings& settings, SearchSurroundings surroundings);

    Result<void> begin(std::string reason, SearchReport& report);
    void aim(double ratio);
    Result<TrialRecord> measure(const Trial& trial, const ScoredWindow& window, bool counts);
    Result<void> measureWaiting(const ScoredWindow& window, SearchReport& report);
    bool mustRescore(const ScoredWindow& window) const;
    Result<void> rescore(const ScoredWindow& window, SearchReport& report);
    Result<void> measureCandidate(const ScoredWindow& window, SearchReport& report);
    void report(TrialRecord record, SearchReport& report) const;
    PlanChange planChange(std::string reason) const;
    void reportPlan(std::string reason, SearchReport& report) const;
    void wait(LayerPlan plan, TrialKind kind);
    bool beatsIncumbent(double score) const;
    void count(bool isBetter);
    void endTrial(SearchReport& report);
    void settleIfDone(SearchReport& report);
    void grow(SearchReport& report);
    void endGrowth(SearchReport& report);
    void lowerRatio(double acceptance, SearchReport& report);

    SearchSettings m_settings;
    SearchSurroundings m_surroundings;
    SkipChoices m_choices;
    Incumbent m_incumbent;
    std::string m_ratioReason; // why its ratio may differ from the one asked for
    std::optional<Waiting> m_waiting;
    Optimisation m_optimisation;
    Settlement m_settlement;
    bool m_isSettled = false; // which of both phases it is
    AcceptanceWatch m_watch;
    int m_trials = 0;       // o, over all searches of this task
    int m_trialsBefore = 0; // this search began
};

} // namespace engine
