// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/regex_grammar.h"

#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace engine {

namespace {

using Ranges = std::vector<CharacterRange>;

constexpr std::uint32_t kLastCharacter = 0x10FFFF;
constexpr int kMostDepth = 200;       // of groups
constexpr int kMostTimes = 1'000'000; // more than any graph holds

const Ranges kDigits = {{'0', '9'}};
const Ranges kWord = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const Ranges kSpace = {{'\t', '\r'}, {' ', ' '}};

Ranges without(Ranges ranges) {
    std::sort(
        ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
    Ranges others;
    std::uint32_t next = 0;
    for (const CharacterRange& range : ranges) {
        if (range.low > next)
            others.push_back({next, range.low - 1});
        next = std::max(next, range.high + 1);
    }
    if (next <= kLastCharacter)
        others.push_back({next, kLastCharacter});
    return others;
}

/// A recursive descent through the pattern, one method for each precedence level.
class RegexParser {
public:
    RegexParser(GrammarBuilder& builder,
                std::string_view pattern,
                std::span<const CharacterRange> never)
        : m_builder(builder)
        , m_pattern(pattern)
        , m_never(never.begin(), never.end()) {}

    Result<GrammarPart> parse() {
        ENGINE_TRY(const GrammarPart part, alternatives());
        if (!isAtEnd())
            return refuse("there is a ) without a (");
        return part;
    }

private:
    bool isAtEnd() const { return m_at == m_pattern.size(); }

    char peek() const { return isAtEnd() ? '\0' : m_pattern[m_at]; }

    bool take(std::string_view wanted) {
        const bool isThere = m_pattern.substr(m_at).starts_with(wanted);
        if (isThere)
            m_at += wanted.size();
        return isThere;
    }

    Error refuse(const std::string& why) const {
        return {ErrorCode::InvalidInput,
                fmt::format("The regular expression is refused at byte {}: {}.", m_at, why),
                "The answer as a whole has to match; write it with characters, classes [...], "
                "groups (...), | and * + ? {2,5}."};
    }

    Result<GrammarPart> alternatives() {
        if (++m_depth > kMostDepth)
            return refuse(fmt::format("groups are nested deeper than {}", kMostDepth));
        std::vector<GrammarPart> parts;
        do {
            ENGINE_TRY(const GrammarPart part, sequence());
            parts.push_back(part);
        } while (take("|"));
        --m_depth;
        return parts.size() == 1 ? parts.front() : m_builder.choice(parts);
    }

    Result<GrammarPart> sequence() {
        std::vector<GrammarPart> parts;
        while (!isAtEnd() && peek() != '|' && peek() != ')') {
            if (peek() == '^' || peek() == '$') {
                ENGINE_TRY_DO(anchor());
                continue;
            }
            ENGINE_TRY(const GrammarPart part, repeated());
            parts.push_back(part);
        }
        return m_builder.sequence(parts);
    }

    /// The whole answer has to match anyway: an anchor has no effect at the ends and can never
    /// match elsewhere.
    Result<void> anchor() {
        const bool isStart = peek() == '^';
        const bool isFirst = m_at == 0;
        const bool isLast = m_at + 1 == m_pattern.size();
        if (isStart ? !isFirst : !isLast)
            return refuse(fmt::format(
                "{} is only allowed at the {} of the pattern", peek(), isStart ? "start" : "end"));
        ++m_at;
        return {};
    }

    Result<GrammarPart> repeated() {
        ENGINE_TRY(GrammarPart part, atom());
        while (!isAtEnd()) {
            int least = 0;
            int most = GrammarBuilder::kUnbounded;
            if (take("+")) {
                least = 1;
            } else if (take("?")) {
                most = 1;
            } else if (peek() == '{') {
                ENGINE_TRY_DO(bounds(least, most));
            } else if (!take("*")) {
                break;
            }
            if (take("?")) {
                // Greedy or lazy: the matching texts are the same.
            } else if (peek() == '+') {
                return refuse("possessive repetition is not supported");
            }
            part = m_builder.repeat(part, least, most);
        }
        return part;
    }

    /// {2}, {2,} and {2,5}.
    Result<void> bounds(int& least, int& most) {
        ++m_at;
        const auto first = number();
        if (!first)
            return refuse("{ begins a repetition count, as in {2,5}; write \\{ for the character");
        least = *first;
        most = least;
        if (take(",")) {
            const auto second = number();
            most = second.value_or(GrammarBuilder::kUnbounded);
        }
        if (!take("}"))
            return refuse("a repetition count does not end with }");
        if (most != GrammarBuilder::kUnbounded && most < least)
            return refuse(
                fmt::format("{{{},{}}} asks for at most fewer than at least", least, most));
        return {};
    }

    std::optional<int> number() {
        if (peek() < '0' || peek() > '9')
            return std::nullopt;
        int value = 0;
        for (; peek() >= '0' && peek() <= '9'; ++m_at)
            value = std::min(10 * value + (peek() - '0'), kMostTimes);
        return value;
    }

    Result<GrammarPart> atom() {
        switch (peek()) {
        case '(':
            return group();
        case '[': {
            ENGINE_TRY(const Ranges ranges, characterClass());
            return character(ranges);
        }
        case '.': {
            ++m_at;
            return character(without({{'\n', '\n'}}));
        }
        case '*':
        case '+':
        case '?':
            return refuse(fmt::format("there is nothing before {} to repeat", peek()));
        default: {
            ENGINE_TRY(const Ranges ranges, oneCharacter());
            return character(ranges);
        }
        }
    }

    GrammarPart character(const Ranges& ranges) {
        if (m_never.empty())
            return m_builder.character(ranges);
        Ranges outside = without(ranges); // what is in neither
        outside.insert(outside.end(), m_never.begin(), m_never.end());
        return m_builder.character(without(std::move(outside)));
    }

    Result<GrammarPart> group() {
        if (take("(?:")) {
        } else if (take("(?P<") || (!starts("(?<=") && !starts("(?<!") && take("(?<"))) {
            const std::size_t end = m_pattern.find('>', m_at);
            if (end == std::string_view::npos)
                return refuse("the name of a group does not end with >");
            m_at = end + 1;
        } else if (starts("(?=") || starts("(?!") || starts("(?<")) {
            return refuse("look-ahead and look-behind are not supported");
        } else if (starts("(?")) {
            return refuse("flags and other forms of (? are not supported");
        } else {
            ++m_at;
        }
        ENGINE_TRY(const GrammarPart part, alternatives());
        if (!take(")"))
            return refuse("a ( has no )");
        return part;
    }

    bool starts(std::string_view with) const { return m_pattern.substr(m_at).starts_with(with); }

    Result<Ranges> characterClass() {
        ++m_at;
        const bool isNegated = take("^");
        Ranges all;
        for (bool isFirst = true; isFirst || peek() != ']'; isFirst = false) {
            if (isAtEnd())
                return refuse("a [ has no ]");
            if (starts("[:") || starts("[.") || starts("[="))
                return refuse("classes with names are not supported");
            ENGINE_TRY(Ranges ranges, oneCharacter());
            const bool isRange =
                peek() == '-' && m_at + 1 < m_pattern.size() && m_pattern[m_at + 1] != ']';
            if (isRange) {
                ++m_at;
                ENGINE_TRY(const Ranges last, oneCharacter());
                const bool areSingle = isOne(ranges) && isOne(last);
                if (!areSingle || ranges.front().low > last.front().low)
                    return refuse(
                        "a range in a class does not go up from one character to another");
                ranges.front().high = last.front().low;
            }
            all.insert(all.end(), ranges.begin(), ranges.end());
        }
        ++m_at;
        return isNegated ? without(std::move(all)) : all;
    }

    static bool isOne(const Ranges& ranges) {
        return ranges.size() == 1 && ranges.front().low == ranges.front().high;
    }

    /// A character of the pattern or an escape, inside a class or outside.
    Result<Ranges> oneCharacter() {
        if (take("\\"))
            return escape();
        const std::string_view rest = m_pattern.substr(m_at);
        const utf8::Prefix character = utf8::inspect(rest);
        if (character.kind != utf8::Kind::Valid)
            return refuse("the pattern is not UTF-8");
        m_at += character.length;
        std::size_t length = 0;
        return single(static_cast<std::uint32_t>(utf8::firstCodePoint(rest, length)));
    }

    static Ranges single(std::uint32_t code) { return {{code, code}}; }

    Result<Ranges> escape() {
        if (isAtEnd())
            return refuse("the pattern ends with a single \\");
        const char letter = m_pattern[m_at++];
        switch (letter) {
        case 'd':
            return kDigits;
        case 'D':
            return without(kDigits);
        case 'w':
            return kWord;
        case 'W':
            return without(kWord);
        case 's':
            return kSpace;
        case 'S':
            return without(kSpace);
        case 'n':
            return single('\n');
        case 't':
            return single('\t');
        case 'r':
            return single('\r');
        case 'f':
            return single('\f');
        case 'v':
            return single('\v');
        case 'x':
            return hexadecimal(2);
        case 'u':
            return hexadecimal(4);
        default:
            break;
        }
        const auto byte = static_cast<unsigned char>(letter);
        const bool isName = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                            (letter >= '0' && letter <= '9');
        if (isName || byte >= 0x80U) {
            --m_at;
            return refuse(fmt::format("\\{} is not supported", byte < 0x80U ? letter : '?'));
        }
        return single(byte);
    }

    /// \x41, A and \x{1F600}.
    Result<Ranges> hexadecimal(std::size_t digits) {
        const bool hasBraces = take("{");
        const std::size_t end =
            hasBraces ? m_pattern.find('}', m_at) : std::min(m_at + digits, m_pattern.size());
        const std::string_view text =
            m_pattern.substr(m_at, end == std::string_view::npos ? 0 : end - m_at);
        const bool isComplete =
            hasBraces ? !text.empty() && text.size() <= 6 : text.size() == digits;
        std::uint32_t code = 0;
        for (const char letter : text) {
            const std::size_t digit =
                std::string_view("0123456789abcdef")
                    .find(static_cast<char>(letter >= 'A' && letter <= 'F' ? letter - 'A' + 'a'
                                                                           : letter));
            if (digit == std::string_view::npos)
                return refuse("an escape contains a letter that is not a hexadecimal digit");
            code = code * 16 + static_cast<std::uint32_t>(digit);
        }
        if (!isComplete || code > kLastCharacter)
            return refuse("the number of an escape is not a character");
        m_at = end + (hasBraces ? 1 : 0);
        return single(code);
    }

    GrammarBuilder& m_builder;
    std::string_view m_pattern;
    Ranges m_never;
    std::size_t m_at = 0;
    int m_depth = 0;
};

} // namespace

Result<GrammarPart> regexPart(GrammarBuilder& builder,
                              std::string_view pattern,
                              std::span<const CharacterRange> never) {
    return RegexParser(builder, pattern, never).parse();
}

std::vector<CharacterRange> charactersBut(std::vector<CharacterRange> ranges) {
    return without(std::move(ranges));
}

} // namespace engine
