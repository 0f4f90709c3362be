// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"
#include "engine/search/layer_search.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_choices.h"
#include "plugins/swift/acceptance_watch.h"
#include "plugins/swift/start_sets.h"

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace swift {

/// Scores a plan on the context window at hand.
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

/// The search for one task's skip set: the optimisation phase of SWIFT and the policies around it.
/// Lives as long as the decoder; windows come and go. Thread: engine.
/// Source: arXiv 2410.06916 section 4.1; policies: swift.md 2.3, 2.4.
class TaskSearch {
public:
    /// Errors: InvalidInput for a manual set that does not fit the model.
    /// `report` is told the start set.
    static engine::Result<TaskSearch> make(const SearchSettings& settings,
                                           SearchSurroundings surroundings,
                                           engine::SearchReport& report);

    /// What to draft with now.
    const engine::LayerPlan& plan() const { return m_incumbent; }

    double ratio() const { return m_incumbentRatio; }

    double bestScore() const { return m_best; }

    int trials() const { return m_trials; }

    /// No further trial is wanted.
    bool isOver() const { return m_isOver || !m_settings.isOn; }

    /// A set that the user gave waits for its score, also when nothing is searched.
    bool hasUnscoredManualSet() const {
        return m_startWaits && m_startKind == engine::TrialKind::Manual;
    }

    /// Rows to verify before the next trial. Behind the first, quick trials it doubles again and
    /// again, so that searching costs ever less however long it lasts; counted in rows, so that
    /// runs repeat.
    double rowsToNextTrial() const;

    /// Settings that need no new search.
    void adopt(const SearchSettings& settings) { m_settings = settings; }

    /// One optimisation step: scores one set, and on a new window the incumbent first. Errors:
    /// those of a pass; Cancelled.
    engine::Result<void> advance(const ScoredWindow& window, engine::SearchReport& report);

    /// Learns from a round: lowers r or restarts when acceptance says so. What was not drafted by
    /// a plan (its planId is 0) says nothing about one.
    void observe(const engine::DecodeStep& step,
                 const std::vector<double>& influence,
                 engine::SearchReport& report);

    /// Tells the incumbent as a plan change; the decoder numbers it.
    engine::PlanChange describe(std::string reason) const;

private:
    TaskSearch(const SearchSettings& settings, SearchSurroundings surroundings);

    engine::Result<void> beginSearch(std::string_view reason, engine::SearchReport& report);
    void prepareSearches(double ratio);
    engine::Result<engine::Trial> nextTrial(std::stop_token stop);
    engine::Result<engine::TrialRecord>
    measure(const engine::Trial& trial, const ScoredWindow& window, bool counts);
    engine::Result<void> measureStart(const ScoredWindow& window, engine::SearchReport& report);
    engine::Result<void> rescore(const ScoredWindow& window, engine::SearchReport& report);
    engine::Result<void> measureCandidate(const ScoredWindow& window, engine::SearchReport& report);
    void waitForScore(engine::LayerPlan plan, engine::TrialKind kind);
    void install(const engine::LayerPlan& plan, double score, double ratio);
    bool beatsIncumbent(double score) const;
    void countTrial(bool isBetter);
    void endIfDone(engine::SearchReport& report);
    void grow(engine::SearchReport& report);
    void settle(engine::SearchReport& report);
    void lowerRatio(double acceptance, engine::SearchReport& report);

    SearchSettings m_settings;
    SearchSurroundings m_surroundings;
    engine::SkipChoices m_choices;
    std::unique_ptr<engine::LayerSearch> m_random;
    std::unique_ptr<engine::LayerSearch> m_bayesian;
    AcceptanceWatch m_watch;

    engine::LayerPlan m_incumbent;
    double m_incumbentRatio = 0.0;
    double m_best = 0.0; // the incumbent's score on m_scoredWindow
    std::uint64_t m_scoredWindow = 0;
    engine::LayerPlan m_startPlan; // waits to be scored
    bool m_startWaits = false;
    engine::TrialKind m_startKind = engine::TrialKind::Start;

    double m_ratio = 0.0; // of the candidates now
    bool m_isGrowing = false;
    int m_levelTrials = 0; // at this ratio while growing

    int m_trials = 0;       // o, over all searches of this task
    int m_trialsBefore = 0; // this search began from the start set
    int m_searchTrials = 0; // since then or since r was lowered
    int m_pace = 0;         // trials as far as the distance between them is concerned
    int m_idle = 0;
    int m_searches = 0;
    bool m_isOver = false;
    double m_acceptanceSum = 0.0; // of the stretches since the search was over
    int m_stretches = 0;
};

} // namespace swift
