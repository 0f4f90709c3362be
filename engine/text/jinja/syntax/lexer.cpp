// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/syntax/lexer.h"

#include "engine/text/jinja/values/text.h"

#include <algorithm>
#include <array>

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

constexpr std::size_t kMaxNameBytes = 200;

constexpr std::array<std::string_view, 26> kOperators = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "=",
    ">",  "<",  "(",  ")",  "[",  "]",  "{", "}", ".", ",", ":", ";", "|"};

bool isDigit(char character) { return character >= '0' && character <= '9'; }

bool isNameStart(char character) {
    const auto byte = static_cast<unsigned char>(character);
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte >= 0x80;
}

/// End of a run of digits.
std::size_t digitsEnd(std::string_view text, std::size_t start) {
    return std::min(text.find_first_not_of("0123456789", start), text.size());
}

/// End of ".5e3" or "e3" behind the digits that end at `start`, or `start` when it is an integer.
std::size_t fractionEnd(std::string_view text, std::size_t start) {
    std::size_t end = start;
    if (end + 1 < text.size() && text[end] == '.' && isDigit(text[end + 1]))
        end = digitsEnd(text, end + 1);
    std::size_t exponent = end;
    if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) {
        ++exponent;
        if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-'))
            ++exponent;
        if (exponent < text.size() && isDigit(text[exponent]))
            end = digitsEnd(text, exponent);
    }
    return end;
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
    return controlOf(begin + 2 < m_source.size() ? m_source[begin + 2] : '\0');
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

/// Where a block tag that holds nothing but this word is closed, at the sign if there is one; npos
/// for another tag.
std::size_t Lexer::closeOfTag(std::string_view onlyWord, std::size_t begin) const {
    const std::size_t signs = controlBefore(begin) == Control::Standard ? 0 : 1;
    const std::size_t start = spaceEnd(begin + 2 + signs);
    if (m_source[begin + 1] != '%' || !m_source.substr(start).starts_with(onlyWord))
        return std::string_view::npos;
    const std::size_t close = spaceEnd(start + onlyWord.size());
    const std::string_view rest = m_source.substr(close);
    const bool isClosed =
        rest.starts_with("%}") || rest.starts_with("-%}") || rest.starts_with("+%}");
    return isClosed ? close : std::string_view::npos;
}

std::size_t Lexer::afterClose(std::size_t close, bool trimsNewline) {
    const char sign = m_source[close];
    return afterTagEnd(close + (sign == '%' ? 2 : 3), controlOf(sign), trimsNewline);
}

/// What stands behind {% raw %}, which ends at `close`, up to {% endraw %}: text, whatever it
/// holds.
Result<Token> Lexer::rawText(std::size_t close) {
    const std::size_t start = afterClose(close, false);
    for (std::size_t begin = m_source.find("{%", start); begin != std::string_view::npos;
         begin = m_source.find("{%", begin + 1)) {
        const std::size_t endClose = closeOfTag("endraw", begin);
        if (endClose == std::string_view::npos)
            continue;
        const std::size_t end = textEnd(start, begin, false);
        m_offset = afterClose(endClose, true);
        return tokenFrom(TokenType::Text, start, end);
    }
    return errorAt(tokenFrom(TokenType::Text, close, close),
                   ErrorCode::CorruptFile,
                   "'{% endraw %}' is missing");
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
        const std::size_t close = closeOfTag("raw", begin);
        if (close != std::string_view::npos)
            return rawText(close);
        if (m_source[begin + 1] != '#')
            return openTag(begin);
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
    m_offset = afterTagEnd(end + 2, controlOf(end > body ? m_source[end - 1] : '\0'), true);
    return {};
}

Token Lexer::openTag(std::size_t begin) {
    const bool isOutput = m_source[begin + 1] == '{';
    const std::size_t bracketEnd = begin + 2;
    m_offset = bracketEnd + (controlBefore(begin) == Control::Standard ? 0 : 1);
    m_mode = isOutput ? Mode::Output : Mode::Block;
    m_openBrackets.clear();
    return tokenFrom(isOutput ? TokenType::OutputBegin : TokenType::BlockBegin, begin, bracketEnd);
}

