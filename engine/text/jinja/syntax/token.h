// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

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

    bool isOperator(std::string_view symbol) const {
        return type == TokenType::Operator && text == symbol;
    }

    bool isName(std::string_view name) const { return type == TokenType::Name && text == name; }
};

} // namespace engine::jinja
