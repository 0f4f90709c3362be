// SPDX-License-Identifier: Apache-2.0
#include "engine/text/splitting/regex_dialect.h"

#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kSpaceItems = R"(\p{Z}\x09-\x0D\x85)";
constexpr std::string_view kWordItems = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// Outside brackets, and only there, Oniguruma's \w holds the raised digits and fractions of
// Latin-1.
constexpr std::string_view kLoneWordItems =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xB2\xB3\xB9\xBC-\xBE)";
constexpr std::string_view kHexItems = "0-9A-Fa-f";

struct PosixClass {
    std::string_view name;
    std::string_view items;
};

constexpr std::array<PosixClass, 10> kPosixClasses = {{
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"alpha", R"(\p{Alphabetic})"},
    {"blank", R"(\p{Zs}\x09)"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"lower", R"(\p{Lowercase})"},
    {"punct", R"(\p{P}\p{S})"},
    {"space", kSpaceItems},
    {"upper", R"(\p{Uppercase})"},
    {"word", kWordItems},
}};

Error unsupported(std::string_view pattern, std::string_view construct) {
    return {ErrorCode::Unsupported,
            fmt::format("the split pattern '{}' uses {}, which is not supported",
                        pattern.substr(0, 200),
                        construct),
            "Use the model's GGUF file or another export of its tokenizer."};
}

/// Walks over a pattern once, copying what both dialects share.
class Translator {
public:
    explicit Translator(std::string_view pattern)
        : m_pattern(pattern) {}

    Result<std::string> run() {
        while (m_position < m_pattern.size())
            ENGINE_TRY_DO(m_classDepth > 0 ? insideClass() : outsideClass());
        return std::move(m_out);
    }

private:
    Result<void> outsideClass() {
        const char c = m_pattern[m_position];
        if (c == '{')
            return interval();
        noteItem(c);
        if (c == '\\')
            return escape();
        if (c == '[') {
            copy(1);
            if (peek() == '^')
                copy(1);
            m_classDepth = 1;
            if (peek() == ']') // a literal at this place in both dialects
                copy(1);
            return {};
        }
        if (c == '(' && m_pattern.substr(m_position, 2) == "(?")
            return groupOptions();
        copy(utf8::lengthByFirstByte(c));
        return {};
    }

    /// Keeps in mind where the item begins that a quantifier behind it would repeat.
    void noteItem(char c) {
        if (c == '(')
            m_groups.push_back(m_out.size());
        if (c == ')' && !m_groups.empty()) {
            m_itemBegin = m_groups.back();
            m_groups.pop_back();
        } else if (c != '*' && c != '+' && c != '?') {
            m_itemBegin = m_out.size();
        }
    }

    Result<void> insideClass() {
        const char c = m_pattern[m_position];
        if (c == '\\')
            return escape();
        if (c == ']')
            m_classDepth = 0;
        if (m_pattern.substr(m_position, 2) == "&&")
            return unsupported(m_pattern, "a character class intersection (&&)");
        if (c == '[')
            return posixClass();
        copy(1);
        return {};
    }

    /// [:name:] inside brackets; another bracket there would be a set within a set.
    Result<void> posixClass() {
        const std::size_t end = m_pattern.find(":]", m_position);
        if (m_pattern.substr(m_position, 2) != "[:" || end == std::string_view::npos)
            return unsupported(m_pattern, "a character class inside a character class");
        const std::string_view name = m_pattern.substr(m_position + 2, end - m_position - 2);
        for (const PosixClass& known : kPosixClasses) {
            if (known.name == name)
                return replace(end + 2 - m_position, known.items);
        }
        return unsupported(m_pattern, fmt::format("the character class [:{}:]", name));
    }

    Result<void> escape() {
        if (m_position + 1 >= m_pattern.size())
            return unsupported(m_pattern, "a backslash at its end");
        const char c = m_pattern[m_position + 1];
        switch (c) {
        case 's':
            return shorthand(kSpaceItems, false);
        case 'S':
            return shorthand(kSpaceItems, true);
        case 'w':
            return shorthand(m_classDepth == 0 ? kLoneWordItems : kWordItems, false);
        case 'W':
            return shorthand(m_classDepth == 0 ? kLoneWordItems : kWordItems, true);
        case 'h':
            return shorthand(kHexItems, false);
        case 'H':
            return shorthand(kHexItems, true);
        case 'v':
            return replace(2, R"(\x0B)");
        case 'u':
            return unicodeEscape();
        case 'b':
        case 'B':
            if (m_classDepth == 0)
                return wordBoundary(c == 'B');
            [[fallthrough]];
        default:
            copy(escapeLength());
            return {};
        }
    }

