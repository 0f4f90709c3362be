// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/grammar_builder.h"

#include "engine/sampling/grammar/grammar_check.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

namespace {

std::string utf8Of(std::uint32_t code) {
    std::string text;
    utf8::append(static_cast<char32_t>(code), text);
    return text;
}

std::uint8_t byteAt(const std::string& text, std::size_t place) {
    return static_cast<std::uint8_t>(text[place]);
}

} // namespace

int GrammarBuilder::addNode() {
    if (m_graph.nodes.size() >= static_cast<std::size_t>(kMostNodes)) {
        m_isFull = true;
        return 0;
    }
    m_graph.nodes.emplace_back();
    return static_cast<int>(m_graph.nodes.size()) - 1;
}

void GrammarBuilder::connect(int from, int to) {
    if (!m_isFull)
        m_graph.nodes[static_cast<std::size_t>(from)].free.push_back(to);
}

GrammarPart GrammarBuilder::nothing() {
    const int node = addNode();
    return {node, node};
}

GrammarPart GrammarBuilder::byteRange(std::uint8_t low, std::uint8_t high) {
    const int first = addNode();
    const int last = addNode();
    if (!m_isFull)
        m_graph.nodes[static_cast<std::size_t>(first)].bytes.push_back({low, high, last});
    return {first, last};
}

GrammarPart GrammarBuilder::text(std::string_view bytes) {
    GrammarPart all = nothing();
    for (const char character : bytes) {
        const auto byte = static_cast<std::uint8_t>(character);
        const GrammarPart part = byteRange(byte, byte);
        connect(all.last, part.first);
        all.last = part.last;
    }
    return all;
}

GrammarPart GrammarBuilder::character(std::span<const CharacterRange> ranges) {
    const GrammarPart between{addNode(), addNode()};
    constexpr std::array<CharacterRange, 5> kLengths = {
        {{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}}};
    for (const CharacterRange& range : ranges)
        for (const CharacterRange& length : kLengths) {
            const CharacterRange part{std::max(range.low, length.low),
                                      std::min(range.high, length.high)};
            if (part.low <= part.high)
                addUtf8(part, between);
        }
    return between;
}

/// Splits the range until each piece is a product of byte ranges. The whole range has UTF-8 of one
/// length.
void GrammarBuilder::addUtf8(const CharacterRange& range, GrammarPart between) {
    if (m_isFull)
        return;
    for (unsigned shift = 6; shift <= 18; shift += 6) {
        const std::uint32_t rest = (1U << shift) - 1U;
        if ((range.low & ~rest) == (range.high & ~rest))
            continue;
        if ((range.low & rest) != 0U) {
            addUtf8({range.low, range.low | rest}, between);
            addUtf8({(range.low | rest) + 1U, range.high}, between);
            return;
        }
        if ((range.high & rest) != rest) {
            addUtf8({range.low, (range.high & ~rest) - 1U}, between);
            addUtf8({range.high & ~rest, range.high}, between);
            return;
        }
    }
    const std::string low = utf8Of(range.low);
    const std::string high = utf8Of(range.high);
    int node = between.first;
    for (std::size_t place = 0; place < low.size(); ++place) {
        const int to = place + 1 == low.size() ? between.last : addNode();
        if (m_isFull)
            return;
        m_graph.nodes[static_cast<std::size_t>(node)].bytes.push_back(
            {byteAt(low, place), byteAt(high, place), to});
        node = to;
    }
}

GrammarPart GrammarBuilder::sequence(std::span<const GrammarPart> parts) {
    GrammarPart all = nothing();
    for (const GrammarPart& part : parts) {
        connect(all.last, part.first);
        all.last = part.last;
    }
    return all;
}

GrammarPart GrammarBuilder::choice(std::span<const GrammarPart> parts) {
    const GrammarPart all{addNode(), addNode()};
    for (const GrammarPart& part : parts) {
        connect(all.first, part.first);
        connect(part.last, all.last);
    }
    return all;
}

GrammarPart GrammarBuilder::maybe(GrammarPart part) {
    const std::array<GrammarPart, 2> parts = {part, nothing()};
    return choice(parts);
}

GrammarPart GrammarBuilder::star(GrammarPart part) {
    const GrammarPart all{addNode(), addNode()};
    connect(all.first, part.first);
    connect(all.first, all.last);
    connect(part.last, all.first);
    return all;
}

/// A part that is used several times becomes a rule, so that the sizes of nested bounds add up
/// instead of multiplying.
GrammarPart GrammarBuilder::repeat(GrammarPart part, int least, int most) {
    if (least == 1 && most == 1)
        return part;
    if (least == 0 && most == 1)
        return maybe(part);
    if (least == 0 && most == kUnbounded)
        return star(part);
    const int rule = addRule("");
    define(rule, part);
    GrammarPart all = nothing();
    const auto append = [&](GrammarPart next) {
        connect(all.last, next.first);
        all.last = next.last;
    };
    for (int count = 0; count < least && !m_isFull; ++count)
        append(call(rule));
    if (most == kUnbounded) {
        append(star(call(rule)));
        return all;
    }
    const int end = addNode();
    for (int count = least; count < most && !m_isFull; ++count) {
        connect(all.last, end);
        append(call(rule));
    }
    connect(all.last, end);
    return {all.first, end};
}

GrammarPart GrammarBuilder::anyOfTexts(std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    const GrammarPart all{addNode(), addNode()};
    std::vector<int> path = {all.first}; // [bytes of the last text + 1]
    std::string before;
    for (const std::string& text : texts) {
        const auto differs = std::mismatch(before.begin(), before.end(), text.begin(), text.end());
        const auto shared = static_cast<std::size_t>(differs.second - text.begin());
        path.resize(shared + 1);
        for (std::size_t place = shared; place < text.size() && !m_isFull; ++place) {
            const int to = addNode();
            m_graph.nodes[static_cast<std::size_t>(path.back())].bytes.push_back(
                {byteAt(text, place), byteAt(text, place), to});
            path.push_back(to);
        }
        if (m_isFull)
            return all;
        connect(path.back(), all.last);
        before = text;
    }
    return all;
}

int GrammarBuilder::addRule(std::string name) {
    m_graph.rules.push_back({std::move(name), -1, -1});
    return static_cast<int>(m_graph.rules.size()) - 1;
}

void GrammarBuilder::define(int rule, GrammarPart part) {
    const int end = addNode();
    connect(part.last, end);
    if (m_isFull)
        return;
    m_graph.nodes[static_cast<std::size_t>(end)].isEnd = true;
    GrammarGraph::Rule& defined = m_graph.rules[static_cast<std::size_t>(rule)];
    defined.start = part.first;
    defined.end = end;
}

GrammarPart GrammarBuilder::call(int rule) {
    const GrammarPart part{addNode(), addNode()};
    if (!m_isFull)
        m_graph.nodes[static_cast<std::size_t>(part.first)].calls.push_back({rule, part.last});
    return part;
}

Result<GrammarGraph> GrammarBuilder::finish(std::string_view what) && {
    if (m_isFull)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("{} is too large: it needs more than {} states.", what, kMostNodes),
            "Lower its repetition bounds, or allow less at once."};
    return checkGrammar(std::move(m_graph), what);
}

} // namespace engine
