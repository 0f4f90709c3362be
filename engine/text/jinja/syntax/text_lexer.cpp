// SPDX-License-Identifier: Apache-2.0
// The lexer's half outside of tags: text, comments, raw sections and where tags begin.
#include "engine/text/jinja/operations/text_search.h"
#include "engine/text/jinja/syntax/lexer.h"
#include "engine/text/jinja/values/utf8_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

bool isBlank(std::string_view text) { return stripped(text, std::nullopt, Side::Left).empty(); }

/// Offset of the next "{{", "{%" or "{#", or npos.
std::size_t tagBegin(std::string_view source, std::size_t start) {
    for (std::size_t begin = source.find('{', start); begin != std::string_view::npos;
         begin = source.find('{', begin + 1)) {
        const char second = begin + 1 < source.size() ? source[begin + 1] : '\0';
        if (second == '{' || second == '%' || second == '#')
            return begin;
    }
    return std::string_view::npos;
}

} // namespace

std::string normalizedSource(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n')
            continue;
        out += source[i] == '\r' ? '\n' : source[i];
    }
    if (out.ends_with('\n'))
        out.pop_back();
    return out;
}

Token Lexer::tokenFrom(TokenType type, std::size_t start, std::size_t end) {
    for (; m_countedUntil < start; ++m_countedUntil)
        m_line += m_source[m_countedUntil] == '\n' ? 1 : 0;
    return {type, m_source.substr(start, end - start), static_cast<std::uint32_t>(start), m_line};
}

Error Lexer::errorAt(const Token& token, ErrorCode code, const std::string& message) const {
    const std::string_view before = m_source.substr(0, token.offset);
    const std::size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
    const std::size_t column = utf8::characterCount(before.substr(lineStart)) + 1;
    return {code, fmt::format("line {}, column {}: {}", token.line, column, message), {}};
}

Lexer::Control Lexer::controlBefore(std::size_t begin) const {
    const char sign = begin + 2 < m_source.size() ? m_source[begin + 2] : '\0';
    return sign == '-' ? Control::Strip : sign == '+' ? Control::Keep : Control::Standard;
}

/// Where the text before a tag ends when whitespace control is done.
std::size_t Lexer::textEnd(std::size_t start, std::size_t begin, bool isOutput) const {
    const std::string_view text = m_source.substr(start, begin - start);
    const Control control = controlBefore(begin);
    if (control == Control::Strip)
        return start + stripped(text, std::nullopt, Side::Right).size();
    if (control == Control::Keep || isOutput)
        return begin;
    const std::size_t lineStart = text.rfind('\n') + 1; // npos + 1 is 0
    const bool isAtLineStart = lineStart > 0 || m_isLineStart;
    return isAtLineStart && isBlank(text.substr(lineStart)) ? start + lineStart : begin;
}

std::size_t Lexer::spaceEnd(std::size_t offset) const {
    return m_source.size() - stripped(m_source.substr(offset), std::nullopt, Side::Left).size();
}

/// Where text goes on behind a tag whose closing brackets end at `end`.
std::size_t Lexer::afterTagEnd(std::size_t end, Control control, bool trimsNewline) {
    std::size_t after = end;
    if (control == Control::Strip)
        after = spaceEnd(end);
    else if (control == Control::Standard && trimsNewline && end < m_source.size() &&
             m_source[end] == '\n')
        after = end + 1;
    m_isLineStart = m_source[after - 1] == '\n';
    return after;
}

Result<Token> Lexer::next() { return m_mode == Mode::Text ? nextText() : nextInTag(); }

