// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/text/bpe/bpe_model.h"
#include "engine/text/joining/token_decoder.h"
#include "engine/text/splitting/normalizer.h"
#include "engine/text/splitting/pre_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocabulary/added_tokens.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace engine {

/// What a BPE tokenizer is made of, as its reader found it in a file.
struct BpeParts {
    BpeModel model;
    std::vector<AddedToken> addedTokens;
    Normalizer normalizer;
    PreTokenizer preTokenizer;
    TokenDecoder decoder;
    std::vector<TokenId> prefix; ///< ids that addSpecial puts in front
    std::vector<TokenId> suffix; ///< ids that addSpecial puts behind
    TokenId bosId = kNoToken;
    std::vector<TokenId> eosIds;
    std::string kind = "byte-level BPE"; ///< for people
    std::string origin;                  ///< "tokenizer.json" or "GGUF, pre-tokenizer smollm"
    std::size_t ownSize = 0; ///< ids without those that a configuration adds; 0 = all are its own

    /// The id of an added token or vocabulary entry of exactly this text, or kNoToken.
    TokenId find(std::string_view text) const;
};

/// BPE over byte-level characters (GPT-2, Llama 3, Qwen2, ...) or over characters with byte
/// fallback (Llama 2 as Hugging Face writes it), or a unigram vocabulary. Thread: one at a time.
class ByteLevelBpe : public Tokenizer {
public:
    /// Errors: CorruptFile when ids are out of range or given twice.
    static Result<std::unique_ptr<Tokenizer>> make(BpeParts parts);

    Result<std::vector<TokenId>> encode(std::string_view text, bool addSpecial) const override;
    std::unique_ptr<TokenDecoding> startDecoding(bool skipSpecial) const override;
    int vocabSize() const override;
    int ownVocabSize() const override;
    std::string tokenText(TokenId id) const override;
    std::string tokenBytes(TokenId id) const override;
    bool isSpecial(TokenId id) const override;
    TokenId bosId() const override;
    std::vector<TokenId> eosIds() const override;
    TokenId findToken(std::string_view text) const override;
    std::string description() const override;

private:
    class Decoding;

    explicit ByteLevelBpe(BpeParts parts);
    Result<void> indexAddedTokens();
    Result<void> buildSplitters();
    Result<void>
    encodePlain(std::string_view text, bool beginsText, std::vector<TokenId>& ids) const;
    Result<void> encodePieces(PieceList list, StepBudget& budget, std::vector<TokenId>& ids) const;
    bool contains(TokenId id) const;
    const std::string& textOf(std::size_t id) const;
    void setText(std::size_t id, const std::string& text);

    BpeParts m_parts;
    std::size_t m_size = 0;                          // ids, gaps included
    std::map<std::size_t, std::string> m_addedTexts; // by id, where they differ from the model's
    std::vector<bool> m_isSpecial;                   // by id
    std::vector<bool> m_isSkipped; // by id: decoding leaves it out when special tokens are
    AddedTokenSplitter m_rawSplitter;
    AddedTokenSplitter m_normalizedSplitter;
};

} // namespace engine