    /// Bytes of an escape such as \d, \p{Lu}, \x{2581} or \x41.
    std::size_t escapeLength() const {
        const char c = m_pattern[m_position + 1];
        const std::string_view rest = m_pattern.substr(m_position + 2);
        if ((c == 'p' || c == 'P' || c == 'x') && rest.starts_with('{')) {
            const std::size_t end = rest.find('}');
            return end == std::string_view::npos ? 2 : end + 3;
        }
        std::size_t digits = 0;
        while (c == 'x' && digits < std::min<std::size_t>(rest.size(), 2) &&
               std::isxdigit(static_cast<unsigned char>(rest[digits])) != 0)
            ++digits;
        return digits + 2;
    }

    /// A shorthand class such as \s; `isNegated` for its capital twin.
    Result<void> shorthand(std::string_view items, bool isNegated) {
        if (m_classDepth == 0)
            return replace(2, fmt::format("[{}{}]", isNegated ? "^" : "", items));
        if (!isNegated)
            return replace(2, items);
        if (m_pattern[m_position + 1] == 'S') // PCRE2's own \S, plus what it takes for a space
            return replace(2, R"(\S\x{180E})");
        return unsupported(m_pattern, "\\W or \\H inside brackets");
    }

    /// \b, or \B: PCRE2's own do not count marks and joiners of words among their characters.
    Result<void> wordBoundary(bool isNegated) {
        return replace(2,
                       fmt::format("(?:(?<=[{0}])(?{1}[{0}])|(?<![{0}])(?{2}[{0}]))",
                                   kLoneWordItems,
                                   isNegated ? '=' : '!',
                                   isNegated ? '!' : '='));
    }

    Result<void> unicodeEscape() {
        const std::string_view digits = m_pattern.substr(m_position + 2, 4);
        for (const char digit : digits) {
            if (std::isxdigit(static_cast<unsigned char>(digit)) == 0)
                return unsupported(m_pattern, "a broken \\u escape");
        }
        if (digits.size() != 4)
            return unsupported(m_pattern, "a broken \\u escape");
        return replace(6, fmt::format("\\x{{{}}}", digits));
    }

    /// Option letters: Ruby's m lets the dot match line ends, which PCRE2 calls s.
    Result<void> groupOptions() {
        copy(2);
        std::size_t end = m_position;
        while (end < m_pattern.size() && (m_pattern[end] == '-' || m_pattern[end] == 'i' ||
                                          m_pattern[end] == 'm' || m_pattern[end] == 'x'))
            ++end;
        if (end == m_pattern.size() || (m_pattern[end] != ':' && m_pattern[end] != ')'))
            return {};
        for (; m_position < end; ++m_position)
            m_out.push_back(m_pattern[m_position] == 'm' ? 's' : m_pattern[m_position]);
        return {};
    }

    /// {n,m}: Ruby reads {,m} as {0,m}. A + behind it repeats the whole instead of being
    /// possessive, and so does a ? behind {n} instead of being lazy.
    Result<void> interval() {
        const std::size_t end = m_pattern.find('}', m_position);
        const std::string_view body = end == std::string_view::npos
                                          ? std::string_view()
                                          : m_pattern.substr(m_position + 1, end - m_position - 1);
        if (body.empty() || body.find_first_not_of("0123456789,") != std::string_view::npos) {
            noteItem('{');
            copy(1);
            return {};
        }
        const std::string_view behind = m_pattern.substr(end + 1, 1);
        const bool isFixed = body.find(',') == std::string_view::npos;
        const bool isRepeated = behind == "+" || (behind == "?" && isFixed);
        if (isRepeated)
            m_out.insert(m_itemBegin, "(?:");
        return replace(
            end + 1 - m_position,
            fmt::format("{{{}{}}}{}", body.front() == ',' ? "0" : "", body, isRepeated ? ")" : ""));
    }

    char peek() const { return m_position < m_pattern.size() ? m_pattern[m_position] : '\0'; }

    void copy(std::size_t count) {
        m_out.append(m_pattern.substr(m_position, count));
        m_position += count;
    }

    Result<void> replace(std::size_t count, std::string_view text) {
        m_out.append(text);
        m_position += count;
        return {};
    }

    std::string_view m_pattern;
    std::size_t m_position = 0;
    int m_classDepth = 0;
    std::string m_out;
    // Places in m_out.
    std::size_t m_itemBegin = 0;
    std::vector<std::size_t> m_groups; // those that are open
};

} // namespace

Result<std::string> translateOniguruma(std::string_view pattern) {
    return Translator(pattern).run();
}

} // namespace engine
