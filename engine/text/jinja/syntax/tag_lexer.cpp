// SPDX-License-Identifier: Apache-2.0
// The lexer's half inside of tags: names, numbers, texts, operators and where the tag ends.
#include "engine/text/jinja/syntax/lexer.h"

#include <algorithm>
#include <array>

namespace engine::jinja {

namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxOpenBrackets = 1000;

constexpr std::array<std::string_view, 26> kOperators = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "=",
    ">",  "<",  "(",  ")",  "[",  "]",  "{", "}", ".", ",", ":", ";", "|"};

bool isDigit(char character) { return character >= '0' && character <= '9'; }

bool isNameStart(char character) {
    const auto byte = static_cast<unsigned char>(character);
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte >= 0x80;
}

/// End of a run of digits, in which single underscores may stand between two of them.
std::size_t digitsEnd(std::string_view text, std::size_t start) {
    std::size_t end = start;
    while (end < text.size() &&
           (isDigit(text[end]) || (text[end] == '_' && end > start && end + 1 < text.size() &&
                                   isDigit(text[end - 1]) && isDigit(text[end + 1]))))
        ++end;
    return end;
}

/// End of an integer in base 2, 8 or 16 ("0x1F"), or `start` when there is none.
std::size_t prefixedIntegerEnd(std::string_view text, std::size_t start) {
    if (start + 2 >= text.size() || text[start] != '0')
        return start;
    const char letter = static_cast<char>(text[start + 1] | 0x20);
    const std::string_view digits = letter == 'b'   ? "01_"
                                    : letter == 'o' ? "01234567_"
                                    : letter == 'x' ? "0123456789abcdefABCDEF_"
                                                    : "";
    const std::size_t end = std::min(text.find_first_not_of(digits, start + 2), text.size());
    return digits.empty() || end == start + 2 ? start : end;
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

void Lexer::skipSpace() { m_offset = spaceEnd(m_offset); }

Result<Token> Lexer::nextInTag() {
    skipSpace();
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
    const Control control = !isSigned     ? Control::Standard
                            : sign == '-' ? Control::Strip
                                          : Control::Keep;
    m_offset = afterTagEnd(start + 2, control, !isOutput);
    m_mode = Mode::Text;
    return true;
}

Token Lexer::numberToken() {
    const std::size_t start = m_offset;
    m_offset = prefixedIntegerEnd(m_source, start);
    if (m_offset > start)
        return tokenFrom(TokenType::Integer, start, m_offset);
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

/// Brackets must close in order; while one is open, "}}" does not end the tag.
Result<void> Lexer::balance(const Token& token) {
    const char symbol = token.text.front();
    if (symbol == '(' || symbol == '[' || symbol == '{') {
        if (m_openBrackets.size() >= kMaxOpenBrackets)
            return errorAt(token, ErrorCode::Unsupported, "brackets are nested too deeply");
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