Result<Token> Lexer::nextText() {
    while (m_offset < m_source.size()) {
        const std::size_t start = m_offset;
        const std::size_t begin = tagBegin(m_source, start);
        if (begin == std::string_view::npos) {
            m_offset = m_source.size();
            return tokenFrom(TokenType::Text, start, m_offset);
        }
        const std::size_t end = textEnd(start, begin, m_source[begin + 1] == '{');
        m_offset = begin;
        // Text first; the tag is read again with the text behind it, so its control stays known.
        if (end > start)
            return tokenFrom(TokenType::Text, start, end);
        if (m_source[begin + 1] != '#') {
            ENGINE_TRY(const Token token, openTag(begin));
            if (token.type != TokenType::Text || !token.text.empty())
                return token;
            continue;
        }
        ENGINE_TRY_DO(skipComment(begin));
    }
    return tokenFrom(TokenType::End, m_source.size(), m_source.size());
}

Result<void> Lexer::skipComment(std::size_t begin) {
    // The sign behind {# is no part of the comment, so {#-#} ends with #} alone.
    const std::size_t body = begin + (controlBefore(begin) == Control::Standard ? 2 : 3);
    const std::size_t end = m_source.find("#}", body);
    if (end == std::string_view::npos)
        return errorAt(tokenFrom(TokenType::Text, begin, begin + 2),
                       ErrorCode::CorruptFile,
                       "a comment has no end");
    const char sign = end > body ? m_source[end - 1] : '\0';
    const Control control = sign == '-'   ? Control::Strip
                            : sign == '+' ? Control::Keep
                                          : Control::Standard;
    m_offset = afterTagEnd(end + 2, control, true);
    return {};
}

Result<Token> Lexer::openTag(std::size_t begin) {
    const bool isOutput = m_source[begin + 1] == '{';
    if (!isOutput) {
        const std::size_t body = rawBodyStart(begin);
        if (body != std::string_view::npos)
            return rawText(begin, body);
    }
    const std::size_t bracketEnd = begin + 2;
    m_offset = bracketEnd + (controlBefore(begin) == Control::Standard ? 0 : 1);
    m_mode = isOutput ? Mode::Output : Mode::Block;
    m_openBrackets.clear();
    return tokenFrom(isOutput ? TokenType::OutputBegin : TokenType::BlockBegin, begin, bracketEnd);
}

/// Where the text behind {% raw %} starts, or npos when the tag is another one.
std::size_t Lexer::rawBodyStart(std::size_t begin) const {
    const std::size_t sign = controlBefore(begin) == Control::Standard ? 0 : 1;
    const std::size_t word = spaceEnd(begin + 2 + sign);
    if (m_source.substr(word, 3) != "raw")
        return std::string_view::npos;
    const std::size_t end = spaceEnd(word + 3);
    if (m_source.substr(end, 3) == "-%}")
        return spaceEnd(end + 3);
    return m_source.substr(end, 2) == "%}" ? end + 2 : std::string_view::npos;
}

Result<Token> Lexer::rawText(std::size_t begin, std::size_t bodyStart) {
    const Token opening = tokenFrom(TokenType::Text, begin, begin + 2);
    m_isLineStart = m_source[bodyStart - 1] == '\n';
    for (std::size_t tag = m_source.find("{%", bodyStart); tag != std::string_view::npos;
         tag = m_source.find("{%", tag + 1)) {
        const std::size_t sign = controlBefore(tag) == Control::Standard ? 0 : 1;
        const std::size_t word = spaceEnd(tag + 2 + sign);
        if (m_source.substr(word, 6) != "endraw")
            continue;
        std::size_t end = spaceEnd(word + 6);
        Control control = Control::Standard;
        if (end < m_source.size() && (m_source[end] == '-' || m_source[end] == '+'))
            control = m_source[end++] == '-' ? Control::Strip : Control::Keep;
        if (m_source.substr(end, 2) != "%}")
            continue;
        const std::size_t bodyEnd = textEnd(bodyStart, tag, false);
        m_offset = afterTagEnd(end + 2, control, true);
        return tokenFrom(TokenType::Text, bodyStart, bodyEnd);
    }
    return errorAt(opening, ErrorCode::CorruptFile, "a raw section has no {% endraw %}");
}

} // namespace engine::jinja
