// SPDX-License-Identifier: Apache-2.0
#include "engine/text/sentencepiece/sentencepiece_tokenizer.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/joining/decode_stage.h"
#include "engine/text/joining/token_decoder.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/utf8.h"

#include <sentencepiece_processor.h>

#include <new>

namespace engine {

namespace {

constexpr int kSilent = 3; // only fatal messages of the library, which the checks rule out

/// Runs library code; whatever it throws ends here.
template <typename Call> Result<void> guarded(std::string_view what, Call call) {
    try {
        const sentencepiece::util::Status status = call();
        if (status.ok())
            return {};
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     fmt::format("no memory left for sentencepiece to {}", what),
                     "Use a shorter text."};
    } catch (const std::exception&) {
        // As a bad status: what the library says of it means nothing to people.
    }
    return Error{ErrorCode::CorruptFile,
                 fmt::format("sentencepiece cannot {}: the tokenizer's model is damaged", what),
                 "Fetch the tokenizer again, or convert the model anew."};
}

Result<void> loadLibraryWith(const SentencePieceModel& model,
                             std::unique_ptr<sentencepiece::SentencePieceProcessor>& library) {
    const std::string bytes = model.serialize();
    return guarded("use this model", [&] {
        library = std::make_unique<sentencepiece::SentencePieceProcessor>();
        return library->LoadFromSerializedProto(bytes);
    });
}

} // namespace

SentencePieceTokenizer::SentencePieceTokenizer(SentencePieceModel model,
                                               SentencePieceOptions options)
    : m_model(std::move(model))
    , m_options(std::move(options)) {}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

Result<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::make(SentencePieceModel model,
                                                                SentencePieceOptions options) {
    std::unique_ptr<SentencePieceTokenizer> made(
        new SentencePieceTokenizer(std::move(model), std::move(options))); // private constructor
    ENGINE_TRY_DO(made->indexTokens());
    ENGINE_TRY_DO(made->loadLibrary());
    return std::unique_ptr<Tokenizer>(std::move(made));
}

Result<void> SentencePieceTokenizer::loadLibrary() {
    sentencepiece::SetMinLogLevel(kSilent);
    if (m_model.algorithm == SentencePieceModel::Algorithm::Unigram)
        m_unigram.emplace(m_model);
    ENGINE_TRY_DO(loadLibraryWith(m_model, m_library));
    if (m_options.spacesEachText || !m_model.addsDummyPrefix)
        return {};
    SentencePieceModel spaceless = m_model;
    spaceless.addsDummyPrefix = false;
    return loadLibraryWith(spaceless, m_spaceless);
}

Result<void> SentencePieceTokenizer::indexTokens() {
    std::size_t size = m_model.pieces.size();
    for (const AddedToken& token : m_options.addedTokens)
        size = std::max(size, static_cast<std::size_t>(token.id) + 1);
    if (size > 2 * m_model.pieces.size() + 65'536 || size > kMaxVocabSize)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{}: an added token has the id {}, far beyond {} pieces",
                                 m_options.origin,
                                 size - 1,
                                 m_model.pieces.size()),
                     "Fetch the files again."};
    m_texts.resize(size);
    m_isSpecial.resize(size, false);
    std::vector<AddedToken> searched = m_options.addedTokens; // the first of one text counts
    for (std::size_t id = 0; id < m_model.pieces.size(); ++id) {
        const SentencePieceModel::Piece& piece = m_model.pieces[id];
        const bool isControl = piece.type == PieceType::Control;
        const bool isUnknown = piece.type == PieceType::Unknown;
        m_texts[id] = piece.text;
        m_isSpecial[id] = isControl || (isUnknown && m_options.knowsControlText);
        const bool isSearched = isControl || isUnknown || piece.type == PieceType::UserDefined;
        if (isSearched && m_options.knowsControlText)
            searched.push_back({.content = piece.text,
                                .id = static_cast<TokenId>(id),
                                .isSpecial = m_isSpecial[id]});
    }
    for (const AddedToken& token : m_options.addedTokens) {
        const auto id = static_cast<std::size_t>(token.id);
        m_texts[id] = token.content;
        m_isSpecial[id] = token.isSpecial;
    }
    for (std::size_t id = 0; id < size; ++id) {
        if (!m_texts[id].empty())
            m_ids.emplace(m_texts[id], static_cast<TokenId>(id));
    }
    m_splitter = AddedTokenSplitter(std::move(searched));
    return {};
}

