// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/syntax/parser.h"

namespace engine::jinja {

namespace {

constexpr int kMaxNesting = 200;
constexpr std::size_t kMaxNodes = 100'000;

std::string describe(const Token& token) {
    switch (token.type) {
    case TokenType::Text:
        return "text";
    case TokenType::OutputBegin:
    case TokenType::OutputEnd:
    case TokenType::BlockBegin:
    case TokenType::BlockEnd:
        return fmt::format("'{}'", token.text);
    case TokenType::String:
        return "a text in quotes";
    case TokenType::End:
        return "the end of the template";
    default:
        return fmt::format("'{}'", token.text.substr(0, 60));
    }
}

} // namespace

Result<SyntaxTree> Parser::parse() {
    ENGINE_TRY(m_token, m_lexer.next());
    ENGINE_TRY(m_nextToken, m_lexer.next());
    ENGINE_TRY(m_tree.body, parseBody({}));
    return std::move(m_tree);
}

Result<void> Parser::advance() {
    m_token = m_nextToken;
    ENGINE_TRY(m_nextToken, m_lexer.next());
    return {};
}

Result<bool> Parser::takeOperator(std::string_view symbol) {
    if (!m_token.isOperator(symbol))
        return false;
    ENGINE_TRY_DO(advance());
    return true;
}

Result<bool> Parser::takeName(std::string_view name) {
    if (!m_token.isName(name))
        return false;
    ENGINE_TRY_DO(advance());
    return true;
}

Result<void> Parser::expectOperator(std::string_view symbol) {
    if (!m_token.isOperator(symbol))
        return fail(ErrorCode::CorruptFile,
                    fmt::format("'{}' is expected before {}", symbol, describe(m_token)));
    return advance();
}

Result<std::string> Parser::expectName() {
    if (m_token.type != TokenType::Name)
        return fail(ErrorCode::CorruptFile,
                    fmt::format("a name is expected before {}", describe(m_token)));
    std::string name(m_token.text);
    ENGINE_TRY_DO(advance());
    return name;
}

Result<void> Parser::expectType(TokenType type) {
    if (m_token.type != type)
        return unexpected();
    return advance();
}

Error Parser::unexpected() const {
    return fail(ErrorCode::CorruptFile, fmt::format("{} is unexpected here", describe(m_token)));
}

Error Parser::fail(ErrorCode code, const std::string& message) const {
    return m_lexer.errorAt(m_token, code, message);
}

Result<void> Parser::enter() {
    if (++m_depth > kMaxNesting)
        return fail(ErrorCode::Unsupported,
                    fmt::format("tags and brackets are nested more than {} deep", kMaxNesting));
    return {};
}

Result<void> Parser::countNode() {
    if (++m_nodes > kMaxNodes)
        return fail(ErrorCode::Unsupported,
                    fmt::format("the template has more than {} parts", kMaxNodes));
    return {};
}

} // namespace engine::jinja
