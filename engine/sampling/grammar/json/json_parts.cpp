// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/json/json_parts.h"

#include "engine/sampling/grammar/regex_grammar.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <utility>

namespace engine {

namespace {

using Parts = std::initializer_list<GrammarPart>;

GrammarPart sequence(GrammarBuilder& builder, Parts parts) {
    return builder.sequence(std::span(parts.begin(), parts.size()));
}

GrammarPart choice(GrammarBuilder& builder, Parts parts) {
    return builder.choice(std::span(parts.begin(), parts.size()));
}

/// All escapes of a string. A surrogate comes with its other half.
constexpr const char* kEscape =
    R"(\\(?:["\\/bfnrt]|u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
    R"(|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})))";

} // namespace

const std::vector<CharacterRange>& plainJsonCharacters() {
    static const std::vector<CharacterRange> kPlain =
        charactersBut({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}});
    return kPlain;
}

GrammarPart JsonParts::regex(const char* pattern) {
    auto part = regexPart(m_builder, pattern);
    ENGINE_CHECK(part.hasValue(), "{}", part.error().message);
    return part.value();
}

GrammarPart JsonParts::space() {
    if (m_space < 0) {
        m_space = m_builder.addRule("the space in JSON");
        m_builder.define(m_space, regex("(?: |\\n {0,20})?"));
    }
    return m_builder.call(m_space);
}

GrammarPart JsonParts::separator() { return sequence(m_builder, {m_builder.text(","), space()}); }

GrammarPart JsonParts::string(int least, int most) {
    if (m_character < 0) {
        m_character = m_builder.addRule("a character of a JSON string");
        m_builder.define(
            m_character,
            choice(m_builder, {m_builder.character(plainJsonCharacters()), regex(kEscape)}));
    }
    return sequence(m_builder,
                    {m_builder.text("\""),
                     m_builder.repeat(m_builder.call(m_character), least, most),
                     m_builder.text("\"")});
}

GrammarPart JsonParts::number(bool isNegative) {
    constexpr const char* kUnsigned =
        "(?:0|[1-9][0-9]{0,15})(?:\\.[0-9]{1,16})?(?:[eE][+-]?[0-9]{1,2})?";
    return isNegative ? sequence(m_builder, {regex("-?"), regex(kUnsigned)}) : regex(kUnsigned);
}

GrammarPart JsonParts::integer(std::int64_t least, std::int64_t most) {
    least = std::clamp(least, -kMostInteger, kMostInteger + 1);
    most = std::clamp(most, -kMostInteger - 1, kMostInteger);
    std::vector<GrammarPart> parts;
    if (least < 0 && least <= most)
        parts.push_back(sequence(
            m_builder,
            {m_builder.text("-"), unsignedInteger(std::max<std::int64_t>(1, -most), -least)}));
    if (most >= 0 && least <= most)
        parts.push_back(unsignedInteger(std::max<std::int64_t>(0, least), most));
    return m_builder.choice(parts);
}

/// By the number of digits.
GrammarPart JsonParts::unsignedInteger(std::int64_t least, std::int64_t most) {
    std::vector<GrammarPart> parts;
    for (std::int64_t first = 0, last = 9; first <= most; first = last + 1, last = last * 10 + 9)
        if (last >= least)
            parts.push_back(digits(std::to_string(std::max(first, least)),
                                   std::to_string(std::min(last, most))));
    return m_builder.choice(parts);
}

/// From `low` to `high`, both of as many digits.
GrammarPart JsonParts::digits(const std::string& low, const std::string& high) {
    if (low.empty())
        return m_builder.nothing();
    const auto digit = [this](char from, char to) {
        return m_builder.byteRange(static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to));
    };
    const int rest = static_cast<int>(low.size()) - 1;
    const std::string zeros(low.size() - 1, '0');
    const std::string nines(low.size() - 1, '9');
    const bool takesAllLow = low.substr(1) == zeros;
    const bool takesAllHigh = high.substr(1) == nines;
    if (low.front() == high.front() && !(takesAllLow && takesAllHigh))
        return sequence(m_builder,
                        {digit(low.front(), low.front()), digits(low.substr(1), high.substr(1))});
    std::vector<GrammarPart> parts;
    char first = low.front();
    char last = high.front();
    if (!takesAllLow)
        parts.push_back(sequence(m_builder, {digit(first, first), digits(low.substr(1), nines)}));
    if (!takesAllHigh)
        parts.push_back(sequence(m_builder, {digit(last, last), digits(zeros, high.substr(1))}));
    first = static_cast<char>(first + (takesAllLow ? 0 : 1));
    last = static_cast<char>(last - (takesAllHigh ? 0 : 1));
    if (first <= last)
        parts.push_back(sequence(
            m_builder, {digit(first, last), m_builder.repeat(digit('0', '9'), rest, rest)}));
    return m_builder.choice(parts);
}

GrammarPart JsonParts::anyValue() {
    if (m_value < 0) {
        m_value = m_builder.addRule("any JSON value");
        m_builder.define(m_value,
                         choice(m_builder,
                                {anyObject(),
                                 anyArray(),
                                 string(0, GrammarBuilder::kUnbounded),
                                 number(true),
                                 m_builder.anyOfTexts({"true", "false", "null"})}));
    }
    return m_builder.call(m_value);
}

GrammarPart JsonParts::anyObject() {
    if (m_object < 0) {
        m_object = m_builder.addRule("any JSON object");
        m_builder.define(m_object, object({}, memberRule({}, anyValue())));
    }
    return m_builder.call(m_object);
}

GrammarPart JsonParts::anyArray() {
    if (m_array < 0) {
        m_array = m_builder.addRule("any JSON array");
        const int item = m_builder.addRule("an item");
        m_builder.define(item, anyValue());
        m_builder.define(m_array, array({}, item, 0, GrammarBuilder::kUnbounded));
    }
    return m_builder.call(m_array);
}

