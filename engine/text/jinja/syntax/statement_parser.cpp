// SPDX-License-Identifier: Apache-2.0
// The parser's part for block tags.
#include "engine/text/jinja/syntax/parser.h"

#include <algorithm>

namespace engine::jinja {

/// Statements up to a block tag whose first word is one of `endWords`; that word is the current
/// token then. Without end words: to the end of the template.
Result<Body> Parser::parseBody(Words endWords) {
    ENGINE_TRY_DO(enter());
    Body body;
    while (m_token.type != TokenType::End) {
        const std::uint32_t line = m_token.line;
        if (m_token.type == TokenType::Text) {
            ENGINE_TRY(const Statement* text,
                       addStatement(line, PlainText{std::string(m_token.text)}));
            body.push_back(text);
            ENGINE_TRY_DO(advance());
        } else if (m_token.type == TokenType::OutputBegin) {
            ENGINE_TRY_DO(advance());
            ENGINE_TRY(const Expression* value, parseTuple(true));
            ENGINE_TRY(const Statement* output, addStatement(line, Assignment{.value = value}));
            body.push_back(output);
            ENGINE_TRY_DO(expectType(TokenType::OutputEnd));
        } else {
            ENGINE_TRY_DO(expectType(TokenType::BlockBegin));
            if (m_token.type == TokenType::Name && std::ranges::count(endWords, m_token.text) > 0) {
                leave();
                return body;
            }
            ENGINE_TRY(const Statement* statement, parseStatement());
            if (statement != nullptr)
                body.push_back(statement);
            ENGINE_TRY_DO(expectType(TokenType::BlockEnd));
        }
    }
    if (endWords.size() > 0)
        return fail(ErrorCode::CorruptFile,
                    fmt::format("'{{% {} %}}' is missing", *(endWords.end() - 1)));
    leave();
    return body;
}

/// The rest of a block tag, then its body.
Result<Body> Parser::parseBlockBody(Words endWords) {
    ENGINE_TRY_DO(take(":"));
    ENGINE_TRY_DO(expectType(TokenType::BlockEnd));
    return parseBody(endWords);
}

Result<const Statement*> Parser::parseStatement() {
    const Token start = m_token;
    const std::uint32_t line = start.line;
    ENGINE_TRY(const std::string word, expectName());
    if (word == "if")
        return parseIf(line);
    if (word == "for")
        return parseFor(line);
    if (word == "set")
        return parseSet(line);
    if (word == "filter")
        return parseFilterBlock(line);
    if (word == "with" || word == "generation")
        return parseWith(line, word == "with" ? "endwith" : "endgeneration");
    if (word == "break" || word == "continue") {
        if (m_loopDepth == 0)
            return m_lexer.errorAt(
                start, ErrorCode::CorruptFile, fmt::format("'{}' is outside of a loop", word));
        return addStatement(line, LoopExit{word == "break"});
    }
    if (word == "macro")
        return parseMacro(line);
    const bool isLone = word.starts_with("end") || word == "else" || word == "elif";
    if (isLone)
        return m_lexer.errorAt(
            start, ErrorCode::CorruptFile, fmt::format("'{}' closes nothing that is open", word));
    return m_lexer.errorAt(
        start, ErrorCode::Unsupported, fmt::format("the tag '{}' is not supported", word));
}

Result<const Statement*> Parser::parseIf(std::uint32_t line) {
    If made;
    ++m_conditionalDepth;
    while (true) {
        ENGINE_TRY(const Expression* condition, parseTuple(false));
        ENGINE_TRY(Body body, parseBlockBody({"elif", "else", "endif"}));
        made.branches.emplace_back(condition, std::move(body));
        const Token word = m_token;
        ENGINE_TRY_DO(advance());
        if (word.is("elif"))
            continue;
        if (word.is("else")) {
            ENGINE_TRY(made.otherwise, parseBlockBody({"endif"}));
            ENGINE_TRY_DO(advance());
        }
        break;
    }
    --m_conditionalDepth;
    return addStatement(line, std::move(made));
}

Result<const Statement*> Parser::parseFor(std::uint32_t line) {
    For made;
    ENGINE_TRY(made.target, parseTarget());
    if (!m_token.is("in"))
        return unexpected();
    ENGINE_TRY_DO(advance());
    ENGINE_TRY(made.iterable, parseTuple(false));
    ENGINE_TRY(const bool isFiltered, take("if"));
    if (isFiltered) {
        ENGINE_TRY(made.filter, parseExpression());
    }
    if (m_token.is("recursive"))
        return fail(ErrorCode::Unsupported, "recursive loops are not supported");
    ++m_loopDepth;
    ENGINE_TRY(made.body, parseBlockBody({"else", "endfor"}));
    --m_loopDepth;
    const Token word = m_token;
    ENGINE_TRY_DO(advance());
    if (word.is("else")) {
        ENGINE_TRY(made.otherwise, parseBlockBody({"endfor"}));
        ENGINE_TRY_DO(advance());
    }
    return addStatement(line, std::move(made));
}

Result<const Statement*> Parser::parseSet(std::uint32_t line) {
    Assignment made;
    ENGINE_TRY(made.target, parseTarget());
    ENGINE_TRY(const bool hasValue, take("="));
    if (hasValue) {
        ENGINE_TRY(made.value, parseTuple(true));
        return addStatement(line, std::move(made));
    }
    if (m_token.is("|")) {
        ENGINE_TRY(made.value, parseFilters(nullptr));
    }
    ENGINE_TRY(made.body, parseBlockBody({"endset"}));
    ENGINE_TRY_DO(advance());
    return addStatement(line, std::move(made));
}

/// They are written as the arguments of a call are.
Result<std::vector<MacroParameter>> Parser::parseParameters() {
    ENGINE_TRY(const CallArguments written, parseArguments());
    std::vector<MacroParameter> parameters;
    for (const Expression* expression : written.positional) {
        const auto* const variable = std::get_if<Variable>(&expression->content);
        if (variable == nullptr)
            return fail(ErrorCode::CorruptFile, "a parameter of the macro is no name");
        parameters.push_back({variable->name});
    }
    for (const auto& [name, standard] : written.named)
        parameters.push_back({name, standard});
    return parameters;
}

Result<const Statement*> Parser::parseMacro(std::uint32_t line) {
    MacroDefinition macro;
    const int outerLoops = std::exchange(m_loopDepth, 0);
    ENGINE_TRY(macro.name, expectName());
    ENGINE_TRY(macro.parameters, parseParameters());
    ENGINE_TRY(macro.body, parseBlockBody({"endmacro"}));
    ENGINE_TRY_DO(advance());
    m_loopDepth = outerLoops;
    return addStatement(line, std::move(macro));
}

Result<const Statement*> Parser::parseFilterBlock(std::uint32_t line) {
    Assignment made;
    ENGINE_TRY(made.value, parseFilter(nullptr));
    ENGINE_TRY(made.value, parseFilters(made.value));
    ENGINE_TRY(made.body, parseBlockBody({"endfilter"}));
    ENGINE_TRY_DO(advance());
    return addStatement(line, std::move(made));
}

/// {% with a=1, b=2 %}; {% generation %} marks the model's own words for training.
Result<const Statement*> Parser::parseWith(std::uint32_t line, std::string_view endWord) {
    With made;
    for (bool goesOn = m_token.type == TokenType::Name; goesOn;) {
        if (!m_nextToken.is("="))
            return fail(ErrorCode::Unsupported, "a variable of this tag needs a name and a value");
        ENGINE_TRY_DO(parseArgument(made.values));
        ENGINE_TRY(goesOn, take(","));
    }
    ENGINE_TRY(made.body, parseBlockBody({endWord}));
    ENGINE_TRY_DO(advance());
    return addStatement(line, std::move(made));
}

Result<std::string> Parser::parseTargetName() {
    for (const std::string_view word : {"true", "false", "none", "True", "False", "None"})
        if (m_token.is(word))
            return fail(ErrorCode::CorruptFile, "a constant cannot be assigned to");
    return expectName();
}

Result<Target> Parser::parseTarget() {
    Target target;
    ENGINE_TRY(const bool isEnclosed, take("("));
    ENGINE_TRY(target.name, parseTargetName());
    ENGINE_TRY(const bool isAttribute, take("."));
    if (isAttribute) {
        ENGINE_TRY(target.attribute, expectName());
        return target;
    }
    if (m_token.is(","))
        target.parts.push_back(target.name);
    while (m_token.is(",")) {
        ENGINE_TRY_DO(advance());
        ENGINE_TRY(std::string part, parseTargetName());
        target.parts.push_back(std::move(part));
    }
    if (isEnclosed)
        ENGINE_TRY_DO(expectOperator(")"));
    return target;
}

} // namespace engine::jinja
