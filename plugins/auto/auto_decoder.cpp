// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/auto_decoder.h"

#include <algorithm>

namespace automatic {

using namespace engine;

namespace {

/// Of the rounds before: some 100 count for what time is worth.
constexpr double kRecentMemory = 0.99;

/// Rounds between two probes of a drafter that does not pay; each that fails doubles them.
constexpr double kFirstInterval = 64.0;

/// Share of the time that a search may take while it is worth it.
constexpr double kSearchShare = 0.02;

/// Trials that the purse holds at most: time that passed long ago pays for no burst.
constexpr double kMostTrialsSaved = 2.0;

} // namespace

Result<std::unique_ptr<Decoder>> AutoDecoder::make(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostNodes));
    return std::unique_ptr<Decoder>(new AutoDecoder(std::move(target), context));
}

AutoDecoder::AutoDecoder(Target target, const DecoderContext& context)
    : TargetDecoder(std::move(target))
    , m_free(context.transformer.config().vocabSize)
    , m_settings(AutoSettings::make(context.settings))
    , m_memory(context.memory)
    , m_entries{Entry{PlanDrafter("skip")}, Entry{PlanDrafter("exit")}}
    , m_search(context.transformer.config()) {
    m_target.useClock(context.clock);
}

Result<void> AutoDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(m_target.begin(prompt, work));
    const SkipSetMemory* wanted = m_settings.remembers ? m_memory : nullptr;
    if (m_free.isRemembering() != (wanted != nullptr))
        remark(m_free.remember(wanted));
    m_free.begin(prompt, m_target.sampler().options());
    if (m_steps == 0 || prompt.task != m_task)
        recall(prompt.task);
    return {};
}

/// One round: perhaps a trial, then choose what pays, verify it, learn from it.
Result<DecodeStep> AutoDecoder::step() {
    ENGINE_TRY_DO(tryPlans());
    const double startMs = m_target.nowMs();
    Choice choice = choose();
    const double passesMs = m_target.nowMs();
    ENGINE_TRY(PlannedDraft drafted, draft(choice));
    const double draftedMs = m_target.nowMs();
    if (choice.entry != nullptr)
        choice.entry->drafter.recordPasses(drafted.request.draft, draftedMs - passesMs, m_costs);
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(drafted.request)));
    step.draftMs = step.isPlain() ? 0.0 : draftedMs - startMs;
    step.choice = choice.told;
    step.choice.nodes = step.draft.size();
    if (choice.entry != nullptr && !step.isPlain()) {
        step.planId = choice.entry->drafter.plan().id;
        step.draftLayers = drafted.layerLoads;
    }
    learnRound(choice, step);
    return learnt(std::move(step), drafted.verifyShare);
}

Result<DecodeStep> AutoDecoder::plainStep() {
    ENGINE_TRY(DecodeStep step, m_target.plainStep());
    return learnt(std::move(step));
}

Result<SearchReport> AutoDecoder::endAnswer() {
    remark(m_free.keep());
    remember();
    return takeReport();
}

Result<SearchReport> AutoDecoder::configure(const SettingValues& values,
                                            const SettingValues& /*given*/) {
    m_settings = AutoSettings::make(values);
    return SearchReport();
}

Result<void> AutoDecoder::changeSampling(const SamplingOptions& sampling) {
    ENGINE_TRY_DO(m_target.changeSampling(sampling));
    for (Entry& entry : m_entries)
        if (entry.drafter.hasPlan())
            entry.drafter.forgetRounds(m_costs, m_settings.maxNodes);
    return {};
}

FreeDraft AutoDecoder::freeDraft(int maxNodes) const {
    return m_free.draft({.maxNodes = maxNodes,
                         .maxDepth = m_target.remainingTokens() - 1, // the bonus takes a place, too
                         .sources = m_settings.sources});
}

