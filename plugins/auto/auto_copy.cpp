// SPDX-License-Identifier: Apache-2.0
// When auto makes a copy of the weights in 4 bits, and what it asks of it before it drafts.
#include "engine/search/matchness.h"
#include "plugins/auto/auto_decoder.h"

namespace automatic {

using namespace engine;

namespace {

/// Steps that are made before anything is spent on a copy.
constexpr long kStepsBeforeCopy = 4;

/// Tokens of the answer on which the agreement is counted.
constexpr int kLeastCounted = 8;

} // namespace

/// A copy that is no longer wanted is given back, and with it what was drafted with it.
void AutoDecoder::useCopy() {
    if (m_settings.usesCopy == m_copyUse.has_value())
        return;
    if (m_settings.usesCopy) {
        m_copyUse.emplace(m_target.transformer());
        return;
    }
    m_copyUse.reset();
    m_copy = PlanDrafter("copy");
    m_isCopyMade = false;
    m_copyTryAt = 0.0;
}

/// Whether the copy is wanted and neither complete nor refused.
bool AutoDecoder::growsCopy() const {
    return m_settings.usesCopy && m_settings.probing > 0.0 && !m_isCopyMade && !m_isCopyRefused &&
           m_costs.samples(1) > 0 && m_steps >= kStepsBeforeCopy;
}

/// Returns the time that it took, in milliseconds. Where there can be no copy it is not asked for
/// again, but for want of memory: the next answer may find more.
double AutoDecoder::makeCopyPiece() {
    const double startMs = m_target.nowMs();
    const auto isComplete = m_target.transformer().makeCopyPiece();
    if (isComplete) {
        m_isCopyMade = isComplete.value();
    } else {
        m_isCopyRefused = true;
        m_isCopyLater = isComplete.error().code == ErrorCode::NoMemory;
        if (isComplete.error().code != ErrorCode::Unsupported)
            noteOnce(isComplete.error().message);
    }
    return m_target.nowMs() - startMs;
}

/// Beside an answer the copy is made in a part of the time, so that no token waits long for it.
/// Then its agreement is counted, and where that promises nothing again after twice the time.
Result<void> AutoDecoder::tryCopy() {
    if (growsCopy() && m_copyPurse > 0.0) {
        const double ms = makeCopyPiece();
        m_report.searchMs += ms;
        m_elapsed += ms / m_costs.oneRowMs();
        m_copyPurse -= ms / m_costs.oneRowMs();
    }
    const bool isWanted = m_settings.usesCopy && m_isCopyMade && !m_copy.hasPlan() &&
                          windowLength() >= kLeastCounted && m_elapsed >= m_copyTryAt;
    return isWanted ? countCopy() : Result<void>();
}

Result<void> AutoDecoder::countCopy() {
    const double startMs = m_target.nowMs();
    const LayerPlan plan = LayerPlan::copy(m_target.transformer().config().layerCount);
    ENGINE_TRY(
        const Matchness matchness,
        engine::matchness(
            m_target.transformer(), m_target.cache(), plan, newestWindow(), MatchnessKeys::Target));
    const double score = believedScore(matchness);
    const PassShares shares = sharesOf(plan);
    const Promise promise =
        bestChain(DraftPass::of(score, shares, m_costs), m_costs, m_settings.maxNodes);
    if (promise.rate() > 1.0 + m_settings.margin) {
        m_copy.adopt({plan, shares, score, ++m_lastPlanId}, m_costs, m_settings.maxNodes);
        m_report.planChanges.push_back({.planId = m_lastPlanId, .plan = plan, .reason = "copy"});
    }
    spend(m_target.nowMs() - startMs);
    m_copyTryAt = 2.0 * m_elapsed;
    return {};
}

} // namespace automatic
