// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/text/vocabulary/gguf_vocabulary.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What of a SentencePiece ModelProto matters for encoding and decoding: read by our own bounded
/// reader, checked, and written anew, so that the library sees nothing that was not checked.
/// Source: sentencepiece_model.proto.
struct SentencePieceModel {
    enum class Algorithm : std::uint8_t { Unigram = 1, Bpe = 2 };

    struct Piece {
        std::string text;
        float score = 0.0F;
        PieceType type = PieceType::Normal;
    };

    std::vector<Piece> pieces;
    Algorithm algorithm = Algorithm::Unigram;
    bool hasByteFallback = false;
    bool putsSpaceBehind = false; ///< treat_whitespace_as_suffix
    std::string unknownSurface = " \xE2\x81\x87 ";
    TokenId bosId = kNoToken;
    TokenId eosId = kNoToken;
    std::string charsmap; ///< precompiled_charsmap; empty: no normalisation
    bool addsDummyPrefix = true;
    bool removesExtraSpaces = true;
    bool escapesSpaces = true;

    /// Checks pieces, byte pieces and charsmap. `source` names the file in messages.
    /// Errors: CorruptFile, Unsupported; the message names the piece.
    Result<void> validate(const std::string& source) const;

    /// The bytes of a ModelProto with this content.
    std::string serialize() const;
};

/// Reads and checks a tokenizer.model. Errors: CorruptFile with the byte offset; Unsupported.
Result<SentencePieceModel> parseSentencePieceModel(std::string_view bytes,
                                                   const std::string& source);

/// Builds and checks the model that a GGUF vocabulary of tokenizer model "llama" describes: BPE,
/// no normalisation. Errors: CorruptFile (scores missing, too few or not finite, and the rest).
Result<SentencePieceModel> readGgufSentencePiece(const GgufFile& file,
                                                 const GgufVocabulary& vocabulary);

} // namespace engine
