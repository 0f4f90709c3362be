// SPDX-License-Identifier: Apache-2.0
#include "engine/text/vocabulary/tokenizer_config.h"

#include "engine/loading/json/json_document.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/turn_ends.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace engine {

namespace {

/// The names that classes of transformers have for tokens unless they are told others.
struct ClassTokens {
    std::string_view beginning; ///< of the class's name: it may end in "Fast"
    std::string_view bos;
    std::string_view eos;
    std::string_view unk;
    std::string_view pad;
};

constexpr std::array kClassTokens = {
    ClassTokens{"LlamaTokenizer", "<s>", "</s>", "<unk>", ""},
    ClassTokens{"CodeLlamaTokenizer", "<s>", "</s>", "<unk>", ""},
    ClassTokens{"GemmaTokenizer", "<bos>", "<eos>", "<unk>", "<pad>"},
    ClassTokens{"GPT2Tokenizer", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", ""},
    ClassTokens{"Qwen2Tokenizer", "", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>"},
};

/// A token is a string, or an object with its content.
AddedToken readToken(const JsonValue& value, bool isSpecial) {
    const JsonValue content = value.isObject() ? value["content"] : value;
    AddedToken token;
    token.content = std::string(content.asString().value_or(std::string_view()));
    token.isSpecial = isSpecial || value["special"].asBool().value_or(false);
    token.isNormalized = value["normalized"].asBool().value_or(!token.isSpecial);
    token.stripsLeft = value["lstrip"].asBool().value_or(false);
    token.stripsRight = value["rstrip"].asBool().value_or(false);
    token.isSingleWord = value["single_word"].asBool().value_or(false);
    return token;
}

/// Takes the tokens that are named for a use over those that were named before.
void readNamedTokens(const JsonValue& root, TokenizerConfig& config) {
    for (std::size_t i = 0; i < kTokenUses.size(); ++i)
        if (root.contains(kTokenUses[i]))
            config.namedTokens[i] = readToken(root[kTokenUses[i]], true);
    for (const JsonValue& token : root["additional_special_tokens"].items())
        config.moreSpecialTokens.push_back(readToken(token, true));
}

Result<AddedToken>
readAddedToken(std::string_view key, const JsonValue& value, const std::string& source) {
    AddedToken token = readToken(value, false);
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), token.id);
    const bool isNumber = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size();
    if (!isNumber || token.id < 0 || static_cast<std::size_t>(token.id) >= kMaxVocabSize)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{}: added_tokens_decoder has an entry without a usable id (byte "
                                 "{})",
                                 source,
                                 value.offset()),
                     "Fetch the file again."};
    return token;
}

} // namespace

bool TokenizerConfig::honoursAddFlags() const {
    return tokenizerClass.starts_with("LlamaTokenizer") ||
           tokenizerClass.starts_with("CodeLlamaTokenizer");
}

std::string TokenizerConfig::textFor(std::string_view use) const {
    for (std::size_t i = 0; i < kTokenUses.size(); ++i)
        if (kTokenUses[i] == use && namedTokens[i])
            return namedTokens[i]->content;
    for (const ClassTokens& known : kClassTokens)
        if (tokenizerClass.starts_with(known.beginning))
            return std::string(use == "bos_token"   ? known.bos
                               : use == "eos_token" ? known.eos
                               : use == "unk_token" ? known.unk
                               : use == "pad_token" ? known.pad
                                                    : std::string_view());
    return {};
}

Result<TokenizerConfig> readTokenizerConfig(const ModelFiles& files) {
    TokenizerConfig config;
    if (const auto path = files.tokenizerConfigPath()) {
        ENGINE_TRY(const JsonDocument document, readJsonFile(path->string()));
        const JsonValue root = document.root();
        config.isPresent = true;
        config.tokenizerClass = readToken(root["tokenizer_class"], false).content;
        config.addsBos = root["add_bos_token"].asBool();
        config.addsEos = root["add_eos_token"].asBool();
        const bool isOtherClass =
            !config.tokenizerClass.empty() && !config.tokenizerClass.starts_with("LlamaTokenizer");
        config.isLegacy = isOtherClass || root["legacy"].asBool().value_or(true);
        config.addsPrefixSpace = root["add_prefix_space"].asBool().value_or(true);
        config.listsAddedTokens = root.contains("added_tokens_decoder");
        for (const auto& [key, value] : root["added_tokens_decoder"].members()) {
            ENGINE_TRY(AddedToken token, readAddedToken(key, value, path->string()));
            if (!token.content.empty())
                config.addedTokens.push_back(std::move(token));
        }
        std::ranges::stable_sort(config.addedTokens, {}, &AddedToken::id);
        readNamedTokens(root, config);
    }
    if (const auto path = files.specialTokensMapPath(); path && !config.listsAddedTokens) {
        ENGINE_TRY(const JsonDocument map, readJsonFile(path->string()));
        readNamedTokens(map.root(), config);
    }
    return config;
}

Result<std::vector<AddedToken>> readAddedTokensFile(const ModelFiles& files,
                                                    const TokenizerConfig& config) {
    std::vector<AddedToken> added;
    const auto path = files.addedTokensPath();
    if (!path || config.listsAddedTokens)
        return added;
    std::vector<AddedToken> special = config.moreSpecialTokens;
    for (const std::optional<AddedToken>& named : config.namedTokens)
        if (named)
            special.push_back(*named);
    ENGINE_TRY(const JsonDocument document, readJsonFile(path->string()));
    if (!document.root().isObject())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} is no object", path->string()),
                     "Fetch the file again."};
    for (const auto& [text, value] : document.root().members()) {
        const auto id = value.asInteger();
        if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= kMaxVocabSize)
            return Error{ErrorCode::CorruptFile,
                         fmt::format("{}: an added token has no usable id (byte {})",
                                     path->string(),
                                     value.offset()),
                         "Fetch the file again."};
        const bool isNamed = std::ranges::count(special, text, &AddedToken::content) > 0;
        if (!text.empty())
            added.push_back({.content = std::string(text),
                             .id = static_cast<TokenId>(*id),
                             .isSpecial = isNamed || isTurnEnd(text),
                             .isNormalized = !isNamed});
    }
    return added;
}

} // namespace engine
