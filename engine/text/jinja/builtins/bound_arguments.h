// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

#include <initializer_list>
#include <optional>

namespace engine::jinja {

/// The arguments of a call in the order of the function's parameters.
class BoundArguments {
public:
    /// Errors: too many, too few (below `required`), a name that is none of the parameters.
    static Result<BoundArguments> bind(std::string_view function,
                                       const Arguments& arguments,
                                       std::initializer_list<std::string_view> parameters,
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
    std::string m_function;
    std::vector<std::optional<Value>> m_values;
};

} // namespace engine::jinja