Result<std::vector<TokenId>> SentencePieceTokenizer::encode(std::string_view text,
                                                            bool addSpecial) const {
    ENGINE_TRY_DO(checkText(text));
    std::vector<TokenId> ids;
    if (addSpecial && m_options.addsBos && m_model.bosId != kNoToken)
        ids.push_back(m_model.bosId);
    bool isBegin = true;
    for (const TextSegment& segment : m_splitter.split(text)) {
        if (segment.id != kNoToken)
            ids.push_back(segment.id);
        else
            ENGINE_TRY_DO(encodePlain(segment.text, isBegin, ids));
        isBegin = false;
    }
    if (addSpecial && m_options.addsEos && m_model.eosId != kNoToken)
        ids.push_back(m_model.eosId);
    return ids;
}

Result<void> SentencePieceTokenizer::encodePlain(std::string_view text,
                                                 bool isBegin,
                                                 std::vector<TokenId>& ids) const {
    // Of spaces that a text begins with, the library takes away what it does not put there itself.
    const bool keepsSpace = m_model.removesExtraSpaces && text.starts_with(' ');
    const sentencepiece::SentencePieceProcessor& library =
        m_spaceless && !isBegin && !keepsSpace ? *m_spaceless : *m_library;
    if (m_unigram) {
        std::string normalized;
        ENGINE_TRY_DO(
            guarded("normalise this text", [&] { return library.Normalize(text, &normalized); }));
        m_unigram->encode(normalized, ids);
        return {};
    }
    std::vector<int> encoded;
    ENGINE_TRY_DO(guarded("encode this text", [&] { return library.Encode(text, &encoded); }));
    for (const int id : encoded) {
        ENGINE_CHECK(contains(id), "sentencepiece gave id {} of {}", id, m_texts.size());
        ids.push_back(id);
    }
    return {};
}

/// What SentencePieceProcessor::Decode does, one token at a time.
class SentencePieceTokenizer::Decoding : public TokenDecoding {
public:
    Decoding(const SentencePieceTokenizer& tokenizer, bool skipSpecial)
        : m_tokenizer(tokenizer)
        , m_skipSpecial(skipSpecial)
        , m_takesLeadingSpace(tokenizer.m_model.addsDummyPrefix ||
                              tokenizer.m_model.removesExtraSpaces) {}

    Result<void> push(TokenId id, std::string& text) override {
        if (!m_tokenizer.contains(id))
            return unknownId(id, m_tokenizer.vocabSize());
        const PieceType type = m_tokenizer.typeOf(id);
        std::string_view piece = m_tokenizer.m_texts[static_cast<std::size_t>(id)];
        if (type == PieceType::Byte) {
            m_bytes.push_back(static_cast<char>(byteOfToken(piece)));
            flushBytes(text, false);
            return {};
        }
        flushBytes(text, true);
        if (m_tookSpace || m_hasText)
            m_takesLeadingSpace = false;
        m_tookSpace = false;
        if (m_tokenizer.isSpecial(id) || type == PieceType::Unknown) {
            emit(specialText(id, type), text);
            return {};
        }
        if (m_takesLeadingSpace && piece.starts_with(utf8::kSpaceSymbol)) {
            piece.remove_prefix(utf8::kSpaceSymbol.size());
            m_tookSpace = !m_tokenizer.m_model.removesExtraSpaces; // else it takes them all
        }
        emit(replaceAll(piece, utf8::kSpaceSymbol, " "), text);
        return {};
    }

