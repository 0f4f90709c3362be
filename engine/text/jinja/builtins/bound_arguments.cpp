// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/bound_arguments.h"

#include <algorithm>

namespace engine::jinja {

Result<BoundArguments> BoundArguments::bind(std::string_view function,
                                            const Arguments& arguments,
                                            std::initializer_list<std::string_view> parameters,
                                            std::size_t required) {
    if (arguments.positional.size() > parameters.size())
        return templateError(fmt::format("{}() takes at most {} arguments, not {}",
                                         function,
                                         parameters.size(),
                                         arguments.positional.size()));
    BoundArguments bound;
    bound.m_function = function;
    bound.m_values.assign(arguments.positional.begin(), arguments.positional.end());
    bound.m_values.resize(parameters.size());
    for (const auto& [name, value] : arguments.named) {
        const auto* place = std::find(parameters.begin(), parameters.end(), name);
        if (place == parameters.end())
            return templateError(
                fmt::format("{}() got an unexpected keyword argument '{}'", function, name));
        auto& slot = bound.m_values[static_cast<std::size_t>(place - parameters.begin())];
        if (slot)
            return templateError(
                fmt::format("{}() got multiple values for argument '{}'", function, name));
        slot = value;
    }
    for (std::size_t i = 0; i < required; ++i)
        if (!bound.m_values[i])
            return templateError(
                fmt::format("{}() misses its argument '{}'", function, *(parameters.begin() + i)));
    return bound;
}

const Value* BoundArguments::given(std::size_t index) const {
    const auto& value = m_values[index];
    return value && !value->is(Kind::None) ? &*value : nullptr;
}

Result<std::int64_t> BoundArguments::integerOr(std::size_t index, std::int64_t standard) const {
    if (!m_values[index])
        return standard;
    if (m_values[index]->isUndefined())
        return templateError(m_values[index]->undefinedReason());
    if (!m_values[index]->isIntegral())
        return templateError(
            fmt::format("{}() needs an integer, not {}", m_function, m_values[index]->typeName()));
    return m_values[index]->asInteger();
}

Result<std::string> BoundArguments::textOr(std::size_t index, std::string_view standard) const {
    if (!m_values[index])
        return std::string(standard);
    if (m_values[index]->isUndefined())
        return templateError(m_values[index]->undefinedReason());
    if (!m_values[index]->isText())
        return templateError(
            fmt::format("{}() needs a str, not {}", m_function, m_values[index]->typeName()));
    return m_values[index]->asText();
}

bool BoundArguments::truthOr(std::size_t index, bool standard) const {
    return m_values[index] ? m_values[index]->isTrue() : standard;
}

} // namespace engine::jinja
