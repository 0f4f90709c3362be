// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/text/sentencepiece/sentencepiece_model.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// Cuts normalised text into the pieces of a unigram model with the largest sum of scores.
/// Our own, because ties are common (runs of one letter) and how they fall depends on the rounding
/// of the sums: sentencepiece 0.2.1, which we link, compares sums in double with sums in float;
/// this adds in float throughout, as sentencepiece 0.2.3 does. The later versions are not linked:
/// 0.2.3 clones Abseil, protobuf and flatbuffers by git while it is configured, and Debian 12's
/// Abseil is too old for it; 0.2.2 brings Abseil along, which more than doubles its build. Unknown
/// characters become byte pieces or one unknown piece a run, as in the library.
/// Thread: read-only after construction.
class UnigramEncoder {
public:
    /// `model` must be valid and outlive the encoder.
    explicit UnigramEncoder(const SentencePieceModel& model);

    /// Appends the ids of a text that has been normalised, spaces written as U+2581.
    void encode(std::string_view normalized, std::vector<TokenId>& ids) const;

private:
    /// The best way to reach a place: the piece that ends there and where it begins.
    struct Arrival {
        float score = 0.0F;
        TokenId id = kNoToken;
        std::int64_t begin = -1;
    };

    void extendFrom(std::string_view text, std::size_t begin, std::span<Arrival> arrivals) const;
    bool tryPieces(std::string_view text, std::size_t begin, std::span<Arrival> arrivals) const;
    float scoreOf(TokenId id, std::size_t length) const;
    void appendUnknown(std::string_view piece, bool isRepeated, std::vector<TokenId>& ids) const;

    const SentencePieceModel& m_model;
    std::vector<TokenId> m_sorted;  // pieces that may appear in a text, by their bytes
    std::vector<TokenId> m_byteIds; // 256 of them, or none
    std::size_t m_longestPiece = 0; // bytes
    TokenId m_unknownId = kNoToken;
    float m_unknownScore = 0.0F;
};

} // namespace engine
