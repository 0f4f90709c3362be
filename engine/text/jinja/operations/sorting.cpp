// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/operations/sorting.h"

#include "engine/text/jinja/operations/attribute_path.h"
#include "engine/text/jinja/values/utf8_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

/// Merges [start, middle) and [middle, end), both in order, into `out`.
Result<void> merge(RenderContext& context,
                   std::vector<KeyedValue>& values,
                   const std::size_t (&bounds)[3],
                   bool isReversed) {
    const auto [start, middle, end] = bounds;
    std::vector<KeyedValue> merged;
    merged.reserve(end - start);
    std::size_t left = start;
    std::size_t right = middle;
    while (left < middle && right < end) {
        const Value& a = values[left].key;
        const Value& b = values[right].key;
        ENGINE_TRY(const bool isRightFirst,
                   isReversed ? isLess(context, a, b) : isLess(context, b, a));
        merged.push_back(std::move(values[isRightFirst ? right++ : left++]));
    }
    while (left < middle)
        merged.push_back(std::move(values[left++]));
    while (right < end)
        merged.push_back(std::move(values[right++]));
    std::move(merged.begin(), merged.end(), values.begin() + static_cast<std::ptrdiff_t>(start));
    return {};
}

} // namespace

Result<std::vector<KeyedValue>>
withKeys(RenderContext& context, const std::vector<Value>& values, const KeyRule& rule) {
    ENGINE_TRY(const AttributePath path, AttributePath::parse(rule.attribute));
    std::vector<KeyedValue> keyed;
    keyed.reserve(values.size());
    for (const Value& value : values) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(Value key, path.follow(context, value));
        if (key.isText() && rule.ignoresCase) {
            ENGINE_TRY_DO(context.spendLookingUp(key.asText().size()));
            key = Value::text(utf8::lower(key.asText()));
        }
        keyed.push_back({std::move(key), value});
    }
    return keyed;
}

// Our own merge sort: a comparison may fail, which std::sort does not survive.
Result<void> sortByKey(RenderContext& context, std::vector<KeyedValue>& values, bool isReversed) {
    for (std::size_t width = 1; width < values.size(); width *= 2)
        for (std::size_t start = 0; start + width < values.size(); start += 2 * width)
            ENGINE_TRY_DO(merge(context,
                                values,
                                {start, start + width, std::min(start + 2 * width, values.size())},
                                isReversed));
    return {};
}

std::vector<Value> valuesOf(std::vector<KeyedValue> keyed) {
    std::vector<Value> values;
    values.reserve(keyed.size());
    for (KeyedValue& entry : keyed)
        values.push_back(std::move(entry.value));
    return values;
}

} // namespace engine::jinja
