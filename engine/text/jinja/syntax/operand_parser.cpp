// SPDX-License-Identifier: Apache-2.0
// The parser's part for operands: literals, names and what follows them.
#include "engine/text/jinja/syntax/parser.h"
#include "engine/text/jinja/values/text.h"

#include <charconv>

namespace engine::jinja {

namespace {

constexpr std::string_view kLetters = "\\'\"abfnrtv";
constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";

/// How many hexadecimal digits follow the letter; 0 for other letters.
std::size_t hexDigits(char letter) {
    return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

/// Appends the character of \x, \u or \U; returns where the literal goes on.
Result<std::size_t>
appendHexEscape(std::string& out, std::string_view literal, std::size_t letter) {
    const std::size_t count = hexDigits(literal[letter]);
    const std::string_view digits = literal.substr(letter + 1, count);
    const char* const end = digits.data() + digits.size();
    std::uint32_t code = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, code, 16);
    const bool isWhole = digits.size() == count && error == std::errc() && stop == end;
    if (!isWhole || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return Error{
            ErrorCode::CorruptFile,
            fmt::format("\\{} in a text is followed by no character's number", literal[letter]),
            {}};
    utf8::append(code, out);
    return letter + 1 + count;
}

/// Undoes the escapes of a Python text literal; unknown ones stay as they are.
/// Errors: \x, \u or \U with too few digits or no character of that number; octal digits; \N{...}.
Result<std::string> unescaped(std::string_view literal) {
    std::string out;
    std::size_t offset = 0;
    while (offset < literal.size()) {
        const std::size_t slash = std::min(literal.find('\\', offset), literal.size());
        out += literal.substr(offset, slash - offset);
        offset = slash + 2;
        if (slash + 1 >= literal.size())
            break;
        const char letter = literal[slash + 1];
        const std::size_t simple = kLetters.find(letter);
        if (simple != std::string_view::npos) {
            out += kMeanings[simple];
        } else if (hexDigits(letter) > 0) {
            ENGINE_TRY(offset, appendHexEscape(out, literal, slash + 1));
        } else if (letter == 'N' || (letter >= '0' && letter <= '7')) {
            return Error{ErrorCode::Unsupported,
                         fmt::format("the escape \\{} in a text is not supported", letter),
                         {}};
        } else if (letter != '\n') {
            out += '\\';
            offset = slash + 1; // the letter is taken with the text behind it
        }
    }
    return out;
}

} // namespace

Result<const Expression*> Parser::parsePrimary() {
    const Token token = m_token;
    if (token.type == TokenType::String)
        return parseString();
    if (token.type == TokenType::Integer || token.type == TokenType::Float)
        return parseNumber();
    if (token.is("["))
        return parseList();
    if (token.is("{"))
        return parseDict();
    if (token.type != TokenType::Name && !token.is("("))
        return unexpected();
    ENGINE_TRY_DO(advance());
    if (token.is("(")) {
        ENGINE_TRY(const Expression* inner, parseTuple(true, true));
        ENGINE_TRY_DO(expectOperator(")"));
        return inner;
    }
    const bool isTrue = token.is("true") || token.is("True");
    if (isTrue || token.is("false") || token.is("False"))
        return add(token.line, Literal{Value::boolean(isTrue)});
    if (token.is("none") || token.is("None"))
        return add(token.line, Literal{Value::none()});
    return add(token.line, Variable{std::string(token.text)});
}

Result<const Expression*> Parser::parseString() {
    const std::uint32_t line = m_token.line;
    std::string text;
    while (m_token.type == TokenType::String) {
        auto part = unescaped(m_token.text);
        if (!part)
            return fail(part.error().code, part.error().message);
        text += part.value();
        ENGINE_TRY_DO(advance());
    }
    return add(line, Literal{Value::text(std::move(text))});
}

Result<const Expression*> Parser::parseNumber() {
    const Token token = m_token;
    ENGINE_TRY_DO(advance());
    const bool isFloat = token.type == TokenType::Float;
    const char* const end = token.text.data() + token.text.size();
    double fraction = 0.0;
    std::int64_t integer = 0;
    const auto read = isFloat ? std::from_chars(token.text.data(), end, fraction)
                              : std::from_chars(token.text.data(), end, integer);
    if (read.ec != std::errc())
        return m_lexer.errorAt(
            token, ErrorCode::Unsupported, "the number does not fit into 64 bits");
    return add(token.line, Literal{isFloat ? Value::number(fraction) : Value::integer(integer)});
}

Result<const Expression*> Parser::parseList() {
    const std::uint32_t line = m_token.line;
    ENGINE_TRY_DO(advance());
    SequenceLiteral made;
    while (!m_token.is("]")) {
        ENGINE_TRY(const Expression* item, parseExpression());
        made.items.push_back(item);
        if (!m_token.is("]"))
            ENGINE_TRY_DO(expectOperator(","));
    }
    ENGINE_TRY_DO(advance());
    return add(line, std::move(made));
}

Result<const Expression*> Parser::parseDict() {
    const std::uint32_t line = m_token.line;
    ENGINE_TRY_DO(advance());
    DictLiteral made;
    while (!m_token.is("}")) {
        ENGINE_TRY(const Expression* key, parseExpression());
        ENGINE_TRY_DO(expectOperator(":"));
        ENGINE_TRY(const Expression* value, parseExpression());
        made.entries.emplace_back(key, value);
        if (!m_token.is("}"))
            ENGINE_TRY_DO(expectOperator(","));
    }
    ENGINE_TRY_DO(advance());
    return add(line, std::move(made));
}

Result<const Expression*> Parser::parsePostfix(const Expression* operand) {
    while (true) {
        const std::uint32_t line = m_token.line;
        if (m_token.is(".")) {
            ENGINE_TRY(operand, parseDot(operand));
        } else if (m_token.is("[")) {
            ENGINE_TRY(operand, parseSubscript(operand));
        } else if (m_token.is("(")) {
            ENGINE_TRY(CallArguments arguments, parseArguments());
            ENGINE_TRY(operand, add(line, Call{operand, std::move(arguments)}));
        } else {
            return operand;
        }
    }
}

Result<const Expression*> Parser::parseFilters(const Expression* operand) {
    while (true) {
        if (m_token.is("|")) {
            ENGINE_TRY_DO(advance());
            ENGINE_TRY(operand, parseFilter(operand));
        } else if (m_token.is("is")) {
            ENGINE_TRY_DO(advance());
            ENGINE_TRY(operand, parseTest(operand));
        } else {
            return operand;
        }
    }
}

/// The name of a filter or test, and its arguments in parentheses; `what` it is.
template <typename Use, typename Find>
Result<Use> Parser::parseUse(const Expression* input, Find find, std::string_view what) {
    const Token token = m_token;
    Use made;
    made.input = input;
    ENGINE_TRY(made.name, expectName());
    made.function = find(made.name);
    if (made.function == nullptr && m_conditionalDepth == 0)
        return m_lexer.errorAt(token,
                               ErrorCode::Unsupported,
                               fmt::format("the {} '{}' is not supported", what, made.name));
    if (m_token.is("(")) {
        ENGINE_TRY(made.arguments, parseArguments());
    }
    return made;
}

Result<const Expression*> Parser::parseFilter(const Expression* input) {
    const std::uint32_t line = m_token.line;
    ENGINE_TRY(FilterUse made, parseUse<FilterUse>(input, findFilter, "filter"));
    return add(line, std::move(made));
}

Result<const Expression*> Parser::parseTest(const Expression* input) {
    ENGINE_TRY(const bool isNegated, take("not"));
    const std::uint32_t line = m_token.line;
    const bool hasParentheses = m_nextToken.is("(");
    ENGINE_TRY(TestUse made, parseUse<TestUse>(input, findTest, "test"));
    const bool isOtherName = m_token.type == TokenType::Name && !m_token.is("else") &&
                             !m_token.is("or") && !m_token.is("and");
    const bool isLiteral = m_token.type == TokenType::String ||
                           m_token.type == TokenType::Integer || m_token.type == TokenType::Float ||
                           m_token.is("[") || m_token.is("{");
    if (!hasParentheses && m_token.is("is"))
        return fail(ErrorCode::CorruptFile, "tests cannot be chained with 'is'");
    if (!hasParentheses && (isOtherName || isLiteral)) {
        ENGINE_TRY_DO(enter());
        ENGINE_TRY(const Expression* argument, parsePrimary());
        ENGINE_TRY(argument, parsePostfix(argument));
        leave();
        made.arguments.positional.push_back(argument);
    }
    ENGINE_TRY(const Expression* test, add(line, std::move(made)));
    return isNegated ? add(line, Negation{false, test}) : Result<const Expression*>(test);
}

Result<const Expression*> Parser::parseDot(const Expression* object) {
    ENGINE_TRY_DO(advance());
    const Token token = m_token;
    if (token.type == TokenType::Integer) {
        ENGINE_TRY(const Expression* key, parseNumber());
        return add(token.line, ItemAccess{object, key});
    }
    ENGINE_TRY(std::string name, expectName());
    ENGINE_TRY(const Expression* key, add(token.line, Literal{Value::text(std::move(name))}));
    return add(token.line, ItemAccess{object, key, true});
}

Result<const Expression*> Parser::parseSubscript(const Expression* object) {
    const std::uint32_t line = m_token.line;
    ENGINE_TRY_DO(advance());
    SliceAccess slice;
    slice.object = object;
    std::size_t colons = 0;
    while (!m_token.is("]")) {
        if (m_token.is(":")) {
            if (++colons > 2)
                return unexpected();
            ENGINE_TRY_DO(advance());
            continue;
        }
        if (slice.bounds[colons] != nullptr)
            return unexpected();
        ENGINE_TRY(slice.bounds[colons], parseExpression());
    }
    ENGINE_TRY_DO(advance());
    if (colons > 0)
        return add(line, slice);
    if (slice.bounds[0] == nullptr)
        return fail(ErrorCode::CorruptFile, "an index is missing");
    return add(line, ItemAccess{object, slice.bounds[0]});
}

Result<CallArguments> Parser::parseArguments() {
    ENGINE_TRY_DO(expectOperator("("));
    CallArguments arguments;
    while (!m_token.is(")")) {
        ENGINE_TRY_DO(parseArgument(arguments));
        if (!m_token.is(")"))
            ENGINE_TRY_DO(expectOperator(","));
    }
    ENGINE_TRY_DO(advance());
    return arguments;
}

Result<void> Parser::parseArgument(CallArguments& arguments) {
    const bool isNamed = m_token.type == TokenType::Name && m_nextToken.is("=");
    if (isNamed) {
        std::string name(m_token.text);
        ENGINE_TRY_DO(advance());
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* value, parseExpression());
        arguments.named.emplace_back(std::move(name), value);
        return {};
    }
    if (!arguments.named.empty())
        return fail(ErrorCode::CorruptFile, "an argument without name follows one with name");
    ENGINE_TRY(const Expression* value, parseExpression());
    arguments.positional.push_back(value);
    return {};
}

} // namespace engine::jinja
