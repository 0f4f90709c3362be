// SPDX-License-Identifier: Apache-2.0
// The interpreter's part for expressions, one function for each kind of them.
#include "engine/text/jinja/interpreter.h"

namespace engine::jinja {

template <> Result<Value> Interpreter::evaluate(const Literal& node) { return node.value; }

template <> Result<Value> Interpreter::evaluate(const Variable& node) {
    const Value* found = m_scope->find(node.name);
    return found != nullptr ? *found
                            : Value::undefined(fmt::format("'{}' is undefined", node.name));
}

template <> Result<Value> Interpreter::evaluate(const SequenceLiteral& node) {
    ENGINE_TRY_DO(m_context.spend(3));
    ENGINE_TRY(std::vector<Value> items, evaluateAll(node.items));
    return Value::sequence(node.kind, std::move(items));
}

template <> Result<Value> Interpreter::evaluate(const DictLiteral& node) {
    ENGINE_TRY_DO(m_context.spend(6 + 3 * node.entries.size()));
    Dict dict;
    for (const auto& [keyExpression, valueExpression] : node.entries) {
        ENGINE_TRY(const Value key, evaluate(*keyExpression));
        if (key.isText())
            ENGINE_TRY_DO(m_context.spendText(key.asText().size()));
        ENGINE_TRY(Value value, evaluate(*valueExpression));
        ENGINE_TRY_DO(dict.set(key, std::move(value)));
    }
    return Value::dict(std::move(dict));
}

template <> Result<Value> Interpreter::evaluate(const Negation& node) {
    ENGINE_TRY(const Value value, evaluate(*node.operand));
    return node.isArithmetic ? negated(value) : Value::boolean(!value.isTrue());
}

template <> Result<Value> Interpreter::evaluate(const Arithmetic& node) {
    ENGINE_TRY(const Value left, evaluate(*node.left));
    ENGINE_TRY(const Value right, evaluate(*node.right));
    return calculate(m_context, node.op, left, right);
}

template <> Result<Value> Interpreter::evaluate(const Concatenation& node) {
    ENGINE_TRY(const std::vector<Value> parts, evaluateAll(node.parts));
    return joinedValue(m_context, parts, "");
}

template <> Result<Value> Interpreter::evaluate(const Junction& node) {
    ENGINE_TRY(Value left, evaluate(*node.left));
    return left.isTrue() == node.isAnd ? evaluate(*node.right) : Result<Value>(std::move(left));
}

template <> Result<Value> Interpreter::evaluate(const Comparison& node) {
    ENGINE_TRY(Value left, evaluate(*node.first));
    for (const auto& [relation, expression] : node.rest) {
        ENGINE_TRY(Value right, evaluate(*expression));
        ENGINE_TRY(const bool isTrue, holds(m_context, relation, left, right));
        if (!isTrue)
            return Value::boolean(false);
        left = std::move(right);
    }
    return Value::boolean(true);
}

template <> Result<Value> Interpreter::evaluate(const Conditional& node) {
    ENGINE_TRY(const Value condition, evaluate(*node.condition));
    if (condition.isTrue())
        return evaluate(*node.value);
    if (node.otherwise != nullptr)
        return evaluate(*node.otherwise);
    return Value::undefined("the inline if-expression has no else and its condition is false");
}

template <> Result<Value> Interpreter::evaluate(const ItemAccess& node) {
    ENGINE_TRY(const Value object, evaluate(*node.object));
    ENGINE_TRY(const Value key, evaluate(*node.key));
    return itemOf(m_context, object, key, node.isAttribute);
}

template <> Result<Value> Interpreter::evaluate(const SliceAccess& node) {
    ENGINE_TRY(const Value object, evaluate(*node.object));
    Value bounds[3] = {Value::none(), Value::none(), Value::none()};
    for (std::size_t i = 0; i < 3; ++i)
        if (node.bounds[i] != nullptr) {
            ENGINE_TRY(bounds[i], evaluate(*node.bounds[i]));
        }
    return sliceOf(m_context, object, bounds);
}

Result<std::vector<Value>>
Interpreter::evaluateAll(const std::vector<const Expression*>& expressions) {
    std::vector<Value> values;
    for (const Expression* expression : expressions) {
        ENGINE_TRY(Value value, evaluate(*expression));
        values.push_back(std::move(value));
    }
    return values;
}

Result<Arguments> Interpreter::evaluateArguments(const CallArguments& node) {
    Arguments arguments;
    ENGINE_TRY(arguments.positional, evaluateAll(node.positional));
    for (const auto& [name, expression] : node.named) {
        ENGINE_TRY(Value value, evaluate(*expression));
        arguments.named.emplace_back(name, std::move(value));
    }
    return arguments;
}

template <> Result<Value> Interpreter::evaluate(const Call& node) {
    ENGINE_TRY(const Value callee, evaluate(*node.callee));
    ENGINE_TRY(const Arguments arguments, evaluateArguments(node.arguments));
    if (callee.isUndefined())
        return templateLimit(callee.undefinedReason()); // a method, perhaps, that Python has
    if (!callee.is(Kind::Object))
        return templateError(fmt::format("'{}' object is not callable", callee.typeName()));
    return callee.asObject()->call(m_context, arguments);
}

template <> Result<Value> Interpreter::evaluate(const FilterUse& node) {
    Value input = m_blockText;
    if (node.input != nullptr) {
        ENGINE_TRY(input, evaluate(*node.input));
    }
    if (node.function == nullptr)
        return templateLimit(fmt::format("the filter '{}' is not supported", node.name));
    ENGINE_TRY(const Arguments arguments, evaluateArguments(node.arguments));
    return node.function(m_context, input, arguments);
}

template <> Result<Value> Interpreter::evaluate(const TestUse& node) {
    ENGINE_TRY(const Value input, evaluate(*node.input));
    if (node.function == nullptr)
        return templateLimit(fmt::format("the test '{}' is not supported", node.name));
    ENGINE_TRY(const Arguments arguments, evaluateArguments(node.arguments));
    ENGINE_TRY(const bool isTrue, node.function(m_context, input, arguments));
    return Value::boolean(isTrue);
}

Result<Value> Interpreter::evaluate(const Expression& expression) {
    ENGINE_TRY_DO(enter());
    const std::uint32_t outerLine = std::exchange(m_line, expression.line);
    auto value =
        std::visit([this](const auto& node) { return evaluate(node); }, expression.content);
    // After an error the line stays, to be told.
    if (value)
        m_line = outerLine;
    --m_depth;
    return value;
}

} // namespace engine::jinja
