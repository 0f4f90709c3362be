// SPDX-License-Identifier: Apache-2.0
// The parser's part for operators, from the loosest to the tightest.
#include "engine/text/jinja/syntax/parser.h"

namespace engine::jinja {

namespace {

struct RelationSymbol {
    std::string_view symbol;
    Relation relation;
};

constexpr RelationSymbol kRelations[] = {
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
};

constexpr ArithmeticSymbol kSums[] = {
    {"+", ArithmeticOperator::Add},
    {"-", ArithmeticOperator::Subtract},
};

constexpr ArithmeticSymbol kProducts[] = {
    {"*", ArithmeticOperator::Multiply},
    {"/", ArithmeticOperator::Divide},
    {"//", ArithmeticOperator::FloorDivide},
    {"%", ArithmeticOperator::Modulo},
};

template <std::size_t Count>
const ArithmeticSymbol* findOperator(const ArithmeticSymbol (&symbols)[Count], const Token& token) {
    for (const ArithmeticSymbol& symbol : symbols)
        if (token.isOperator(symbol.symbol))
            return &symbol;
    return nullptr;
}

} // namespace

bool Parser::isTupleEnd() const {
    return m_token.type == TokenType::OutputEnd || m_token.type == TokenType::BlockEnd ||
           m_token.isOperator(")");
}

Result<const Expression*> Parser::parseTuple(bool allowsConditional, bool isInParentheses) {
    const std::uint32_t line = m_token.line;
    std::vector<const Expression*> items;
    bool isTuple = false;
    while (!isTupleEnd()) {
        ENGINE_TRY(const Expression* item, allowsConditional ? parseExpression() : parseOr());
        items.push_back(item);
        if (!m_token.isOperator(","))
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
    ENGINE_TRY(const Expression* value, parseOr());
    while (m_token.isName("if")) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ++m_conditionalDepth;
        Conditional made;
        made.value = value;
        ENGINE_TRY(made.condition, parseOr());
        ENGINE_TRY(const bool hasElse, takeName("else"));
        if (hasElse) {
            ENGINE_TRY(made.otherwise, parseExpression());
        }
        --m_conditionalDepth;
        ENGINE_TRY(value, add(line, made));
    }
    leave();
    return value;
}

Result<const Expression*> Parser::parseOr() {
    ENGINE_TRY(const Expression* left, parseAnd());
    while (m_token.isName("or")) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parseAnd());
        ENGINE_TRY(left, add(line, Junction{false, left, right}));
    }
    return left;
}

Result<const Expression*> Parser::parseAnd() {
    ENGINE_TRY(const Expression* left, parseNot());
    while (m_token.isName("and")) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parseNot());
        ENGINE_TRY(left, add(line, Junction{true, left, right}));
    }
    return left;
}

Result<const Expression*> Parser::parseNot() {
    const std::uint32_t line = m_token.line;
    if (!m_token.isName("not"))
        return parseComparison();
    ENGINE_TRY_DO(enter());
    ENGINE_TRY_DO(advance());
    ENGINE_TRY(const Expression* operand, parseNot());
    leave();
    return add(line, Negation{false, operand});
}

Result<std::optional<Relation>> Parser::takeRelation() {
    for (const RelationSymbol& candidate : kRelations) {
        ENGINE_TRY(const bool isTaken, takeOperator(candidate.symbol));
        if (isTaken)
            return std::optional(candidate.relation);
    }
    ENGINE_TRY(const bool isIn, takeName("in"));
    if (isIn)
        return std::optional(Relation::In);
    if (!m_token.isName("not") || !m_nextToken.isName("in"))
        return std::optional<Relation>();
    ENGINE_TRY_DO(advance());
    ENGINE_TRY_DO(advance());
    return std::optional(Relation::NotIn);
}

Result<const Expression*> Parser::parseComparison() {
    const std::uint32_t line = m_token.line;
    Comparison made;
    ENGINE_TRY(made.first, parseSum());
    while (true) {
        ENGINE_TRY(const auto relation, takeRelation());
        if (!relation)
            break;
        ENGINE_TRY(const Expression* operand, parseSum());
        made.rest.emplace_back(*relation, operand);
    }
    return made.rest.empty() ? Result<const Expression*>(made.first) : add(line, std::move(made));
}

Result<const Expression*> Parser::parseSum() {
    ENGINE_TRY(const Expression* left, parseConcatenation());
    while (const ArithmeticSymbol* symbol = findOperator(kSums, m_token)) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parseConcatenation());
        ENGINE_TRY(left, add(line, Arithmetic{symbol->op, left, right}));
    }
    return left;
}

Result<const Expression*> Parser::parseConcatenation() {
    const std::uint32_t line = m_token.line;
    ENGINE_TRY(const Expression* first, parseProduct());
    if (!m_token.isOperator("~"))
        return first;
    Concatenation made;
    made.parts.push_back(first);
    while (m_token.isOperator("~")) {
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* part, parseProduct());
        made.parts.push_back(part);
    }
    return add(line, std::move(made));
}

Result<const Expression*> Parser::parseProduct() {
    ENGINE_TRY(const Expression* left, parsePower());
    while (const ArithmeticSymbol* symbol = findOperator(kProducts, m_token)) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parsePower());
        ENGINE_TRY(left, add(line, Arithmetic{symbol->op, left, right}));
    }
    return left;
}

Result<const Expression*> Parser::parsePower() {
    ENGINE_TRY(const Expression* left, parseUnary(true));
    while (m_token.isOperator("**")) {
        const std::uint32_t line = m_token.line;
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(const Expression* right, parseUnary(true));
        ENGINE_TRY(left, add(line, Arithmetic{ArithmeticOperator::Power, left, right}));
    }
    return left;
}

Result<const Expression*> Parser::parseUnary(bool allowsFilters) {
    const std::uint32_t line = m_token.line;
    const bool isMinus = m_token.isOperator("-");
    const Expression* operand = nullptr;
    ENGINE_TRY_DO(enter());
    if (isMinus || m_token.isOperator("+")) {
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(operand, parseUnary(false));
        // +x is x for all that templates compute with.
        if (isMinus) {
            ENGINE_TRY(operand, add(line, Negation{true, operand}));
        }
    } else {
        ENGINE_TRY(operand, parsePrimary());
    }
    ENGINE_TRY(operand, parsePostfix(operand));
    leave();
    return allowsFilters ? parseFilters(operand) : Result<const Expression*>(operand);
}

} // namespace engine::jinja
