// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/text.h"
#include "engine/text/jinja/values/value.h"

/// What a template may call: filters, tests, methods and functions. These are the ones that
/// published chat templates use; any other is refused by its name.
namespace engine::jinja {

/// A filter's code: what stands before the bar, then the arguments in parentheses.
using FilterFunction = Result<Value> (*)(RenderContext&, const Value&, const Arguments&);

/// A test's code: `value is name(arguments)`.
using TestFunction = Result<bool> (*)(RenderContext&, const Value&, const Arguments&);

/// Null when there is no such filter.
FilterFunction findFilter(std::string_view name);

/// The part of them that goes through a sequence by a rule.
FilterFunction findSelectionFilter(std::string_view name);

/// Null when there is no such test.
TestFunction findTest(std::string_view name);

/// A filter's code as a value, to be called with the arguments alone.
Value boundTo(Value receiver, FilterFunction function);

/// The method of a text, list or dict, ready to be called; nothing when it has none of this name.
/// There are none that would change a list or dict, as in the sandbox that published templates are
/// written for.
std::optional<Value> boundMethod(const Value& receiver, std::string_view name);

/// range, dict, namespace, raise_exception and strftime_now, by name.
std::vector<std::pair<std::string, Value>> globalFunctions();

/// What namespace() returns: the one thing whose attributes a template may set.
class Namespace : public Object {
public:
    explicit Namespace(Dict attributes)
        : m_attributes(std::move(attributes)) {}

    std::string_view typeName() const override { return "Namespace"; }

    std::optional<Value> attribute(std::string_view name) const override {
        const Value* found = m_attributes.findText(name);
        return found != nullptr ? std::optional(*found) : std::nullopt;
    }

    void setAttribute(std::string name, Value value) {
        m_attributes.setText(std::move(name), std::move(value));
    }

    void releaseValues() override { m_attributes = {}; }

private:
    Dict m_attributes;
};

/// The function of this name in a table of {name, function}, or null.
template <typename Entry, std::size_t Count>
auto findNamed(const Entry (&table)[Count], std::string_view name) {
    for (const auto& [known, function] : table)
        if (known == name)
            return function;
    return decltype(table[0].second)(nullptr);
}

/// The arguments of a call in the order of the function's parameters.
class BoundArguments {
public:
    /// Errors: too few (below `required`); Unsupported: too many, or a name that is none of the
    /// parameters, since Python may know more of them.
    static Result<BoundArguments> bind(std::string_view function,
                                       const Arguments& arguments,
                                       const std::vector<std::string_view>& parameters,
                                       std::size_t required = 0);

    bool has(std::size_t index) const { return m_values[index].has_value(); }

    /// Null when it was not given or is None.
    const Value* given(std::size_t index) const;

    /// The value, or an undefined one when it was not given.
    Value valueAt(std::size_t index) const { return m_values[index].value_or(Value()); }

    /// Errors: given, but no integer.
    Result<std::int64_t> integerOr(std::size_t index, std::int64_t standard) const;

    /// Errors: given, but no text.
    Result<std::string> textOr(std::size_t index, std::string_view standard) const;

    bool truthOr(std::size_t index, bool standard) const;

private:
    Error wrongType(std::size_t index, std::string_view wanted) const;

    std::string m_function;
    std::vector<std::optional<Value>> m_values;
};

/// (key, value) of all entries.
Result<std::vector<Value>> pairsOf(RenderContext& context, const Dict& dict);

/// The texts of all items with the separator between them.
Result<Value>
joinedValue(RenderContext& context, const std::vector<Value>& items, std::string_view separator);

/// str.strip; `characters` may be null. Errors: characters that are no text.
Result<Value>
strippedValue(RenderContext& context, const Value& text, const Value* characters, Side side);

} // namespace engine::jinja