/// Follows the names while the text matches one of them, and is free after that.
GrammarPart JsonParts::nameBut(const std::vector<std::string>& names) {
    if (names.empty())
        return string(0, GrammarBuilder::kUnbounded);
    const GrammarPart quote = m_builder.text("\"");
    const GrammarPart end = m_builder.text("\"");
    const GrammarPart rest =
        m_builder.repeat(m_builder.character(plainJsonCharacters()), 0, GrammarBuilder::kUnbounded);
    m_builder.connect(rest.last, end.first);

    struct Beginning {
        int node;
        bool isName = false;
        std::map<std::string, std::size_t> next = {}; ///< by the character after it
    };

    std::vector<Beginning> beginnings = {{quote.last}};
    for (const std::string& name : names) {
        std::size_t at = 0;
        for (std::string_view left = name; !left.empty();) {
            const std::size_t length = utf8::inspect(left).length;
            const std::string character(left.substr(0, length));
            left.remove_prefix(length);
            const auto found = beginnings[at].next.find(character);
            if (found != beginnings[at].next.end()) {
                at = found->second;
                continue;
            }
            beginnings[at].next.emplace(character, beginnings.size());
            at = beginnings.size();
            beginnings.push_back({m_builder.nothing().first});
        }
        beginnings[at].isName = true;
    }
    for (const Beginning& beginning : beginnings) {
        if (!beginning.isName)
            m_builder.connect(beginning.node, end.first);
        std::vector<CharacterRange> taken = charactersBut(plainJsonCharacters());
        for (const auto& [character, next] : beginning.next) {
            std::size_t length = 0;
            const auto code = static_cast<std::uint32_t>(utf8::firstCodePoint(character, length));
            const bool isPlain = code >= 0x20 && code != '"' && code != '\\';
            if (isPlain) {
                const GrammarPart step = m_builder.text(character);
                m_builder.connect(beginning.node, step.first);
                m_builder.connect(step.last, beginnings[next].node);
            }
            taken.push_back({code, code});
        }
        const GrammarPart other = m_builder.character(charactersBut(std::move(taken)));
        m_builder.connect(beginning.node, other.first);
        m_builder.connect(other.last, rest.first);
    }
    return {quote.first, end.last};
}

int JsonParts::memberRule(const std::vector<std::string>& names, GrammarPart value) {
    const int rule = m_builder.addRule("a member of an object");
    m_builder.define(rule,
                     sequence(m_builder, {nameBut(names), m_builder.text(":"), space(), value}));
    return rule;
}

/// Two nodes for each place in the sequence of members: with and without an earlier member.
GrammarPart JsonParts::object(const std::vector<Member>& members, int rest) {
    const GrammarPart open = sequence(m_builder, {m_builder.text("{"), space()});
    const GrammarPart close = sequence(m_builder, {space(), m_builder.text("}")});
    int none = open.last;
    int some = m_builder.nothing().first;
    const auto lead = [this](int from, GrammarPart part, int to) {
        m_builder.connect(from, part.first);
        m_builder.connect(part.last, to);
    };
    const auto further = [this](int rule) {
        return sequence(m_builder, {separator(), m_builder.call(rule)});
    };
    for (const Member& member : members) {
        if (m_builder.isFull())
            break;
        const int noneBehind = m_builder.nothing().first;
        const int someBehind = m_builder.nothing().first;
        lead(none, m_builder.call(member.rule), someBehind);
        lead(some, further(member.rule), someBehind);
        if (!member.isRequired) {
            m_builder.connect(none, noneBehind);
            m_builder.connect(some, someBehind);
        }
        none = noneBehind;
        some = someBehind;
    }
    if (rest >= 0) {
        lead(none, m_builder.call(rest), some);
        lead(some, further(rest), some);
    }
    // Without members, there is only one optional space between the braces.
    const GrammarPart end = m_builder.text("}");
    m_builder.connect(none, end.first);
    m_builder.connect(some, close.first);
    const GrammarPart both{open.first, m_builder.nothing().first};
    m_builder.connect(end.last, both.last);
    m_builder.connect(close.last, both.last);
    return both;
}

GrammarPart JsonParts::array(const std::vector<int>& first, int rest, int least, int most) {
    const int places = static_cast<int>(first.size());
    if (rest < 0 && (most == GrammarBuilder::kUnbounded || most > places))
        most = places;
    const GrammarPart open = sequence(m_builder, {m_builder.text("["), space()});
    const GrammarPart empty = m_builder.text("]");
    const GrammarPart close = sequence(m_builder, {space(), m_builder.text("]")});
    const GrammarPart both{open.first, m_builder.nothing().first};
    m_builder.connect(empty.last, both.last);
    m_builder.connect(close.last, both.last);
    const bool isUnbounded = most == GrammarBuilder::kUnbounded;
    const int counted = isUnbounded ? std::max({least, places, 1}) : most;
    int at = open.last;
    for (int place = 0; place <= counted && !m_builder.isFull(); ++place) {
        if (place >= least)
            m_builder.connect(at, place == 0 ? empty.first : close.first);
        if (place == counted)
            break;
        const GrammarPart item =
            m_builder.call(place < places ? first[static_cast<std::size_t>(place)] : rest);
        const GrammarPart next = place == 0 ? item : sequence(m_builder, {separator(), item});
        m_builder.connect(at, next.first);
        at = next.last;
    }
    if (isUnbounded) {
        const GrammarPart next = sequence(m_builder, {separator(), m_builder.call(rest)});
        m_builder.connect(at, next.first);
        m_builder.connect(next.last, at);
    }
    return both;
}

} // namespace engine
