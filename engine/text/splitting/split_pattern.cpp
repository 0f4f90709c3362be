// SPDX-License-Identifier: Apache-2.0
#include "engine/text/splitting/split_pattern.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/splitting/regex_dialect.h"
#include "engine/text/vocabulary/utf8.h"

#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace engine {

namespace {

constexpr std::size_t kMaxPatternBytes = 65'536;
constexpr std::uint32_t kMatchLimit = 10'000'000; // PCRE2's default; bounds the time of one match
constexpr std::uint32_t kHeapLimitKib = 65'536;
constexpr const char* kHint = "Use the model's GGUF file or another export of its tokenizer.";

/// What the callout between two pattern items needs to know.
struct StepCount {
    StepBudget* budget = nullptr;
    std::size_t lastPosition = 0;
};

/// Called by PCRE2 before each item of an untrusted pattern: an item costs one step, and one for
/// each byte the matcher moved, so scanning the same run again and again is paid for too.
int countStep(pcre2_callout_block* block, void* data) {
    auto& count = *static_cast<StepCount*>(data);
    const std::size_t position = block->current_position;
    const std::size_t moved = position > count.lastPosition ? position - count.lastPosition
                                                            : count.lastPosition - position;
    count.lastPosition = position;
    const std::uint64_t cost = 1 + static_cast<std::uint64_t>(moved);
    if (cost > count.budget->left)
        return PCRE2_ERROR_CALLOUT;
    count.budget->left -= cost;
    return 0;
}

std::string pcreMessage(int code) {
    std::array<PCRE2_UCHAR, 256> buffer{};
    pcre2_get_error_message(code, buffer.data(), buffer.size());
    return reinterpret_cast<const char*>(buffer.data());
}

} // namespace

struct SplitPattern::Code {
    pcre2_code* code = nullptr;
    pcre2_match_data* matchData = nullptr;
    pcre2_match_context* context = nullptr;
    bool countsSteps = false;

    /// One search; compiled code that runs out of its small stack leaves it to the interpreter.
    int search(std::string_view text, std::size_t start) const {
        const auto run = [&](std::uint32_t options) {
            return pcre2_match(code,
                               reinterpret_cast<PCRE2_SPTR>(text.data()),
                               text.size(),
                               start,
                               options,
                               matchData,
                               context);
        };
        const int rc = run(PCRE2_NO_UTF_CHECK);
        return rc == PCRE2_ERROR_JIT_STACKLIMIT ? run(PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT) : rc;
    }
};

void SplitPattern::CodeDeleter::operator()(Code* code) const {
    pcre2_match_data_free(code->matchData);
    pcre2_match_context_free(code->context);
    pcre2_code_free(code->code);
    std::default_delete<Code>()(code);
}

Result<SplitPattern> SplitPattern::compile(std::string_view pattern) {
    if (pattern.size() > kMaxPatternBytes)
        return Error{ErrorCode::Unsupported,
                     fmt::format("a split pattern has {} bytes; at most {} are supported",
                                 pattern.size(),
                                 kMaxPatternBytes),
                     kHint};
    ENGINE_TRY(const std::string translated, translateOniguruma(pattern));
    ENGINE_TRY(SplitPattern result,
               compileTranslated(translated, split_patterns::isShared(pattern)));
    result.m_text = pattern;
    return result;
}

Result<SplitPattern> SplitPattern::compileTranslated(std::string_view pattern, bool isTrusted) {
    SplitPattern result;
    result.m_code.reset(std::make_unique<Code>().release());
    Code& code = *result.m_code;
    code.countsSteps = !isTrusted;
    const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
        pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
    const Error noMemory{ErrorCode::NoMemory,
                         "There is not enough memory for a split pattern.",
                         "Close other programs, or choose a smaller model."};
    if (context == nullptr)
        return noMemory;
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    const std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                                  PCRE2_NEVER_BACKSLASH_C |
                                  (code.countsSteps ? PCRE2_AUTO_CALLOUT : 0U);
    int errorCode = 0;
    PCRE2_SIZE errorOffset = 0;
    code.code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                              pattern.size(),
                              options,
                              &errorCode,
                              &errorOffset,
                              context.get());
    if (code.code == nullptr && errorCode == PCRE2_ERROR_HEAP_FAILED)
        return noMemory;
    if (code.code == nullptr)
        return Error{ErrorCode::Unsupported,
                     fmt::format("the split pattern '{}' cannot be used: {} at character {}",
                                 readable(pattern, 200),
                                 pcreMessage(errorCode),
                                 errorOffset),
                     kHint};
    // Where no compiled code is to be had (a system without executable memory) the interpreter
    // does the same, only slower.
    static_cast<void>(pcre2_jit_compile(code.code, PCRE2_JIT_COMPLETE));
    code.matchData = pcre2_match_data_create(1, nullptr);
    code.context = pcre2_match_context_create(nullptr);
    if (code.matchData == nullptr || code.context == nullptr)
        return noMemory;
    pcre2_set_match_limit(code.context, kMatchLimit);
    pcre2_set_heap_limit(code.context, kHeapLimitKib);
    return result;
}

SplitPattern SplitPattern::fixed(std::string text) {
    ENGINE_CHECK(!text.empty(), "a fixed split pattern is empty");
    SplitPattern result;
    result.m_text = std::move(text);
    return result;
}

void SplitPattern::findFixed(std::string_view text, std::vector<TextRange>& matches) const {
    for (std::size_t at = text.find(m_text); at != std::string_view::npos;
         at = text.find(m_text, at + m_text.size()))
        matches.push_back({at, at + m_text.size()});
}

Error SplitPattern::matchError(int code) const {
    const bool isBudget = code == PCRE2_ERROR_CALLOUT;
    return {ErrorCode::Unsupported,
            fmt::format("splitting the text by the pattern '{}' was given up: {}",
                        readable(m_text, 200),
                        isBudget ? "it takes too many steps" : pcreMessage(code)),
            kHint};
}

Result<void> SplitPattern::findAll(std::string_view text,
                                   StepBudget& budget,
                                   std::vector<TextRange>& matches) const {
    matches.clear();
    if (!m_code) {
        findFixed(text, matches);
        return {};
    }
    StepCount count{&budget, 0};
    if (m_code->countsSteps)
        pcre2_set_callout(m_code->context, countStep, &count);
    std::size_t start = 0;
    std::size_t lastEnd = std::string_view::npos;
    while (start <= text.size()) {
        const int rc = m_code->search(text, start);
        if (rc == PCRE2_ERROR_NOMATCH)
            break;
        if (rc < 0)
            return matchError(rc);
        const PCRE2_SIZE* found = pcre2_get_ovector_pointer(m_code->matchData);
        const TextRange match{found[0], found[1]};
        if (match.begin > match.end || match.begin < start) // \K in a look-around
            return matchError(PCRE2_ERROR_BADOFFSET);
        if (match.begin == match.end && match.end == lastEnd) {
            start += start < text.size() ? utf8::lengthByFirstByte(text[start]) : 1;
            continue;
        }
        matches.push_back(match);
        start = lastEnd = match.end;
    }
    return {};
}

} // namespace engine
