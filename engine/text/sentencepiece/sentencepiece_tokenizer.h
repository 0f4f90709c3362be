// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/text/sentencepiece/sentencepiece_model.h"
#include "engine/text/sentencepiece/unigram_encoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocabulary/added_tokens.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace engine {

/// How a SentencePiece model is used, beyond what its own file says.
struct SentencePieceOptions {
    /// Control pieces written in a text become their ids, and decoding shows them, as llama.cpp
    /// and Hugging Face have it. Off: both as the sentencepiece library itself does, where they
    /// are plain text going in and nothing coming out.
    bool knowsControlText = false;
    /// Every text between added tokens gets the space that the model puts in front, not only one
    /// that begins the whole text.
    bool spacesEachText = true;
    bool addsBos = true;
    bool addsEos = false;
    std::vector<AddedToken> addedTokens; ///< from other files; ids inside or behind the pieces
    std::vector<TokenId> eosIds;
    std::string origin; ///< "tokenizer.model" or "GGUF"
};

/// Normalises and merges by the sentencepiece library, which gets a model that was checked and
/// written anew; the unigram search is our own (see UnigramEncoder). Decodes by itself, as the
/// library does, token by token. Thread: one at a time.
class SentencePieceTokenizer : public Tokenizer {
public:
    /// `model` must have been validated. Errors: CorruptFile when the library refuses the model.
    static Result<std::unique_ptr<Tokenizer>> make(SentencePieceModel model,
                                                   SentencePieceOptions options);
    ~SentencePieceTokenizer() override;

    Result<std::vector<TokenId>> encode(std::string_view text, bool addSpecial) const override;
    std::unique_ptr<TokenDecoding> startDecoding(bool skipSpecial) const override;
    int vocabSize() const override;
    std::string tokenText(TokenId id) const override;
    std::string tokenBytes(TokenId id) const override;
    bool isSpecial(TokenId id) const override;
    TokenId bosId() const override;
    std::vector<TokenId> eosIds() const override;
    TokenId findToken(std::string_view text) const override;
    std::string description() const override;

private:
    class Decoding;

    SentencePieceTokenizer(SentencePieceModel model, SentencePieceOptions options);
    Result<void> loadLibrary();
    Result<void> indexTokens();
    Result<void> encodePlain(std::string_view text, bool isBegin, std::vector<TokenId>& ids) const;
    bool contains(TokenId id) const;
    PieceType typeOf(TokenId id) const;

    SentencePieceModel m_model;
    SentencePieceOptions m_options;
    std::unique_ptr<sentencepiece::SentencePieceProcessor> m_library;
    /// The same without the space in front, where a text behind an added token gets none; or null.
    std::unique_ptr<sentencepiece::SentencePieceProcessor> m_spaceless;
    std::optional<UnigramEncoder> m_unigram;             // for unigram models; refers to m_model
    std::vector<std::string> m_texts;                    // by id, pieces and added tokens
    std::vector<bool> m_isSpecial;                       // by id
    std::unordered_map<std::string_view, TokenId> m_ids; // views into m_texts
    AddedTokenSplitter m_splitter;
};

} // namespace engine
