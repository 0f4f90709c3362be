// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/readable_text.h"
#include "engine/text/bpe/tokenizer_json.h"
#include "engine/text/vocabulary/text_limits.h"

namespace engine::tokenizer_json {

namespace {

/// The vocabulary by id. Gaps are legal, but not so many that a small file asks for much memory.
Result<std::vector<std::string>> readVocab(const JsonValue& vocab, const std::string& source) {
    if (!vocab.isObject())
        return corrupt(source, vocab, "the model has no \"vocab\"");
    const std::size_t idLimit = std::min(kMaxVocabSize, 2 * vocab.size() + 65'536);
    std::vector<std::string> texts;
    for (const auto& [text, value] : vocab.members()) {
        const auto id = value.asInteger();
        if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= idLimit)
            return corrupt(source,
                           value,
                           fmt::format("the token '{}' has no usable id (ids of this vocabulary "
                                       "go up to {})",
                                       readable(text),
                                       idLimit - 1));
        const auto index = static_cast<std::size_t>(*id);
        if (index >= texts.size())
            texts.resize(std::max(index + 1, std::min(vocab.size(), idLimit)));
        if (!texts[index].empty())
            return corrupt(source,
                           value,
                           fmt::format("the tokens '{}' and '{}' have the same id {}",
                                       readable(texts[index]),
                                       readable(text),
                                       index));
        texts[index] = text;
    }
    while (!texts.empty() && texts.back().empty())
        texts.pop_back();
    return texts;
}

/// A merge is "a b" or ["a", "b"].
Result<BpeModel::Merge> readMerge(const JsonValue& value, const std::string& source) {
    if (const auto text = value.asString()) {
        const std::size_t space = text->find(' ');
        if (space == std::string_view::npos || text->find(' ', space + 1) != std::string_view::npos)
            return corrupt(source, value, "a merge is not two tokens with a space between them");
        return BpeModel::Merge(text->substr(0, space), text->substr(space + 1));
    }
    const std::vector<JsonValue> pair = value.items();
    if (pair.size() != 2 || !pair[0].isString() || !pair[1].isString())
        return corrupt(source, value, "a merge is not a pair of tokens");
    return BpeModel::Merge(*pair[0].asString(), *pair[1].asString());
}

Result<BpeModel> makeModel(std::vector<std::string> texts,
                           const std::vector<BpeModel::Merge>& merges,
                           BpeOptions options,
                           const std::string& source) {
    auto made =
        BpeModel::make(std::move(texts), merges, std::move(options), MergeRules::TokenizerJson);
    if (!made) {
        Error error = std::move(made).error();
        error.message = fmt::format("{}: {}", source, error.message);
        return error;
    }
    return made;
}

/// Its vocabulary is a list of [text, score].
Result<BpeModel> readUnigram(const JsonValue& model, const std::string& source) {
    std::vector<std::string> texts;
    BpeOptions options;
    for (const JsonValue& entry : model["vocab"].items()) {
        const std::vector<JsonValue> pair = entry.items();
        const auto score = pair.size() == 2 ? pair[1].asNumber() : std::nullopt;
        if (!score || !pair[0].isString())
            return corrupt(source, entry, "a token of the vocabulary is no text with a score");
        texts.emplace_back(*pair[0].asString());
        options.scores.push_back(*score);
    }
    if (texts.empty() || texts.size() > kMaxVocabSize)
        return corrupt(source, model, fmt::format("the vocabulary has {} tokens", texts.size()));
    if (const auto id = model["unk_id"].asInteger()) {
        if (*id < 0 || static_cast<std::uint64_t>(*id) >= texts.size())
            return corrupt(source, model["unk_id"], "the unknown token is not in the vocabulary");
        options.unknownToken = texts[static_cast<std::size_t>(*id)];
    }
    options.hasByteFallback = boolOr(model["byte_fallback"], false);
    return makeModel(std::move(texts), {}, std::move(options), source);
}

} // namespace

Result<BpeModel> readModel(const JsonValue& model, const std::string& source) {
    if (typeOf(model) == "Unigram")
        return readUnigram(model, source);
    const bool hasType = model.contains("type");
    if ((hasType && typeOf(model) != "BPE") || !model.contains("merges"))
        return unsupported(source, "tokenizer model", hasType ? typeOf(model) : "without merges");
    if (model["dropout"].asNumber().value_or(0.0) != 0.0)
        return unsupported(source, "tokenizer model with", "dropout");
    ENGINE_TRY(std::vector<std::string> texts, readVocab(model["vocab"], source));
    std::vector<BpeModel::Merge> merges;
    for (const JsonValue& item : model["merges"].items()) {
        ENGINE_TRY(BpeModel::Merge merge, readMerge(item, source));
        merges.push_back(std::move(merge));
    }
    BpeOptions options;
    options.ignoresMerges = boolOr(model["ignore_merges"], false);
    options.hasByteFallback = boolOr(model["byte_fallback"], false);
    options.fusesUnknown = boolOr(model["fuse_unk"], false);
    options.unknownToken = textOr(model["unk_token"], "");
    options.continuingPrefix = textOr(model["continuing_subword_prefix"], "");
    options.endSuffix = textOr(model["end_of_word_suffix"], "");
    return makeModel(std::move(texts), merges, std::move(options), source);
}

} // namespace engine::tokenizer_json
