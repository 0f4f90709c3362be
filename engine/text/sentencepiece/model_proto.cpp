// SPDX-License-Identifier: Apache-2.0
#include "engine/text/sentencepiece/protobuf_reader.h"
#include "engine/text/sentencepiece/sentencepiece_model.h"
#include "engine/text/vocabulary/text_limits.h"

#include <bit>
#include <optional>

namespace engine {

namespace {

using Kind = ProtobufField::Kind;

/// Reads the messages of a ModelProto. Of a scalar that is there twice the last one counts, as
/// protobuf has it; unknown fields are passed over.
class ModelProtoReader {
public:
    explicit ModelProtoReader(const std::string& source)
        : m_source(source) {}

    Result<SentencePieceModel> read(std::string_view bytes) {
        ProtobufReader reader(bytes, 0, m_source);
        while (!reader.isAtEnd()) {
            ENGINE_TRY(const ProtobufField field, reader.next());
            if (field.number > 5)
                continue;
            ENGINE_TRY_DO(reader.expect(field, Kind::Bytes));
            const ProtobufReader inner(field.bytes, reader.offsetOf(field), m_source);
            if (field.number == 1)
                ENGINE_TRY_DO(readPiece(inner));
            else if (field.number == 2)
                ENGINE_TRY_DO(readTrainerSpec(inner));
            else if (field.number == 3)
                ENGINE_TRY_DO(readNormalizerSpec(inner));
            else if (field.number == 5)
                ENGINE_TRY_DO(refuseDenormalizer(inner));
        }
        m_model.bosId = findControl(m_bosPiece);
        m_model.eosId = findControl(m_eosPiece);
        ENGINE_TRY_DO(checkSpecialId(m_bosIdField, m_model.bosId));
        ENGINE_TRY_DO(checkSpecialId(m_eosIdField, m_model.eosId));
        return std::move(m_model);
    }

private:
    Error corrupt(std::string_view problem, std::uint64_t offset) const {
        return {ErrorCode::CorruptFile,
                fmt::format("{}: {} (byte {})", m_source, problem, offset),
                "Fetch the file again."};
    }

    Result<void> readPiece(ProtobufReader reader) {
        SentencePieceModel::Piece piece;
        while (!reader.isAtEnd()) {
            ENGINE_TRY(const ProtobufField field, reader.next());
            if (field.number == 1) {
                ENGINE_TRY_DO(reader.expect(field, Kind::Bytes));
                piece.text = field.bytes;
            } else if (field.number == 2) {
                ENGINE_TRY_DO(reader.expect(field, Kind::Fixed32));
                piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
            } else if (field.number == 3) {
                ENGINE_TRY_DO(reader.expect(field, Kind::Varint));
                if (field.value < 1 || field.value > 6)
                    return corrupt(fmt::format("piece {} has the unknown type {}",
                                               m_model.pieces.size(),
                                               field.value),
                                   field.offset);
                piece.type = static_cast<PieceType>(field.value);
            }
        }
        if (m_model.pieces.size() == kMaxVocabSize)
            return corrupt("the vocabulary is too large", 0);
        m_model.pieces.push_back(std::move(piece));
        return {};
    }

    Result<void> readTrainerSpec(ProtobufReader reader) {
        while (!reader.isAtEnd()) {
            ENGINE_TRY(const ProtobufField field, reader.next());
            switch (field.number) {
            case 3:
                ENGINE_TRY_DO(reader.expect(field, Kind::Varint));
                ENGINE_TRY_DO(setAlgorithm(field.value));
                break;
            case 24:
                ENGINE_TRY_DO(readFlag(reader, field, m_model.putsSpaceBehind));
                break;
            case 35:
                ENGINE_TRY_DO(readFlag(reader, field, m_model.hasByteFallback));
                break;
            case 40: // of the unknown and of the padding token, which nothing uses
            case 43:
                ENGINE_TRY_DO(reader.expect(field, Kind::Varint));
                break;
            case 41:
                ENGINE_TRY_DO(reader.expect(field, Kind::Varint));
                m_bosIdField = field;
                break;
            case 42:
                ENGINE_TRY_DO(reader.expect(field, Kind::Varint));
                m_eosIdField = field;
                break;
            case 44:
                ENGINE_TRY_DO(readText(reader, field, m_model.unknownSurface));
                break;
            case 46:
                ENGINE_TRY_DO(readText(reader, field, m_bosPiece));
                break;
            case 47:
                ENGINE_TRY_DO(readText(reader, field, m_eosPiece));
                break;
            default:
                break;
            }
        }
        return {};
    }

