// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

namespace engine::jinja {

/// A filter's code: what stands before the bar, then the arguments in parentheses.
using FilterFunction = Result<Value> (*)(RenderContext&, const Value&, const Arguments&);

struct NamedFilter {
    std::string_view name;
    FilterFunction function;
};

/// Null when there is no such filter.
FilterFunction findFilter(std::string_view name);

// The parts that findFilter looks through.
FilterFunction findTextFilter(std::string_view name);
FilterFunction findValueFilter(std::string_view name);
FilterFunction findSequenceFilter(std::string_view name);
FilterFunction findSelectionFilter(std::string_view name);

template <std::size_t Count>
FilterFunction findNamed(const NamedFilter (&filters)[Count], std::string_view name) {
    for (const NamedFilter& filter : filters)
        if (filter.name == name)
            return filter.function;
    return nullptr;
}

} // namespace engine::jinja
