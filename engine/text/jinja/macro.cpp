// SPDX-License-Identifier: Apache-2.0
// The interpreter's part for macros.
#include "engine/text/jinja/interpreter.h"

#include <algorithm>

namespace engine::jinja {

namespace {

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

    bool isCallable() const override { return true; }

    Result<Value> call(RenderContext&, const Arguments& arguments) override {
        return m_interpreter.callMacro(m_definition, m_scope, arguments);
    }

    void releaseValues() override { m_scope.reset(); }

private:
    Interpreter& m_interpreter;
    const MacroDefinition& m_definition;
    std::shared_ptr<Scope> m_scope; // shared: the macro may be called after its block has ended
};

bool isParameter(const MacroDefinition& macro, std::string_view name) {
    return std::any_of(macro.parameters.begin(), macro.parameters.end(), [&](const auto& one) {
        return one.name == name;
    });
}

} // namespace

Value Interpreter::makeMacro(const MacroDefinition& macro) {
    auto made = std::make_shared<Macro>(*this, macro, m_scope);
    m_context.keep(made);
    return Value::object(std::move(made));
}

Result<Value> Interpreter::callMacro(const MacroDefinition& macro,
                                     const std::shared_ptr<Scope>& scope,
                                     const Arguments& arguments) {
    if (m_macroDepth >= m_maxMacroDepth)
        return templateLimit(
            fmt::format("macros call each other more than {} deep", m_maxMacroDepth));
    ++m_macroDepth;
    const auto inner = std::make_shared<Scope>(scope);
    const auto outer = std::exchange(m_scope, inner);
    ENGINE_TRY_DO(bindParameters(macro, arguments));
    ENGINE_TRY(std::string text, capture(macro.body, inner));
    m_scope = outer;
    --m_macroDepth;
    return Value::text(std::move(text));
}

/// Puts the arguments into the current scope; defaults may use the parameters before them.
Result<void> Interpreter::bindParameters(const MacroDefinition& macro, const Arguments& arguments) {
    ENGINE_TRY_DO(m_context.spend(macro.parameters.size() * arguments.named.size() / 4));
    for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
        const MacroParameter& parameter = macro.parameters[i];
        const Value* named = arguments.findNamed(parameter.name);
        const bool isPositional = i < arguments.positional.size();
        if (named != nullptr && isPositional)
            return templateError(
                fmt::format("macro '{}' got two values for '{}'", macro.name, parameter.name));
        Value value =
            Value::undefined(fmt::format("parameter '{}' was not provided", parameter.name));
        if (isPositional) {
            value = arguments.positional[i];
        } else if (named != nullptr) {
            value = *named;
        } else if (parameter.standard != nullptr) {
            ENGINE_TRY(value, evaluate(*parameter.standard));
        }
        m_scope->variables.insert_or_assign(parameter.name, std::move(value));
    }
    return bindExtras(macro, arguments);
}

/// caller, varargs and kwargs, for macros that use them.
Result<void> Interpreter::bindExtras(const MacroDefinition& macro, const Arguments& arguments) {
    if (macro.usesCaller) {
        const Value* caller = arguments.findNamed("caller");
        m_scope->variables.insert_or_assign(
            "caller", caller != nullptr ? *caller : Value::undefined("No caller defined"));
    }
    const std::size_t known = std::min(macro.parameters.size(), arguments.positional.size());
    std::vector<Value> varargs(arguments.positional.begin() + static_cast<std::ptrdiff_t>(known),
                               arguments.positional.end());
    if (!varargs.empty() && !macro.usesVarargs)
        return templateError(fmt::format(
            "macro '{}' takes not more than {} argument(s)", macro.name, macro.parameters.size()));
    Dict kwargs;
    for (const auto& [name, value] : arguments.named) {
        const bool isCaller = macro.usesCaller && name == "caller";
        if (isCaller || isParameter(macro, name))
            continue;
        if (!macro.usesKwargs)
            return templateError(
                fmt::format("macro '{}' takes no keyword argument '{}'", macro.name, name));
        kwargs.setText(name, value);
    }
    if (macro.usesVarargs) {
        ENGINE_TRY(Value made, Value::sequence(SequenceKind::Tuple, std::move(varargs)));
        m_scope->variables.insert_or_assign("varargs", std::move(made));
    }
    if (macro.usesKwargs) {
        ENGINE_TRY(Value made, Value::dict(std::move(kwargs)));
        m_scope->variables.insert_or_assign("kwargs", std::move(made));
    }
    return {};
}

} // namespace engine::jinja
