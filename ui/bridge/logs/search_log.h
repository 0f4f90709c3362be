// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ui {

/// A scored candidate, as a point of the matchness curve. A plain value.
struct TrialPoint {
    int place = 0;     ///< trials and re-scores of this log so far, this one included; from 1
    double time = 0.0; ///< seconds since the session began
    std::string kind;  ///< "start", "random", "bayesian", "rescore", "manual", ...
    bool counts = true;
    double score = 0.0;
    double best = 0.0; ///< the best score after this trial
    bool isBest = false;
};

/// The best set, valid from one trial on. A plain value.
struct BestSet {
    int place = 0; ///< trials before it, TrialPoint::place of the one that found it
    double time = 0.0;
    engine::PlanChanged change;
    std::optional<engine::TrialFinished> trial; ///< the trial that measured it; none
                                                ///< while unmeasured
};

/// The decoder's phase from one trial on.
struct PhaseSpan {
    int firstPlace = 0; ///< trials before it
    double time = 0.0;
    engine::DecoderPhase phase = engine::DecoderPhase::Plain;
};

/// What the trials show about one sublayer.
struct SublayerScores {
    std::int64_t skipped = 0; ///< trials that skipped it
    std::int64_t kept = 0;
    double skippedSum = 0.0; ///< of their scores
    double keptSum = 0.0;

    std::optional<double> meanSkipped() const {
        return skipped > 0 ? std::optional(skippedSum / static_cast<double>(skipped))
                           : std::nullopt;
    }

    std::optional<double> meanKept() const {
        return kept > 0 ? std::optional(keptSum / static_cast<double>(kept)) : std::nullopt;
    }
};

/// The course of the search: trials, best sets, phases. It starts again with another model or
/// decoder; only the forecast stays, until there is another model. Thread: UI.
class SearchLog {
public:
    bool apply(const engine::EngineEvent& event);

    const std::vector<TrialPoint>& trials() const { return m_trials; }

    const std::vector<BestSet>& bestSets() const { return m_bestSets; }

    const std::vector<PhaseSpan>& phases() const { return m_phases; }

    /// Number of trials before each answer began: the borders between instances.
    const std::vector<int>& answerPlaces() const { return m_answerPlaces; }

    /// The newest trial with its window, null before the first.
    const engine::TrialFinished* latestTrial() const { return m_latest ? &*m_latest : nullptr; }

    /// The set that drafts use now or, if it was found beside them, the best one so far; null
    /// before the first.
    const BestSet* current() const { return m_bestSets.empty() ? nullptr : &m_bestSets.back(); }

    /// The set that drafts use now; null while they use none.
    const BestSet* used() const {
        const BestSet* newest = current();
        return newest == nullptr || newest->change.isBeside ? nullptr : newest;
    }

    /// The best set found beside the drafts, which do not use it; null while there is none.
    const BestSet* foundBeside() const {
        const BestSet* newest = current();
        return newest != nullptr && newest->change.isBeside ? newest : nullptr;
    }

    /// What drafting with the best set found beside the drafts would give; null before it is known.
    const engine::DraftForecast* forecast() const { return m_forecast ? &*m_forecast : nullptr; }

    /// Layers of the sets, 0 before the first.
    int layerCount() const { return static_cast<int>(m_attention.size()); }

    /// What the trials show about a layer's attention or MLP, without re-scores.
    const SublayerScores& attention(int layer) const {
        return m_attention[static_cast<std::size_t>(layer)];
    }

    const SublayerScores& mlp(int layer) const { return m_mlp[static_cast<std::size_t>(layer)]; }

    /// Number of trials: all, and those that the surrogate suggested.
    int countedTrials() const { return m_counted; }

    int bayesianTrials() const { return m_bayesian; }

private:
    void clear();
    void addTrial(const engine::TrialFinished& trial, double time);
    void addPlan(const engine::PlanChanged& change, double time);
    void learn(const engine::TrialFinished& trial);

    std::vector<TrialPoint> m_trials;
    std::vector<BestSet> m_bestSets;
    std::vector<PhaseSpan> m_phases;
    std::vector<int> m_answerPlaces;
    std::optional<engine::TrialFinished> m_latest;
    std::optional<engine::DraftForecast> m_forecast;
    std::vector<SublayerScores> m_attention;
    std::vector<SublayerScores> m_mlp;
    int m_counted = 0;
    int m_bayesian = 0;
};

} // namespace ui
