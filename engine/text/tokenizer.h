// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/model_files.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// One decoding in progress: tokens go in, text comes out as soon as it is certain.
/// Thread: that of the tokenizer it came from, which must outlive it.
class TokenDecoding {
public:
    virtual ~TokenDecoding() = default;

    /// Appends to `text` what this token makes certain; amortised O(1) work a token.
    /// Errors: InvalidInput when the id is outside the vocabulary.
    virtual Result<void> push(TokenId id, std::string& text) = 0;

    /// Appends what was held back; nothing may be pushed after it.
    virtual Result<void> finish(std::string& text) = 0;
};

/// Text to tokens and back. Thread: const calls from any one thread at a time.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// Tokens of a text; special and added tokens written in it become their ids.
    /// `addSpecial` puts the model's own begin token (and end token if it asks so) around it.
    /// Errors: InvalidInput when the text is not UTF-8 (says the byte offset).
    virtual Result<std::vector<TokenId>> encode(std::string_view text, bool addSpecial) const = 0;

    /// The text of tokens, bytes that form no UTF-8 replaced by U+FFFD.
    /// Errors: InvalidInput when an id is outside the vocabulary.
    Result<std::string> decode(std::span<const TokenId> ids, bool skipSpecial) const;

    /// Decoding token by token: all text joined equals decode() of all ids.
    virtual std::unique_ptr<TokenDecoding> startDecoding(bool skipSpecial) const = 0;

    /// Number of ids that decode knows: 0 .. vocabSize() - 1, added tokens included.
    virtual int vocabSize() const = 0;

    /// The first of them, without those that are added by a configuration alone: what belongs to
    /// a model.
    virtual int ownVocabSize() const { return vocabSize(); }

    /// The entry as the vocabulary spells it ("Ġthe", "▁the", "<0x0A>"); empty for a gap.
    virtual std::string tokenText(TokenId id) const = 0;

    /// The raw bytes an id contributes in the middle of a text (U+2581 and byte map undone).
    virtual std::string tokenBytes(TokenId id) const = 0;

    virtual bool isSpecial(TokenId id) const = 0;
    virtual TokenId bosId() const = 0;               ///< kNoToken when there is none
    virtual std::vector<TokenId> eosIds() const = 0; ///< may be empty
    /// The id whose vocabulary text is exactly this, or kNoToken.
    virtual TokenId findToken(std::string_view text) const = 0;

    /// For people: "byte-level BPE (tokenizer.json, 49152 tokens)".
    virtual std::string description() const = 0;
};

/// The first ordinary token that a vocabulary of `vocabSize` has no place for: the tokenizer
/// belongs to another model then. kNoToken when all fit.
TokenId firstIdBeyond(const Tokenizer& tokenizer, int vocabSize);

/// One token as people read it, whole UTF-8 whatever the token: its text, or its spelling when it
/// stands for none (special tokens); bytes that are no whole character as "<0xE2>".
/// A gap of the vocabulary and an id outside it give "".
std::string readableToken(const Tokenizer& tokenizer, TokenId id);

/// Builds the tokenizer that a model's files describe: GGUF vocabulary, tokenizer.json, or
/// tokenizer.model, in this order of what is there; of a tokenizer.json that is not supported, too,
/// the tokenizer.model beside it.
/// Errors: NotFound when there is none; Unsupported and CorruptFile say what and where.
Result<std::unique_ptr<Tokenizer>> loadTokenizer(const ModelFiles& files);

} // namespace engine
