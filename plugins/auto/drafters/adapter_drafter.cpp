// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/drafters/adapter_drafter.h"

#include "engine/decoding/drafts/draft_worth.h"
#include "plugins/auto/drafters/free_beside.h"

#include <algorithm>
#include <utility>

namespace automatic {

using namespace engine;

namespace {

/// How often a token is expected to be accepted before any was drafted: enough that an adapter is
/// tried at once wherever it can pay.
constexpr double kExpectedAcceptance = 0.5;

/// As if so many rounds had shown it: the first words of an answer are harder than what follows, so
/// a good adapter may miss seven times in a row.
constexpr double kExpectedRounds = 12.0;

/// Until a first draft has shown what rows cost, drafts are this short.
constexpr int kFirstNodes = 3;

/// Rows that it must know before it drafts, if it knows not all.
constexpr std::size_t kRowsToDraft = 32;

/// It catches up with no more rows than these; where others have drafted for so long, it goes on
/// without them.
constexpr std::size_t kMostWaiting = 2 * kPrefillRows;

/// A second choice where the first one is unsure, if that is worth its row.
constexpr SiblingSchedule kSiblings = {{1, 1, 1, 2}};

} // namespace

Result<std::unique_ptr<AdapterDrafter>>
AdapterDrafter::make(DraftModel& model, const Target& target, int contextLength, int mostNodes) {
    ENGINE_TRY(FeatureDrafter drafter, FeatureDrafter::make(model, contextLength, mostNodes));
    const double share = drafter.share(target);
    auto made = std::unique_ptr<AdapterDrafter>(new AdapterDrafter(std::move(drafter), share));
    made->forgetRounds(StepCosts(), mostNodes);
    return made;
}

AdapterDrafter::AdapterDrafter(FeatureDrafter drafter, double share)
    : ChainDrafter("tuned")
    , m_drafter(std::move(drafter))
    , m_share(share) {}

PromptWork AdapterDrafter::watch(const Target& target,
                                 std::span<const TokenId> prompt,
                                 const PromptWork& work) {
    m_drafter.forget();
    return m_drafter.watch(target, prompt, work);
}

bool AdapterDrafter::isReady() const {
    return !m_isBroken && !m_drafter.rests() && m_drafter.waitingRows() > 0 &&
           (m_drafter.isWhole() || m_drafter.knownRows() >= kRowsToDraft);
}

void AdapterDrafter::rest() {
    if (!m_drafter.rests())
        m_drafter.rest();
}

void AdapterDrafter::wake(const Target& target) {
    if (!m_isBroken && (m_drafter.rests() || m_drafter.waitingRows() > kMostWaiting))
        m_drafter.join(target);
}

void AdapterDrafter::forgetRounds(const StepCosts& costs, int maxNodes) {
    const double expected = m_drafts == 0 ? kExpectedAcceptance : acceptance();
    const DraftPass pass{.acceptance = expected, .cost = costs.relativeNetworkCost(m_share)};
    expect(expected, bestChain(pass, costs, maxNodes), kExpectedRounds);
}

Result<Draft> AdapterDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    DraftTerms own{.siblings = kSiblings,
                   .maxNodes =
                       m_drafts == 0 ? std::min(terms.maxNodes, kFirstNodes) : terms.maxNodes};
    const StepCosts& costs = *terms.costs;
    WeighedStopRule stopRule(0.0, own.maxNodes);
    stopRule.weigh(rates(), terms.rate, costs.relativeNetworkCost(m_share), costs);
    own.stopRule = &stopRule;
    m_waiting = static_cast<int>(m_drafter.waitingRows());
    ENGINE_TRY(Draft made, m_drafter.draft(target, own));
    m_isBroken = m_drafter.isOff();
    if (made.tree.size() == 0)
        return made;
    m_drafts = std::min(m_drafts + 1, 2);
    FreeBeside(terms, PassShares(), acceptance()).addTo(made.tree);
    return made;
}

/// Passes of one row that took as long as such a draft: its first one also reads the rows that the
/// rounds since the last draft made true.
double AdapterDrafter::passes(int steps, const StepCosts& costs) const {
    return steps - 1 + costs.relativeCost(m_waiting);
}

/// The first draft of all is not recorded: its weights came from far away.
void AdapterDrafter::recordPasses(const Draft& draft, StepCosts& costs) {
    const int steps = draft.tree.draftSteps();
    if (steps > 0 && m_drafts > 1)
        costs.recordNetwork(m_share, draft.ms / passes(steps, costs));
}

double AdapterDrafter::costOf(const DecodeStep& step, const StepCosts& costs) const {
    const int steps = step.draft.draftSteps();
    const double drafted =
        steps > 0 ? passes(steps, costs) * costs.relativeNetworkCost(m_share) : 0.0;
    return drafted + costs.relativeCost(step.verifiedRows);
}

} // namespace automatic
