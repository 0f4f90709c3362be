// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/auto_decoder.h"

#include <algorithm>

namespace automatic {

using namespace engine;

namespace {

/// Weight of the round before: some 100 rounds decide how many tokens time is worth.
constexpr double kRecentMemory = 0.99;

/// Plain steps between two probes of a drafter that does not pay; each failed probe doubles them.
constexpr double kFirstInterval = 64.0;

/// Share of the time that a search may take while it is worth it.
constexpr double kSearchShare = 0.02;

/// Share of the time in which the copy is made beside an answer.
constexpr double kCopyShare = 0.25;

/// Full passes of several rows after which a plain one is made to measure it: where there are no
/// others, rows that became dearer look like a slower machine.
constexpr int kMostWithoutPlain = 64;

/// The purse holds at most the cost of so many trials, and of a stream that is to be followed: time
/// long past pays for no burst of trials.
constexpr double kMostTrialsSaved = 2.0;

} // namespace

Result<std::unique_ptr<Decoder>> AutoDecoder::make(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostNodes));
    std::unique_ptr<AutoDecoder> made(new AutoDecoder(std::move(target), context));
    if (DraftModel* adapter = context.transformer.draftModel())
        ENGINE_TRY_DO(made->useAdapter(*adapter, context.contextLength));
    return std::unique_ptr<Decoder>(std::move(made));
}

AutoDecoder::AutoDecoder(Target target, const DecoderContext& context)
    : TargetDecoder(std::move(target))
    , m_free(context.transformer.config().vocabSize)
    , m_settings(AutoSettings::make(context.settings))
    , m_memory(context.memory)
    , m_entries{Entry{&m_skip}, Entry{&m_exit}, Entry{&m_copy}}
    , m_search(context.transformer.config())
    , m_beside(context.transformer.config()) {
    m_target.useClock(context.clock);
    m_free.use(m_settings.sources);
    useCopy();
    useHead();
}

Result<void> AutoDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(readPrompt(prompt, work));
    SkipSetMemory* const wanted = m_settings.remembers ? m_memory : nullptr;
    if (m_free.isRemembering() != (wanted != nullptr))
        note(m_free.remember(wanted));
    m_free.begin(prompt, m_target.sampler().options());
    m_beside.begin(prompt.task, wanted);
    m_isInPause = false;
    m_isCopyRefused = m_isCopyRefused && !m_isCopyLater;
    m_pausePlainMs = 0.0;
    if (m_steps == 0 || prompt.task != m_task)
        recall(prompt.task);
    return {};
}

/// One round: perhaps a trial, then choose what pays, draft it, verify it, learn from it.
Result<DecodeStep> AutoDecoder::round() {
    ENGINE_TRY_DO(tryCopy());
    ENGINE_TRY_DO(tryPlans());
    ENGINE_TRY_DO(searchBeside());
    if (wantsPlainRound())
        return pricingRound();
    ENGINE_TRY(Choice choice, choose());
    ENGINE_TRY(Draft drafted, draft(choice));
    ENGINE_TRY(DecodeStep step, verify(std::move(drafted)));
    step.choice = choice.reported;
    step.choice.nodes = step.draft.size();
    learnRound(choice, step);
    observe(step);
    return step;
}

/// Its token would have come sooner by drafting: what it takes beyond that is paid for as any
/// trying is.
double AutoDecoder::plainRoundPrice() const { return std::max(1.0 - 1.0 / m_recent.rate(), 0.0); }

bool AutoDecoder::wantsPlainRound() const {
    return m_settings.probing > 0.0 && m_sincePlain >= kMostWithoutPlain &&
           m_purse >= plainRoundPrice();
}

Result<DecodeStep> AutoDecoder::pricingRound() {
    ENGINE_TRY(DecodeStep step, verify(Draft::empty({DraftEndReason::Measuring})));
    step.choice = {.drafter = "none", .plainMs = m_costs.oneRowMs(), .isProbe = true};
    pay(plainRoundPrice());
    observe(step);
    return step;
}

Result<SearchReport> AutoDecoder::endAnswer() {
    note(m_free.keep());
    remember();
    for (const std::string& sentence : m_beside.store())
        noteOnce(sentence);
    m_report.phase = phaseAtRest();
    return takeReport();
}

std::vector<std::string> AutoDecoder::storeStatistics() {
    remember(); // of an answer that was cancelled
    std::vector<std::string> sentences = takeReport().notes;
    for (std::string& sentence : m_free.storeAll())
        sentences.push_back(std::move(sentence));
    for (std::string& sentence : m_beside.store())
        sentences.push_back(std::move(sentence));
    return sentences;
}

Result<SearchReport> AutoDecoder::configure(const SettingValues& values,
                                            const SettingValues& /*given*/) {
    const double headBefore = headPart();
    m_settings = AutoSettings::make(values);
    m_free.use(m_settings.sources);
    useCopy();
    if (headPart() != headBefore)
        useHead();
    return SearchReport();
}

