// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/interpreter.h"

#include "engine/text/jinja/builtins/functions.h"
#include "engine/text/jinja/loop_state.h"
#include "engine/text/jinja/values/value_text.h"

namespace engine::jinja {

namespace {

// Bounds the stack that a run needs; real templates stay below 50.
constexpr int kMaxDepth = 500;

} // namespace

Interpreter::Interpreter(RenderContext& context, int maxMacroDepth)
    : m_context(context)
    , m_maxMacroDepth(maxMacroDepth) {}

Result<std::string> Interpreter::run(const SyntaxTree& tree, const Value& variables) {
    m_scope = std::make_shared<Scope>(nullptr);
    for (auto& [name, function] : globalFunctions())
        m_scope->variables.emplace(name, std::move(function));
    for (const Dict::Entry& entry : variables.asDict().entries())
        m_scope->variables.insert_or_assign(entry.key.asText(), entry.value);
    m_scope = innerScope();
    ENGINE_TRY_DO(executeBody(tree.body));
    return std::move(m_out);
}

Result<void> Interpreter::enter() {
    if (m_depth >= kMaxDepth)
        return templateLimit("its parts call each other too deeply");
    ++m_depth;
    return m_context.spend(1);
}

std::shared_ptr<Scope> Interpreter::innerScope() const { return std::make_shared<Scope>(m_scope); }

Result<void> Interpreter::append(std::string_view text) {
    if (m_out.size() + text.size() > m_context.maxTextBytes())
        return templateLimit(fmt::format("it writes more than {} bytes", m_context.maxTextBytes()));
    m_out += text;
    return m_context.spendReading(text.size());
}

Result<Interpreter::Flow> Interpreter::executeBody(const Body& body) {
    for (const Statement* statement : body) {
        ENGINE_TRY_DO(enter());
        m_line = statement->line;
        ENGINE_TRY(
            const Flow flow,
            std::visit([this](const auto& node) { return execute(node); }, statement->content));
        --m_depth;
        if (flow != Flow::Next)
            return flow;
    }
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::executeInScope(const Body& body,
                                                      const std::shared_ptr<Scope>& scope) {
    const auto outer = std::exchange(m_scope, scope);
    auto flow = executeBody(body);
    m_scope = outer;
    return flow;
}

/// What a body writes, as a text instead of output.
Result<std::string> Interpreter::capture(const Body& body, const std::shared_ptr<Scope>& scope) {
    std::string outer = std::exchange(m_out, std::string());
    auto flow = executeInScope(body, scope);
    std::string captured = std::exchange(m_out, std::move(outer));
    if (!flow)
        return std::move(flow).error();
    ENGINE_TRY_DO(m_context.spendText(captured.size()));
    return captured;
}

Result<Interpreter::Flow> Interpreter::execute(const PlainText& node) {
    ENGINE_TRY_DO(append(node.text));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const Output& node) {
    ENGINE_TRY(const Value value, evaluate(*node.value));
    if (value.isText()) {
        ENGINE_TRY_DO(append(value.asText()));
        return Flow::Next;
    }
    ENGINE_TRY(const std::string text, toText(m_context, value));
    ENGINE_TRY_DO(append(text));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const If& node) {
    for (const auto& [condition, body] : node.branches) {
        ENGINE_TRY(const Value value, evaluate(*condition));
        if (value.isTrue())
            return executeBody(body);
    }
    return executeBody(node.otherwise);
}

Result<Items> Interpreter::filteredItems(const For& node, Items items) {
    if (node.filter == nullptr)
        return items;
    std::vector<Value> kept;
    const auto outer = m_scope;
    for (const Value& item : *items) {
        m_scope = std::make_shared<Scope>(outer);
        ENGINE_TRY_DO(assign(node.target, item));
        ENGINE_TRY(const Value value, evaluate(*node.filter));
        if (value.isTrue())
            kept.push_back(item);
    }
    m_scope = outer;
    return Items(std::make_shared<const std::vector<Value>>(std::move(kept)));
}

Result<Interpreter::Flow> Interpreter::execute(const For& node) {
    ENGINE_TRY(const Value iterable, evaluate(*node.iterable));
    ENGINE_TRY(Items items, itemsOf(m_context, iterable));
    ENGINE_TRY(items, filteredItems(node, std::move(items)));
    ENGINE_TRY_DO(m_context.spend(items->size() / 16));
    const auto loop = std::make_shared<LoopState>(items);
    const auto outer = m_scope;
    bool isBodyFinished = false;
    for (std::size_t i = 0; i < items->size(); ++i) {
        ENGINE_TRY_DO(m_context.spend(2));
        loop->moveTo(i);
        m_scope = std::make_shared<Scope>(outer);
        m_scope->variables.emplace("loop", Value::object(loop));
        ENGINE_TRY_DO(assign(node.target, (*items)[i]));
        ENGINE_TRY(const Flow flow, executeBody(node.body));
        if (flow == Flow::Break)
            break;
        isBodyFinished = isBodyFinished || flow == Flow::Next;
    }
    m_scope = outer;
    loop->releaseValues();
    // Jinja's own rule: also a loop that only ever broke off or continued has its else.
    return isBodyFinished ? Flow::Next : executeInScope(node.otherwise, innerScope());
}

Result<Interpreter::Flow> Interpreter::execute(const Set& node) {
    ENGINE_TRY(const Value value, evaluate(*node.value));
    ENGINE_TRY_DO(assign(node.target, value));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const SetBlock& node) {
    ENGINE_TRY(std::string text, capture(node.body, innerScope()));
    Value value;
    if (node.filter != nullptr) {
        ENGINE_TRY(value, filteredText(*node.filter, std::move(text)));
    } else {
        value = Value::text(std::move(text));
    }
    ENGINE_TRY_DO(assign(node.target, value));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const MacroDefinition& node) {
    m_scope->variables.insert_or_assign(node.name, makeMacro(node));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const CallBlock& node) {
    const Value caller = makeMacro(node.caller);
    ENGINE_TRY(const Value value, evaluateCall(std::get<Call>(node.call->content), &caller));
    ENGINE_TRY(const std::string text, toText(m_context, value));
    ENGINE_TRY_DO(append(text));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const FilterBlock& node) {
    ENGINE_TRY(std::string text, capture(node.body, innerScope()));
    ENGINE_TRY(const Value value, filteredText(*node.filter, std::move(text)));
    ENGINE_TRY(const std::string filtered, toText(m_context, value));
    ENGINE_TRY_DO(append(filtered));
    return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const With& node) {
    // Every value is computed outside, so none sees the names beside it.
    const auto outer = m_scope;
    const auto inner = innerScope();
    for (const auto& [target, expression] : node.assignments) {
        ENGINE_TRY(const Value value, evaluate(*expression));
        m_scope = inner;
        ENGINE_TRY_DO(assign(target, value));
        m_scope = outer;
    }
    return executeInScope(node.body, inner);
}

Result<Interpreter::Flow> Interpreter::execute(const Break&) { return Flow::Break; }

Result<Interpreter::Flow> Interpreter::execute(const Continue&) { return Flow::Continue; }

Result<void> Interpreter::assign(const Target& target, const Value& value) {
    if (!target.parts.empty())
        return assignParts(target, value);
    if (target.attribute.empty()) {
        m_scope->variables.insert_or_assign(target.name, value);
        return {};
    }
    const Value* found = m_scope->find(target.name);
    auto* const named = found != nullptr && found->is(Kind::Object)
                            ? dynamic_cast<Namespace*>(found->asObject().get())
                            : nullptr;
    if (named == nullptr)
        return templateError(fmt::format(
            "cannot assign attribute '{}': '{}' is no namespace", target.attribute, target.name));
    named->setAttribute(target.attribute, value);
    return {};
}

Result<void> Interpreter::assignParts(const Target& target, const Value& value) {
    if (value.isUndefined())
        return templateError(value.undefinedReason());
    ENGINE_TRY(const Items items, itemsOf(m_context, value));
    if (items->size() != target.parts.size())
        return templateError(fmt::format(
            "{} values cannot be taken apart into {}", items->size(), target.parts.size()));
    for (std::size_t i = 0; i < target.parts.size(); ++i)
        ENGINE_TRY_DO(assign(target.parts[i], (*items)[i]));
    return {};
}

} // namespace engine::jinja
