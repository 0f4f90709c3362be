// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine::jinja {

enum class TokenType : std::uint8_t {
    Text,        ///< what stands between tags, whitespace control already applied
    OutputBegin, ///< {{
    OutputEnd,   ///< }}
    BlockBegin,  ///< {%
    BlockEnd,    ///< %}
    Name,        ///< keywords too
    String,      ///< between its quotes, escapes not yet undone
    Integer,
    Float,
    Operator, ///< text is the symbol
    End
};

struct Token {
    TokenType type = TokenType::End;
    std::string_view text; ///< part of the source
    std::uint32_t offset = 0;
    std::uint32_t line = 1;

    /// Whether it is this name or operator.
    bool is(std::string_view word) const {
        return (type == TokenType::Name || type == TokenType::Operator) && text == word;
    }
};

/// Line ends made "\n" and one at the very end taken away, as the language does before reading.
std::string normalizedSource(std::string_view source);

/// Cuts a template into tokens one by one. Whitespace control is done here: `-` strips, a line
/// that holds only a block tag or comment leaves nothing behind (trim_blocks and lstrip_blocks),
/// `+` switches that off.
class Lexer {
public:
    /// `source` is normalised and must outlive the lexer.
    explicit Lexer(std::string_view source)
        : m_source(source) {}

    /// The next token; End forever after the last. Errors: Unsupported or CorruptFile with line and
    /// column.
    Result<Token> next();

    /// An error that names the place of a token.
    Error errorAt(const Token& token, ErrorCode code, const std::string& message) const;

private:
    enum class Mode : std::uint8_t { Text, Output, Block };
    enum class Control : std::uint8_t { Standard, Strip, Keep };

    Result<Token> nextText();
    Result<Token> nextInTag();
    Result<Token> rawText(std::size_t close);
    Token openTag(std::size_t begin);
    Result<void> skipComment(std::size_t begin);
    bool closesTag(Token& token);
    Result<Token> stringToken();
    Token numberToken();
    Result<Token> nameToken();
    Result<Token> operatorToken();
    Result<void> balance(const Token& token);

    static Control controlOf(char sign) {
        return sign == '-' ? Control::Strip : sign == '+' ? Control::Keep : Control::Standard;
    }

    Control controlBefore(std::size_t begin) const;
    std::size_t closeOfTag(std::string_view onlyWord, std::size_t begin) const;
    std::size_t afterClose(std::size_t close, bool trimsNewline);
    std::size_t textEnd(std::size_t start, std::size_t begin, bool isOutput) const;
    std::size_t afterTagEnd(std::size_t end, Control control, bool trimsNewline);
    std::size_t spaceEnd(std::size_t offset) const;

    Token tokenFrom(TokenType type, std::size_t start, std::size_t end);

    std::string_view m_source;
    std::size_t m_offset = 0;
    Mode m_mode = Mode::Text;
    bool m_isLineStart = true;      ///< the last tag's end took the newline behind it
    std::string m_openBrackets;     ///< closing brackets still to come
    std::size_t m_countedUntil = 0; ///< newlines up to here are in m_line
    std::uint32_t m_line = 1;
};

} // namespace engine::jinja