    Result<void> readNormalizerSpec(ProtobufReader reader) {
        while (!reader.isAtEnd()) {
            ENGINE_TRY(const ProtobufField field, reader.next());
            if (field.number == 2) {
                ENGINE_TRY_DO(reader.expect(field, Kind::Bytes));
                m_model.charsmap = field.bytes;
            } else if (field.number == 3) {
                ENGINE_TRY_DO(readFlag(reader, field, m_model.addsDummyPrefix));
            } else if (field.number == 4) {
                ENGINE_TRY_DO(readFlag(reader, field, m_model.removesExtraSpaces));
            } else if (field.number == 5) {
                ENGINE_TRY_DO(readFlag(reader, field, m_model.escapesSpaces));
            }
        }
        return {};
    }

    Result<void> refuseDenormalizer(ProtobufReader reader) {
        while (!reader.isAtEnd()) {
            ENGINE_TRY(const ProtobufField field, reader.next());
            if (field.number == 2 && !field.bytes.empty())
                return Error{
                    ErrorCode::Unsupported,
                    fmt::format("{}: a model with a denormalizer is not supported", m_source),
                    "Use another export of the tokenizer."};
        }
        return {};
    }

    Result<void> setAlgorithm(std::uint64_t value) {
        if (value != 1 && value != 2)
            return Error{ErrorCode::Unsupported,
                         fmt::format("{}: SentencePiece model type {} is not supported; "
                                     "supported: 1 (unigram), 2 (BPE)",
                                     m_source,
                                     value),
                         "Use another export of the tokenizer."};
        m_model.algorithm = static_cast<SentencePieceModel::Algorithm>(value);
        return {};
    }

    static Result<void>
    readFlag(const ProtobufReader& reader, const ProtobufField& field, bool& out) {
        ENGINE_TRY_DO(reader.expect(field, Kind::Varint));
        out = field.value != 0;
        return {};
    }

    Result<void>
    readText(const ProtobufReader& reader, const ProtobufField& field, std::string& out) const {
        ENGINE_TRY_DO(reader.expect(field, Kind::Bytes));
        if (field.bytes.size() > kMaxTokenBytes || utf8::findInvalid(field.bytes))
            return corrupt("a text of the trainer_spec is too long or not UTF-8", field.offset);
        out = field.bytes;
        return {};
    }

    /// An id counts only where the vocabulary has that token (`used`). -1 stands for "none";
    /// protobuf writes it as a 64-bit number, of which the lower half counts.
    Result<void> checkSpecialId(const std::optional<ProtobufField>& field, TokenId used) const {
        if (!field || used == kNoToken)
            return {};
        const auto id = static_cast<std::int32_t>(static_cast<std::uint32_t>(field->value));
        if (id < -1 || id >= static_cast<std::int64_t>(m_model.pieces.size()))
            return corrupt(fmt::format("the special token id {} is beyond the vocabulary of {} "
                                       "pieces",
                                       id,
                                       m_model.pieces.size()),
                           field->offset);
        return {};
    }

    TokenId findControl(std::string_view text) const {
        for (std::size_t id = 0; id < m_model.pieces.size(); ++id) {
            if (m_model.pieces[id].type == PieceType::Control && m_model.pieces[id].text == text)
                return static_cast<TokenId>(id);
        }
        return kNoToken;
    }

    const std::string& m_source;
    SentencePieceModel m_model;
    std::optional<ProtobufField> m_bosIdField;
    std::optional<ProtobufField> m_eosIdField;
    std::string m_bosPiece = "<s>";
    std::string m_eosPiece = "</s>";
};

} // namespace

Result<SentencePieceModel> parseSentencePieceModel(std::string_view bytes,
                                                   const std::string& source) {
    if (bytes.empty())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{}: the file is empty", source),
                     "Fetch the file again."};
    ENGINE_TRY(SentencePieceModel model, ModelProtoReader(source).read(bytes));
    ENGINE_TRY_DO(model.validate(source));
    return model;
}

} // namespace engine
