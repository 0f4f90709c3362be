// SPDX-License-Identifier: Apache-2.0
#include "plugins/swift/task_search.h"

#include "engine/base/forward_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace swift {

using namespace engine;

namespace {

using Clock = ForwardClock;

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Candidates tried at one ratio before growing gives up on it.
constexpr int kTrialsPerLevel = 8;

/// Trials at a lowered ratio before they grow rare again.
constexpr int kQuickTrialsWhenLowered = 15;

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
    ENGINE_TRY_DO(search.beginSearch(isManual ? "manual" : "start", report));
    return search;
}

PlanChange TaskSearch::describe(std::string reason) const {
    return {.planId = 0,
            .plan = m_incumbent,
            .skipRatio = m_incumbentRatio,
            .reason = std::move(reason)};
}

/// Forgets everything but the count of trials and begins with the start set.
Result<void> TaskSearch::beginSearch(std::string_view reason, SearchReport& report) {
    ENGINE_TRY(Start start,
               StartSets(m_choices, m_settings)
                   .start(m_surroundings.influence, m_surroundings.memory, m_surroundings.task));
    m_isGrowing = m_settings.growsRatio && start.ratio < m_settings.ratio;
    m_searchTrials = m_idle = m_levelTrials = 0;
    m_trialsBefore = m_trials;
    m_pace = 0;
    m_isOver = m_choices.space().dims() == 0 || m_settings.maxTrials == 0;
    m_acceptanceSum = 0.0;
    m_stretches = 0;
    m_watch.clear();
    prepareSearches(start.ratio > 0.0 ? start.ratio : m_settings.ratio);
    install(start.plan, 0.0, start.ratio);
    waitForScore(std::move(start.plan),
                 m_settings.start == StartSet::Manual ? TrialKind::Manual : TrialKind::Start);
    report.planChanges.push_back(describe(std::string(reason)));
    if (!start.remark.empty())
        report.remarks.push_back(std::move(start.remark));
    return {};
}

/// New searches for sets of this ratio: what was learnt about others says little about them.
void TaskSearch::prepareSearches(double ratio) {
    m_ratio = ratio;
    if (m_choices.space().dims() == 0)
        return;
    LayerSearchOptions options{.space = m_choices.space(),
                               .budget = m_choices.budget(ratio),
                               .seed = m_settings.seed + static_cast<std::uint64_t>(m_searches++),
                               .weights = {}};
    if (m_settings.followsInfluence)
        options.weights = m_choices.weights(m_surroundings.influence);
    BayesianOptions bayesian;
    bayesian.maximiser = m_settings.maximiser;
    bayesian.registerContinuousPoint = m_settings.isAsPublished;
    bayesian.tieBreak = m_settings.isAsPublished ? TieBreak::Lexicographic : TieBreak::Seeded;
    m_random = makeRandomSearch(options);
    m_bayesian = makeBayesianSearch(options, bayesian);
}

/// A set that the user gave is scored whatever the settings say of start sets.
void TaskSearch::waitForScore(LayerPlan plan, TrialKind kind) {
    m_startPlan = std::move(plan);
    m_startKind = kind;
    m_startWaits = m_settings.scoresStart || kind == TrialKind::Manual;
}

void TaskSearch::install(const LayerPlan& plan, double score, double ratio) {
    m_incumbent = plan;
    m_incumbentRatio = ratio;
    m_best = score;
}

double TaskSearch::rowsToNextTrial() const {
    if (m_settings.trialsToDouble == 0)
        return m_settings.rowsPerTrial;
    const int further = std::max(0, m_pace - m_settings.quickTrials);
    return m_settings.rowsPerTrial *
           std::exp2(static_cast<double>(further) / m_settings.trialsToDouble);
}

Result<void> TaskSearch::advance(const ScoredWindow& window, SearchReport& report) {
    if (hasUnscoredManualSet())
        return measureStart(window, report);
    if (isOver())
        return {};
    if (m_startWaits)
        return measureStart(window, report);
    if (m_settings.rescores && m_scoredWindow != window.id)
        ENGINE_TRY_DO(rescore(window, report));
    return isOver() ? Result<void>() : measureCandidate(window, report);
}

