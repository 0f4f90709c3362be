// SPDX-License-Identifier: Apache-2.0
// When auto tries plans, what a trial may cost, and what is stored of it.
#include "engine/model/weight_share.h"
#include "engine/search/matchness.h"
#include "engine/search/stream/stream_front.h"
#include "plugins/auto/auto_decoder.h"

#include <algorithm>
#include <ctime>
#include <numeric>

namespace automatic {

using namespace engine;

namespace {

/// Tokens of the answer that a plan is scored on: the newest ones.
constexpr int kWindow = 16;
constexpr int kShortestWindow = 8;

/// Rows and plain steps that must be known before anything is judged.
constexpr long kRowsToJudge = 16;
constexpr int kStepsToJudge = 4;

/// Passes that are made only to measure them: two of so many rows, if no draft has shown what rows
/// cost, and so many draft passes.
constexpr int kPricedRows = 4;
constexpr int kMostPricedRows = 16;
constexpr int kDraftsToJudge = 3;

/// Steps between two judgements: they cost a tenth of a millisecond.
constexpr long kStepsBetween = 32;

} // namespace

/// A score from few tokens is drawn towards one half: as if half of one more token had been right.
double AutoDecoder::believedScore(const Matchness& matchness) {
    const auto count = static_cast<double>(matchness.matches.size());
    return (matchness.score * count + 0.5) / (count + 1.0);
}

bool AutoDecoder::isSearching() const {
    return m_settings.skipsLayers && m_settings.probing > 0.0 && m_search.isWorthIt(trialCost());
}

/// What a search is worth is known only with the prices.
bool AutoDecoder::searchesItself() const { return hasPrices() && isSearching(); }

/// In plain steps; before the first trial a guess that is too high.
double AutoDecoder::trialCost() const {
    return m_trialCost > 0.0 ? m_trialCost : m_costs.relativeCost(kWindow);
}

int AutoDecoder::windowLength() const {
    return std::min(static_cast<int>(m_target.output().size()) - 1, kWindow);
}

/// The newest tokens of the answer, and what the model predicted at each.
MatchnessWindow AutoDecoder::newestWindow() const {
    const int count = windowLength();
    const auto inputs = m_target.output().last(static_cast<std::size_t>(count) + 1);
    const auto expected = m_target.outputArgmax().last(static_cast<std::size_t>(count));
    return {m_target.length() - count,
            {inputs.begin(), inputs.end() - 1},
            {expected.begin(), expected.end()}};
}

void AutoDecoder::judge() {
    const std::vector<double> influence = m_target.influence().means();
    double presentRate = m_skip.hasPlan() ? m_skip.promise().rate() : 1.0;
    if (adapterPays())
        presentRate = std::max(presentRate, m_adapter->shownPromise().rate());
    if (m_copy.hasPlan() && m_settings.usesCopy)
        presentRate = std::max(presentRate, m_copy.shownPromise().rate());
    m_search.judge({.influence = influence,
                    .costs = m_costs,
                    .rounds = m_rounds,
                    .presentRate = presentRate,
                    .leastRate = 1.0 + m_settings.margin,
                    .maxNodes = m_settings.maxNodes,
                    .elapsed = m_elapsed});
}

/// Tries a plan if the purse allows it and a search is worth its time; now and then even if not.
Result<void> AutoDecoder::tryPlans() {
    const bool isWanted = m_settings.skipsLayers || m_settings.exitsEarly;
    if (!isWanted || m_settings.probing <= 0.0 || m_costs.samples(1) < kStepsToJudge ||
        m_target.influence().rows() < kRowsToJudge)
        return {};
    if (m_steps % kStepsBetween == 0)
        judge();
    const bool isProbe = !isSearching();
    const bool isSuggested = m_search.canTrySuggestion(wanted());
    const bool isTime = isSuggested || m_elapsed >= m_probeAt;
    if (isProbe && (!isTime || !m_search.couldPay(wanted())))
        return {};
    if (!hasPrices() && !isSuggested)
        return m_purse < 1.0 ? Result<void>() : measurePrice();
    const int streamLayers = isProbe ? 0 : m_search.streamLayers(wanted());
    const double streamed = trialCost() + streamCost(streamLayers);
    const bool follows = streamLayers > 0 && m_search.isWorthIt(streamed);
    if (windowLength() < kShortestWindow || m_purse < (follows ? streamed : trialCost()))
        return {};
    if (follows)
        ENGINE_TRY_DO(followStream(streamLayers));
    ENGINE_TRY(const auto candidate, m_search.next(wanted(), isProbe, m_target.stop()));
    if (isProbe)
        m_probeAt = m_settings.probing < 1.0 ? 2.0 * m_elapsed : 0.0;
    if (!candidate)
        return {};
    ENGINE_TRY_DO(tryCandidate(*candidate));
    judge();
    return {};
}

/// Whether the costs of rows and draft passes are known, so that nothing is tried that cannot pay.
bool AutoDecoder::hasPrices() const {
    return hasRowPrice() && m_costs.draftSamples() >= kDraftsToJudge;
}

bool AutoDecoder::hasRowPrice() const {
    for (int rows = 2; rows <= 2 * kPricedRows; ++rows)
        if (m_costs.samples(rows) > 0)
            return true;
    return false;
}

Result<void> AutoDecoder::measurePrice() {
    const double startMs = m_target.nowMs();
    ENGINE_TRY_DO(priceOne(1.0));
    spend(m_target.nowMs() - startMs);
    return {};
}

/// Makes a pass of the newest token only to measure it, its rows one behind the other; the next
/// pass overwrites them.
Result<double> AutoDecoder::passMs(const LayerPlan& plan, int rowCount) {
    const std::vector<TokenId> tokens(static_cast<std::size_t>(rowCount), m_target.pending());
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    const AttentionLayout layout = AttentionLayout::chain(m_target.length(), rowCount);
    const bool isGreedy = m_target.sampler().isGreedy();
    const double startMs = m_target.nowMs();
    ENGINE_TRY_DO(m_target.transformer().forward(
        {.plan = plan,
         .layout = layout,
         .tokens = tokens,
         .logitRows = isGreedy ? std::span<const int>() : std::span<const int>(rows),
         .summaryRows = rows},
        m_target.cache()));
    return m_target.nowMs() - startMs;
}

/// Rows of a verification as SWIFT makes it.
int AutoDecoder::treeRows() {
    return std::min(m_target.transformer().preferredTreeNodes() + 1, kMostPricedRows);
}

/// Of the output head, that a draft pass reads.
double AutoDecoder::headPart() const {
    return DraftHead::keptShare(m_target.transformer(), m_settings.vocabularyShare);
}

/// What the passes of such a plan read under the present settings.
PassShares AutoDecoder::sharesOf(const LayerPlan& plan) const {
    const Transformer& transformer = m_target.transformer();
    PassShares shares = PassShares::of(plan, transformer.config(), headPart());
    shares.draft = weightShare(plan, transformer, headPart());
    return shares;
}

/// Measures a pass whose price is missing, that of SWIFT's trees last. `slowdown`: how much longer
/// it would take beside an answer.
Result<void> AutoDecoder::priceOne(double slowdown) {
    const ModelConfig& config = m_target.transformer().config();
    const bool isOfRows = !hasRowPrice() || hasPrices();
    const LayerPlan plan = isOfRows ? LayerPlan::full(config.layerCount) : m_search.halfPlan();
    const int rowCount = !isOfRows ? 1 : hasRowPrice() ? treeRows() : kPricedRows;
    ENGINE_TRY(const double measuredMs, passMs(plan, rowCount));
    const double ms = measuredMs * slowdown;
    if (isOfRows && m_rowPrice.rows != rowCount)
        m_rowPrice = {rowCount, ms}; // the faster one of two: a thread may have lost its core
    else if (isOfRows)
        m_costs.recordFirst(rowCount, std::min(ms, m_rowPrice.ms));
    else
        m_costs.recordDraft(weightShare(plan, config), ms);
    if (hasPrices())
        judge();
    return {};
}

void AutoDecoder::spend(double ms) {
    m_report.searchMs += ms;
    m_elapsed += ms / m_costs.oneRowMs();
    pay(ms / m_costs.oneRowMs());
}

/// What is paid for Auto's own trying is not there for the search beside.
void AutoDecoder::pay(double plainSteps) {
    m_purse -= plainSteps;
    m_beside.pay(plainSteps * m_costs.oneRowMs());
}

Result<void> AutoDecoder::tryCandidate(const Candidate& candidate) {
    const double startMs = m_target.nowMs();
    const MatchnessWindow window = newestWindow();
    ENGINE_TRY(Matchness matchness,
               engine::matchness(m_target.transformer(),
                                 m_target.cache(),
                                 candidate.plan,
                                 window,
                                 MatchnessKeys::Target));
    const double score = believedScore(matchness);
    const PlanDrafter& drafter = candidate.isExit() ? m_exit : m_skip;
    const Promise promise =
        bestChain(DraftPass::of(score, candidate.shares, m_costs), m_costs, m_settings.maxNodes);
    const double present = drafter.hasPlan() ? drafter.promise().rate() : 0.0;
    const bool isAdopted = promise.rate() > std::max(present, 1.0 + m_settings.margin) &&
                           !(drafter.hasPlan() && drafter.plan().plan == candidate.plan);
    ++m_trials;
    if (isAdopted)
        adopt(candidate, score);
    m_search.learn(candidate, matchness.score, isAdopted);
    const double scoreMs = m_target.nowMs() - startMs;
    m_report.trials.push_back({.kind = std::string(candidate.kind),
                               .index = m_trials,
                               .score = matchness.score,
                               .best = drafter.plan().score,
                               .isBest = isAdopted,
                               .plan = candidate.plan,
                               .ticks = std::move(matchness.matches),
                               .window = window.expected,
                               .guesses = std::move(matchness.guesses),
                               .scoreMs = scoreMs});
    m_trialCost = scoreMs / m_costs.oneRowMs();
    spend(scoreMs);
    return {};
}

/// In plain steps: behind each layer there is one more row, up to one for each layer left out.
double AutoDecoder::streamCost(int layers) {
    if (layers == 0)
        return 0.0;
    const int count = m_target.transformer().config().layerCount;
    double cost = 0.0;
    for (int layer = 0; layer < count; ++layer)
        cost += m_costs.relativeCost(std::clamp(layer, 1, layers + 1)) / count;
    return cost;
}

/// Asks the newest token's stream which layers it needs least.
Result<void> AutoDecoder::followStream(int layers) {
    const double startMs = m_target.nowMs();
    ENGINE_TRY(const std::vector<StreamPoint> front,
               streamFront(m_target.transformer(),
                           m_target.cache(),
                           {.items = StreamItems::Layers,
                            .most = layers,
                            .least = layers,
                            .references = m_target.cachedTokens().last(1),
                            .stop = m_target.stop()}));
    m_search.suggestStream(front.empty() ? std::nullopt : std::optional(front.front().plan));
    spend(m_target.nowMs() - startMs);
    return {};
}

void AutoDecoder::adopt(const Candidate& candidate, double score) {
    PlanDrafter& drafter = candidate.isExit() ? m_exit : m_skip;
    drafter.adopt(
        {candidate.plan, candidate.shares, score, ++m_lastPlanId}, m_costs, m_settings.maxNodes);
    m_hasSkipped = m_hasSkipped && candidate.isExit();
    for (Entry& entry : m_entries)
        if (entry.drafter == &drafter)
            entry.probeAt = entry.interval = 0.0;
    m_report.planChanges.push_back({.planId = m_lastPlanId,
                                    .plan = candidate.plan,
                                    .skipRatio = candidate.ratio,
                                    .reason = candidate.isExit()           ? "exit"
                                              : candidate.kind == "stored" ? "stored"
                                                                           : "better"});
}

/// A plan that an earlier run or another task has found is tried before all others.
void AutoDecoder::recall(std::string_view task) {
    m_task = task;
    m_stored = {};
    m_hasSkipped = false;
    if (m_memory == nullptr || !m_settings.remembers || !m_settings.skipsLayers)
        return;
    auto found = m_memory->find(m_task);
    const bool isOfTask = found && found.value();
    if (found && !isOfTask)
        found = m_memory->last();
    if (!found) {
        note("The stored skip sets were not read: " + found.error().message);
        return;
    }
    const bool hasNeverPaid = found.value() && found.value()->decoder == kBesideFinder;
    if (!found.value() || hasNeverPaid)
        return;
    auto plan = planOf(found.value()->set, m_target.transformer().config().layerCount);
    if (!plan)
        return;
    if (isOfTask)
        m_stored = plan.value();
    if (m_skip.hasPlan() && m_skip.plan().plan == plan.value())
        return;
    if (grantsTrial(plan.value()))
        m_purse += trialCost(); // it paid once: it need not wait until time has been saved up
    m_search.suggest(std::move(plan).value());
}

/// The first trial of a stored plan is, later ones wait as all others do: tasks may come by turns.
bool AutoDecoder::grantsTrial(const LayerPlan& plan) {
    if (std::find(m_granted.begin(), m_granted.end(), plan) != m_granted.end())
        return false;
    m_granted.push_back(plan);
    return true;
}

/// Stores the set that was found once rounds of this task have shown that it pays.
void AutoDecoder::remember() {
    const bool isWanted = m_memory != nullptr && m_settings.remembers && m_hasSkipped;
    if (!isWanted || m_skip.plan().plan == m_stored ||
        m_skip.shownPromise().rate() <= 1.0 + m_settings.margin)
        return;
    const auto kept = m_memory->store(
        m_task,
        {.set = skipSetOf(m_skip.plan().plan),
         .score = m_skip.plan().score,
         .skipRatio = SkipChoices(m_target.transformer().config(), BudgetUnit::Bytes)
                          .ratioOf(m_skip.plan().plan),
         .decoder = "auto",
         .savedAt = static_cast<std::int64_t>(std::time(nullptr)),
         .trials = m_trials});
    if (kept)
        note(kept.value());
    else
        noteOnce(notStored("A skip set", kept.error()));
    m_stored = m_skip.plan().plan;
}

} // namespace automatic
