// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/syntax/lexer.h"
#include "engine/text/jinja/syntax/syntax_tree.h"

#include <initializer_list>
#include <optional>

namespace engine::jinja {

/// Builds the tree of a template by recursive descent, with the grammar of Jinja 3.
/// Source: jinja.palletsprojects.com/en/3.1.x/templates; only what published chat templates use:
/// no extends, include, import, block, call, autoescape, recursive loops, star arguments.
class Parser {
public:
    /// `source` is normalised and must outlive the parser.
    explicit Parser(std::string_view source)
        : m_lexer(source) {}

    /// Errors: CorruptFile or Unsupported with line and column.
    Result<SyntaxTree> parse();

private:
    using Words = std::initializer_list<std::string_view>;

    // statement_parser.cpp
    Result<Body> parseBody(Words endWords);
    Result<Body> parseBlockBody(Words endWords);
    Result<const Statement*> parseStatement();
    Result<const Statement*> parseIf(std::uint32_t line);
    Result<const Statement*> parseFor(std::uint32_t line);
    Result<const Statement*> parseSet(std::uint32_t line);
    Result<const Statement*> parseFilterBlock(std::uint32_t line);
    Result<const Statement*> parseWith(std::uint32_t line, std::string_view endWord);
    Result<const Statement*> parseMacro(std::uint32_t line);
    Result<std::vector<MacroParameter>> parseParameters();
    Result<std::string> parseTargetName();
    Result<Target> parseTarget();

    // operand_parser.cpp
    Result<const Expression*> parsePrimary();
    Result<const Expression*> parseString();
    Result<const Expression*> parseNumber();
    Result<const Expression*> parseList();
    Result<const Expression*> parseDict();
    Result<const Expression*> parsePostfix(const Expression* operand);
    Result<const Expression*> parseFilters(const Expression* operand);
    template <typename Use, typename Find>
    Result<Use> parseUse(const Expression* input, Find find, std::string_view what);
    Result<const Expression*> parseFilter(const Expression* input);
    Result<const Expression*> parseTest(const Expression* input);
    Result<const Expression*> parseDot(const Expression* object);
    Result<const Expression*> parseSubscript(const Expression* object);
    Result<CallArguments> parseArguments();
    Result<void> parseArgument(CallArguments& arguments);

    // parser.cpp
    Result<const Expression*> parseTuple(bool allowsConditional, bool isInParentheses = false);
    Result<const Expression*> parseExpression();
    Result<const Expression*> parseJunction(bool isAnd);
    Result<const Expression*> parseNot();
    Result<const Expression*> parseComparison();
    Result<std::optional<Relation>> takeRelation();
    Result<const Expression*> parseArithmetic(int level);
    Result<const Expression*> parseConcatenation();
    Result<const Expression*> parseFiltered();
    Result<const Expression*> parseUnary();

    Result<void> advance();
    Result<bool> take(std::string_view word);
    Result<void> expectOperator(std::string_view symbol);
    Result<std::string> expectName();
    Result<void> expectType(TokenType type);
    Error unexpected() const;
    Error fail(ErrorCode code, const std::string& message) const;
    Result<void> enter();

    void leave() { --m_depth; }

    template <typename Content> Result<const Expression*> add(std::uint32_t line, Content content);
    template <typename Content>
    Result<const Statement*> addStatement(std::uint32_t line, Content content);
    Result<void> countNode();

    Lexer m_lexer;
    Token m_token;
    Token m_nextToken;
    SyntaxTree m_tree;
    std::size_t m_nodes = 0;
    int m_depth = 0;
    int m_loopDepth = 0;
    int m_conditionalDepth = 0; ///< inside if: unknown filters fail only when they are reached
};

template <typename Content>
Result<const Expression*> Parser::add(std::uint32_t line, Content content) {
    ENGINE_TRY_DO(countNode());
    m_tree.expressions.push_back(
        std::make_unique<const Expression>(Expression{std::move(content), line}));
    return m_tree.expressions.back().get();
}

template <typename Content>
Result<const Statement*> Parser::addStatement(std::uint32_t line, Content content) {
    ENGINE_TRY_DO(countNode());
    m_tree.statements.push_back(
        std::make_unique<const Statement>(Statement{std::move(content), line}));
    return m_tree.statements.back().get();
}

} // namespace engine::jinja
