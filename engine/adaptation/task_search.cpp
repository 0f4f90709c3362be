// SPDX-License-Identifier: Apache-2.0
#include "engine/adaptation/task_search.h"

#include "engine/base/forward_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace engine {

namespace {

using Clock = ForwardClock;

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Ratios that differ by less are the same but for rounding.
constexpr double kSameRatio = 1e-9;

} // namespace

TaskSearch::TaskSearch(const SearchSettings& settings, SearchSurroundings surroundings)
    : m_settings(settings)
    , m_surroundings(std::move(surroundings))
    , m_choices(m_surroundings.config,
                settings.countsBytes ? BudgetUnit::Bytes : BudgetUnit::Sublayers) {}

Result<TaskSearch> TaskSearch::make(const SearchSettings& settings,
                                    SearchSurroundings surroundings,
                                    SearchReport& report) {
    TaskSearch search(settings, std::move(surroundings));
    const bool isManual = settings.start == StartSet::Manual;
    ENGINE_TRY_DO(search.begin(isManual ? "manual" : "start", report));
    return search;
}

/// Forgets everything but the count of trials and begins with the start set.
Result<void> TaskSearch::begin(std::string reason, SearchReport& report) {
    ENGINE_TRY(StartPlan start,
               StartSets(m_choices, m_settings)
                   .start(m_surroundings.influence,
                          m_surroundings.memory,
                          m_surroundings.task,
                          m_surroundings.stream));
    m_optimisation.begin(m_settings.growsRatio && start.ratio < m_settings.ratio);
    m_settlement.begin();
    m_isSettled = m_choices.space().dims() == 0 || m_settings.maxTrials == 0;
    m_watch.clear();
    m_trialsBefore = m_trials;
    m_ratioReason = std::move(start.ratioReason);
    const bool isForOtherRatios = m_settings.start == StartSet::Odd || start.ratio <= 0.0;
    aim(isForOtherRatios ? m_settings.ratio : start.ratio);
    m_incumbent = {.plan = start.plan, .ratio = start.ratio, .window = m_incumbent.window};
    wait(std::move(start.plan),
         m_settings.start == StartSet::Manual ? TrialKind::Manual : TrialKind::Start);
    reportPlan(std::move(reason), report);
    if (!start.note.empty())
        report.notes.push_back(std::move(start.note));
    return {};
}

void TaskSearch::aim(double ratio) {
    m_optimisation.aim(ratio, m_choices, m_surroundings.influence, m_settings);
}

/// A set that the user gave is scored whatever the settings say of start sets.
void TaskSearch::wait(LayerPlan plan, TrialKind kind) {
    m_waiting.reset();
    if (m_settings.scoresStart || kind == TrialKind::Manual)
        m_waiting = Waiting{std::move(plan), kind};
}

/// The decoder numbers it.
PlanChange TaskSearch::planChange(std::string reason) const {
    const bool isAsAsked = std::abs(m_incumbent.ratio - m_settings.ratio) < kSameRatio;
    return {.planId = 0,
            .plan = m_incumbent.plan,
            .skipRatio = m_incumbent.ratio,
            .reason = std::move(reason),
            .askedRatio = m_settings.ratio,
            .ratioReason = isAsAsked ? std::string() : m_ratioReason,
            .task = m_surroundings.task};
}

void TaskSearch::reportPlan(std::string reason, SearchReport& report) const {
    report.planChanges.push_back(planChange(std::move(reason)));
}

void TaskSearch::report(TrialRecord record, SearchReport& report) const {
    record.index = m_trials;
    record.best = m_incumbent.score;
    record.task = m_surroundings.task;
    report.trials.push_back(std::move(record));
}

Result<void> TaskSearch::advance(const ScoredWindow& window, SearchReport& report) {
    if (mustRescore(window))
        ENGINE_TRY_DO(rescore(window, report));
    return advanceByOnePass(window, report);
}

/// A start set that waits is scored anyway. Whether a larger r does well enough hangs on no other
/// score, so the set of a smaller one is scored again before it only where few tokens flattered it.
bool TaskSearch::mustRescore(const ScoredWindow& window) const {
    const bool canWait = m_waiting && (m_waiting->plan == m_incumbent.plan ||
                                       m_incumbent.tokens >= window.expected.size());
    return m_settings.rescores && m_incumbent.window != window.id && !canWait && !isOver();
}

