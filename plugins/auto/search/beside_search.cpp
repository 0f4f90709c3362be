// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/search/beside_search.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace automatic {

using namespace engine;

namespace {

/// Tokens of the answer that sets are scored on, and the fewest that say anything.
constexpr int kBesideWindow = 32;
constexpr int kShortestBesideWindow = 8;

/// Tokens behind them on which the best set is tried: those that it was chosen by flatter it.
constexpr int kReplayedTokens = 64;
constexpr int kFewestReplayed = 16;

/// Rows whose influence must be known before a start set is made of it.
constexpr long kBesideRows = 16;

/// Time long past pays for no burst of trials.
constexpr double kMostBesideTrialsSaved = 2.0;

/// Windows of one answer are told apart by their length.
constexpr std::uint64_t kBesideWindowsPerAnswer = 1U << 16U;

/// SWIFT's profile "guided", with an end that a pause can reach: a few hundred passes.
SearchSettings besideSettings(StartSet start) {
    SearchSettings settings;
    settings.start = start;
    settings.window = kBesideWindow;
    settings.maxTrials = 200;
    settings.patience = 75;
    settings.followsInfluence = true;
    settings.countsBytes = true;
    settings.growsRatio = true;
    settings.maximiser = BayesianMaximiser::Discrete;
    return settings;
}

/// The answer's first tokens, as SWIFT takes them.
MatchnessWindow besideWindow(const Target& target, int comparisons) {
    const auto count = static_cast<std::ptrdiff_t>(comparisons);
    const auto inputs = target.output();
    const auto expected = target.outputArgmax();
    return {target.promptLength(),
            {inputs.begin(), inputs.begin() + count},
            {expected.begin() + 1, expected.begin() + 1 + count}};
}

int comparisonsOf(const Target& target) {
    return std::min(static_cast<int>(target.output().size()) - 1, kBesideWindow);
}

} // namespace

void BesideSearch::begin(std::string_view task, SkipSetMemory* memory) {
    m_memory = memory;
    m_task = task;
    ++m_answer;
    const auto known = m_tasks.find(task);
    m_state = known == m_tasks.end() ? nullptr : &known->second;
}

const LayerPlan* BesideSearch::best() const {
    const bool isScored = m_state != nullptr && m_state->search.isScored();
    return isScored ? &m_state->search.plan() : nullptr;
}

const Replay* BesideSearch::replay() const {
    const bool isOfBest = best() != nullptr && m_state->replayed == *best();
    return isOfBest && !m_state->replay.rounds.empty() ? &m_state->replay : nullptr;
}

bool BesideSearch::hasWindow(const Target& target) {
    return comparisonsOf(target) >= kShortestBesideWindow;
}

/// Begins with what an earlier run has stored for the task.
Result<void> BesideSearch::prepare(Target& target, SearchReport& report) {
    if (m_state != nullptr || target.influence().rows() < kBesideRows)
        return {};
    bool isStored = false;
    if (m_memory != nullptr) {
        const auto found = m_memory->find(m_task);
        isStored = found && found.value().has_value();
    }
    SearchReport begun;
    ENGINE_TRY(TaskSearch search,
               TaskSearch::make(besideSettings(isStored ? StartSet::Library : StartSet::Influence),
                                {m_config, m_memory, m_task, target.influence().means()},
                                begun));
    for (PlanChange& change : begun.planChanges) {
        change.isBeside = true;
        report.planChanges.push_back(std::move(change));
    }
    LayerPlan stored = isStored ? search.plan() : LayerPlan();
    m_state =
        &m_tasks.emplace(m_task, TaskState{std::move(search), std::move(stored)}).first->second;
    return {};
}

/// What a trial will take at most: before any pass of several rows was measured, each row may cost
/// as much as a pass of its own.
double BesideSearch::expectedMs(const StepCosts& costs, int rows) const {
    bool isMeasured = false;
    for (int measured = 2; measured <= rows; ++measured)
        isMeasured = isMeasured || costs.samples(measured) > 0;
    const double relative = isMeasured ? costs.relativeCost(rows) : rows;
    return std::max(relative * costs.oneRowMs(), m_msPerRow * rows);
}

