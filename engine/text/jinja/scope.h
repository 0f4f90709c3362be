// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

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

} // namespace engine::jinja
