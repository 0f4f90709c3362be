// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/gguf/gguf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a vocabulary entry is for; the numbers are those of SentencePiece and of GGUF.
enum class PieceType : std::uint8_t {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
};

/// The tokenizer keys that all GGUF vocabularies share, checked against each other.
struct GgufVocabulary {
    std::vector<std::string> tokens;
    std::vector<PieceType> types; ///< as many as tokens; all Normal where the file has none
    bool hasTypes = false;
    TokenId bosId = kNoToken;
    TokenId eosId = kNoToken;
    TokenId unknownId = kNoToken;
    std::vector<TokenId> eosIds; ///< eosId and the ends of a turn
    std::optional<bool> addsBos; ///< nothing: the file does not say
    std::optional<bool> addsEos;
};

namespace gguf_vocabulary {

/// Errors: CorruptFile when tokens are missing, no UTF-8 or too long, types do not match them in
/// number or kind, or the id of a token that begins or ends a text is beyond them.
Result<GgufVocabulary> read(const GgufFile& file);

/// Refuses the tokens of SentencePiece in a file that calls them byte-level BPE, as Ollama writes
/// it of a folder without tokenizer.model: every space of a text would be lost. Errors:
/// Unsupported.
Result<void> checkByteLevel(const GgufFile& file, const GgufVocabulary& vocabulary);

/// CorruptFile, with the path.
Error corrupt(const GgufFile& file, std::string_view problem);

/// An error about a part of the file, with the path put in front.
Error inFile(const GgufFile& file, Error error);

} // namespace gguf_vocabulary

} // namespace engine
