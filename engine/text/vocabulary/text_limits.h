// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/text/vocabulary/utf8.h"

#include <cstddef>
#include <string_view>

namespace engine {

/// Longest text that is encoded at once; far beyond any context, and safe for 32-bit counts.
inline constexpr std::size_t kMaxTextBytes = 64U << 20U;

/// Most entries of a vocabulary; published ones have fewer than 300,000.
inline constexpr std::size_t kMaxVocabSize = 4'000'000;

/// Longest entry of a vocabulary and longest added token that are searched for in texts: bounds
/// the work for each byte of a text.
inline constexpr std::size_t kMaxTokenBytes = 4096;

/// Whether a text may be encoded; errors call it `name`. Errors: InvalidInput with the byte offset
/// of what is no UTF-8.
inline Result<void> checkText(std::string_view text, std::string_view name = "the text") {
    if (text.size() > kMaxTextBytes)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} has {} bytes; at most {} can be encoded at once",
                                 name,
                                 text.size(),
                                 kMaxTextBytes),
                     "split the text"};
    if (const auto offset = utf8::findInvalid(text))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is not UTF-8: byte {} (0x{:02X}) is part of no character",
                                 name,
                                 *offset,
                                 static_cast<unsigned char>(text[*offset])),
                     "convert it, for example with: iconv -f latin1 -t UTF-8"};
    return {};
}

/// InvalidInput for an id that a vocabulary does not have.
inline Error unknownId(long long id, long long vocabSize) {
    return {ErrorCode::InvalidInput,
            fmt::format("token id {} is not in the vocabulary", id),
            fmt::format("ids go from 0 to {}", vocabSize - 1)};
}

} // namespace engine
