// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/text/sentencepiece/sentencepiece_model.h"
#include "engine/text/tokenizer.h"
#include "tests/support/models/tiny_gguf.h"
#include "tests/support/temporary_folder.h"

#include <QByteArray>

#include <fmt/format.h>

#include <string>
#include <vector>

/// Small whole tokenizers, each at most 4 KB, and ways to load text as one.
namespace tiny {

/// The end of a tokenizer.json, from the model on; its vocabulary: the letters a to e, "Ġ" for a
/// space, "Ċ" for a line end, the two bytes of "é", "ab", "abc", "Ġab".
inline std::string jsonModel() {
    return R"("model":{"type":"BPE","dropout":null,"unk_token":null,"fuse_unk":false,)"
           R"("byte_fallback":false,"ignore_merges":false,"vocab":{"a":0,"b":1,"c":2,"d":3,"e":4,)"
           R"("\u0120":5,"ab":6,"abc":7,"\u0120ab":8,"\u010A":9,"\u00C3":10,"\u00A9":11,)"
           R"("\u00C3\u00A9":12},"merges":["a b",["ab","c"],"\u0120 ab","\u00C3 \u00A9"]}})";
}

/// A tokenizer.json of these parts; ids 13 and up are left for added tokens.
inline std::string json(const std::string& added = "[]",
                        const std::string& normalizer = "null",
                        const std::string& preTokenizer =
                            R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})",
                        const std::string& decoder = R"({"type":"ByteLevel"})",
                        const std::string& postProcessor = "null") {
    return fmt::format(R"({{"version":"1.0","added_tokens":{},"normalizer":{},"pre_tokenizer":{},)"
                       R"("post_processor":{},"decoder":{},{})",
                       added,
                       normalizer,
                       preTokenizer,
                       postProcessor,
                       decoder,
                       jsonModel());
}

/// An added token; `flags` such as R"("lstrip":true)".
inline std::string addedToken(int id, const std::string& content, const std::string& flags = "") {
    return fmt::format(R"({{"id":{},"content":"{}","special":true,"normalized":false{}{}}})",
                       id,
                       content,
                       flags.empty() ? "" : ",",
                       flags);
}

/// A tokenizer.json that uses most components.
inline std::string fullJson() {
    return json(
        std::string("[") + addedToken(13, "<s>") + "," +
            addedToken(14, "<end>", R"("lstrip":true)") + "," +
            addedToken(15, "[x]", R"("single_word":true)") + "]",
        R"({"type":"Sequence","normalizers":[{"type":"NFC"},)"
        R"({"type":"Replace","pattern":{"Regex":"d+"},"content":"e"}]})",
        R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},)"
        R"({"type":"Split","pattern":{"Regex":" ?\\w+|[^\\w]"},"behavior":"Isolated",)"
        R"("invert":false},{"type":"ByteLevel","add_prefix_space":false,)"
        R"("use_regex":false}]})",
        R"({"type":"ByteLevel"})",
        R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}})"
        R"(,{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>",)"
        R"("ids":[13],"tokens":["<s>"]}}})");
}

/// A charsmap of one rule, "A" to "a": a trie of 256 units, then the text.
inline std::string charsmap() {
    std::vector<std::uint32_t> units(256, 0x80000000U);
    units[0] = 1U << 10U;                        // the root: children at 1 ^ byte
    units[1 ^ 'A'] = (2U << 10U) | 0x100U | 'A'; // has a rule; its text at (1 ^ 'A') ^ 2
    units[(1 ^ 'A') ^ 2] = 0x80000000U;          // the text at offset 0
    return test_support::bytesOf(std::uint32_t{1024}) +
           test_support::bytesOf(std::span<const std::uint32_t>(units)) + std::string("a\0", 2);
}

/// A tokenizer.json with a unigram vocabulary and the charsmap above.
inline std::string unigramJson() {
    const QByteArray map = QByteArray::fromStdString(charsmap()).toBase64();
    return R"({"added_tokens":[],"normalizer":{"type":"Precompiled","precompiled_charsmap":")" +
           map.toStdString() +
           R"("},"pre_tokenizer":{"type":"Metaspace","replacement":"\u2581"},)"
           R"("decoder":{"type":"Metaspace","replacement":"\u2581"},)"
           R"("model":{"type":"Unigram","unk_id":0,"byte_fallback":false,"vocab":)"
           R"([["<unk>",0],["\u2581",-2.5],["a",-3],["b",-3.5],["ab",-4],["\u2581ab",-1.25]]}})";
}

