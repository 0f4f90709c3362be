// SPDX-License-Identifier: Apache-2.0
// Statements, loops and macros.
#include "engine/text/jinja/interpreter.h"

#include "engine/text/jinja/values/value_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

// Bounds the stack that a run needs; real templates stay below 50.
constexpr int kMaxDepth = 500;

/// loop.cycle(a, b): one after the other, round by round.
Result<Value> cycle(RenderContext&, const Value& index, const Arguments& arguments) {
    const auto count = static_cast<std::int64_t>(arguments.positional.size());
    if (count == 0 || !arguments.named.empty())
        return templateError("no items for cycling given");
    return arguments.positional[static_cast<std::size_t>(index.asInteger() % count)];
}

/// The variable `loop`: where a for loop stands.
class LoopState : public Object {
public:
    explicit LoopState(Items items)
        : m_items(std::move(items)) {
        for (const Value& item : *m_items)
            m_valueDepth = std::max(m_valueDepth, item.depth() + 2);
    }

    std::string_view typeName() const override { return "LoopContext"; }

    std::optional<Value> attribute(std::string_view name) const override {
        const auto index = static_cast<std::int64_t>(m_index);
        const auto length = static_cast<std::int64_t>(m_items->size());
        const std::pair<std::string_view, std::int64_t> numbers[] = {
            {"index", index + 1},
            {"index0", index},
            {"revindex", length - index},
            {"revindex0", length - index - 1},
            {"length", length},
            {"depth", 1}, // of recursive loops, which there are none of
            {"depth0", 0},
        };
        for (const auto& [known, number] : numbers)
            if (name == known)
                return Value::integer(number);
        if (name == "first" || name == "last")
            return Value::boolean(name == "first" ? index == 0 : index + 1 == length);
        if (name == "cycle")
            return boundTo(Value::integer(index), cycle);
        if (name == "previtem")
            return m_index > 0 ? (*m_items)[m_index - 1]
                               : Value::undefined("there is no previous item");
        if (name == "nextitem")
            return m_index + 1 < m_items->size() ? (*m_items)[m_index + 1]
                                                 : Value::undefined("there is no next item");
        return std::nullopt;
    }

    int depth() const override { return m_valueDepth; }

    void moveTo(std::size_t index) { m_index = index; }

private:
    Items m_items;
    std::size_t m_index = 0;
    int m_valueDepth = 1;
};

/// A macro as a value: the definition and the variables it sees.
class Macro : public Object {
public:
    Macro(Interpreter& interpreter, const MacroDefinition& definition, std::shared_ptr<Scope> scope)
        : m_interpreter(interpreter)
        , m_definition(definition)
        , m_scope(std::move(scope)) {}

    std::string_view typeName() const override { return "Macro"; }

    std::optional<Value> attribute(std::string_view name) const override {
        return name == "name" ? std::optional(Value::text(m_definition.name)) : std::nullopt;
    }

    Result<Value> call(RenderContext&, const Arguments& arguments) override {
        return m_interpreter.callMacro(m_definition, m_scope, arguments);
    }

    void releaseValues() override { m_scope.reset(); }

private:
    Interpreter& m_interpreter;
    const MacroDefinition& m_definition;
    std::shared_ptr<Scope> m_scope; // shared: the macro may be called after its block has ended
};

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
    m_scope = std::make_shared<Scope>(m_scope);
    ENGINE_TRY_DO(executeBody(tree.body));
    return std::move(m_out);
}

Result<void> Interpreter::enter() {
    if (m_depth >= kMaxDepth)
        return templateLimit("its parts call each other too deeply");
    ++m_depth;
    return m_context.spend(1);
}

Result<void> Interpreter::append(std::string_view text) {
    if (m_out.size() + text.size() > m_context.maxTextBytes())
        return templateLimit(fmt::format("it writes more than {} bytes", m_context.maxTextBytes()));
    m_out += text;
    return m_context.spendReading(text.size());
}

/// In a scope of its own, which begins with the named ones of these values.
Result<Interpreter::Flow> Interpreter::executeInScope(const Body& body, const Arguments& values) {
    const auto outer = std::exchange(m_scope, std::make_shared<Scope>(m_scope));
    for (const auto& [name, value] : values.named)
        m_scope->variables.insert_or_assign(name, value);
    auto flow = executeBody(body);
    m_scope = outer;
    return flow;
}

