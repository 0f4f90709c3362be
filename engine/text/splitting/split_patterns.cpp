// SPDX-License-Identifier: Apache-2.0
#include "engine/text/splitting/split_pattern.h"

#include <algorithm>
#include <array>

// The patterns as the models' own tokenizer.json files spell them.
namespace engine::split_patterns {

const std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string_view kNumber = R"(\p{N})";
const std::string_view kLineEnd = R"([\r\n])";
const std::string_view kLetterWord = R"(\s?\p{L}+)";
const std::string_view kPunctuationRun = R"(\s?\p{P}+)";
const std::string_view kCjkRun = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+";
const std::string_view kPunctuation = R"([\p{P}\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E])";
const std::string_view kWhiteSpace = R"(\s)";
// The one pattern that Hugging Face gives to Rust's regex library, whose \w knows the joiners.
const std::string_view kWordOrSigns = R"([\w\x{200C}\x{200D}]+|[^\w\s\x{200C}\x{200D}]+)";

bool isShared(std::string_view pattern) {
    static constexpr std::array<const std::string_view*, 11> kAll = {&kGpt2,
                                                                     &kLlama3,
                                                                     &kQwen2,
                                                                     &kNumber,
                                                                     &kLineEnd,
                                                                     &kLetterWord,
                                                                     &kPunctuationRun,
                                                                     &kCjkRun,
                                                                     &kPunctuation,
                                                                     &kWhiteSpace,
                                                                     &kWordOrSigns};
    return std::any_of(
        kAll.begin(), kAll.end(), [pattern](const auto* shared) { return *shared == pattern; });
}

} // namespace engine::split_patterns