    Result<void> finish(std::string& text) override {
        flushBytes(text, true);
        return {};
    }

private:
    std::string specialText(TokenId id, PieceType type) const {
        if (m_skipSpecial && m_tokenizer.isSpecial(id))
            return {};
        if (m_tokenizer.m_options.knowsControlText)
            return m_tokenizer.m_texts[static_cast<std::size_t>(id)];
        return type == PieceType::Unknown ? m_tokenizer.m_model.unknownSurface : std::string();
    }

    void emit(std::string_view piece, std::string& text) {
        text.append(piece);
        m_hasText = m_hasText || !piece.empty();
    }

    /// Whole characters out of a run of byte pieces; a byte that fits nowhere becomes U+FFFD.
    void flushBytes(std::string& text, bool isRunOver) {
        std::string_view bytes = m_bytes;
        while (!bytes.empty()) {
            const utf8::Prefix prefix = utf8::inspect(bytes);
            if (prefix.kind == utf8::Kind::Incomplete && !isRunOver)
                break;
            const bool isValid = prefix.kind == utf8::Kind::Valid;
            emit(isValid ? bytes.substr(0, prefix.length) : utf8::kReplacement, text);
            bytes.remove_prefix(isValid ? prefix.length : 1);
        }
        m_bytes.erase(0, m_bytes.size() - bytes.size());
    }

    const SentencePieceTokenizer& m_tokenizer;
    bool m_skipSpecial;
    bool m_takesLeadingSpace; // nothing has come out yet, so a leading space is the dummy prefix
    bool m_tookSpace = false;
    bool m_hasText = false;
    std::string m_bytes; // at most three between calls
};

std::unique_ptr<TokenDecoding> SentencePieceTokenizer::startDecoding(bool skipSpecial) const {
    return std::make_unique<Decoding>(*this, skipSpecial);
}

bool SentencePieceTokenizer::contains(TokenId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < m_texts.size();
}

PieceType SentencePieceTokenizer::typeOf(TokenId id) const {
    const auto index = static_cast<std::size_t>(id);
    return index < m_model.pieces.size() ? m_model.pieces[index].type : PieceType::UserDefined;
}

int SentencePieceTokenizer::vocabSize() const {
    return static_cast<int>(m_texts.size()); // at most kMaxVocabSize
}

std::string SentencePieceTokenizer::tokenText(TokenId id) const {
    return contains(id) ? m_texts[static_cast<std::size_t>(id)] : std::string();
}

std::string SentencePieceTokenizer::tokenBytes(TokenId id) const {
    if (!contains(id))
        return {};
    const std::string& text = m_texts[static_cast<std::size_t>(id)];
    if (typeOf(id) == PieceType::Byte)
        return std::string(1, static_cast<char>(byteOfToken(text)));
    if (typeOf(id) == PieceType::Unknown && !m_options.knowsControlText)
        return m_model.unknownSurface;
    if (isSpecial(id))
        return m_options.knowsControlText ? text : std::string();
    return replaceAll(text, utf8::kSpaceSymbol, " ");
}

bool SentencePieceTokenizer::isSpecial(TokenId id) const {
    return contains(id) && m_isSpecial[static_cast<std::size_t>(id)];
}

TokenId SentencePieceTokenizer::bosId() const { return m_model.bosId; }

std::vector<TokenId> SentencePieceTokenizer::eosIds() const {
    if (m_options.eosIds.empty() && m_model.eosId != kNoToken)
        return {m_model.eosId};
    return m_options.eosIds;
}

TokenId SentencePieceTokenizer::findToken(std::string_view text) const {
    const auto found = m_ids.find(text);
    return found == m_ids.end() ? kNoToken : found->second;
}

std::string SentencePieceTokenizer::description() const {
    const bool isBpe = m_model.algorithm == SentencePieceModel::Algorithm::Bpe;
    return fmt::format("SentencePiece {} ({}, {} tokens)",
                       isBpe ? "BPE" : "unigram",
                       m_options.origin,
                       m_texts.size());
}

} // namespace engine
