// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/model/head_summary.h"

#include <array>
#include <cstdint>
#include <vector>

namespace engine {

/// What the model would have follow, when it was last seen there. A plain value.
struct Successors {
    static constexpr int kMost = HeadSummary::kMost;

    std::array<TokenId, kMost> ids{};         ///< [count] best first
    std::array<float, kMost> probabilities{}; ///< [count] at temperature 1
    std::int32_t count = 0;

    bool operator==(const Successors&) const = default;
};

/// The model's own last seen successors of a token and of a pair of tokens, filled from every row
/// that any pass computes. Bounded: an entry for each token of the vocabulary at most, and
/// `pairCapacity` pairs, of which those recorded longest ago make room. Thread: one.
/// Source: Token Recycling, arXiv 2408.08696; differs: pairs, and the probabilities are kept.
class SuccessorTable {
public:
    static constexpr int kPairs = 1 << 15;
    static constexpr int kPairsOfASet = 4; ///< pairs with the same place that are kept

    /// `pairCapacity` is a power of two, kPairsOfASet at least.
    explicit SuccessorTable(int vocabSize, int pairCapacity = kPairs);

    int vocabSize() const { return static_cast<int>(m_tokenPlaces.size()); }

    /// A row's own token, the one before it (kNoToken = none), and what the model said.
    void record(TokenId previous, TokenId token, const HeadSummary& summary);

    /// Null when it was never seen.
    const Successors* ofToken(TokenId token) const;

    /// Null when it was never seen, or has made room.
    const Successors* ofPair(TokenId previous, TokenId token) const;

    struct Entry {
        TokenId previous = kNoToken; ///< kNoToken for an entry of a token alone
        TokenId token = kNoToken;
        std::uint64_t recordedAt = 0; ///< counts up with every record; 0 = empty
        Successors successors;
    };

    /// Tokens first, then pairs; each as they were recorded, oldest first.
    std::vector<Entry> entries() const;

    /// Puts an entry back; behind all entries() in their order a table is as it was.
    void restore(const Entry& entry);

    /// Counts up with every record().
    std::uint64_t recordCount() const { return m_recordCount; }

    /// Memory taken.
    std::size_t byteSize() const;

private:
    void put(TokenId previous, TokenId token, const Successors& successors);
    std::size_t setOf(TokenId previous, TokenId token) const;

    std::vector<std::int32_t> m_tokenPlaces; // [vocab] index into m_tokens; -1 = never seen
    std::vector<Entry> m_tokens;
    std::vector<Entry> m_pairs; // [sets, kPairsOfASet]
    std::uint64_t m_recordCount = 0;
};

} // namespace engine
