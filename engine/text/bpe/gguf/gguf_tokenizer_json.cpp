// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/gguf/gguf_tokenizer_json.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/bpe/gguf/gguf_pre_tokenizer.h"
#include "engine/text/bpe/gguf_bpe.h"

#include <nlohmann/json.hpp>

#include <set>
#include <unordered_set>

namespace engine {

namespace {

using FileJson = nlohmann::ordered_json;

std::string textOf(const FileJson& json) {
    return json.dump(1, ' ', false, FileJson::error_handler_t::replace) + "\n";
}

FileJson addedTokens(const GgufVocabulary& vocabulary) {
    FileJson added = FileJson::array();
    for (const AddedToken& token : ggufAddedTokens(vocabulary))
        added.push_back({{"id", token.id},
                         {"content", token.content},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", token.isSpecial}});
    return added;
}

FileJson preTokenizer(const GgufPreTokenizer& kind) {
    FileJson steps = FileJson::array();
    for (const std::string_view pattern : kind.patterns)
        steps.push_back({{"type", "Split"},
                         {"pattern", {{"Regex", pattern}}},
                         {"behavior", "Isolated"},
                         {"invert", false}});
    steps.push_back({{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", false}});
    return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

/// What is put around a text.
FileJson postProcessor(const GgufVocabulary& vocabulary, bool addsBos, bool addsEos) {
    if (!addsBos && !addsEos)
        return {{"type", "ByteLevel"},
                {"add_prefix_space", false},
                {"trim_offsets", true},
                {"use_regex", false}};
    FileJson single = FileJson::array();
    FileJson tokens = FileJson::object();
    const auto add = [&](TokenId id) {
        const std::string& text = vocabulary.tokens[static_cast<std::size_t>(id)];
        single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
        tokens[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
    };
    if (addsBos)
        add(vocabulary.bosId);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    if (addsEos)
        add(vocabulary.eosId);
    FileJson pair = single;
    pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
    return {{"type", "TemplateProcessing"},
            {"single", std::move(single)},
            {"pair", std::move(pair)},
            {"special_tokens", std::move(tokens)}};
}

Result<FileJson> vocabularyOf(const GgufFile& file, const GgufVocabulary& vocabulary) {
    FileJson::object_t texts; // in the order of ids
    std::set<std::string_view> seen;
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const std::string& text = vocabulary.tokens[id];
        if (text.empty())
            continue;
        if (!seen.insert(text).second)
            return Error{ErrorCode::Unsupported,
                         fmt::format("{}: two tokens have the text '{}', which tokenizer.json "
                                     "cannot say",
                                     file.path().string(),
                                     readable(text)),
                         "Use the model's Hugging Face folder."};
        texts.push_back({text, id}); // emplace would look for the text among all before
    }
    return FileJson(std::move(texts));
}

/// Merges whose parts never come about are left out; tokenizer.json knows no other incomplete ones.
Result<FileJson> mergesOf(const GgufFile& file, const GgufVocabulary& vocabulary) {
    std::unordered_set<std::string_view> texts;
    for (const std::string& token : vocabulary.tokens)
        texts.insert(token);
    ENGINE_TRY(const std::vector<BpeModel::Merge> read, readGgufMerges(file));
    FileJson merges = FileJson::array();
    for (const auto& [left, right] : read) {
        if (!texts.contains(left) || !texts.contains(right))
            continue;
        if (!texts.contains(left + right))
            return Error{ErrorCode::Unsupported,
                         fmt::format("{}: a merge makes '{}', which is no token; tokenizer.json "
                                     "cannot say that",
                                     file.path().string(),
                                     readable(left + right)),
                         "Use the model's Hugging Face folder."};
        merges.push_back(left + " " + right);
    }
    return merges;
}

FileJson namedToken(const GgufVocabulary& vocabulary, TokenId id) {
    return id == kNoToken ? FileJson(nullptr)
                          : FileJson(vocabulary.tokens[static_cast<std::size_t>(id)]);
}

std::string configText(const GgufFile& file, const GgufVocabulary& vocabulary) {
    FileJson decoder = FileJson::object();
    for (const FileJson& token : addedTokens(vocabulary)) {
        FileJson entry = token;
        const auto id = entry["id"].get<std::size_t>();
        entry.erase("id");
        decoder[std::to_string(id)] = std::move(entry);
    }
    FileJson config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"added_tokens_decoder", std::move(decoder)},
                       {"bos_token", namedToken(vocabulary, vocabulary.bosId)},
                       {"eos_token", namedToken(vocabulary, vocabulary.eosId)},
                       {"clean_up_tokenization_spaces", false}};
    if (const auto text = file.stringValue("tokenizer.chat_template"))
        config["chat_template"] = *text;
    return textOf(config);
}

} // namespace

Result<TokenizerJson> ggufTokenizerJson(const GgufFile& file) {
    const std::string model(file.stringValue("tokenizer.ggml.model").value_or(""));
    if (model != "gpt2")
        return Error{
            ErrorCode::Unsupported,
            fmt::format("{}: its tokenizer is of the kind '{}', which cannot be written as "
                        "tokenizer.json",
                        file.path().string(),
                        readable(model)),
            "Use the model's Hugging Face folder."};
    ENGINE_TRY(const GgufVocabulary vocabulary, gguf_vocabulary::read(file));
    ENGINE_TRY_DO(gguf_vocabulary::checkByteLevel(file, vocabulary));
    const std::string pre(
        file.stringValue("tokenizer.ggml.pre").value_or(std::string_view("default")));
    auto found = findGgufPreTokenizer(pre);
    if (!found)
        return gguf_vocabulary::inFile(file, std::move(found).error());
    const GgufPreTokenizer& kind = found.value();
    ENGINE_TRY(FileJson merges, mergesOf(file, vocabulary));
    ENGINE_TRY(FileJson vocab, vocabularyOf(file, vocabulary));
    const bool addsBos = vocabulary.addsBos.value_or(kind.addsBos) && vocabulary.bosId != kNoToken;
    const bool addsEos = vocabulary.addsEos.value_or(false) && vocabulary.eosId != kNoToken;
    const FileJson tokenizer = {
        {"version", "1.0"},
        {"truncation", nullptr},
        {"padding", nullptr},
        {"added_tokens", addedTokens(vocabulary)},
        {"normalizer",
         kind.normalizesToNfc ? FileJson::object({{"type", "NFC"}}) : FileJson(nullptr)},
        {"pre_tokenizer", preTokenizer(kind)},
        {"post_processor", postProcessor(vocabulary, addsBos, addsEos)},
        {"decoder",
         {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", false}}},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", kind.ignoresMerges},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}}}};
    return TokenizerJson{textOf(tokenizer), configText(file, vocabulary)};
}

} // namespace engine
