// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/logit_blocks.h"

#include "engine/base/result.h"

#include <array>
#include <functional>
#include <limits>

namespace engine {

namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Repeatedly takes the higher of each pair, in loops that the compiler can vectorise.
double highestOfBlock(const double* logits) {
    constexpr std::size_t kHalf = LogitBlocks::kBlock / 2;
    std::array<double, kHalf> high;
    for (std::size_t i = 0; i < kHalf; ++i)
        high[i] = logits[i] > logits[i + kHalf] ? logits[i] : logits[i + kHalf];
    for (std::size_t i = 0; i < kHalf / 2; ++i)
        high[i] = high[i] > high[i + kHalf / 2] ? high[i] : high[i + kHalf / 2];
    return *std::max_element(high.begin(), high.begin() + kHalf / 2);
}

} // namespace

LogitBlocks::LogitBlocks(std::span<const double> logits)
    : m_logits(logits) {
    ENGINE_CHECK(!logits.empty(), "a row of no logits");
    m_blockHighest.reserve((logits.size() + kBlock - 1) / kBlock);
    std::size_t begin = 0;
    for (; begin + kBlock <= logits.size(); begin += kBlock)
        m_blockHighest.push_back(highestOfBlock(logits.data() + begin));
    if (begin < logits.size())
        m_blockHighest.push_back(
            *std::max_element(logits.begin() + static_cast<std::ptrdiff_t>(begin), logits.end()));
    m_highest = *std::max_element(m_blockHighest.begin(), m_blockHighest.end());
}

double LogitBlocks::highestAt(int count) const {
    const auto wanted = static_cast<std::size_t>(count);
    if (wanted > m_logits.size())
        return kLowest;
    // This many blocks reach the bound, each with a logit of its own.
    double bound = kLowest;
    std::vector<double> high;
    if (wanted <= m_blockHighest.size()) {
        high = m_blockHighest;
        const auto last = high.begin() + (count - 1);
        std::nth_element(high.begin(), last, high.end(), std::greater<>());
        bound = *last;
        high.clear();
    }
    forEachFrom(bound, [&](TokenId, double logit) { high.push_back(logit); });
    const auto last = high.begin() + (count - 1);
    std::nth_element(high.begin(), last, high.end(), std::greater<>());
    return *last;
}

} // namespace engine
