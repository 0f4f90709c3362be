// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/noise/noise_ranking.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

constexpr double kLeastDrawn = -745.13; // e^x is 0 below
constexpr double kMostNoise = 37.5;     // -log(-log(1 - 2^-54)), rounded up
constexpr double kLog2E = 1.4426950408889634;

} // namespace

NoiseRanking::NoiseRanking(std::uint64_t seed, Position outputPosition, int count)
    : m_key(counterKey(seed, static_cast<std::uint64_t>(outputPosition)))
    , m_count(static_cast<std::size_t>(count))
    , m_reach(kLeastDrawn) {
    m_best.reserve(m_count + 1);
}

/// For the uniform number u behind the noise, noise <= -log(1 - u). To enter, it must be at least d
/// = bound - exponent, so 1 - u must be at most e^-d <= 2^-k for k = floor(d / log 2). Both margins
/// are far above the rounding error of a score.
inline bool NoiseRanking::canEnter(TokenId id, double exponent) const {
    constexpr double kMargin = 1e-6;
    const double halvings = (m_bound - exponent - kMargin) * kLog2E;
    const auto k = static_cast<unsigned>(halvings > 0.0 ? halvings : 0.0); // <= 55, see m_reach
    const std::uint64_t complement = kCounterRange - counterBits(m_key, id);
    return complement <= (kCounterRange >> k) + 1;
}

void NoiseRanking::offer(TokenId id, double exponent) {
    if (exponent >= m_reach && canEnter(id, exponent))
        insert({exponent + gumbelOf(counterBits(m_key, id)), id});
}

void NoiseRanking::offerRow(std::span<const double> logits, double highest, double temperature) {
    constexpr std::size_t kPiece = 64;
    std::array<double, kPiece> exponents;
    for (std::size_t begin = 0; begin < logits.size(); begin += kPiece) {
        const std::size_t count = std::min(kPiece, logits.size() - begin);
        for (std::size_t i = 0; i < count; ++i)
            exponents[i] = (logits[begin + i] - highest) / temperature;
        for (std::size_t i = 0; i < count; ++i)
            offer(static_cast<TokenId>(begin + i), exponents[i]);
    }
}

void NoiseRanking::insert(Ranked ranked) {
    const auto comesBefore = [](const Ranked& a, const Ranked& b) {
        return a.score != b.score ? a.score > b.score : a.id < b.id;
    };
    const auto place = std::lower_bound(m_best.begin(), m_best.end(), ranked, comesBefore);
    m_best.insert(place, ranked);
    if (m_best.size() > m_count)
        m_best.pop_back();
    if (m_best.size() < m_count)
        return;
    m_bound = m_best.back().score;
    m_reach = std::max(kLeastDrawn, m_bound - kMostNoise);
}

std::vector<TokenId> NoiseRanking::best() const {
    std::vector<TokenId> ids;
    ids.reserve(m_best.size());
    for (const Ranked& ranked : m_best)
        ids.push_back(ranked.id);
    return ids;
}

} // namespace engine
