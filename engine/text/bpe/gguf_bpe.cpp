// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/gguf_bpe.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/vocabulary/gguf_vocabulary.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

/// How a named pre-tokenizer cuts text and what else its models expect.
struct PreTokenizerKind {
    std::vector<std::string_view> patterns; ///< one after the other, matches isolated
    bool normalizesToNfc = false;
    bool ignoresMerges = false;
    bool addsBos = false; ///< where the file does not say
};

// Cut before GPT-2's own pattern, so the last alternative of that one is missing.
constexpr std::string_view kDefaultSigns = R"([\p{P}\$\+<=>\^\~\|]+)";
constexpr std::string_view kDefaultWords =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
// DeepSeek LLM lists its letters one by one: those that have case.
constexpr std::string_view kCasedWord = R"(\s?[\p{Lu}\p{Ll}\p{Lt}]+)";
constexpr std::string_view kWidePunctuation =
    "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+";
// \s+$, written so that a long run elsewhere is looked at once only.
constexpr std::string_view kSpaceAtEnd = R"((?<!\s)\s++\z)";
// Words end where letters turn from small to capital.
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The same without contractions, digits one by one.
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kNumberRun = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Result<PreTokenizerKind> findKind(std::string_view name) {
    using namespace split_patterns;
    if (isOneOf(name, {"llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"}))
        return PreTokenizerKind{{kLlama3}, false, true, true};
    if (isOneOf(name, {"dbrx", "smaug-bpe"})) // OLMo 2, SmolLM3
        return PreTokenizerKind{{kLlama3}};
    if (name == "gpt-4o") // Phi-4-mini
        return PreTokenizerKind{{kGpt4o}};
    if (name == "tekken") // Mistral-Nemo
        return PreTokenizerKind{{kTekken}, false, true, true};
    if (name == "olmo") // OLMoE
        return PreTokenizerKind{{kGpt2}, true, false, false};
    if (isOneOf(name, {"qwen2", "deepseek-r1-qwen"}))
        return PreTokenizerKind{{kQwen2}, true, false, false};
    if (isOneOf(name, {"smollm", "starcoder", "refact", "command-r"}))
        return PreTokenizerKind{{kNumber, kGpt2}};
    if (isOneOf(name, {"gpt-2", "gpt2"}))
        return PreTokenizerKind{{kGpt2}};
    if (name == "deepseek-coder")
        return PreTokenizerKind{{kLineEnd, kLetterWord, kPunctuationRun, kCjkRun, kNumber}};
    if (name == "deepseek-llm")
        return PreTokenizerKind{
            {kLineEnd, kCasedWord, kWidePunctuation, kSpaceAtEnd, kCjkRun, kNumberRun}};
    if (isOneOf(name, {"", "default"}))
        return PreTokenizerKind{{kDefaultSigns, kDefaultWords, kNumberRun, kThreeDigits}};
    return Error{ErrorCode::Unsupported,
                 fmt::format("the pre-tokenizer '{}' is not supported; supported: llama-bpe, "
                             "qwen2, smollm, starcoder, refact, command-r, gpt-2, gpt-4o, "
                             "tekken, olmo, dbrx, smaug-bpe, deepseek-coder, deepseek-llm, "
                             "default",
                             readable(name)),
                 "Use a model of a supported family."};
}

Result<PreTokenizer> makePreTokenizer(const PreTokenizerKind& kind) {
    PreTokenizer made;
    for (const std::string_view pattern : kind.patterns) {
        ENGINE_TRY(SplitPattern compiled, SplitPattern::compile(pattern));
        made.add(SplitStep{std::move(compiled), SplitBehavior::Isolated, false});
    }
    made.add(ByteLevelStep{});
    return made;
}

Result<std::vector<BpeModel::Merge>> readMerges(const GgufFile& file) {
    const auto* lines = file.stringArray("tokenizer.ggml.merges");
    if (lines == nullptr)
        return gguf_vocabulary::corrupt(file, "there is no list of texts tokenizer.ggml.merges");
    std::vector<BpeModel::Merge> merges;
    merges.reserve(lines->size());
    for (std::size_t rank = 0; rank < lines->size(); ++rank) {
        const std::string& line = (*lines)[rank];
        const std::size_t space = line.find(' ', 1); // the first token may itself be a space
        if (line.empty() || space == std::string::npos || space + 1 == line.size())
            return gguf_vocabulary::corrupt(
                file,
                fmt::format("merge {} ('{}') is not two tokens with a space between them",
                            rank,
                            readable(line)));
        merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    }
    return merges;
}

std::vector<AddedToken> addedTokensOf(const GgufVocabulary& vocabulary) {
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < vocabulary.types.size(); ++id) {
        const PieceType type = vocabulary.types[id];
        const bool isSpecial = type == PieceType::Control || type == PieceType::Unknown;
        if ((!isSpecial && type != PieceType::UserDefined) || vocabulary.tokens[id].empty())
            continue;
        AddedToken token;
        token.content = vocabulary.tokens[id];
        token.id = static_cast<TokenId>(id);
        token.isSpecial = isSpecial;
        added.push_back(std::move(token));
    }
    return added;
}

} // namespace

Result<BpeParts> readGgufBpe(const GgufFile& file) {
    ENGINE_TRY(GgufVocabulary vocabulary, gguf_vocabulary::read(file));
    const std::string preName(
        file.stringValue("tokenizer.ggml.pre").value_or(std::string_view("default")));
    auto kind = findKind(preName);
    if (!kind)
        return gguf_vocabulary::inFile(file, std::move(kind).error());
    ENGINE_TRY(PreTokenizer preTokenizer, makePreTokenizer(kind.value()));
    ENGINE_TRY(const std::vector<BpeModel::Merge> merges, readMerges(file));
    std::vector<AddedToken> added = addedTokensOf(vocabulary);
    BpeOptions options;
    options.ignoresMerges = kind.value().ignoresMerges;
    auto model = BpeModel::make(std::move(vocabulary.tokens), merges, options, false);
    if (!model)
        return gguf_vocabulary::inFile(file, std::move(model).error());
    BpeParts parts{.model = std::move(model).value(),
                   .addedTokens = std::move(added),
                   .normalizer = {},
                   .preTokenizer = std::move(preTokenizer),
                   .decoder = {},
                   .prefix = {},
                   .suffix = {},
                   .bosId = vocabulary.bosId,
                   .eosIds = vocabulary.eosIds,
                   .kind = "byte-level BPE",
                   .origin = fmt::format("GGUF, pre-tokenizer {}", readable(preName))};
    if (kind.value().normalizesToNfc)
        parts.normalizer.add(UnicodeFormStep{.isCompatibility = false, .composes = true});
    ENGINE_TRY_DO(parts.decoder.add(ByteLevelDecode{}));
    if (vocabulary.addsBos.value_or(kind.value().addsBos) && vocabulary.bosId != kNoToken)
        parts.prefix.push_back(vocabulary.bosId);
    if (vocabulary.addsEos.value_or(false) && vocabulary.eosId != kNoToken)
        parts.suffix.push_back(vocabulary.eosId);
    return parts;
}

} // namespace engine
