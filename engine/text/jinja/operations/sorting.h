// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/operations/value_compare.h"

namespace engine::jinja {

struct KeyedValue {
    Value key;
    Value value;
};

/// By what values are compared: themselves, or an attribute; texts perhaps in lower case.
struct KeyRule {
    const Value* attribute = nullptr;
    bool ignoresCase = true;
};

Result<std::vector<KeyedValue>>
withKeys(RenderContext& context, const std::vector<Value>& values, const KeyRule& rule);

/// Stable, as Python's sort. Errors: keys without an order, the limit of steps.
Result<void> sortByKey(RenderContext& context, std::vector<KeyedValue>& values, bool isReversed);

std::vector<Value> valuesOf(std::vector<KeyedValue> keyed);

} // namespace engine::jinja