/// Draft passes read another part of the head, so they cost something else.
void AutoDecoder::useHead() {
    m_search.readHead(headPart());
    for (PlanDrafter* drafter : {&m_skip, &m_exit, &m_copy})
        if (drafter->hasPlan())
            drafter->reprice(sharesOf(drafter->plan().plan), m_costs, m_settings.maxNodes);
}

/// Another seed draws other tokens, but not in another way: what rounds have shown stays true.
Result<void> AutoDecoder::changeSampling(const SamplingOptions& sampling) {
    SamplingOptions before = m_target.sampler().options();
    before.seed = sampling.seed;
    ENGINE_TRY_DO(m_target.changeSampling(sampling));
    if (before == sampling)
        return {};
    for (PlanDrafter* drafter : {&m_skip, &m_exit, &m_copy})
        if (drafter->hasPlan())
            drafter->forgetRounds(m_costs, m_settings.maxNodes);
    if (m_adapter)
        m_adapter->forgetRounds(m_costs, m_settings.maxNodes);
    return {};
}

/// How much of the tree gives the most tokens for its time, at least one node.
Promise AutoDecoder::bestFree(const Draft& free) const {
    Promise best;
    double expected = 1.0;
    for (int nodes = 1; nodes <= free.tree.size(); ++nodes) {
        expected += free.gains[static_cast<std::size_t>(nodes - 1)];
        const Promise promise{expected, m_costs.relativeCost(nodes + 1), nodes};
        if (nodes == 1 || promise.rate() > best.rate())
            best = promise;
    }
    return best;
}

Result<AutoDecoder::Choice> AutoDecoder::choose() {
    Choice choice;
    choice.reported.drafter = "none";
    choice.reported.plainMs = m_costs.oneRowMs();
    // The first step of all measures what one row costs.
    if (m_costs.samples(1) == 0)
        return choice;
    ENGINE_TRY(choice.free, m_free.draft(m_target, {.maxNodes = m_settings.maxNodes}));
    const Promise free = bestFree(choice.free);
    if (free.nodes > 0) {
        choice.freeProbability = choice.free.tree.node(0).probability;
        const bool pays = free.rate() > 1.0 + m_settings.margin;
        DraftChoice& reported = choice.reported;
        if (pays) {
            reported.drafter = "free";
            reported.nodes = free.nodes;
            reported.expectedTokens = free.tokens;
            reported.expectedCost = free.cost;
            reported.refused = "none";
            choice.freeRate = std::max(free.rate(), 1.0);
        } else {
            reported.refused = "free";
            reported.refusedTokens = free.tokens;
            reported.refusedCost = free.cost;
        }
    }
    considerPasses(choice);
    return choice;
}

/// Chooses a drafter that makes passes instead, if one promises more or is due for a probe.
void AutoDecoder::considerPasses(Choice& choice) {
    if (m_target.remainingTokens() <= 1)
        return;
    DraftChoice& reported = choice.reported;
    for (Entry& entry : m_entries) {
        if (!isEnabled(entry))
            continue;
        const Promise promise = entry.drafter->promise(choice.freeProbability);
        const double chosenRate = reported.nodes > 0
                                      ? reported.expectedTokens / reported.expectedCost
                                      : 1.0 + m_settings.margin;
        const bool isBetter = promise.rate() > chosenRate && !reported.isProbe;
        if (isBetter || (!reported.isProbe && mayProbe(entry, promise))) {
            reported.refused = reported.drafter;
            reported.refusedTokens = reported.expectedTokens;
            reported.refusedCost = reported.expectedCost;
            reported.drafter = entry.drafter->name();
            reported.nodes = std::max(promise.nodes, 1);
            reported.expectedTokens = promise.tokens;
            reported.expectedCost = promise.cost;
            reported.isProbe = !isBetter;
            choice.entry = &entry;
        } else if (reported.refused.empty() || reported.refused == "none" ||
                   promise.rate() > reported.refusedTokens / reported.refusedCost) {
            reported.refused = entry.drafter->name();
            reported.refusedTokens = promise.tokens;
            reported.refusedCost = promise.cost;
        }
    }
}

bool AutoDecoder::isEnabled(const Entry& entry) const {
    const bool isWanted = entry.drafter == &m_skip   ? m_settings.skipsLayers
                          : entry.drafter == &m_exit ? m_settings.exitsEarly
                          : entry.drafter == &m_copy ? m_settings.usesCopy
                                                     : m_settings.usesAdapter;
    return isWanted && entry.drafter->isReady();
}

/// All that a probe costs beyond a plain step counts as spent, whatever it gives.
bool AutoDecoder::mayProbe(const Entry& entry, const Promise& promise) const {
    return m_settings.probing > 0.0 && m_elapsed >= entry.probeAt && m_purse >= promise.cost - 1.0;
}