Result<void> TaskSearch::advanceByOnePass(const ScoredWindow& window, SearchReport& report) {
    if (hasUnscoredManualSet())
        return measureWaiting(window, report);
    if (isOver())
        return {};
    if (mustRescore(window))
        return rescore(window, report);
    return m_waiting ? measureWaiting(window, report) : measureCandidate(window, report);
}

Result<TrialRecord>
TaskSearch::measure(const Trial& trial, const ScoredWindow& window, bool counts) {
    const auto start = Clock::now();
    ENGINE_TRY(Matchness matchness, window.score(trial.plan));
    m_optimisation.record(trial, matchness.score);
    TrialRecord record;
    record.kind = trialKindName(trial.kind);
    record.counts = counts;
    record.score = matchness.score;
    record.plan = trial.plan;
    record.ticks = std::move(matchness.matches);
    record.guesses = std::move(matchness.guesses);
    record.window.assign(window.expected.begin(), window.expected.end());
    record.scoreMs = millisecondsSince(start);
    return record;
}

/// The start set: no trial, but what candidates are measured against from here on. While r grows,
/// the least-influence set of a larger ratio: a trial like any other.
Result<void> TaskSearch::measureWaiting(const ScoredWindow& window, SearchReport& report) {
    const Trial trial = makeTrial(m_waiting->kind, m_choices.space(), m_waiting->plan);
    const bool isInstalled = trial.plan == m_incumbent.plan;
    ENGINE_TRY(TrialRecord record, measure(trial, window, !isInstalled));
    m_waiting.reset();
    record.isBest = isInstalled || beatsIncumbent(record.score);
    if (!isInstalled)
        count(record.isBest);
    if (record.isBest) {
        const double ratio = isInstalled ? m_incumbent.ratio : m_optimisation.ratio();
        m_incumbent = {trial.plan, record.score, ratio, window.id, window.expected.size()};
        if (!isInstalled)
            reportPlan("larger r", report);
    }
    this->report(std::move(record), report);
    endTrial(report);
    return {};
}

Result<void> TaskSearch::rescore(const ScoredWindow& window, SearchReport& report) {
    const Trial trial = makeTrial(TrialKind::Rescore, m_choices.space(), m_incumbent.plan);
    ENGINE_TRY(TrialRecord record, measure(trial, window, false));
    m_incumbent.score = record.score;
    m_incumbent.window = window.id;
    m_incumbent.tokens = window.expected.size();
    record.isBest = true;
    this->report(std::move(record), report);
    settleIfDone(report);
    return {};
}

Result<void> TaskSearch::measureCandidate(const ScoredWindow& window, SearchReport& report) {
    const auto start = Clock::now();
    ENGINE_TRY(const Trial trial, m_optimisation.propose(m_settings, window.stop));
    const double suggestMs = millisecondsSince(start);
    ENGINE_TRY(TrialRecord record, measure(trial, window, true));
    record.suggestMs = suggestMs;
    record.isBest = beatsIncumbent(record.score);
    count(record.isBest);
    if (record.isBest) {
        const double ratio = m_optimisation.ratio();
        const bool isLarger = ratio > m_incumbent.ratio;
        m_incumbent = {trial.plan, record.score, ratio, window.id, window.expected.size()};
        reportPlan(isLarger ? "larger r" : "better", report);
    }
    this->report(std::move(record), report);
    endTrial(report);
    return {};
}

/// A larger ratio need not do better than a smaller one, only well enough.
bool TaskSearch::beatsIncumbent(double score) const {
    if (m_optimisation.isGrowing() && m_optimisation.ratio() > m_incumbent.ratio)
        return score >= m_settings.growScore;
    return score > m_incumbent.score;
}

void TaskSearch::count(bool isBetter) {
    ++m_trials;
    m_optimisation.count(isBetter);
}

void TaskSearch::endTrial(SearchReport& report) {
    if (m_optimisation.isGrowing())
        grow(report);
    settleIfDone(report);
}

void TaskSearch::settleIfDone(SearchReport& report) {
    if (m_isSettled)
        return;
    std::string end = m_optimisation.end(m_incumbent.score, m_settings);
    if (end.empty())
        return;
    report.notes.push_back(std::move(end));
    m_isSettled = true;
    m_watch.clear();
}

