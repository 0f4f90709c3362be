// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"

#include <memory>
#include <optional>
#include <variant>

/// What a template consists of. All nodes are owned by the SyntaxTree; they refer to each other by
/// plain pointers, so a long chain of nodes is neither copied nor destroyed recursively.
namespace engine::jinja {

struct Expression;
struct Statement;
using Body = std::vector<const Statement*>;

struct CallArguments {
    std::vector<const Expression*> positional;
    std::vector<std::pair<std::string, const Expression*>> named;
};

struct Literal {
    Value value;
};

struct Variable {
    std::string name;
};

struct SequenceLiteral {
    SequenceKind kind = SequenceKind::List;
    std::vector<const Expression*> items;
};

struct DictLiteral {
    std::vector<std::pair<const Expression*, const Expression*>> entries;
};

struct Negation {
    bool isArithmetic = false; ///< -x, otherwise not x
    const Expression* operand = nullptr;
};

struct Arithmetic {
    ArithmeticOperator op = ArithmeticOperator::Add;
    const Expression* left = nullptr;
    const Expression* right = nullptr;
};

struct Concatenation {
    std::vector<const Expression*> parts;
};

struct Junction {
    bool isAnd = false;
    const Expression* left = nullptr;
    const Expression* right = nullptr;
};

struct Comparison {
    const Expression* first = nullptr;
    std::vector<std::pair<Relation, const Expression*>> rest;
};

struct Conditional {
    const Expression* condition = nullptr;
    const Expression* value = nullptr;
    const Expression* otherwise = nullptr; ///< may be null
};

struct ItemAccess {
    const Expression* object = nullptr;
    const Expression* key = nullptr;
    bool isAttribute = false; ///< object.key, otherwise object[key]
};

struct SliceAccess {
    const Expression* object = nullptr;
    const Expression* bounds[3] = {}; ///< start, stop, step; each may be null
};

struct Call {
    const Expression* callee = nullptr;
    CallArguments arguments;
};

struct FilterUse {
    const Expression* input = nullptr; ///< null: the text of the body that the filter stands for
    std::string name;
    FilterFunction function = nullptr; ///< null: unknown, an error when it is reached
    CallArguments arguments;
};

struct TestUse {
    const Expression* input = nullptr;
    std::string name;
    TestFunction function = nullptr; ///< null: unknown, an error when it is reached
    CallArguments arguments;
};

struct Expression {
    std::variant<Literal,
                 Variable,
                 SequenceLiteral,
                 DictLiteral,
                 Negation,
                 Arithmetic,
                 Concatenation,
                 Junction,
                 Comparison,
                 Conditional,
                 ItemAccess,
                 SliceAccess,
                 Call,
                 FilterUse,
                 TestUse>
        content;
    std::uint32_t line = 0;
};

/// Where a value is put: a name, an attribute of a namespace, or several names.
struct Target {
    std::string name;
    std::string attribute;          ///< empty: the name itself
    std::vector<std::string> parts; ///< not empty: the value is taken apart
};

struct PlainText {
    std::string text;
};

struct If {
    std::vector<std::pair<const Expression*, Body>> branches;
    Body otherwise;
};

struct For {
    Target target;
    const Expression* iterable = nullptr;
    const Expression* filter = nullptr; ///< may be null
    Body body;
    Body otherwise;
};

/// Gives a value to a target, or writes it out: {{ }}, {% set %}, {% filter %}.
struct Assignment {
    std::optional<Target> target = {};
    const Expression* value = nullptr; ///< null: the text of the body as it is
    std::optional<Body> body = {};
};

/// A body with variables of its own: {% with %}, {% generation %}.
struct With {
    CallArguments values;
    Body body;
};

struct MacroParameter {
    std::string name;
    const Expression* standard = nullptr; ///< may be null
};

struct MacroDefinition {
    std::string name;
    std::vector<MacroParameter> parameters;
    Body body;
};

/// {% break %} or {% continue %}.
struct LoopExit {
    bool isBreak = false;
};

struct Statement {
    std::variant<PlainText, If, For, Assignment, With, MacroDefinition, LoopExit> content;
    std::uint32_t line = 0;
};

struct SyntaxTree {
    std::vector<std::unique_ptr<const Expression>> expressions;
    std::vector<std::unique_ptr<const Statement>> statements;
    Body body;
};

} // namespace engine::jinja