/// The beginning of the tree that gives the most tokens for its time, of at least one node.
Promise AutoDecoder::bestFree(const FreeDraft& free) const {
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

AutoDecoder::Choice AutoDecoder::choose() {
    Choice choice;
    choice.told.drafter = "none";
    choice.told.plainMs = m_costs.oneRowMs();
    // The first step of all measures what one row costs.
    if (m_costs.samples(1) == 0)
        return choice;
    choice.free = freeDraft(m_settings.maxNodes);
    const Promise free = bestFree(choice.free);
    if (free.nodes > 0) {
        choice.freeProbability = choice.free.tree.node(0).probability;
        const bool pays = free.rate() > 1.0 + m_settings.margin;
        DraftChoice& told = choice.told;
        if (pays) {
            told.drafter = "free";
            told.nodes = free.nodes;
            told.expectedTokens = free.tokens;
            told.expectedCost = free.cost;
            told.refused = "none";
            choice.freeRate = std::max(free.rate(), 1.0);
        } else {
            told.refused = "free";
            told.refusedTokens = free.tokens;
            told.refusedCost = free.cost;
        }
    }
    considerPasses(choice);
    return choice;
}

/// Puts a drafter by passes in the place of what was chosen, where it promises more or is probed.
void AutoDecoder::considerPasses(Choice& choice) {
    if (m_target.remainingTokens() <= 1)
        return;
    DraftChoice& told = choice.told;
    for (Entry& entry : m_entries) {
        if (!isEnabled(entry))
            continue;
        const Promise promise = entry.drafter.promise(choice.freeProbability);
        const double chosenRate =
            told.nodes > 0 ? told.expectedTokens / told.expectedCost : 1.0 + m_settings.margin;
        const bool isBetter = promise.rate() > chosenRate && !told.isProbe;
        if (isBetter || (!told.isProbe && mayProbe(entry, promise))) {
            told.refused = told.drafter;
            told.refusedTokens = told.expectedTokens;
            told.refusedCost = told.expectedCost;
            told.drafter = entry.drafter.name();
            told.nodes = std::max(promise.nodes, 1);
            told.expectedTokens = promise.tokens;
            told.expectedCost = promise.cost;
            told.isProbe = !isBetter;
            choice.entry = &entry;
        } else if (told.refused.empty() || told.refused == "none" ||
                   promise.rate() > told.refusedTokens / told.refusedCost) {
            told.refused = entry.drafter.name();
            told.refusedTokens = promise.tokens;
            told.refusedCost = promise.cost;
        }
    }
}

bool AutoDecoder::isEnabled(const Entry& entry) const {
    const bool isWanted = &entry == &skip() ? m_settings.skipsLayers : m_settings.exitsEarly;
    return isWanted && entry.drafter.hasPlan();
}

/// All that a probe costs beyond a plain step counts as lost, whatever it gives.
bool AutoDecoder::mayProbe(const Entry& entry, const Promise& promise) const {
    return m_settings.probing > 0.0 && m_elapsed >= entry.probeAt && m_purse >= promise.cost - 1.0;
}

Result<PlannedDraft> AutoDecoder::draft(Choice& choice) {
    if (choice.entry != nullptr) {
        const DraftTerms terms{.costs = m_costs,
                               .free = choice.free,
                               .rate = std::max(m_recent.rate(), 1.0),
                               .maxNodes = m_settings.maxNodes};
        return choice.entry->drafter.draft(m_target, terms);
    }
    PlannedDraft drafted;
    const int nodes = choice.told.nodes;
    DraftTree& tree = drafted.request.draft;
    const DraftEnd end = endOfFree(choice, nodes);
    if (nodes > 0)
        tree =
            nodes == choice.free.tree.size() ? std::move(choice.free.tree) : freeDraft(nodes).tree;
    tree.setEnd(end);
    return drafted;
}

/// Why only the first `nodes` of what is known are drafted: one more would cost more than it gives.
DraftEnd AutoDecoder::endOfFree(const Choice& choice, int nodes) const {
    const DraftTree& known = choice.free.tree;
    if (m_costs.samples(1) == 0)
        return {DraftEndReason::Measuring};
    if (nodes == known.size())
        return known.end();
    const DraftChoice& told = choice.told;
    if (nodes == 0)
        return {DraftEndReason::Price,
                told.refusedTokens - 1.0,
                (1.0 + m_settings.margin) * told.refusedCost - 1.0};
    const double rate = told.expectedTokens / told.expectedCost;
    const double rowCost = m_costs.relativeCost(nodes + 2) - m_costs.relativeCost(nodes + 1);
    return {
        DraftEndReason::Price, choice.free.gains[static_cast<std::size_t>(nodes)], rate * rowCost};
}

void AutoDecoder::learnRound(const Choice& choice, const DecodeStep& step) {
    double cost = m_costs.relativeCost(step.verifiedRows);
    if (choice.entry != nullptr) {
        PlanDrafter& drafter = choice.entry->drafter;
        cost = drafter.costOf(step, m_costs);
        drafter.learn(step, choice.freeProbability, cost);
        if (choice.entry == &skip() && drafter.promise().rate() <= 1.0 + m_settings.margin)
            m_search.weigh(drafter.plan().plan, drafter.acceptance());
        if (choice.told.isProbe)
            learnProbe(*choice.entry, choice, cost);
    }
    m_rounds.add(choice.freeRate, cost);
    m_recent.tokens = kRecentMemory * m_recent.tokens + static_cast<double>(step.tokens.size());
    m_recent.cost = kRecentMemory * m_recent.cost + cost;
}

/// What still does not pay is left alone for twice as long.
void AutoDecoder::learnProbe(Entry& entry, const Choice& choice, double cost) {
    m_purse -= std::max(cost - 1.0, 0.0);
    const double rate = entry.drafter.promise(choice.freeProbability).rate();
    entry.interval = rate > 1.0 + m_settings.margin
                         ? kFirstInterval
                         : std::max(2.0 * entry.interval, kFirstInterval);
    entry.probeAt = m_settings.probing < 1.0 ? m_elapsed + entry.interval : 0.0;
}

DecodeStep AutoDecoder::learnt(DecodeStep step, double verifyShare) {
    if (verifyShare < 1.0)
        m_costs.recordResumed(verifyShare, step.verifiedRows, step.verifyMs);
    else
        m_costs.record(step.verifiedRows, step.verifyMs);
    m_free.observe(m_target, step);
    const double cost = (step.draftMs + step.verifyMs) / m_costs.oneRowMs();
    m_elapsed += cost;
    const double share =
        isSearching() ? std::max(kSearchShare, m_settings.probing) : m_settings.probing;
    m_purse = std::min(m_purse + share * cost, kMostTrialsSaved * trialCost());
    ++m_steps;
    m_report.phase = isSearching() ? DecoderPhase::Optimise : DecoderPhase::Plain;
    step.search = takeReport();
    return step;
}

} // namespace automatic

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(automatic::autoInfo(), &automatic::AutoDecoder::make);
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