/// The first trial takes the shortest window, so that a first answer can pay for it.
Result<void> BesideSearch::advance(Target& target, const StepCosts& costs, SearchReport& report) {
    ENGINE_TRY_DO(prepare(target, report));
    if (m_state == nullptr || isOver())
        return {};
    const int rows = m_state->search.isScored() ? kBesideWindow : kShortestBesideWindow;
    const double neededMs = expectedMs(costs, rows);
    m_purseMs = std::min(m_purseMs, kMostBesideTrialsSaved * neededMs);
    if (comparisonsOf(target) < rows || m_purseMs < neededMs)
        return {};
    const double startMs = target.nowMs();
    auto tried = tryOne(target, rows, target.stop(), report);
    const double ms = target.nowMs() - startMs;
    m_purseMs -= ms;
    report.searchMs += ms;
    if (tried)
        m_msPerRow = std::max(m_msPerRow, ms / rows);
    return tried;
}

Result<bool> BesideSearch::usePause(Target& target,
                                    const StepCosts& costs,
                                    const std::stop_token& stop,
                                    SearchReport& report) {
    ENGINE_TRY_DO(prepare(target, report));
    if (m_state == nullptr || !hasWindow(target))
        return false;
    if (mustReplay(target)) {
        ENGINE_TRY_DO(replayBest(target, costs));
        return true;
    }
    if (isOver())
        return false;
    ENGINE_TRY_DO(tryOne(target, comparisonsOf(target), stop, report));
    if (isOver())
        if (std::string sentence = storeOne(m_task, *m_state); !sentence.empty())
            report.notes.push_back(std::move(sentence));
    return true;
}

/// Each answer is replayed once with each set that is the best one in its pause.
bool BesideSearch::mustReplay(Target& target) const {
    const int known = static_cast<int>(target.output().size()) - 1 - kBesideWindow;
    const bool isReplayed =
        m_state->lastReplay == m_answer && m_state->replayed == m_state->search.plan();
    const bool hasRoom = target.cache().capacity() - target.length() >= kFewestReplayed;
    return m_state->search.isScored() && known >= kFewestReplayed && hasRoom && !isReplayed;
}

Result<void> BesideSearch::replayBest(Target& target, const StepCosts& costs) {
    const LayerPlan& best = m_state->search.plan();
    DraftWorth worth =
        m_state->replayed == best ? m_state->worth : DraftWorth(m_state->search.bestScore());
    ENGINE_TRY(const Replay made,
               replayAnswer(target, best, {kBesideWindow, kReplayedTokens}, costs, worth));
    if (m_state->replayed != best)
        m_state->replay = {};
    m_state->replayed = best;
    m_state->worth = worth;
    m_state->replay.add(made);
    m_state->lastReplay = m_answer;
    return {};
}

/// What the search says of its course in sentences is left out: they speak of drafts.
Result<void> BesideSearch::tryOne(Target& target,
                                  int comparisons,
                                  const std::stop_token& stop,
                                  SearchReport& report) {
    const MatchnessWindow context = besideWindow(target, comparisons);
    const ScoredWindow scored{
        m_answer * kBesideWindowsPerAnswer + static_cast<unsigned>(comparisons),
        [&](const LayerPlan& plan) {
            return matchness(target.transformer(), target.cache(), plan, context);
        },
        context.expected,
        stop};
    SearchReport made;
    ENGINE_TRY_DO(m_state->search.advanceByOnePass(scored, made));
    for (TrialRecord& trial : made.trials) {
        trial.isBeside = true;
        report.trials.push_back(std::move(trial));
    }
    for (PlanChange& change : made.planChanges) {
        change.isBeside = true;
        report.planChanges.push_back(std::move(change));
    }
    return {};
}

std::vector<std::string> BesideSearch::store() {
    std::vector<std::string> sentences;
    for (auto& [task, state] : m_tasks)
        if (std::string sentence = storeOne(task, state); !sentence.empty())
            sentences.push_back(std::move(sentence));
    return sentences;
}

std::string BesideSearch::storeOne(const std::string& task, TaskState& state) {
    const TaskSearch& search = state.search;
    const bool isTried = search.isScored() && search.trials() > 0;
    if (m_memory == nullptr || !isTried || search.plan() == state.stored)
        return {};
    state.stored = search.plan();
    const auto kept = m_memory->store(task,
                                      {.set = skipSetOf(search.plan()),
                                       .score = search.bestScore(),
                                       .skipRatio = search.ratio(),
                                       .decoder = std::string(kBesideFinder),
                                       .savedAt = static_cast<std::int64_t>(std::time(nullptr)),
                                       .trials = search.trials()});
    return kept ? kept.value() : notStored("A skip set", kept.error());
}

} // namespace automatic
