// SPDX-License-Identifier: Apache-2.0
// When auto searches beside its drafts, and what it says of the set that was found.
#include "engine/decoding/drafts/draft_settings.h"
#include "plugins/auto/auto_decoder.h"

#include <algorithm>

namespace automatic {

using namespace engine;

namespace {

/// Plain steps that must be measured before a trial can be paid for.
constexpr int kStepsToSearchBeside = 4;

/// In pauses, passes are made to measure them at most so often: a clock that stands still prices
/// nothing. They need so many places of the context.
constexpr int kMostPausePasses = 32;
constexpr int kRowsOfAPause = 16;

} // namespace

/// While a skip set is drafted with, that one is what there is to see.
bool AutoDecoder::searchesBeside() const {
    return m_settings.searchesBeside && m_settings.skipsLayers && !m_skip.hasPlan();
}

/// Beside an answer the search makes way for Auto's own, if that is worth its time. What it is
/// worth is known only with the prices.
Result<void> AutoDecoder::searchBeside() {
    if (!searchesBeside() || searchesItself() || m_costs.samples(1) < kStepsToSearchBeside)
        return {};
    return m_beside.advance(m_target, m_costs, m_report);
}

/// First what passes cost, so that there is a forecast, then the search itself.
Result<bool> AutoDecoder::usePause(const std::stop_token& stop) {
    if (growsCopy()) {
        makeCopyPiece();
        return true;
    }
    if (!searchesBeside() || m_costs.samples(1) == 0 || !BesideSearch::hasWindow(m_target))
        return false;
    const bool canMeasure = m_target.remainingContext() > kRowsOfAPause &&
                            m_pausePasses < kMostPausePasses && m_target.influence().rows() > 0;
    const bool isPriced = hasPrices() && m_costs.samples(treeRows()) > 0;
    if (!isPriced && canMeasure) {
        ENGINE_TRY_DO(measureInPause());
    } else {
        ENGINE_TRY(const bool isMade, m_beside.usePause(m_target, m_costs, stop, m_report));
        if (!isMade)
            return false;
    }
    forecast();
    return true;
}

/// In a pause nothing else works beside the model, so its passes are faster than those of an
/// answer: each pass that is priced is compared with a plain one of the same pause.
Result<void> AutoDecoder::measureInPause() {
    const bool isPlain = m_pausePasses++ % 2 == 0 || m_pausePlainMs <= 0.0;
    if (!isPlain)
        return priceOne(m_costs.oneRowMs() / m_pausePlainMs);
    const LayerPlan full = LayerPlan::full(m_target.transformer().config().layerCount);
    ENGINE_TRY(const double ms, passMs(full, 1));
    m_pausePlainMs = m_pausePlainMs > 0.0 ? std::min(m_pausePlainMs, ms) : ms;
    return {};
}

/// What a search waits for between two answers, or that there is nothing to wait for.
DecoderPhase AutoDecoder::phaseAtRest() const {
    const bool isWaiting = searchesItself() || (searchesBeside() && !m_beside.isOver());
    return isWaiting ? DecoderPhase::Accumulate : DecoderPhase::Plain;
}

/// Behind the last piece of work one more report says that nothing goes on.
Result<std::optional<SearchReport>> AutoDecoder::idle(const std::stop_token& stop) {
    ENGINE_TRY(const bool hasWorked, usePause(stop));
    if (!hasWorked && !m_isInPause)
        return std::optional<SearchReport>();
    m_isInPause = hasWorked && !m_beside.isOver();
    m_report.phase = m_isInPause ? DecoderPhase::Optimise : phaseAtRest();
    return std::optional(takeReport());
}

/// Tells what drafting with the set found beside would give. Auto tries it where that pays.
void AutoDecoder::forecast() {
    const Replay* replay = m_beside.replay();
    if (replay == nullptr || !hasPrices())
        return;
    const auto rounds = static_cast<double>(replay->rounds.size());
    const LayerPlan& best = *m_beside.best();
    const Transformer& transformer = m_target.transformer();
    const PassShares shares = PassShares::of(
        best, transformer.config(), DraftHead::keptShare(transformer, kDraftVocabulary));
    DraftForecast made{.matchness = static_cast<double>(replay->matches) / replay->rows,
                       .draftCost = m_costs.relativeDraftCost(shares.draft),
                       .verifyCost = 0.0,
                       .tokensPerRound = 0.0,
                       .tokens = replay->rows,
                       .searchShare = kSwiftSearchShare}; // all of it, as r grows at first
    for (const ReplayedRound& round : replay->rounds) {
        made.verifyCost += m_costs.relativeCost(round.rows) / rounds;
        made.draftSteps += round.draftSteps / rounds;
        made.tokensPerRound += round.tokens / rounds;
    }
    if (made == m_forecast)
        return;
    const bool isNews = made.tokens != m_forecast.tokens || made.matchness != m_forecast.matchness;
    m_forecast = made;
    m_report.forecast = made;
    const DraftPass pass = DraftPass::of(made.matchness, shares, m_costs);
    if (isNews && bestChain(pass, m_costs, m_settings.maxNodes).rate() > 1.0 + m_settings.margin)
        m_search.suggest(best);
}

} // namespace automatic
