// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// An earlier place where the newest tokens stand, too. A plain value.
struct LookupMatch {
    int length = 0; ///< tokens that are equal, LookupDrafter::kLongest at most; 0 = no such place
    /// What follows there, up to the newest token; a guest of the drafter until it changes.
    std::span<const TokenId> continuation = {};
};

/// Finds the newest tokens again in prompt and output: each sequence of up to kLongest tokens is
/// kept by its hash with the last place where it ended. Appending and finding take a constant time
/// whatever the length. Memory: about a kilobyte a token. Thread: one.
/// Source: prompt lookup, arXiv 2304.04487 and others'; ours: all lengths at once, undone exactly.
class LookupDrafter {
public:
    static constexpr int kLongest = 16;

    /// Begins with these tokens. What they have in common with the last ones is kept, the rest
    /// taken back as if it had never been there.
    void begin(std::span<const TokenId> tokens);

    void append(TokenId token);

    std::span<const TokenId> tokens() const { return m_tokens; }

    /// The longest match of the newest tokens followed by `drafted`, of equally long ones the most
    /// recent. Matches longer than kLongest count as equally long.
    LookupMatch find(std::span<const TokenId> drafted = {}) const;

private:
    using Ends = std::array<std::int32_t, kLongest>; // by length - 1: index of the last token; -1

    /// The sequences that end with the newest token become known once something follows it.
    void know();
    void forget();
    std::int32_t& endOf(std::uint64_t hash);
    std::int32_t findEnd(std::uint64_t hash) const;
    void grow();
    bool isMatch(std::int32_t end, int length, std::span<const TokenId> drafted) const;

    struct Place {
        std::uint64_t hash = 0; // 0 = free
        std::int32_t end = -1;
    };

    std::vector<TokenId> m_tokens;
    std::vector<Ends> m_earlier; // [tokens but the newest] what their sequences' places were before
    std::vector<Place> m_places; // open addressing; a power of two
    std::size_t m_placeCount = 0;
};

} // namespace engine
