// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/syntax/syntax_tree.h"

#include <unordered_map>

namespace engine::jinja {

/// Variables of one block; what it does not hold is looked up further out.
struct Scope {
    explicit Scope(std::shared_ptr<Scope> parent_)
        : parent(std::move(parent_)) {}

    /// Null when no scope has this variable.
    const Value* find(const std::string& name) const {
        for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get())
            if (const auto place = scope->variables.find(name); place != scope->variables.end())
                return &place->second;
        return nullptr;
    }

    std::shared_ptr<Scope> parent; // shared with the macros that were defined inside
    std::unordered_map<std::string, Value> variables;
};

/// Runs a template once. Nothing but the values it is given can be reached from inside.
class Interpreter {
public:
    /// `maxMacroDepth`: macro calls inside one another.
    Interpreter(RenderContext& context, int maxMacroDepth);

    /// The text the template makes of the variables (a dict). Errors: what the template does
    /// wrong, or the limit it hits; `line()` tells where.
    Result<std::string> run(const SyntaxTree& tree, const Value& variables);

    /// The line that was being worked on.
    std::uint32_t line() const { return m_line; }

    /// Calls a macro whose definition stands in `scope`.
    Result<Value> callMacro(const MacroDefinition& macro,
                            const std::shared_ptr<Scope>& scope,
                            const Arguments& arguments);

private:
    enum class Flow : std::uint8_t { Next, Break, Continue };

    // interpreter.cpp: statements
    Result<Flow> executeBody(const Body& body);
    Result<Flow> executeInScope(const Body& body, const Arguments& values = {});
    template <typename Node> Result<Flow> execute(const Node& node);
    Result<std::string> capture(const Body& body);
    Result<void> append(std::string_view text);
    Result<void> assign(const Target& target, const Value& value);
    Result<void> assignParts(const Target& target, const Value& value);
    Result<Items> filteredItems(const For& node, Items items);
    Result<void> bindParameters(const MacroDefinition& macro, const Arguments& arguments);

    // evaluator.cpp: expressions
    Result<Value> evaluate(const Expression& expression);
    template <typename Node> Result<Value> evaluate(const Node& node);
    Result<std::vector<Value>> evaluateAll(const std::vector<const Expression*>& expressions);
    Result<Arguments> evaluateArguments(const CallArguments& node);
    Result<void> enter();

    RenderContext& m_context;
    int m_maxMacroDepth;
    std::shared_ptr<Scope> m_scope;
    std::string m_out;
    Value m_blockText; ///< what the innermost filter of a block works on
    std::uint32_t m_line = 1;
    int m_depth = 0;
    int m_macroDepth = 0;
};

} // namespace engine::jinja
