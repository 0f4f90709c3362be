// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// How much searching one text may cost. A hostile pattern runs out of it; an honest one does not
/// come near. Counted in pattern items tried and bytes passed, so the same text always ends alike.
struct StepBudget {
    std::uint64_t left = 0;

    static StepBudget forText(std::size_t byteCount) {
        return {20'000'000 + 256 * static_cast<std::uint64_t>(byteCount)};
    }
};

/// A part of a text, in bytes.
struct TextRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// A pattern that texts are searched for: a fixed string, or a regular expression by PCRE2 with
/// Unicode properties. Thread: one at a time (searching uses scratch memory of the pattern).
class SplitPattern {
public:
    /// A regular expression as tokenizer.json files write it (Oniguruma's dialect).
    /// Errors: Unsupported or CorruptFile with the place in the pattern.
    static Result<SplitPattern> compile(std::string_view pattern);

    /// A fixed string; `text` must not be empty.
    static SplitPattern fixed(std::string text);

    /// Replaces `matches` by all matches that do not overlap, from left to right. An empty match
    /// right behind another match is left out. `text` must be valid UTF-8.
    /// Errors: Unsupported when the budget or a limit of the matcher is used up.
    Result<void>
    findAll(std::string_view text, StepBudget& budget, std::vector<TextRange>& matches) const;

private:
    struct Code;

    struct CodeDeleter {
        void operator()(Code* code) const;
    };

    SplitPattern() = default;
    static Result<SplitPattern> compileTranslated(std::string_view pattern, bool isTrusted);
    void findFixed(std::string_view text, std::vector<TextRange>& matches) const;
    Error matchError(int code) const;

    std::string m_text;                        // the pattern as its file spells it
    std::unique_ptr<Code, CodeDeleter> m_code; // null for a fixed string
};

/// Split patterns that many models share. Searching by them takes linear time, so they run
/// without counting steps.
namespace split_patterns {
extern const std::string_view kGpt2;
extern const std::string_view kLlama3;
extern const std::string_view kQwen2;
extern const std::string_view kNumber;
extern const std::string_view kLineEnd;
extern const std::string_view kLetterWord;
extern const std::string_view kPunctuationRun;
extern const std::string_view kCjkRun;
extern const std::string_view kPunctuation;
extern const std::string_view kWhiteSpace;
extern const std::string_view kWordOrSigns;

/// Whether a pattern is, letter for letter, one of these.
bool isShared(std::string_view pattern);
} // namespace split_patterns

} // namespace engine
