// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/tokenizer_json.h"

#include "engine/base/checked_math.h"
#include "engine/loading/files/readable_text.h"
#include "engine/text/vocabulary/text_limits.h"

#include <algorithm>
#include <unordered_map>

namespace engine {

namespace tokenizer_json {

std::string_view typeOf(const JsonValue& component) {
    return component["type"].asString().value_or(std::string_view());
}

std::string textOr(const JsonValue& value, std::string_view otherwise) {
    return std::string(value.asString().value_or(otherwise));
}

bool boolOr(const JsonValue& value, bool otherwise) { return value.asBool().value_or(otherwise); }

Error unsupported(const std::string& source, std::string_view section, std::string_view what) {
    return {ErrorCode::Unsupported,
            fmt::format("{}: {} '{}' is not supported", source, section, readable(what)),
            "Use the model's GGUF file or another export of its tokenizer, or put its "
            "tokenizer.model beside this file."};
}

Error corrupt(const std::string& source, const JsonValue& at, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} (byte {})", source, problem, at.offset()),
            "Fetch the file again."};
}

} // namespace tokenizer_json

namespace {

using namespace tokenizer_json;

/// Gives added tokens their ids the way Hugging Face does: the vocabulary's own id where the text
/// is in it, else the one behind all added tokens so far and behind the number of its entries.
class AddedTokenReader {
public:
    AddedTokenReader(const BpeModel& model, std::size_t vocabCount, std::string source)
        : m_model(model)
        , m_next(vocabCount)
        , m_source(std::move(source)) {}

    Result<void> read(const JsonValue& value) {
        AddedToken token;
        token.content = textOr(value["content"], "");
        if (token.content.empty())
            return {};
        token.isSpecial = boolOr(value["special"], false);
        token.isNormalized = boolOr(value["normalized"], !token.isSpecial);
        token.stripsLeft = boolOr(value["lstrip"], false);
        token.stripsRight = boolOr(value["rstrip"], false);
        token.isSingleWord = boolOr(value["single_word"], false);
        const bool isKnown =
            m_indexByContent.contains(token.content) || m_model.find(token.content) != kNoToken;
        if (!isKnown && value["id"].asInteger().value_or(-1) < 0)
            return corrupt(m_source, value, "an added token has no usable id");
        return add(std::move(token), true);
    }

    /// The configuration's own definitions count; tokens that are only named are added if missing,
    /// and those that are named for a use are special.
    Result<void> read(const TokenizerConfig& config) {
        for (const AddedToken& token : config.addedTokens)
            ENGINE_TRY_DO(add(token, true));
        for (const std::optional<AddedToken>& named : config.namedTokens)
            if (named && !named->content.empty()) {
                ENGINE_TRY_DO(add(*named, false));
                m_tokens[m_indexByContent.at(named->content)].isSpecial = true;
            }
        for (const AddedToken& token : config.moreSpecialTokens)
            ENGINE_TRY_DO(add(token, false));
        return {};
    }

    std::size_t nextId() const { return m_next; }

    std::vector<AddedToken> take() { return std::move(m_tokens); }

private:
    Result<void> add(AddedToken token, bool replaces) {
        if (token.content.empty())
            return {};
        if (const auto known = m_indexByContent.find(token.content);
            known != m_indexByContent.end()) {
            token.id = m_tokens[known->second].id;
            if (replaces)
                m_tokens[known->second] = std::move(token);
            return {};
        }
        token.id = m_model.find(token.content);
        if (token.id == kNoToken) {
            const auto id = checked::narrow<TokenId>(m_next);
            if (!id)
                return Error{ErrorCode::CorruptFile,
                             fmt::format("{}: there are too many added tokens", m_source),
                             "Fetch the file again."};
            token.id = *id;
        }
        m_next = std::max(m_next, static_cast<std::size_t>(token.id) + 1);
        m_indexByContent.emplace(token.content, m_tokens.size());
        m_tokens.push_back(std::move(token));
        return {};
    }

    const BpeModel& m_model;
    std::size_t m_next;
    std::string m_source;
    std::vector<AddedToken> m_tokens;
    std::unordered_map<std::string, std::size_t> m_indexByContent;
};

/// Ids around a text, as post-processors put them.
struct Surroundings {
    std::vector<TokenId> prefix;
    std::vector<TokenId> suffix;
};

Result<TokenId> readId(const JsonValue& value, const std::string& source) {
    const auto id = value.asInteger();
    if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= kMaxVocabSize)
        return corrupt(source, value, "the post_processor names an id out of range");
    return static_cast<TokenId>(*id);
}