/// What a body writes, as a text instead of output.
Result<std::string> Interpreter::capture(const Body& body) {
    std::string outer = std::exchange(m_out, std::string());
    auto flow = executeInScope(body);
    std::string captured = std::exchange(m_out, std::move(outer));
    if (!flow)
        return std::move(flow).error();
    ENGINE_TRY_DO(m_context.spendText(captured.size()));
    return captured;
}

template <> Result<Interpreter::Flow> Interpreter::execute(const PlainText& node) {
    ENGINE_TRY_DO(append(node.text));
    return Flow::Next;
}

template <> Result<Interpreter::Flow> Interpreter::execute(const If& node) {
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

template <> Result<Interpreter::Flow> Interpreter::execute(const For& node) {
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
    // Jinja's own rule: also a loop that only ever broke off or continued has its else.
    return isBodyFinished ? Flow::Next : executeInScope(node.otherwise);
}

template <> Result<Interpreter::Flow> Interpreter::execute(const Assignment& node) {
    if (node.body) {
        ENGINE_TRY(std::string text, capture(*node.body));
        m_blockText = Value::text(std::move(text));
    }
    Value value = m_blockText;
    if (node.value != nullptr) {
        ENGINE_TRY(value, evaluate(*node.value));
    }
    if (node.target) {
        ENGINE_TRY_DO(assign(*node.target, value));
        return Flow::Next;
    }
    ENGINE_TRY(const std::string text, toText(m_context, value));
    ENGINE_TRY_DO(append(text));
    return Flow::Next;
}

template <> Result<Interpreter::Flow> Interpreter::execute(const With& node) {
    ENGINE_TRY(const Arguments values, evaluateArguments(node.values));
    return executeInScope(node.body, values);
}

template <> Result<Interpreter::Flow> Interpreter::execute(const MacroDefinition& node) {
    auto made = std::make_shared<Macro>(*this, node, m_scope);
    m_context.keep(made);
    m_scope->variables.insert_or_assign(node.name, Value::object(std::move(made)));
    return Flow::Next;
}

template <> Result<Interpreter::Flow> Interpreter::execute(const LoopExit& node) {
    return node.isBreak ? Flow::Break : Flow::Continue;
}

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
        m_scope->variables.insert_or_assign(target.parts[i], (*items)[i]);
    return {};
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

Result<Value> Interpreter::callMacro(const MacroDefinition& macro,
                                     const std::shared_ptr<Scope>& scope,
                                     const Arguments& arguments) {
    if (m_macroDepth >= m_maxMacroDepth)
        return templateLimit(
            fmt::format("macros call each other more than {} deep", m_maxMacroDepth));
    ++m_macroDepth;
    const auto outer = std::exchange(m_scope, std::make_shared<Scope>(scope));
    ENGINE_TRY_DO(bindParameters(macro, arguments));
    ENGINE_TRY(std::string text, capture(macro.body));
    m_scope = outer;
    --m_macroDepth;
    return Value::text(std::move(text));
}

/// Puts the arguments into the current scope; defaults may use the parameters before them.
Result<void> Interpreter::bindParameters(const MacroDefinition& macro, const Arguments& arguments) {
    ENGINE_TRY_DO(m_context.spend(macro.parameters.size() * arguments.named.size() / 4));
    std::vector<std::string_view> names;
    for (const MacroParameter& parameter : macro.parameters)
        names.push_back(parameter.name);
    ENGINE_TRY(const auto bound, BoundArguments::bind(macro.name, arguments, names));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const MacroParameter& parameter = macro.parameters[i];
        Value value =
            Value::undefined(fmt::format("parameter '{}' was not provided", parameter.name));
        if (bound.has(i)) {
            value = bound.valueAt(i);
        } else if (parameter.standard != nullptr) {
            ENGINE_TRY(value, evaluate(*parameter.standard));
        }
        m_scope->variables.insert_or_assign(parameter.name, std::move(value));
    }
    return {};
}

} // namespace engine::jinja