Result<Token> Lexer::nextInTag() {
    m_offset = spaceEnd(m_offset);
    if (m_offset >= m_source.size())
        return tokenFrom(TokenType::End, m_source.size(), m_source.size());
    Token token;
    if (m_openBrackets.empty() && closesTag(token))
        return token;
    const char character = m_source[m_offset];
    if (isDigit(character))
        return numberToken();
    if (isNameStart(character))
        return nameToken();
    if (character == '"' || character == '\'')
        return stringToken();
    return operatorToken();
}

bool Lexer::closesTag(Token& token) {
    const bool isOutput = m_mode == Mode::Output;
    const std::string_view brackets = isOutput ? "}}" : "%}";
    const char sign = m_source[m_offset];
    const bool isSigned = sign == '-' || (sign == '+' && !isOutput);
    const std::size_t start = m_offset + (isSigned ? 1 : 0);
    if (m_source.substr(start, 2) != brackets)
        return false;
    token = tokenFrom(isOutput ? TokenType::OutputEnd : TokenType::BlockEnd, start, start + 2);
    m_offset = afterTagEnd(start + 2, controlOf(isSigned ? sign : '\0'), !isOutput);
    m_mode = Mode::Text;
    return true;
}

Token Lexer::numberToken() {
    const std::size_t start = m_offset;
    const std::size_t whole = digitsEnd(m_source, start);
    // x.1.5 is item 5 of item 1, not item 1.5.
    const bool isAfterDot = start > 0 && m_source[start - 1] == '.';
    m_offset = isAfterDot ? whole : fractionEnd(m_source, whole);
    return tokenFrom(m_offset > whole ? TokenType::Float : TokenType::Integer, start, m_offset);
}

Result<Token> Lexer::nameToken() {
    const std::size_t start = m_offset;
    while (m_offset < m_source.size() &&
           (isNameStart(m_source[m_offset]) || isDigit(m_source[m_offset])))
        ++m_offset;
    const Token token = tokenFrom(TokenType::Name, start, m_offset);
    if (token.text.size() > kMaxNameBytes)
        return errorAt(token,
                       ErrorCode::Unsupported,
                       fmt::format("a name is longer than {} bytes", kMaxNameBytes));
    return token;
}

Result<Token> Lexer::stringToken() {
    const std::size_t start = m_offset;
    const char quote = m_source[start];
    std::size_t end = start + 1;
    while (end < m_source.size() && m_source[end] != quote)
        end += m_source[end] == '\\' ? 2 : 1;
    if (end >= m_source.size())
        return errorAt(tokenFrom(TokenType::String, start, start + 1),
                       ErrorCode::CorruptFile,
                       "a text in quotes has no end");
    m_offset = end + 1;
    return tokenFrom(TokenType::String, start + 1, end);
}

Result<Token> Lexer::operatorToken() {
    for (const std::string_view symbol : kOperators) {
        if (m_source.substr(m_offset, symbol.size()) != symbol)
            continue;
        const Token token = tokenFrom(TokenType::Operator, m_offset, m_offset + symbol.size());
        ENGINE_TRY_DO(balance(token));
        m_offset += symbol.size();
        return token;
    }
    return errorAt(tokenFrom(TokenType::Operator, m_offset, m_offset + 1),
                   ErrorCode::CorruptFile,
                   "a character that does not belong into a tag");
}

/// Brackets must close in order; while one is open, "}}" does not end the tag. The parser bounds
/// how many are open.
Result<void> Lexer::balance(const Token& token) {
    const char symbol = token.text.front();
    if (symbol == '(' || symbol == '[' || symbol == '{') {
        m_openBrackets += symbol == '(' ? ')' : symbol == '[' ? ']' : '}';
    } else if (symbol == ')' || symbol == ']' || symbol == '}') {
        if (m_openBrackets.empty() || m_openBrackets.back() != symbol)
            return errorAt(
                token, ErrorCode::CorruptFile, fmt::format("'{}' closes no bracket", token.text));
        m_openBrackets.pop_back();
    }
    return {};
}

} // namespace engine::jinja
