// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/filters.h"

namespace engine::jinja {

FilterFunction findFilter(std::string_view name) {
    for (const auto find :
         {findTextFilter, findValueFilter, findSequenceFilter, findSelectionFilter})
        if (const FilterFunction function = find(name))
            return function;
    return nullptr;
}

} // namespace engine::jinja
