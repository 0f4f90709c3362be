// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"
#include "engine/search/layer_search.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_choices.h"
#include "plugins/swift/phases/optimisation.h"
#include "plugins/swift/phases/settlement.h"
#include "plugins/swift/start_sets.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace swift {

/// Scores a plan on the present context window.
using Scorer = std::function<engine::Result<engine::Matchness>(const engine::LayerPlan&)>;

/// The window that candidates are scored on now.
struct ScoredWindow {
    std::uint64_t id = 0; ///< another number for another window
    Scorer score;
    std::span<const engine::TokenId> expected; ///< what a plan must predict
    std::stop_token stop;
};

/// What the search works with besides the settings.
struct SearchSurroundings {
    const engine::ModelConfig& config;
    const engine::SkipSetMemory* memory = nullptr;
    std::string task;
    std::vector<double> influence; ///< [2 * layers], empty = not known yet
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
    static engine::Result<TaskSearch> make(const SearchSettings& settings,
                                           SearchSurroundings surroundings,
                                           engine::SearchReport& report);

    /// What to draft with now.
    const engine::LayerPlan& plan() const { return m_incumbent.plan; }

    double ratio() const { return m_incumbent.ratio; }

    double bestScore() const { return m_incumbent.score; }

    int trials() const { return m_trials; }

    /// No further trial is wanted.
    bool isOver() const { return m_isSettled || !m_settings.isOn; }

    /// A set that the user gave waits for its score, also when nothing is searched.
    bool hasUnscoredManualSet() const {
        return m_waiting && m_waiting->kind == engine::TrialKind::Manual;
    }

    double rowsPerTrial() const { return m_optimisation.rowsPerTrial(m_settings); }

    /// Settings that need no new search.
    void adopt(const SearchSettings& settings) { m_settings = settings; }

    /// One optimisation step: scores one set, and on a new window the incumbent first. Errors:
    /// those of a pass; Cancelled.
    engine::Result<void> advance(const ScoredWindow& window, engine::SearchReport& report);

    /// Learns from a round: lowers r or restarts when acceptance says so. A round that no plan
    /// drafted (its planId is 0) says nothing about one.
    void observe(const engine::DecodeStep& step,
                 const std::vector<double>& influence,
                 engine::SearchReport& report);

private:
    /// The set that is drafted with.
    struct Incumbent {
        engine::LayerPlan plan;
        double score = 0.0; ///< on the window of that id
        double ratio = 0.0;
        std::uint64_t window = 0;
    };

    /// A set that is scored before others are proposed.
    struct Waiting {
        engine::LayerPlan plan;
        engine::TrialKind kind = engine::TrialKind::Start;
    };

    TaskSearch(const SearchSettings& settings, SearchSurroundings surroundings);

    engine::Result<void> begin(std::string reason, engine::SearchReport& report);
    void aim(double ratio);
    engine::Result<engine::TrialRecord>
    measure(const engine::Trial& trial, const ScoredWindow& window, bool counts);
    engine::Result<void> measureWaiting(const ScoredWindow& window, engine::SearchReport& report);
    engine::Result<void> rescore(const ScoredWindow& window, engine::SearchReport& report);
    engine::Result<void> measureCandidate(const ScoredWindow& window, engine::SearchReport& report);
    void report(engine::TrialRecord record, engine::SearchReport& report) const;
    void reportPlan(std::string reason, engine::SearchReport& report) const;
    void wait(engine::LayerPlan plan, engine::TrialKind kind);
    bool beatsIncumbent(double score) const;
    void count(bool isBetter);
    void endTrial(engine::SearchReport& report);
    void settleIfDone(engine::SearchReport& report);
    void grow(engine::SearchReport& report);
    void endGrowth(engine::SearchReport& report);
    void lowerRatio(double acceptance, engine::SearchReport& report);

    SearchSettings m_settings;
    SearchSurroundings m_surroundings;
    engine::SkipChoices m_choices;
    Incumbent m_incumbent;
    std::optional<Waiting> m_waiting;
    Optimisation m_optimisation;
    Settlement m_settlement;
    bool m_isSettled = false; // which of both phases it is
    AcceptanceWatch m_watch;
    int m_trials = 0;       // o, over all searches of this task
    int m_trialsBefore = 0; // this search began
};

} // namespace swift
