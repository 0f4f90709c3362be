// SPDX-License-Identifier: Apache-2.0
#include "engine/text/sentencepiece/sentencepiece_model.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/joining/token_decoder.h"
#include "engine/text/sentencepiece/charsmap_check.h"
#include "engine/text/sentencepiece/protobuf_reader.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

namespace engine {

namespace {

constexpr std::size_t kMaxPieceBytes = 1024;
constexpr std::size_t kMaxNestedPieces = 64; // the library keeps 64 matches and reads what it found

using Piece = SentencePieceModel::Piece;

Error corrupt(const std::string& source, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {}", source, problem),
            "Fetch the file again, or convert the model anew."};
}

std::optional<std::string> findPieceFault(const Piece& piece) {
    if (piece.text.empty())
        return "is empty";
    if (piece.text.size() > kMaxPieceBytes)
        return fmt::format(
            "has {} bytes; at most {} are allowed", piece.text.size(), kMaxPieceBytes);
    if (const auto offset = utf8::findInvalid(piece.text))
        return fmt::format("is not UTF-8 at its byte {}", *offset);
    if (piece.text.find('\0') != std::string::npos)
        return "contains a NUL";
    if (!std::isfinite(piece.score))
        return "has a score that is no number";
    if (piece.type == PieceType::Byte) {
        const int byte = byteOfToken(piece.text);
        if (byte < 0 || piece.text != fmt::format("<0x{:02X}>", byte))
            return fmt::format("('{}') is no byte such as <0x0A>", readable(piece.text));
    }
    return std::nullopt;
}

Result<void> checkPieces(const std::vector<Piece>& pieces, const std::string& source) {
    if (pieces.empty() || pieces.size() > kMaxVocabSize)
        return corrupt(source, fmt::format("the vocabulary has {} pieces", pieces.size()));
    std::unordered_set<std::string_view> seen;
    seen.reserve(pieces.size());
    std::size_t unknownCount = 0;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        if (const auto fault = findPieceFault(pieces[id]))
            return corrupt(source, fmt::format("piece {} {}", id, *fault));
        if (!seen.insert(pieces[id].text).second)
            return corrupt(
                source,
                fmt::format("piece {} ('{}') is there twice", id, readable(pieces[id].text)));
        unknownCount += pieces[id].type == PieceType::Unknown ? 1 : 0;
    }
    if (unknownCount != 1)
        return corrupt(
            source,
            fmt::format("the vocabulary has {} unknown pieces instead of one", unknownCount));
    return {};
}

Result<void> checkBytePieces(const SentencePieceModel& model, const std::string& source) {
    const auto count = std::count_if(model.pieces.begin(), model.pieces.end(), [](const Piece& p) {
        return p.type == PieceType::Byte;
    });
    // All are well formed and different by now, so 256 of them are all of them.
    if (count != (model.hasByteFallback ? 256 : 0))
        return corrupt(source,
                       fmt::format("the vocabulary has {} byte pieces, {} byte fallback",
                                   count,
                                   model.hasByteFallback ? "with" : "without"));
    return {};
}

/// No user-defined piece may begin with more than 63 others.
Result<void> checkNesting(const std::vector<Piece>& pieces, const std::string& source) {
    std::vector<std::string_view> texts;
    for (const Piece& piece : pieces) {
        if (piece.type == PieceType::UserDefined)
            texts.push_back(piece.text);
    }
    std::sort(texts.begin(), texts.end());
    std::vector<std::string_view> prefixes;
    for (const std::string_view text : texts) {
        while (!prefixes.empty() && !text.starts_with(prefixes.back()))
            prefixes.pop_back();
        prefixes.push_back(text);
        if (prefixes.size() > kMaxNestedPieces)
            return Error{ErrorCode::Unsupported,
                         fmt::format("{}: more than {} user-defined pieces begin alike ('{}')",
                                     source,
                                     kMaxNestedPieces,
                                     readable(text)),
                         "Use another export of the tokenizer."};
    }
    return {};
}

} // namespace

Result<void> SentencePieceModel::validate(const std::string& source) const {
    ENGINE_TRY_DO(checkPieces(pieces, source));
    ENGINE_TRY_DO(checkBytePieces(*this, source));
    ENGINE_TRY_DO(checkNesting(pieces, source));
    for (const TokenId id : {bosId, eosId}) {
        if (id != kNoToken && (id < 0 || static_cast<std::size_t>(id) >= pieces.size()))
            return corrupt(source,
                           fmt::format("the special token id {} is beyond the vocabulary of {} "
                                       "pieces",
                                       id,
                                       pieces.size()));
    }
    if (charsmap.empty())
        return {};
    if (const auto fault = findCharsmapFault(charsmap))
        return corrupt(source, *fault);
    return {};
}

std::string SentencePieceModel::serialize() const {
    ProtobufWriter model;
    for (const Piece& piece : pieces) {
        ProtobufWriter fields;
        fields.bytes(1, piece.text);
        if (std::bit_cast<std::uint32_t>(piece.score) != 0) // 0 is the default
            fields.fixed32(2, std::bit_cast<std::uint32_t>(piece.score));
        fields.varint(3, static_cast<std::uint64_t>(piece.type));
        model.bytes(1, fields.take());
    }
    ProtobufWriter trainer;
    trainer.varint(3, static_cast<std::uint64_t>(algorithm));
    trainer.varint(24, putsSpaceBehind ? 1 : 0);
    trainer.varint(35, hasByteFallback ? 1 : 0);
    model.bytes(2, trainer.take());
    ProtobufWriter normalizer;
    if (!charsmap.empty())
        normalizer.bytes(2, charsmap);
    normalizer.varint(3, addsDummyPrefix ? 1 : 0);
    normalizer.varint(4, removesExtraSpaces ? 1 : 0);
    normalizer.varint(5, escapesSpaces ? 1 : 0);
    model.bytes(3, normalizer.take());
    return model.take();
}

} // namespace engine
