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

constexpr std::array<std::string_view, 8> kUses = {"bos_token",
                                                   "eos_token",
                                                   "unk_token",
                                                   "sep_token",
                                                   "pad_token",
                                                   "cls_token",
                                                   "mask_token",
                                                   "additional_special_tokens"};

/// A token is a string, or an object with its content.
std::string readToken(const JsonValue& value) {
    const JsonValue content = value.isObject() ? value["content"] : value;
    return std::string(content.asString().value_or(std::string_view()));
}

/// Appends what is named for a use: a token, or a list of them.
void addSpecialTokens(const JsonValue& root, std::vector<std::string>& contents) {
    for (const std::string_view use : kUses) {
        const JsonValue named = root[use];
        if (named.isArray()) {
            for (const JsonValue& token : named.items())
                contents.push_back(readToken(token));
        } else {
            contents.push_back(readToken(named));
        }
    }
}

Result<AddedToken>
readAddedToken(std::string_view key, const JsonValue& value, const std::string& source) {
    AddedToken token;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), token.id);
    const bool isNumber = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size();
    if (!isNumber || token.id < 0 || static_cast<std::size_t>(token.id) >= kMaxVocabSize)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{}: added_tokens_decoder has an entry without a usable id (byte "
                                 "{})",
                                 source,
                                 value.offset()),
                     "Fetch the file again."};
    token.content = readToken(value);
    token.isSpecial = value["special"].asBool().value_or(false);
    token.stripsLeft = value["lstrip"].asBool().value_or(false);
    token.stripsRight = value["rstrip"].asBool().value_or(false);
    token.isSingleWord = value["single_word"].asBool().value_or(false);
    return token;
}

} // namespace

bool TokenizerConfig::honoursAddFlags() const {
    return tokenizerClass.starts_with("LlamaTokenizer") ||
           tokenizerClass.starts_with("CodeLlamaTokenizer");
}

Result<TokenizerConfig> readTokenizerConfig(const ModelFiles& files) {
    TokenizerConfig config;
    const auto path = files.tokenizerConfigPath();
    if (!path)
        return config;
    ENGINE_TRY(const JsonDocument document, readJsonFile(path->string()));
    const JsonValue root = document.root();
    config.isPresent = true;
    config.tokenizerClass = readToken(root["tokenizer_class"]);
    config.bosToken = readToken(root["bos_token"]);
    config.eosToken = readToken(root["eos_token"]);
    config.addsBos = root["add_bos_token"].asBool();
    config.addsEos = root["add_eos_token"].asBool();
    const bool isOtherClass =
        !config.tokenizerClass.empty() && !config.tokenizerClass.starts_with("LlamaTokenizer");
    config.isLegacy = isOtherClass || root["legacy"].asBool().value_or(true);
    config.addsPrefixSpace = root["add_prefix_space"].asBool().value_or(true);
    for (const auto& [key, value] : root["added_tokens_decoder"].members()) {
        ENGINE_TRY(AddedToken token, readAddedToken(key, value, path->string()));
        if (!token.content.empty())
            config.addedTokens.push_back(std::move(token));
    }
    addSpecialTokens(root, config.specialTokens);
    return config;
}

Result<std::vector<AddedToken>> readAddedTokensFile(const ModelFiles& files,
                                                    const TokenizerConfig& config) {
    std::vector<AddedToken> added;
    const auto path = files.addedTokensPath();
    if (!path || !config.addedTokens.empty())
        return added;
    std::vector<std::string> special = config.specialTokens;
    if (const auto mapPath = files.specialTokensMapPath()) {
        ENGINE_TRY(const JsonDocument map, readJsonFile(mapPath->string()));
        addSpecialTokens(map.root(), special);
    }
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
        const bool isNamed = std::find(special.begin(), special.end(), text) != special.end();
        if (!text.empty())
            added.push_back({.content = std::string(text),
                             .id = static_cast<TokenId>(*id),
                             .isSpecial = isNamed || isTurnEnd(text)});
    }
    return added;
}

} // namespace engine
