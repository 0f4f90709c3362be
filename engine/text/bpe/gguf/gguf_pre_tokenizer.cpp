// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/gguf/gguf_pre_tokenizer.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/splitting/split_pattern.h"

#include <algorithm>

namespace engine {

namespace {

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
// Qwen2's without line ends behind signs.
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen2's behind a cut at every third digit.
constexpr std::string_view kMiniCpm5 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kWordAndSpace =
    " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";
constexpr std::string_view kUpToThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kThousands = R"((?=(\d{3})+(?!\d)))"; // from the end of a number
constexpr std::string_view kNumberRun = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

Result<GgufPreTokenizer> findGgufPreTokenizer(std::string_view name) {
    using namespace split_patterns;
    if (isOneOf(name, {"llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "midm-2.0"}))
        return GgufPreTokenizer{{kLlama3}, false, true, true};
    if (isOneOf(name, {"dbrx", "smaug-bpe"})) // OLMo 2, SmolLM3
        return GgufPreTokenizer{{kLlama3}};
    if (name == "gpt-4o") // Phi-4-mini
        return GgufPreTokenizer{{kGpt4o}};
    if (name == "tekken") // Mistral-Nemo
        return GgufPreTokenizer{{kTekken}, false, true, true};
    if (name == "olmo") // OLMoE
        return GgufPreTokenizer{{kGpt2}, true, false, false};
    if (isOneOf(name, {"qwen2", "deepseek-r1-qwen"}))
        return GgufPreTokenizer{{kQwen2}, true, false, false};
    if (name == "megrez")
        return GgufPreTokenizer{{kQwen2}};
    if (name == "seed-coder")
        return GgufPreTokenizer{{kSeedCoder}};
    if (name == "minicpm5")
        return GgufPreTokenizer{{kUpToThreeDigits, kMiniCpm5}, false, true, false};
    if (isOneOf(name, {"smollm", "starcoder", "refact", "command-r", "minerva-7b", "exaone"}))
        return GgufPreTokenizer{{kNumber, kGpt2}};
    if (isOneOf(name, {"gpt-2", "gpt2", "mellum", "trillion", "a.x-4.0"}))
        return GgufPreTokenizer{{kGpt2}};
    if (name == "viking")
        return GgufPreTokenizer{{kWordAndSpace, kNumber}};
    if (name == "superbpe") // words are merged across their spaces
        return GgufPreTokenizer{{kNumberRun, kThousands}};
    if (name == "deepseek-coder")
        return GgufPreTokenizer{{kLineEnd, kLetterWord, kPunctuationRun, kCjkRun, kNumber}};
    if (name == "deepseek-llm")
        return GgufPreTokenizer{
            {kLineEnd, kCasedWord, kWidePunctuation, kSpaceAtEnd, kCjkRun, kNumberRun}};
    if (isOneOf(name, {"", "default"}))
        return GgufPreTokenizer{{kDefaultSigns, kDefaultWords, kNumberRun, kThreeDigits}};
    return Error{ErrorCode::Unsupported,
                 fmt::format("the pre-tokenizer '{}' is not supported; supported: llama-bpe, "
                             "qwen2, smollm, starcoder, refact, command-r, gpt-2, gpt-4o, "
                             "tekken, olmo, dbrx, smaug-bpe, deepseek-coder, deepseek-llm, "
                             "seed-coder, minicpm5, minerva-7b, exaone, megrez, mellum, trillion, "
                             "a.x-4.0, midm-2.0, viking, superbpe, default",
                             readable(name)),
                 "Use a model of a supported family."};
}

} // namespace engine
