// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/successor_table.h"

#include "engine/base/counter_random.h"
#include "engine/base/result.h"

#include <algorithm>
#include <bit>

namespace engine {

namespace {

Successors successorsOf(const HeadSummary& summary) {
    Successors successors;
    successors.count = summary.count;
    for (int rank = 0; rank < summary.count; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        successors.ids[at] = summary.ids[at];
        successors.probabilities[at] = static_cast<float>(summary.probability(rank));
    }
    return successors;
}

bool isOlder(const SuccessorTable::Entry& a, const SuccessorTable::Entry& b) {
    return a.recordedAt < b.recordedAt;
}

} // namespace

SuccessorTable::SuccessorTable(int vocabSize, int pairCapacity)
    : m_tokenPlaces(static_cast<std::size_t>(vocabSize), -1)
    , m_pairs(static_cast<std::size_t>(pairCapacity)) {
    ENGINE_CHECK(pairCapacity >= kPairsOfASet && std::has_single_bit(m_pairs.size()),
                 "room for {} pairs",
                 pairCapacity);
}

void SuccessorTable::record(TokenId previous, TokenId token, const HeadSummary& summary) {
    const Successors successors = successorsOf(summary);
    ++m_recordCount;
    put(kNoToken, token, successors);
    if (previous != kNoToken)
        put(previous, token, successors);
}

void SuccessorTable::restore(const Entry& entry) {
    ++m_recordCount;
    put(entry.previous, entry.token, entry.successors);
}

void SuccessorTable::put(TokenId previous, TokenId token, const Successors& successors) {
    ENGINE_CHECK(token >= 0 && token < vocabSize(), "token {} of {}", token, vocabSize());
    const Entry entry{previous, token, m_recordCount, successors};
    if (previous == kNoToken) {
        std::int32_t& place = m_tokenPlaces[static_cast<std::size_t>(token)];
        if (place < 0) {
            place = static_cast<std::int32_t>(m_tokens.size());
            m_tokens.emplace_back();
        }
        m_tokens[static_cast<std::size_t>(place)] = entry;
        return;
    }
    const auto first = m_pairs.begin() + static_cast<std::ptrdiff_t>(setOf(previous, token));
    const auto last = first + kPairsOfASet;
    auto at = std::find_if(first, last, [&](const Entry& known) {
        return known.previous == previous && known.token == token;
    });
    if (at == last)
        at = std::min_element(first, last, isOlder);
    *at = entry;
}

std::size_t SuccessorTable::setOf(TokenId previous, TokenId token) const {
    const std::uint64_t both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(previous))
                                   << 32U |
                               static_cast<std::uint32_t>(token);
    return mixBits(both) % (m_pairs.size() / kPairsOfASet) * kPairsOfASet;
}

const Successors* SuccessorTable::ofToken(TokenId token) const {
    const std::int32_t place = m_tokenPlaces[static_cast<std::size_t>(token)];
    return place < 0 ? nullptr : &m_tokens[static_cast<std::size_t>(place)].successors;
}

const Successors* SuccessorTable::ofPair(TokenId previous, TokenId token) const {
    if (previous == kNoToken)
        return nullptr;
    const std::size_t first = setOf(previous, token);
    for (std::size_t at = first; at < first + kPairsOfASet; ++at)
        if (m_pairs[at].previous == previous && m_pairs[at].token == token)
            return &m_pairs[at].successors;
    return nullptr;
}

std::vector<SuccessorTable::Entry> SuccessorTable::entries() const {
    std::vector<Entry> all = m_tokens;
    for (const Entry& pair : m_pairs)
        if (pair.recordedAt > 0)
            all.push_back(pair);
    const auto pairs = all.begin() + static_cast<std::ptrdiff_t>(m_tokens.size());
    std::sort(all.begin(), pairs, isOlder);
    std::sort(pairs, all.end(), isOlder);
    return all;
}

std::size_t SuccessorTable::byteSize() const {
    return m_tokenPlaces.capacity() * sizeof(m_tokenPlaces[0]) +
           (m_tokens.capacity() + m_pairs.capacity()) * sizeof(Entry);
}

} // namespace engine