Result<TrialRecord>
TaskSearch::measure(const Trial& trial, const ScoredWindow& window, bool counts) {
    const auto start = Clock::now();
    ENGINE_TRY(Matchness matchness, window.score(trial.plan));
    if (m_random && m_bayesian) { // without sublayers to choose from there is nothing to learn
        m_random->record(trial, matchness.score);
        m_bayesian->record(trial, matchness.score);
    }
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

/// The start set: no trial, but what candidates are measured against from here on. While growing,
/// the least-influence set of a larger ratio: a trial like any other.
Result<void> TaskSearch::measureStart(const ScoredWindow& window, SearchReport& report) {
    const Trial trial = makeTrial(m_startKind, m_choices.space(), m_startPlan);
    const bool isInstalled = m_startPlan == m_incumbent;
    ENGINE_TRY(TrialRecord record, measure(trial, window, !isInstalled));
    m_startWaits = false;
    const bool isBetter = isInstalled || beatsIncumbent(record.score);
    if (!isInstalled)
        countTrial(isBetter);
    if (isBetter) {
        install(m_startPlan, record.score, isInstalled ? m_incumbentRatio : m_ratio);
        m_scoredWindow = window.id;
        record.isBest = true;
        if (!isInstalled)
            report.planChanges.push_back(describe("larger r"));
    }
    record.index = m_trials;
    record.best = m_best;
    report.trials.push_back(std::move(record));
    if (m_isGrowing)
        grow(report);
    endIfDone(report);
    return {};
}

Result<void> TaskSearch::rescore(const ScoredWindow& window, SearchReport& report) {
    const Trial trial = makeTrial(TrialKind::Rescore, m_choices.space(), m_incumbent);
    ENGINE_TRY(TrialRecord record, measure(trial, window, false));
    m_best = record.score;
    m_scoredWindow = window.id;
    record.index = m_trials;
    record.best = m_best;
    record.isBest = true;
    report.trials.push_back(std::move(record));
    endIfDone(report);
    return {};
}

Result<Trial> TaskSearch::nextTrial(std::stop_token stop) {
    const bool isBayesian =
        m_settings.usesBayesian && (m_searchTrials + 1) % m_settings.bayesianEvery == 0;
    return (isBayesian ? m_bayesian : m_random)->nextTrial(std::move(stop));
}

Result<void> TaskSearch::measureCandidate(const ScoredWindow& window, SearchReport& report) {
    const auto start = Clock::now();
    ENGINE_TRY(const Trial trial, nextTrial(window.stop));
    const double suggestMs = millisecondsSince(start);
    ENGINE_TRY(TrialRecord record, measure(trial, window, true));
    record.suggestMs = suggestMs;
    record.isBest = beatsIncumbent(record.score);
    countTrial(record.isBest);
    if (record.isBest) {
        const bool isLarger = m_ratio > m_incumbentRatio;
        install(record.plan, record.score, m_ratio);
        m_scoredWindow = window.id;
        report.planChanges.push_back(describe(isLarger ? "larger r" : "better"));
    }
    record.index = m_trials;
    record.best = m_best;
    report.trials.push_back(std::move(record));
    if (m_isGrowing)
        grow(report);
    endIfDone(report);
    return {};
}

/// A larger ratio need not do better than a smaller one, only well enough.
bool TaskSearch::beatsIncumbent(double score) const {
    if (m_isGrowing && m_ratio > m_incumbentRatio)
        return score >= m_settings.growScore;
    return score > m_best;
}

void TaskSearch::countTrial(bool isBetter) {
    ++m_trials;
    ++m_searchTrials;
    ++m_levelTrials;
    ++m_pace;
    m_idle = isBetter ? 0 : m_idle + 1;
}

/// The limits. The published code exceeds patience and S by one before it stops.
void TaskSearch::endIfDone(SearchReport& report) {
    if (m_isOver || m_isGrowing)
        return;
    const int slack = m_settings.isAsPublished ? 1 : 0;
    if (m_best > m_settings.stopScore)
        report.remarks.push_back(fmt::format(
            "The search is over: matchness {:.3f} is above {:.2f}.", m_best, m_settings.stopScore));
    else if (m_idle >= m_settings.patience + slack)
        report.remarks.push_back(
            fmt::format("The search is over: {} trials in a row found nothing better.", m_idle));
    else if (m_searchTrials >= m_settings.maxTrials + slack)
        report.remarks.push_back(
            fmt::format("The search is over: all {} trials are done.", m_searchTrials));
    else
        return;
    m_isOver = true;
    m_watch.clear();
}

/// While growing: on to a larger ratio when this one does well enough, back when it does not.
void TaskSearch::grow(SearchReport& report) {
    const bool isProven = m_incumbentRatio == m_ratio && m_best >= m_settings.growScore;
    if (!isProven) {
        if (!m_startWaits && m_levelTrials >= kTrialsPerLevel)
            settle(report);
        return;
    }
    if (m_ratio + kSameRatio >= m_settings.ratio) {
        settle(report);
        return;
    }
    const double larger = std::min(m_settings.ratio, m_ratio + m_settings.ratioStep);
    prepareSearches(larger);
    m_levelTrials = 0;
    m_startPlan = m_choices.leastInfluence(m_surroundings.influence, larger);
    m_startKind = TrialKind::Start;
    m_startWaits = true;
}

/// Growing is over: the search goes on at the ratio of the incumbent.
void TaskSearch::settle(SearchReport& report) {
    m_isGrowing = false;
    m_startWaits = false;
    m_idle = 0;
    if (m_ratio != m_incumbentRatio)
        prepareSearches(m_incumbentRatio);
    const long percent = std::lround(m_incumbentRatio * 100.0);
    report.remarks.push_back(
        m_incumbentRatio + kSameRatio >= m_settings.ratio
            ? fmt::format(
                  "The search has reached {} % skipped (matchness {:.2f}).", percent, m_best)
            : fmt::format("The search stays at {} % skipped: above that too few drafts match "
                          "(matchness {:.2f}).",
                          percent,
                          m_best));
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
    if (m_isOver && m_settings.restartDrop > 0.0) {
        const double reference = m_stretches == 0 ? *acceptance : m_acceptanceSum / m_stretches;
        if (reference - *acceptance >= m_settings.restartDrop) {
            report.remarks.push_back(
                fmt::format("Acceptance fell from {:.2f} to {:.2f}, so the search starts again.",
                            reference,
                            *acceptance));
            if (auto begun = beginSearch("restart", report); !begun)
                report.remarks.push_back(begun.error().message);
            return;
        }
        m_acceptanceSum += *acceptance;
        ++m_stretches;
    }
    const bool isTried = m_trials - m_trialsBefore >= 2 * m_settings.bayesianEvery || m_isOver;
    if (*acceptance < m_settings.lowerBelow && isTried && !m_isGrowing)
        lowerRatio(*acceptance, report);
}

/// Source: arXiv 2410.06916 appendix C.2; the rule is swift.md 2.4.
void TaskSearch::lowerRatio(double acceptance, SearchReport& report) {
    const double lower = std::max(m_settings.minimumRatio, m_incumbentRatio - m_settings.ratioStep);
    if (lower > m_incumbentRatio - kSameRatio || m_choices.space().dims() == 0)
        return;
    report.remarks.push_back(
        fmt::format("r was lowered from {:.2f} to {:.2f}: of the last {} drafted tokens only {} % "
                    "were accepted.",
                    m_incumbentRatio,
                    lower,
                    AcceptanceWatch::kStretch,
                    std::lround(acceptance * 100.0)));
    prepareSearches(lower);
    waitForScore(m_settings.start == StartSet::Influence
                     ? m_choices.leastInfluence(m_surroundings.influence, lower)
                     : m_choices.space().uniform(lower),
                 TrialKind::Start);
    install(m_startPlan, 0.0, lower);
    m_searchTrials = m_idle = 0;
    m_pace = std::min(m_pace, m_settings.quickTrials - kQuickTrialsWhenLowered);
    m_isOver = m_settings.maxTrials == 0;
    m_acceptanceSum = 0.0;
    m_stretches = 0;
    report.planChanges.push_back(describe("lower r"));
}

} // namespace swift
