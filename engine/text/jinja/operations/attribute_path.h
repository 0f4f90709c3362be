// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

namespace engine::jinja {

/// What `attribute=` of a filter means: "function.name" or an index, taken item by item.
class AttributePath {
public:
    /// Null means the value itself. Errors: neither a text nor an integer.
    static Result<AttributePath> parse(const Value* attribute);

    Result<Value> follow(RenderContext& context, const Value& start) const;

private:
    std::vector<Value> m_steps;
};

} // namespace engine::jinja
