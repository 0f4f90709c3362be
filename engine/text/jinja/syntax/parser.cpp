// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/syntax/parser.h"

#include <algorithm>

namespace engine::jinja {

namespace {

constexpr int kMaxNesting = 200;
constexpr std::size_t kMaxNodes = 100'000;

std::string describe(const Token& token) {
    return token.type == TokenType::Text     ? "text"
           : token.type == TokenType::String ? "a text in quotes"
           : token.type == TokenType::End    ? "the end of the template"
                                             : fmt::format("'{}'", token.text.substr(0, 60));
}

constexpr std::pair<std::string_view, Relation> kRelations[] = {
    {"==", Relation::Equal},
    {"!=", Relation::NotEqual},
    {"<", Relation::Less},
    {"<=", Relation::LessOrEqual},
    {">", Relation::Greater},
    {">=", Relation::GreaterOrEqual},
};

struct ArithmeticSymbol {
    std::string_view symbol;
    ArithmeticOperator op;
    int level; ///< of how tightly it binds
};

enum : int { kSums, kProducts, kPowers };

constexpr ArithmeticSymbol kArithmetic[] = {
    {"+", ArithmeticOperator::Add, kSums},
    {"-", ArithmeticOperator::Subtract, kSums},
    {"*", ArithmeticOperator::Multiply, kProducts},
    {"/", ArithmeticOperator::Divide, kProducts},
    {"//", ArithmeticOperator::FloorDivide, kProducts},
    {"%", ArithmeticOperator::Modulo, kProducts},
    {"**", ArithmeticOperator::Power, kPowers},
};

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

Result<bool> Parser::take(std::string_view word) {
    if (!m_token.is(word))
        return false;
    ENGINE_TRY_DO(advance());
    return true;
}

Result<void> Parser::expectOperator(std::string_view symbol) {
    if (!m_token.is(symbol))
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

// Operators, from the loosest to the tightest.

Result<const Expression*> Parser::parseTuple(bool allowsConditional, bool isInParentheses) {
    const std::uint32_t line = m_token.line;
    std::vector<const Expression*> items;
    bool isTuple = false;
    while (m_token.type != TokenType::OutputEnd && m_token.type != TokenType::BlockEnd &&
           !m_token.is(")")) {
        ENGINE_TRY(const Expression* item,
                   allowsConditional ? parseExpression() : parseJunction(false));
        items.push_back(item);
        if (!m_token.is(","))
            break;
        isTuple = true;
        ENGINE_TRY_DO(advance());
    }
    if (!isTuple && items.size() == 1)
        return items.front();
    if (items.empty() && !isInParentheses)
        return fail(ErrorCode::CorruptFile, "an expression is expected");
    return add(line, SequenceLiteral{SequenceKind::Tuple, std::move(items)});
}

Result<const Expression*> Parser::parseExpression() {
    ENGINE_TRY_DO(enter());
    ENGINE_TRY(const Expression* value, parseJunction(false));
    while (m_token.is("if")) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ++m_conditionalDepth;
        Conditional made;
        made.value = value;
        ENGINE_TRY(made.condition, parseJunction(false));
        ENGINE_TRY(const bool hasElse, take("else"));
        if (hasElse) {
            ENGINE_TRY(made.otherwise, parseExpression());
        }
        --m_conditionalDepth;
        ENGINE_TRY(value, add(line, made));
    }
    leave();
    return value;
}

Result<const Expression*> Parser::parseJunction(bool isAnd) {
    const auto parseOperand = [&] { return isAnd ? parseNot() : parseJunction(true); };
    ENGINE_TRY(const Expression* left, parseOperand());
    while (m_token.is(isAnd ? "and" : "or")) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parseOperand());
        ENGINE_TRY(left, add(line, Junction{isAnd, left, right}));
    }
    return left;
}

Result<const Expression*> Parser::parseNot() {
    const std::uint32_t line = m_token.line;
    if (!m_token.is("not"))
        return parseComparison();
    ENGINE_TRY_DO(enter());
    ENGINE_TRY_DO(advance());
    ENGINE_TRY(const Expression* operand, parseNot());
    leave();
    return add(line, Negation{false, operand});
}

Result<std::optional<Relation>> Parser::takeRelation() {
    for (const auto& [symbol, relation] : kRelations) {
        ENGINE_TRY(const bool isTaken, take(symbol));
        if (isTaken)
            return std::optional(relation);
    }
    ENGINE_TRY(const bool isIn, take("in"));
    if (isIn)
        return std::optional(Relation::In);
    if (!m_token.is("not") || !m_nextToken.is("in"))
        return std::optional<Relation>();
    ENGINE_TRY_DO(advance());
    ENGINE_TRY_DO(advance());
    return std::optional(Relation::NotIn);
}

Result<const Expression*> Parser::parseComparison() {
    const std::uint32_t line = m_token.line;
    Comparison made;
    ENGINE_TRY(made.first, parseArithmetic(kSums));
    while (true) {
        ENGINE_TRY(const auto relation, takeRelation());
        if (!relation)
            break;
        ENGINE_TRY(const Expression* operand, parseArithmetic(kSums));
        made.rest.emplace_back(*relation, operand);
    }
    return made.rest.empty() ? Result<const Expression*>(made.first) : add(line, std::move(made));
}

/// Operands that are joined by operators of one level, from left to right.
Result<const Expression*> Parser::parseArithmetic(int level) {
    const auto parseOperand = [&] {
        return level == kSums       ? parseConcatenation()
               : level == kProducts ? parseArithmetic(kPowers)
                                    : parseFiltered();
    };
    ENGINE_TRY(const Expression* left, parseOperand());
    while (true) {
        const auto* const symbol = std::ranges::find_if(kArithmetic, [&](const auto& known) {
            return known.level == level && m_token.is(known.symbol);
        });
        if (symbol == std::end(kArithmetic))
            return left;
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parseOperand());
        ENGINE_TRY(left, add(line, Arithmetic{symbol->op, left, right}));
    }
}

Result<const Expression*> Parser::parseConcatenation() {
    const std::uint32_t line = m_token.line;
    ENGINE_TRY(const Expression* first, parseArithmetic(kProducts));
    if (!m_token.is("~"))
        return first;
    Concatenation made;
    made.parts.push_back(first);
    while (m_token.is("~")) {
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* part, parseArithmetic(kProducts));
        made.parts.push_back(part);
    }
    return add(line, std::move(made));
}

Result<const Expression*> Parser::parseFiltered() {
    ENGINE_TRY(const Expression* operand, parseUnary());
    return parseFilters(operand);
}

Result<const Expression*> Parser::parseUnary() {
    const std::uint32_t line = m_token.line;
    const bool isMinus = m_token.is("-");
    const Expression* operand = nullptr;
    ENGINE_TRY_DO(enter());
    if (isMinus || m_token.is("+")) {
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(operand, parseUnary());
        // +x is x for all that templates compute with.
        if (isMinus) {
            ENGINE_TRY(operand, add(line, Negation{true, operand}));
        }
    } else {
        ENGINE_TRY(operand, parsePrimary());
    }
    ENGINE_TRY(operand, parsePostfix(operand));
    leave();
    return operand;
}

} // namespace engine::jinja
