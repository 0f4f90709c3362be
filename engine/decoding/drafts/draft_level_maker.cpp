// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_level_maker.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <numeric>

namespace engine {

namespace {

/// The `count` best places of `scores`, best first; of equals the lower place.
std::vector<std::size_t> bestPlaces(std::span<const double> scores, int count) {
    std::vector<std::size_t> places(scores.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const std::size_t kept = std::min(scores.size(), static_cast<std::size_t>(count));
    const auto better = [&](std::size_t a, std::size_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    };
    std::partial_sort(
        places.begin(), places.begin() + static_cast<std::ptrdiff_t>(kept), places.end(), better);
    places.resize(kept);
    return places;
}

/// Shapes: logits [vocab], or empty where `id` is among the summary's.
double probabilityOf(const HeadSummary& summary, std::span<const double> logits, TokenId id) {
    const int rank = summary.rankOf(id);
    return rank >= 0 ? summary.probability(rank)
                     : summary.probabilityOf(logits[static_cast<std::size_t>(id)]);
}

} // namespace

RoundDraws::RoundDraws(std::uint64_t seed, std::uint64_t round)
    : m_key(mixBits(streamSeed(seed, RandomStream::Draft) ^ round)) {}

std::vector<TokenId>
RoundDraws::drawSeveral(const Distribution& q, int count, Position outputPosition) {
    return drawSeveralByNoise(q, count, m_key, outputPosition);
}

Result<DraftLevel> DraftLevelMaker::make(ForwardResult& pass, Position outputPosition) const {
    const HeadSummary& summary = pass.summaries.front();
    std::span<const double> logits;
    if (needsLogits()) {
        ENGINE_TRY(logits, pass.logits.row(0));
    }
    DraftLevel level;
    std::vector<TokenId> ids;
    const bool isRejection = m_terms.rule == VerifyRule::Rejection;
    if (draws() && m_draws == nullptr && !isRejection) {
        ids = m_sampler.chooseSeveral(logits, mostChoices(), outputPosition);
    } else if (draws()) {
        Distribution q = m_sampler.distribution(logits);
        DraftDraws& drawn = m_draws == nullptr ? m_roundDraws : *m_draws;
        ids = drawn.drawSeveral(q, mostChoices(), outputPosition);
        if (isRejection)
            level.drawnFrom = std::move(q);
    } else if (needsLogits()) {
        for (const std::size_t place : bestPlaces(logits, mostChoices()))
            ids.push_back(static_cast<TokenId>(place));
    } else {
        ids.assign(summary.ids.begin(), summary.ids.begin() + summary.count);
    }
    const int count = m_terms.siblings.choicesAt(probabilityOf(summary, logits, ids.front()));
    ids.resize(std::min(ids.size(), static_cast<std::size_t>(count)));
    for (const TokenId id : ids)
        level.choices.push_back({id, probabilityOf(summary, logits, id)});
    return level;
}

int DraftLevelMaker::mostChoices() const {
    return *std::max_element(m_terms.siblings.counts.begin(), m_terms.siblings.counts.end());
}

} // namespace engine