inline std::string byteName(int byte) { return fmt::format("<0x{:02X}>", byte); }

/// A SentencePiece model: <unk>, <s>, </s>, letters and words; unigram with the charsmap above, or
/// BPE with all byte pieces.
inline engine::SentencePieceModel sentencePiece(bool isUnigram) {
    using engine::PieceType;
    engine::SentencePieceModel model;
    model.algorithm = isUnigram ? engine::SentencePieceModel::Algorithm::Unigram
                                : engine::SentencePieceModel::Algorithm::Bpe;
    model.pieces = {{"<unk>", 0.0F, PieceType::Unknown},
                    {"<s>", 0.0F, PieceType::Control},
                    {"</s>", 0.0F, PieceType::Control}};
    model.hasByteFallback = !isUnigram;
    for (int byte = 0; byte < 256 && !isUnigram; ++byte)
        model.pieces.push_back({byteName(byte), 0.0F, PieceType::Byte});
    float score = -1.0F;
    for (const char* text : {"ab", "\u2581ab", "\u2581", "a", "b", "c", "e"})
        model.pieces.push_back({text, score -= 0.5F, PieceType::Normal});
    model.pieces.push_back({"[u]", 0.0F, PieceType::UserDefined});
    if (isUnigram)
        model.charsmap = charsmap();
    model.removesExtraSpaces = isUnigram;
    return model;
}

/// The keys that every GGUF vocabulary has.
inline test_support::TinyGguf gguf(const std::string& kind,
                                   const std::vector<std::string>& tokens) {
    test_support::TinyGguf file;
    file.addString("general.architecture", "llama");
    file.addString("tokenizer.ggml.model", kind);
    file.addStrings("tokenizer.ggml.tokens", tokens);
    return file;
}

inline std::vector<std::string> bpeTokens() {
    return {"<|end|>", "<|user|>", "a", "b", "c", "\u0120", "ab", "abc", "\u0120ab", "<tool>"};
}

/// A GGUF vocabulary of the "gpt2" kind.
inline test_support::TinyGguf ggufBpe(const std::string& pre = "smollm") {
    test_support::TinyGguf file = gguf("gpt2", bpeTokens());
    file.addString("tokenizer.ggml.pre", pre);
    file.addArray<std::int32_t>(
        "tokenizer.ggml.token_type", test_support::GgufType::I32, {3, 3, 1, 1, 1, 1, 1, 1, 1, 4});
    file.addStrings("tokenizer.ggml.merges", {"a b", "ab c", "\u0120 ab"});
    file.addU32("tokenizer.ggml.bos_token_id", 0);
    file.addU32("tokenizer.ggml.eos_token_id", 0);
    return file;
}

/// What a GGUF vocabulary of the "llama" kind holds, to be changed before it is written.
struct LlamaVocabulary {
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "\u2581", "a", "b", "\u2581a", "ab"};
    std::vector<float> scores = {0, 0, 0, -4, -5, -6, -2, -1};
    std::vector<std::int32_t> types = {2, 3, 3, 1, 1, 1, 1, 1};

    test_support::TinyGguf toFile() const {
        test_support::TinyGguf file = gguf("llama", tokens);
        file.addArray<float>("tokenizer.ggml.scores", test_support::GgufType::F32, scores);
        file.addArray<std::int32_t>(
            "tokenizer.ggml.token_type", test_support::GgufType::I32, types);
        file.addU32("tokenizer.ggml.bos_token_id", 1);
        file.addU32("tokenizer.ggml.eos_token_id", 2);
        return file;
    }
};

inline engine::Result<std::unique_ptr<engine::Tokenizer>> load(const std::filesystem::path& path) {
    ENGINE_TRY(const engine::ModelFiles files, engine::ModelFiles::open(path));
    return engine::loadTokenizer(files);
}

/// Loads one file of this name and content; a name that ends in .gguf stands alone.
inline engine::Result<std::unique_ptr<engine::Tokenizer>> load(const std::string& name,
                                                               const std::string& bytes) {
    const test_support::TemporaryFolder folder;
    const auto file = folder.write(name, bytes);
    return load(name.ends_with(".gguf") ? file : folder.path());
}

} // namespace tiny
