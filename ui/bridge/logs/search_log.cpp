// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/logs/search_log.h"

#include <algorithm>

namespace ui {

using namespace engine;

bool SearchLog::apply(const EngineEvent& event) {
    if (const auto* trial = event.as<TrialFinished>()) {
        addTrial(*trial, event.time);
        return true;
    }
    if (const auto* change = event.as<PlanChanged>()) {
        addPlan(*change, event.time);
        return true;
    }
    if (const auto* phase = event.as<PhaseChanged>()) {
        m_phases.push_back({static_cast<int>(m_trials.size()), event.time, phase->phase});
        return true;
    }
    if (const auto* made = event.as<ForecastMade>()) {
        m_forecast = made->forecast;
        return true;
    }
    if (event.as<PromptStarted>() != nullptr) {
        m_answerPlaces.push_back(static_cast<int>(m_trials.size()));
        return true;
    }
    if (event.as<DecoderChosen>() != nullptr) {
        const std::optional<DraftForecast> forecast = m_forecast;
        clear();
        m_forecast = forecast;
        return true;
    }
    const bool isOtherModel =
        event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr;
    if (isOtherModel)
        clear();
    return isOtherModel;
}

void SearchLog::clear() { *this = SearchLog(); }

/// The engine reports a plan after the trial that found it, so a trial waits for its plan. A trial
/// that measures a plan reported earlier belongs to the newest best set.
void SearchLog::addTrial(const TrialFinished& trial, double time) {
    TrialPoint point{.place = static_cast<int>(m_trials.size()) + 1,
                     .time = time,
                     .kind = trial.trialKind,
                     .counts = trial.counts,
                     .score = trial.score,
                     .best = trial.best,
                     .isBest = trial.isBest};
    m_trials.push_back(std::move(point));
    m_latest = trial;
    if (trial.counts) {
        ++m_counted;
        m_bayesian += trial.trialKind == "bayesian" ? 1 : 0;
    }
    if (trial.trialKind != "rescore")
        learn(trial);
    if (!m_bestSets.empty() && m_bestSets.back().change.plan == trial.plan)
        m_bestSets.back().trial = trial;
}

void SearchLog::addPlan(const PlanChanged& change, double time) {
    BestSet set{static_cast<int>(m_trials.size()), time, change, {}};
    if (m_latest && m_latest->plan == change.plan)
        set.trial = m_latest;
    m_bestSets.push_back(std::move(set));
}

void SearchLog::learn(const TrialFinished& trial) {
    const auto layers = static_cast<std::size_t>(std::max(trial.plan.layerCount, 0));
    if (m_attention.size() != layers) {
        m_attention.assign(layers, {});
        m_mlp.assign(layers, {});
    }
    const auto add = [&](std::vector<SublayerScores>& scores, const std::vector<int>& skipped) {
        for (std::size_t layer = 0; layer < layers; ++layer) {
            SublayerScores& score = scores[layer];
            const bool isSkipped = std::ranges::count(skipped, static_cast<int>(layer)) > 0;
            ++(isSkipped ? score.skipped : score.kept);
            (isSkipped ? score.skippedSum : score.keptSum) += trial.score;
        }
    };
    add(m_attention, trial.plan.skipped.attention);
    add(m_mlp, trial.plan.skipped.mlp);
}

} // namespace ui
