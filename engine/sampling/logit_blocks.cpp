// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/logit_blocks.h"

#include "engine/base/result.h"

#include <array>
#include <functional>
#include <limits>

namespace engine {

namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Eight chains, which the compiler turns into vectors; a maximum has the same bits in any order.
double highestOf(const double* logits, std::size_t count) {
    std::array<double, 8> chains;
    chains.fill(kLowest);
    std::size_t i = 0;
    for (; i + chains.size() <= count; i += chains.size())
        for (std::size_t chain = 0; chain < chains.size(); ++chain)
            chains[chain] = logits[i + chain] > chains[chain] ? logits[i + chain] : chains[chain];
    double highest = kLowest;
    for (; i < count; ++i)
        highest = std::max(highest, logits[i]);
    for (const double chain : chains)
        highest = std::max(highest, chain);
    return highest;
}

} // namespace

LogitBlocks::LogitBlocks(std::span<const double> logits)
    : m_logits(logits) {
    ENGINE_CHECK(!logits.empty(), "a row of no logits");
    m_blockHighest.reserve((logits.size() + kBlock - 1) / kBlock);
    for (std::size_t begin = 0; begin < logits.size(); begin += kBlock)
        m_blockHighest.push_back(
            highestOf(logits.data() + begin, std::min(kBlock, logits.size() - begin)));
    m_highest = highestOf(m_blockHighest.data(), m_blockHighest.size());
}

double LogitBlocks::highestAt(int count) const {
    const auto wanted = static_cast<std::size_t>(count);
    if (wanted > m_logits.size())
        return kLowest;
    // As many blocks reach this bound, each with a logit of its own.
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
