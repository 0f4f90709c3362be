// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/byte_level_bpe.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>

namespace engine {

namespace {

constexpr const char* kHint = "Fetch the file again, or convert the model anew.";

Error corruptVocabulary(const std::string& origin, std::string_view problem) {
    return {ErrorCode::CorruptFile, fmt::format("{}: {}", origin, problem), kHint};
}

} // namespace

TokenId BpeParts::find(std::string_view text) const {
    for (const AddedToken& token : addedTokens) {
        if (token.content == text)
            return token.id;
    }
    return model.find(text);
}

ByteLevelBpe::ByteLevelBpe(BpeParts parts)
    : m_parts(std::move(parts)) {}

Result<std::unique_ptr<Tokenizer>> ByteLevelBpe::make(BpeParts parts) {
    std::unique_ptr<ByteLevelBpe> made(new ByteLevelBpe(std::move(parts))); // private constructor
    ENGINE_TRY_DO(made->indexAddedTokens());
    ENGINE_TRY_DO(made->buildSplitters());
    std::vector<TokenId> named = made->m_parts.prefix;
    named.insert(named.end(), made->m_parts.suffix.begin(), made->m_parts.suffix.end());
    named.insert(named.end(), made->m_parts.eosIds.begin(), made->m_parts.eosIds.end());
    if (made->m_parts.bosId != kNoToken)
        named.push_back(made->m_parts.bosId);
    for (const TokenId id : named) {
        if (!made->contains(id))
            return corruptVocabulary(
                made->m_parts.origin,
                fmt::format("the special token id {} is beyond the vocabulary of {} "
                            "tokens",
                            id,
                            made->vocabSize()));
    }
    return std::unique_ptr<Tokenizer>(std::move(made));
}

Result<void> ByteLevelBpe::indexAddedTokens() {
    const BpeModel& model = m_parts.model;
    std::size_t size = model.size();
    for (const AddedToken& token : m_parts.addedTokens) {
        ENGINE_CHECK(token.id >= 0, "added token without id");
        size = std::max(size, static_cast<std::size_t>(token.id) + 1);
    }
    if (size > kMaxVocabSize)
        return corruptVocabulary(m_parts.origin, fmt::format("the vocabulary has {} tokens", size));
    m_size = size;
    m_isSpecial.resize(size, false);
    m_isSkipped.resize(size, false);
    for (const AddedToken& token : m_parts.addedTokens) {
        const auto id = static_cast<std::size_t>(token.id);
        const std::string& known = textOf(id);
        if (!known.empty() && known != token.content)
            return corruptVocabulary(
                m_parts.origin,
                fmt::format("the added token '{}' and the token '{}' have the same id "
                            "{}",
                            readable(token.content),
                            readable(known),
                            id));
        setText(id, token.content);
        m_isSpecial[id] = token.isSpecial;
    }
    return {};
}

Result<void> ByteLevelBpe::buildSplitters() {
    std::vector<AddedToken> raw;
    std::vector<AddedToken> normalized;
    std::unordered_set<std::string_view> specialTexts;
    for (const AddedToken& token : m_parts.addedTokens) {
        if (token.isSpecial)
            specialTexts.insert(token.content);
        if (token.content.size() > kMaxTokenBytes)
            return corruptVocabulary(
                m_parts.origin,
                fmt::format("the added token {} has {} bytes; at most {} are allowed",
                            token.id,
                            token.content.size(),
                            kMaxTokenBytes));
        if (!token.isNormalized) {
            raw.push_back(token);
            continue;
        }
        StepBudget budget = StepBudget::forText(token.content.size());
        AddedToken copy = token;
        ENGINE_TRY(copy.content, m_parts.normalizer.apply(token.content, budget));
        // Hugging Face keeps such a token under its normalised text: that is what decoding gives.
        setText(static_cast<std::size_t>(token.id), copy.content);
        if (!copy.content.empty())
            normalized.push_back(std::move(copy));
    }
    // ... and a token is skipped when the text it is kept under is that of a special token.
    for (std::size_t id = 0; id < m_size; ++id)
        m_isSkipped[id] = specialTexts.contains(textOf(id));
    m_rawSplitter = AddedTokenSplitter(std::move(raw));
    m_normalizedSplitter = AddedTokenSplitter(std::move(normalized));
    return {};
}

Result<std::vector<TokenId>> ByteLevelBpe::encode(std::string_view text, bool addSpecial) const {
    ENGINE_TRY_DO(checkText(text));
    std::vector<TokenId> ids;
    if (addSpecial)
        ids = m_parts.prefix;
    for (const TextSegment& segment : m_rawSplitter.split(text)) {
        if (segment.id != kNoToken)
            ids.push_back(segment.id);
        else
            ENGINE_TRY_DO(encodePlain(segment.text, segment.text.data() == text.data(), ids));
    }
    if (addSpecial)
        ids.insert(ids.end(), m_parts.suffix.begin(), m_parts.suffix.end());
    return ids;
}

Result<void>
ByteLevelBpe::encodePlain(std::string_view text, bool beginsText, std::vector<TokenId>& ids) const {
    StepBudget budget = StepBudget::forText(text.size());
    std::string normalized;
    if (m_parts.normalizer.stepCount() > 0) {
        ENGINE_TRY(normalized, m_parts.normalizer.apply(text, budget));
        text = normalized;
    }
    const char* begin = text.data();
    for (const TextSegment& segment : m_normalizedSplitter.split(text)) {
        if (segment.id != kNoToken) {
            ids.push_back(segment.id);
            continue;
        }
        PieceList list;
        list.pieces.push_back(segment.text);
        list.beginsText = beginsText && segment.text.data() == begin;
        ENGINE_TRY_DO(encodePieces(std::move(list), budget, ids));
    }
    return {};
}

Result<void>
ByteLevelBpe::encodePieces(PieceList list, StepBudget& budget, std::vector<TokenId>& ids) const {
    ENGINE_TRY_DO(m_parts.preTokenizer.apply(list, budget));
    for (const std::string_view piece : list.pieces)
        ENGINE_TRY_DO(m_parts.model.tokenize(piece, ids));
    return {};
}

/// Looks up texts by id and runs the decoder's steps.
class ByteLevelBpe::Decoding : public TokenDecoding {
public:
    Decoding(const ByteLevelBpe& tokenizer, bool skipSpecial)
        : m_tokenizer(tokenizer)
        , m_skipSpecial(skipSpecial)
        , m_run(tokenizer.m_parts.decoder) {}

