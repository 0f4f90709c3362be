// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/logs/search_log.h"

#include <algorithm>

namespace ui {

using namespace engine;

bool SearchLog::apply(const EngineEvent& event) {
    if (const auto* trial = event.as<TrialFinished>()) {
        show(trial->task).addTrial(*trial, event.time);
        return true;
    }
    if (const auto* change = event.as<PlanChanged>()) {
        show(change->task).addPlan(*change, event.time);
        return true;
    }
    if (const auto* phase = event.as<PhaseChanged>()) {
        Course& course = courseOf(phase->task);
        course.phases.push_back({course.counted, event.time, phase->phase});
        return true;
    }
    if (const auto* started = event.as<PromptStarted>()) {
        beginAnswer(started->task);
        return true;
    }
    if (const auto* made = event.as<ForecastMade>()) {
        m_forecast = made->forecast;
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

void BestSet::measureBy(const TrialFinished& newest) {
    if (!trial)
        kind = newest.trialKind;
    trial = newest;
}

void SearchLog::clear() { *this = SearchLog(); }

int SearchLog::taskCount() const {
    return static_cast<int>(std::ranges::count_if(m_courses, [](const auto& known) {
        return !known.second.trials.empty() || !known.second.bestSets.empty();
    }));
}

/// What came before any task was named belongs to the first one.
void SearchLog::beginAnswer(const std::string& task) {
    m_answer = task;
    if (m_task.empty() && !task.empty()) {
        auto unnamed = m_courses.extract(m_task);
        unnamed.key() = m_task = task;
        m_courses.insert(std::move(unnamed));
    }
    Course& course = courseOf(task);
    course.answerPlaces.push_back(course.counted);
}

/// Events of older recordings name no task.
SearchLog::Course& SearchLog::courseOf(const std::string& task) {
    return m_courses[!task.empty() ? task : !m_answer.empty() ? m_answer : m_task];
}

SearchLog::Course& SearchLog::show(const std::string& task) {
    Course& course = courseOf(task);
    for (const auto& [name, known] : m_courses)
        if (&known == &course)
            m_task = name;
    return course;
}

/// The engine reports a plan after the trial that found it, so a trial waits for its plan. A trial
/// that measures a plan reported earlier belongs to the newest best set. The first one that does is
/// no score again, whatever the search calls it.
void SearchLog::Course::addTrial(const TrialFinished& trial, double time) {
    const bool measuresBest = !bestSets.empty() && bestSets.back().change.plan == trial.plan;
    const bool isFirst = measuresBest && !bestSets.back().trial;
    if (trial.counts) {
        ++counted;
        learn(trial);
    }
    TrialPoint point{.place = counted,
                     .time = time,
                     .kind = isFirst && trial.trialKind == "rescore" ? "start" : trial.trialKind,
                     .counts = trial.counts,
                     .score = trial.score,
                     .best = trial.best,
                     .isBest = trial.isBest};
    trials.push_back(std::move(point));
    latest = trial;
    if (measuresBest)
        bestSets.back().measureBy(trial);
}

/// A plan that is told again, because its task is back, is no change.
void SearchLog::Course::addPlan(const PlanChanged& change, double time) {
    if (!bestSets.empty() && bestSets.back().change.planId == change.planId &&
        bestSets.back().change.plan == change.plan)
        return;
    BestSet set;
    set.place = counted;
    set.time = time;
    set.change = change;
    if (latest && latest->plan == change.plan)
        set.measureBy(*latest);
    bestSets.push_back(std::move(set));
    beginSearch(change.reason);
}

/// With these reasons the engine's limits count from here on. What was learnt of the sublayers
/// stays behind a set by hand, which has the r of the sets before it.
void SearchLog::Course::beginSearch(const std::string& reason) {
    const bool isOther = reason == "start" || reason == "restart" || reason == "lower r";
    if (!isOther && reason != "manual")
        return;
    firstOfSearch = counted;
    if (!isOther)
        return;
    attention.assign(attention.size(), {});
    mlp.assign(mlp.size(), {});
}

void SearchLog::Course::learn(const TrialFinished& trial) {
    const auto layers = static_cast<std::size_t>(std::max(trial.plan.layerCount, 0));
    if (attention.size() != layers) {
        attention.assign(layers, {});
        mlp.assign(layers, {});
    }
    const auto add = [&](std::vector<SublayerScores>& scores, const std::vector<int>& skipped) {
        for (std::size_t layer = 0; layer < layers; ++layer) {
            SublayerScores& score = scores[layer];
            const bool isSkipped = std::ranges::count(skipped, static_cast<int>(layer)) > 0;
            ++(isSkipped ? score.skipped : score.kept);
            (isSkipped ? score.skippedSum : score.keptSum) += trial.score;
        }
    };
    add(attention, trial.plan.skipped.attention);
    add(mlp, trial.plan.skipped.mlp);
}

} // namespace ui
