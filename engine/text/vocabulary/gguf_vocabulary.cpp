// SPDX-License-Identifier: Apache-2.0
#include "engine/text/vocabulary/gguf_vocabulary.h"

#include "engine/base/to_size.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/turn_ends.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>

namespace engine::gguf_vocabulary {

namespace {

Result<void> readTokens(const GgufFile& file, GgufVocabulary& out) {
    const auto* tokens = file.stringArray("tokenizer.ggml.tokens");
    if (tokens == nullptr || tokens->empty())
        return corrupt(file, "there is no list of texts tokenizer.ggml.tokens");
    if (tokens->size() > kMaxVocabSize)
        return corrupt(file, fmt::format("the vocabulary has {} tokens", tokens->size()));
    for (std::size_t id = 0; id < tokens->size(); ++id) {
        const std::string& text = (*tokens)[id];
        if (text.size() > kMaxTokenBytes)
            return corrupt(file,
                           fmt::format("token {} has {} bytes; at most {} are allowed",
                                       id,
                                       text.size(),
                                       kMaxTokenBytes));
        if (const auto offset = utf8::findInvalid(text))
            return corrupt(file, fmt::format("token {} is not UTF-8 at its byte {}", id, *offset));
    }
    out.tokens = *tokens;
    return {};
}

Result<void> readTypes(const GgufFile& file, GgufVocabulary& out) {
    constexpr std::string_view kKey = "tokenizer.ggml.token_type";
    out.types.assign(out.tokens.size(), PieceType::Normal);
    const auto* types = file.integerArray(kKey);
    if (types == nullptr) {
        if (file.holds(kKey))
            return corrupt(file, fmt::format("{} is not a list of integers", kKey));
        return {};
    }
    if (types->size() != out.tokens.size())
        return corrupt(
            file,
            fmt::format("{} has {} entries for {} tokens", kKey, types->size(), out.tokens.size()));
    out.hasTypes = true;
    for (std::size_t id = 0; id < types->size(); ++id) {
        const std::int64_t type = (*types)[id];
        if (type < 0 || type > 6)
            return corrupt(file, fmt::format("token {} has the unknown type {}", id, type));
        if (type != 0) // "undefined": nothing more is known of it
            out.types[id] = static_cast<PieceType>(type);
        // Some converters wrote the ends of turns as words, which an answer would show.
        if (isTurnEnd(out.tokens[id]))
            out.types[id] = PieceType::Control;
    }
    return {};
}

/// The id of the token for this use, if the file gives one.
Result<std::optional<std::uint64_t>> readId(const GgufFile& file, std::string_view use) {
    const std::string key = ggufTokenKey(use);
    if (!file.unsignedValue(key) && file.holds(key))
        return corrupt(file, fmt::format("{} is not an unsigned integer", key));
    return file.tokenId(use);
}

Result<TokenId>
readSpecialId(const GgufFile& file, std::string_view use, const GgufVocabulary& vocabulary) {
    ENGINE_TRY(const auto id, readId(file, use));
    if (!id)
        return kNoToken;
    if (*id >= vocabulary.tokens.size())
        return corrupt(file,
                       fmt::format("{} is {}, beyond the vocabulary of {} tokens",
                                   ggufTokenKey(use),
                                   *id,
                                   vocabulary.tokens.size()));
    return static_cast<TokenId>(*id);
}

Result<void> readSpecialIds(const GgufFile& file, GgufVocabulary& out) {
    ENGINE_TRY(out.bosId, readSpecialId(file, "bos", out));
    ENGINE_TRY(out.eosId, readSpecialId(file, "eos", out));
    // No text needs this one, so the file is read without it where the vocabulary lacks it.
    ENGINE_TRY(const auto unknown, readId(file, "unknown"));
    if (unknown && *unknown < out.tokens.size())
        out.unknownId = static_cast<TokenId>(*unknown);
    ENGINE_TRY(const TokenId turnEnd, readSpecialId(file, "eot", out));
    ENGINE_TRY(const TokenId messageEnd, readSpecialId(file, "eom", out));
    std::vector<TokenId> ends = {out.eosId, turnEnd, messageEnd};
    // Ollama's converter names all ends beside the first one.
    if (const auto* ids = file.integerArray("tokenizer.ggml.eos_token_ids"))
        for (const std::int64_t id : *ids)
            if (id >= 0 && toSize(id) < out.tokens.size())
                ends.push_back(static_cast<TokenId>(id));
    for (const TokenId id : ends) {
        const bool isNew = std::find(out.eosIds.begin(), out.eosIds.end(), id) == out.eosIds.end();
        if (id != kNoToken && isNew)
            out.eosIds.push_back(id);
    }
    out.addsBos = file.boolValue("tokenizer.ggml.add_bos_token");
    out.addsEos = file.boolValue("tokenizer.ggml.add_eos_token");
    return {};
}

} // namespace

Result<GgufVocabulary> read(const GgufFile& file) {
    GgufVocabulary vocabulary;
    ENGINE_TRY_DO(readTokens(file, vocabulary));
    ENGINE_TRY_DO(readTypes(file, vocabulary));
    ENGINE_TRY_DO(readSpecialIds(file, vocabulary));
    return vocabulary;
}

Result<void> checkByteLevel(const GgufFile& file, const GgufVocabulary& vocabulary) {
    const auto countFrom = [&vocabulary](std::string_view space) {
        return std::count_if(
            vocabulary.tokens.begin(), vocabulary.tokens.end(), [space](const std::string& token) {
                return token.starts_with(space);
            });
    };
    if (countFrom("\u2581") <= countFrom("\u0120"))
        return {};
    return Error{ErrorCode::Unsupported,
                 fmt::format("{}: its tokenizer is called gpt2, but has the tokens of a "
                             "SentencePiece model (llama)",
                             file.path().string()),
                 "Convert the model with its tokenizer.model, or use its Hugging Face folder."};
}

Error corrupt(const GgufFile& file, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {}", file.path().string(), problem),
            "Fetch the file again, or convert the model anew."};
}

Error inFile(const GgufFile& file, Error error) {
    error.message = fmt::format("{}: {}", file.path().string(), error.message);
    return error;
}

} // namespace engine::gguf_vocabulary