    Result<void> push(TokenId id, std::string& text) override {
        if (!m_tokenizer.contains(id))
            return unknownId(id, m_tokenizer.vocabSize());
        const auto index = static_cast<std::size_t>(id);
        const std::string& tokenText = m_tokenizer.textOf(index);
        const bool isGap = tokenText.empty();
        if (!isGap && !(m_skipSpecial && m_tokenizer.m_isSkipped[index]))
            m_run.push(tokenText, text);
        return {};
    }

    Result<void> finish(std::string& text) override {
        m_run.finish(text);
        return {};
    }

private:
    const ByteLevelBpe& m_tokenizer;
    bool m_skipSpecial;
    TokenDecoder::Run m_run;
};

std::unique_ptr<TokenDecoding> ByteLevelBpe::startDecoding(bool skipSpecial) const {
    return std::make_unique<Decoding>(*this, skipSpecial);
}

/// Empty for a gap.
const std::string& ByteLevelBpe::textOf(std::size_t id) const {
    static const std::string kGap;
    if (const auto added = m_addedTexts.find(id); added != m_addedTexts.end())
        return added->second;
    return id < m_parts.model.size() ? m_parts.model.text(static_cast<TokenId>(id)) : kGap;
}

void ByteLevelBpe::setText(std::size_t id, const std::string& text) {
    if (textOf(id) != text)
        m_addedTexts[id] = text;
}

bool ByteLevelBpe::contains(TokenId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < m_size;
}

int ByteLevelBpe::vocabSize() const {
    return static_cast<int>(m_size); // at most kMaxVocabSize
}

int ByteLevelBpe::ownVocabSize() const {
    return m_parts.ownSize == 0 ? vocabSize() : static_cast<int>(std::min(m_parts.ownSize, m_size));
}

std::string ByteLevelBpe::tokenText(TokenId id) const {
    return contains(id) ? textOf(static_cast<std::size_t>(id)) : std::string();
}

std::string ByteLevelBpe::tokenBytes(TokenId id) const {
    return m_parts.decoder.bytesOf(tokenText(id));
}

bool ByteLevelBpe::isSpecial(TokenId id) const {
    return contains(id) && m_isSpecial[static_cast<std::size_t>(id)];
}

TokenId ByteLevelBpe::bosId() const { return m_parts.bosId; }

std::vector<TokenId> ByteLevelBpe::eosIds() const { return m_parts.eosIds; }

TokenId ByteLevelBpe::findToken(std::string_view text) const { return m_parts.find(text); }

std::string ByteLevelBpe::description() const {
    return fmt::format("{} ({}, {} tokens)", m_parts.kind, m_parts.origin, m_size);
}

} // namespace engine