Result<Surroundings> readTemplate(const JsonValue& value, const std::string& source) {
    Surroundings around;
    bool hasText = false;
    for (const JsonValue& piece : value["single"].items()) {
        if (piece.contains("Sequence")) {
            if (hasText)
                return unsupported(source, "post_processor", "a template with the text twice");
            hasText = true;
            continue;
        }
        const auto name = piece["SpecialToken"]["id"].asString();
        const JsonValue special = name ? value["special_tokens"][*name] : JsonValue();
        if (!special.isObject())
            return corrupt(source, piece, "the post_processor names an unknown special token");
        for (const JsonValue& item : special["ids"].items()) {
            ENGINE_TRY(const TokenId id, readId(item, source));
            (hasText ? around.suffix : around.prefix).push_back(id);
        }
    }
    if (!hasText)
        return corrupt(source, value, "the post_processor leaves the text out");
    return around;
}

Result<Surroundings> readPostProcessor(const JsonValue& value, const std::string& source) {
    Surroundings around;
    const std::string_view type = typeOf(value);
    if (value.isNull() || type == "ByteLevel")
        return around;
    if (type == "TemplateProcessing")
        return readTemplate(value, source);
    if (type == "RobertaProcessing" || type == "BertProcessing") {
        const std::vector<JsonValue> begin = value["cls"].items();
        const std::vector<JsonValue> end = value["sep"].items();
        if (begin.size() != 2 || end.size() != 2)
            return corrupt(source, value, "the post_processor has no cls and sep pairs");
        ENGINE_TRY(const TokenId beginId, readId(begin[1], source));
        ENGINE_TRY(const TokenId endId, readId(end[1], source));
        around.prefix.push_back(beginId);
        around.suffix.push_back(endId);
        return around;
    }
    if (type != "Sequence")
        return unsupported(source, "post_processor", type);
    for (const JsonValue& item : value["processors"].items()) { // nested no deeper than the JSON
        ENGINE_TRY(const Surroundings outer, readPostProcessor(item, source));
        around.prefix.insert(around.prefix.begin(), outer.prefix.begin(), outer.prefix.end());
        around.suffix.insert(around.suffix.end(), outer.suffix.begin(), outer.suffix.end());
    }
    return around;
}

/// For people.
std::string kindOf(const JsonValue& model) {
    if (typeOf(model) == "Unigram")
        return "unigram";
    return boolOr(model["byte_fallback"], false) ? "BPE with byte fallback" : "byte-level BPE";
}

} // namespace

Result<BpeParts>
readTokenizerJson(const JsonValue& root, const std::string& source, const TokenizerConfig& config) {
    const JsonValue modelValue = root["model"];
    if (!modelValue.isObject())
        return corrupt(source, root, "there is no \"model\" in this tokenizer.json");
    ENGINE_TRY(BpeModel model, readModel(modelValue, source));
    ENGINE_TRY(Normalizer normalizer, readNormalizer(root["normalizer"], source));
    ENGINE_TRY(PreTokenizer preTokenizer, readPreTokenizer(root["pre_tokenizer"], source));
    ENGINE_TRY(TokenDecoder decoder, readDecoder(root["decoder"], source));
    ENGINE_TRY(Surroundings around, readPostProcessor(root["post_processor"], source));
    AddedTokenReader added(model, modelValue["vocab"].size(), source);
    for (const JsonValue& token : root["added_tokens"].items())
        ENGINE_TRY_DO(added.read(token));
    const std::size_t ownSize = std::max(model.size(), added.nextId());
    ENGINE_TRY_DO(added.read(config));
    BpeParts parts{.model = std::move(model),
                   .addedTokens = added.take(),
                   .normalizer = std::move(normalizer),
                   .preTokenizer = std::move(preTokenizer),
                   .decoder = std::move(decoder),
                   .prefix = std::move(around.prefix),
                   .suffix = std::move(around.suffix),
                   .bosId = kNoToken,
                   .eosIds = {},
                   .kind = kindOf(modelValue),
                   .origin = "tokenizer.json"};
    parts.ownSize = ownSize;
    return parts;
}

} // namespace engine