/// While r grows: on to a larger one when this one does well enough, back when it does not.
void TaskSearch::grow(SearchReport& report) {
    const double ratio = m_optimisation.ratio();
    const bool isProven = m_incumbent.ratio == ratio && m_incumbent.score >= m_settings.growScore;
    if (!isProven) {
        if (!m_waiting && m_optimisation.isRatioTried())
            endGrowth(report);
        return;
    }
    if (ratio + kSameRatio >= m_settings.ratio) {
        endGrowth(report);
        return;
    }
    const double larger = std::min(m_settings.ratio, ratio + m_settings.ratioStep);
    aim(larger);
    m_waiting = Waiting{m_choices.leastInfluence(m_surroundings.influence, larger)};
}

/// The search goes on at the ratio of the incumbent.
void TaskSearch::endGrowth(SearchReport& report) {
    m_waiting.reset();
    m_optimisation.endGrowth();
    if (m_optimisation.ratio() != m_incumbent.ratio)
        aim(m_incumbent.ratio);
    const long percent = std::lround(m_incumbent.ratio * 100.0);
    report.notes.push_back(
        m_incumbent.ratio + kSameRatio >= m_settings.ratio
            ? fmt::format("The search has reached {} % skipped (matchness {:.2f}).",
                          percent,
                          m_incumbent.score)
            : fmt::format("The search stays at {} % skipped: above that too few drafts match "
                          "(matchness {:.2f}).",
                          percent,
                          m_incumbent.score));
}

void TaskSearch::observe(const DecodeStep& step,
                         const std::vector<double>& influence,
                         SearchReport& report) {
    m_surroundings.influence = influence;
    const bool isDraftedByPlan = step.planId != 0 && step.draft.draftSteps() > 0;
    if (!isDraftedByPlan || !m_settings.isOn)
        return;
    const int accepted = static_cast<int>(step.path.size());
    const auto acceptance = m_watch.add(accepted, step.draft.draftSteps());
    if (!acceptance)
        return;
    if (m_isSettled)
        if (const auto before = m_settlement.fallenFrom(*acceptance, m_settings.restartDrop)) {
            report.notes.push_back(
                fmt::format("Acceptance fell from {:.2f} to {:.2f}, so the search starts again.",
                            *before,
                            *acceptance));
            if (auto begun = begin("restart", report); !begun)
                report.notes.push_back(begun.error().message);
            return;
        }
    const bool isTried = m_trials - m_trialsBefore >= 2 * m_settings.bayesianEvery || m_isSettled;
    if (*acceptance < m_settings.lowerBelow && isTried && !m_optimisation.isGrowing())
        lowerRatio(*acceptance, report);
}

/// Source: arXiv 2410.06916 appendix C.2.
void TaskSearch::lowerRatio(double acceptance, SearchReport& report) {
    const double lower =
        std::max(m_settings.minimumRatio, m_incumbent.ratio - m_settings.ratioStep);
    if (lower > m_incumbent.ratio - kSameRatio || m_choices.space().dims() == 0)
        return;
    report.notes.push_back(
        fmt::format("r was lowered from {:.2f} to {:.2f}: of the last {} drafted tokens only {} % "
                    "were accepted.",
                    m_incumbent.ratio,
                    lower,
                    AcceptanceWatch::kStretch,
                    std::lround(acceptance * 100.0)));
    const bool isInformed =
        m_settings.start == StartSet::Influence || m_settings.start == StartSet::Stream;
    LayerPlan plan = isInformed ? m_choices.leastInfluence(m_surroundings.influence, lower)
                                : m_choices.space().uniform(lower);
    aim(lower);
    m_ratioReason = fmt::format("r was lowered: only {} % of {} drafted tokens in a row were "
                                "accepted, less than {} %.",
                                std::lround(acceptance * 100.0),
                                AcceptanceWatch::kStretch,
                                std::lround(m_settings.lowerBelow * 100.0));
    m_incumbent = {.plan = plan, .ratio = lower, .window = m_incumbent.window};
    wait(std::move(plan), TrialKind::Start);
    m_optimisation.beginAgain(m_settings);
    m_settlement.begin();
    m_isSettled = m_settings.maxTrials == 0;
    reportPlan("lower r", report);
}

} // namespace engine