Result<Draft> AutoDecoder::draft(Choice& choice) {
    const double freeMs = choice.free.ms;
    if (choice.entry != nullptr) {
        ChainDrafter& drafter = *choice.entry->drafter;
        ENGINE_TRY(Draft made,
                   drafter.draft(m_target,
                                 {.maxNodes = m_settings.maxNodes,
                                  .vocabularyShare = m_settings.vocabularyShare,
                                  .costs = &m_costs,
                                  .rate = std::max(m_recent.rate(), 1.0),
                                  .free = &choice.free}));
        drafter.recordPasses(made, m_costs);
        made.ms += freeMs;
        if (made.tree.size() == 0)
            choice.reported = {.drafter = "none",
                               .plainMs = m_costs.oneRowMs(),
                               .isProbe = choice.reported.isProbe};
        return made;
    }
    const int nodes = choice.reported.nodes;
    const DraftEnd end = endOfFree(choice, nodes);
    if (nodes == 0)
        return Draft::empty(end);
    if (nodes < choice.free.tree.size()) {
        ENGINE_TRY(choice.free, m_free.draft(m_target, {.maxNodes = nodes}));
        choice.free.ms += freeMs;
    }
    choice.free.tree.setEnd(end);
    return std::move(choice.free);
}

/// Why only the first `nodes` of the free draft are drafted: one more would cost more than it
/// gives.
DraftEnd AutoDecoder::endOfFree(const Choice& choice, int nodes) const {
    const DraftTree& known = choice.free.tree;
    if (m_costs.samples(1) == 0)
        return {DraftEndReason::Measuring};
    if (nodes == known.size())
        return known.end();
    const DraftChoice& reported = choice.reported;
    if (nodes == 0)
        return {DraftEndReason::Price,
                reported.refusedTokens - 1.0,
                (1.0 + m_settings.margin) * reported.refusedCost - 1.0};
    const double rate = reported.expectedTokens / reported.expectedCost;
    const double rowCost = m_costs.relativeCost(nodes + 2) - m_costs.relativeCost(nodes + 1);
    return {
        DraftEndReason::Price, choice.free.gains[static_cast<std::size_t>(nodes)], rate * rowCost};
}

void AutoDecoder::learnRound(const Choice& choice, const DecodeStep& step) {
    double cost = m_costs.relativeCost(step.verifiedRows);
    if (choice.entry != nullptr) {
        ChainDrafter& drafter = *choice.entry->drafter;
        cost = drafter.costOf(step, m_costs);
        drafter.learn(step, choice.freeProbability, cost);
        m_hasSkipped = m_hasSkipped || (&drafter == &m_skip && step.planId != 0);
        if (&drafter == &m_skip && drafter.promise().rate() <= 1.0 + m_settings.margin)
            m_search.weigh(m_skip.plan().plan, drafter.acceptance());
        if (choice.reported.isProbe)
            learnProbe(*choice.entry, choice, cost);
    }
    m_rounds.add(choice.freeRate, cost);
    m_recent.tokens = kRecentMemory * m_recent.tokens + static_cast<double>(step.tokens.size());
    m_recent.cost = kRecentMemory * m_recent.cost + cost;
}

/// A drafter that still does not pay is left alone for twice as long.
void AutoDecoder::learnProbe(Entry& entry, const Choice& choice, double cost) {
    pay(std::max(cost - 1.0, 0.0));
    const double rate = entry.drafter->promise(choice.freeProbability).rate();
    entry.interval = rate > 1.0 + m_settings.margin
                         ? kFirstInterval
                         : std::max(2.0 * entry.interval, kFirstInterval);
    entry.probeAt = m_settings.probing < 1.0 ? m_elapsed + entry.interval : 0.0;
}

void AutoDecoder::observe(const DecodeStep& step) {
    const bool isResumed = step.verifyLayers < m_target.transformer().config().layerCount;
    if (isResumed) {
        m_costs.recordResumed(m_exit.plan().shares.verify, step.verifiedRows, step.verifyMs);
    } else {
        m_costs.record(step.verifiedRows, step.verifyMs);
        m_sincePlain = step.verifiedRows == 1 ? 0 : m_sincePlain + 1;
    }
    m_free.observe(m_target, step);
    // A clock that has stood still so far tells no time.
    const double cost =
        m_costs.oneRowMs() > 0.0 ? (step.draftMs + step.verifyMs) / m_costs.oneRowMs() : 0.0;
    m_elapsed += cost;
    const double share =
        isSearching() ? std::max(kSearchShare, m_settings.probing) : m_settings.probing;
    const double most =
        kMostTrialsSaved * trialCost() + streamCost(m_search.streamLayers(wanted()));
    m_purse = std::min(m_purse + share * cost, most);
    m_copyPurse = growsCopy() ? m_copyPurse + kCopyShare * cost : 0.0;
    ++m_steps;
    m_beside.earn(step.draftMs + step.verifyMs);
    restOrWakeAdapter();
    m_report.phase = searchesItself() ? DecoderPhase::Optimise : phaseAtRest();
}

} // namespace automatic

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(automatic::autoInfo(), &automatic::AutoDecoder::make);
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
