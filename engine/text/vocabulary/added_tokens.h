// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A token that is found in the text as it stands, before anything else looks at the text.
/// The fields are those of tokenizer.json's added_tokens.
struct AddedToken {
    std::string content;
    TokenId id = kNoToken;
    bool isSpecial = false;
    bool isNormalized = false; ///< searched for in the normalised text
    bool stripsLeft = false;   ///< takes the white space before it along
    bool stripsRight = false;
    bool isSingleWord = false; ///< only where no word character touches it
};

/// A part of a text: one added token, or text between them (id is kNoToken).
struct TextSegment {
    TokenId id = kNoToken;
    std::string_view text;
};

/// Finds added tokens: the leftmost, and the longest of those that start there.
/// Thread: read-only after construction.
class AddedTokenSplitter {
public:
    AddedTokenSplitter() = default;

    /// `tokens`: what to search for; contents must not be empty. Of equal contents the first
    /// counts.
    explicit AddedTokenSplitter(std::vector<AddedToken> tokens);

    bool isEmpty() const { return m_tokens.empty(); }

    /// Cuts valid UTF-8 into tokens and the text between them; leaves out empty text.
    std::vector<TextSegment> split(std::string_view text) const;

private:
    const AddedToken* longestAt(std::string_view text) const;

    std::vector<AddedToken> m_tokens; // sorted by content
    // m_tokens[m_firstByByte[b] .. m_firstByByte[b + 1]) start with byte b
    std::array<std::uint32_t, 257> m_firstByByte{};
};

} // namespace engine
