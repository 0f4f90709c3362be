// SPDX-License-Identifier: Apache-2.0
// Filters that go through a sequence by a rule: an attribute, a test, another filter, an order.
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <bit>

namespace engine::jinja {

namespace {

/// What `attribute=` of a filter means: "function.name", taken item by item.
Result<Value> followPath(RenderContext& context, Value value, const Value& path) {
    if (!path.isText())
        return templateError("the attribute of a filter must be a text");
    ENGINE_TRY_DO(context.spend(path.asText().size()));
    for (const std::string_view name : splitText(path.asText(), ".", -1)) {
        ENGINE_TRY(value, itemOf(context, value, Value::text(std::string(name))));
    }
    return value;
}

/// By what values are sorted and told apart: texts in lower case, all others as they are.
Result<Value> keyOf(RenderContext& context, const Value& value) {
    ENGINE_TRY_DO(context.spend(1));
    if (!value.isText())
        return value;
    ENGINE_TRY_DO(context.spendLookingUp(value.asText().size()));
    return Value::text(utf8::lower(value.asText()));
}

struct KeyedValue {
    Value key;
    Value value;
};

/// Stable, as Python's sort. Errors: keys that are neither all texts nor all numbers.
Result<Value>
sortedByKey(RenderContext& context, std::vector<KeyedValue> entries, bool isReversed = false) {
    const auto rounds = static_cast<std::uint64_t>(std::bit_width(entries.size()));
    for (const KeyedValue& entry : entries) {
        ENGINE_TRY_DO(context.spend(rounds));
        ENGINE_TRY_DO(isLess(context, entries.front().key, entry.key));
        if (entry.key.isText())
            ENGINE_TRY_DO(context.spendReading(rounds * entry.key.asText().size()));
    }
    std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
        return isReversed ? comesBefore(b.key, a.key) : comesBefore(a.key, b.key);
    });
    std::vector<Value> values;
    for (KeyedValue& entry : entries)
        values.push_back(std::move(entry.value));
    return Value::list(std::move(values));
}

/// The items of a value; none for what is false, be it a number or None.
Result<Items> selectableItems(RenderContext& context, const Value& input) {
    if (!input.isTrue())
        return Items(std::make_shared<const std::vector<Value>>());
    return itemsOf(context, input);
}

/// Positional arguments from `start` on, and all named ones.
Arguments argumentsFrom(const Arguments& arguments, std::size_t start) {
    Arguments rest;
    for (std::size_t i = start; i < arguments.positional.size(); ++i)
        rest.positional.push_back(arguments.positional[i]);
    rest.named = arguments.named;
    return rest;
}

/// map(attribute="name"), or map("filter", its arguments).
Result<Value> map(RenderContext& context, const Value& input, const Arguments& arguments) {
    const Value* attribute = arguments.findNamed("attribute");
    const Value* standard = arguments.findNamed("default");
    const bool isByAttribute =
        attribute != nullptr && arguments.named.size() == (standard == nullptr ? 1U : 2U);
    const bool hasName = !arguments.positional.empty() && arguments.positional[0].isText();
    if (isByAttribute == hasName)
        return templateError("map takes an attribute or the name of a filter");
    const std::string name = hasName ? arguments.positional[0].asText() : "";
    const FilterFunction filter = findFilter(name);
    if (hasName && filter == nullptr)
        return templateLimit(fmt::format("the filter '{}' is not supported", name.substr(0, 100)));
    const Arguments rest = argumentsFrom(arguments, 1);
    ENGINE_TRY(const Items items, selectableItems(context, input));
    std::vector<Value> mapped;
    for (const Value& item : *items) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(Value value,
                   isByAttribute ? followPath(context, item, *attribute)
                                 : filter(context, item, rest));
        mapped.push_back(standard && value.isUndefined() ? *standard : std::move(value));
    }
    return Value::sequence(SequenceKind::Generator, std::move(mapped));
}

/// select(test, its arguments) and selectattr(attribute, test, its arguments): items for which the
/// test holds, or fails when not `Wanted`; without a test, those that are true.
template <bool Wanted, bool ByAttribute>
Result<Value> select(RenderContext& context, const Value& input, const Arguments& arguments) {
    constexpr std::size_t kTestIndex = ByAttribute ? 1 : 0;
    if (arguments.positional.size() < kTestIndex)
        return templateError("the name of an attribute is missing");
    TestFunction test = nullptr;
    if (arguments.positional.size() > kTestIndex) {
        const Value& name = arguments.positional[kTestIndex];
        test = name.isText() ? findTest(name.asText()) : nullptr;
        if (test == nullptr)
            return templateLimit(fmt::format("the test '{}' is not supported",
                                             name.isText() ? name.asText().substr(0, 100) : ""));
    }
    const Arguments rest = argumentsFrom(arguments, kTestIndex + 1);
    ENGINE_TRY(const Items items, selectableItems(context, input));
    std::vector<Value> kept;
    for (const Value& item : *items) {
        ENGINE_TRY_DO(context.spend(1));
        Value value = item;
        if (ByAttribute) {
            ENGINE_TRY(value, followPath(context, item, arguments.positional[0]));
        }
        ENGINE_TRY(const bool isTrue, test ? test(context, value, rest) : value.isTrue());
        if (isTrue == Wanted)
            kept.push_back(item);
    }
    return Value::sequence(SequenceKind::Generator, std::move(kept));
}

Result<Value> partOf(RenderContext& context, const Value& item, const Value* attribute) {
    return attribute != nullptr ? followPath(context, item, *attribute) : Result<Value>(item);
}

Result<Value> sort(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("sort", arguments, {"reverse", "case_sensitive", "attribute"}));
    if (bound.truthOr(1, false))
        return templateLimit("sorting capitals before other letters is not supported");
    ENGINE_TRY(const Items items, itemsOf(context, input));
    std::vector<KeyedValue> entries;
    for (const Value& item : *items) {
        ENGINE_TRY(const Value part, partOf(context, item, bound.given(2)));
        ENGINE_TRY(Value key, keyOf(context, part));
        entries.push_back({std::move(key), item});
    }
    return sortedByKey(context, std::move(entries), bound.truthOr(0, false));
}

/// min and max: the first of all when sorted.
template <bool IsReversed>
Result<Value> extreme(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("min", arguments, {}));
    ENGINE_TRY(const Value sorted, sort(context, input, {{Value::boolean(IsReversed)}, {}}));
    const std::vector<Value>& items = sorted.asSequence()->items;
    return items.empty() ? Value::undefined("No aggregated item, sequence was empty.")
                         : items.front();
}

Result<Value> sum(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("sum", arguments, {"attribute", "start"}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    Value total = bound.has(1) ? bound.valueAt(1) : Value::integer(0);
    for (const Value& item : *items) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(const Value part, partOf(context, item, bound.given(0)));
        ENGINE_TRY(total, calculate(context, ArithmeticOperator::Add, total, part));
    }
    return total;
}

Result<Value> reverse(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("reverse", arguments, {}));
    if (input.isText())
        return sliceOf(context, input, {Value::none(), Value::none(), Value::integer(-1)});
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY_DO(context.spend(items->size()));
    std::vector<Value> reversed(items->rbegin(), items->rend());
    return Value::sequence(SequenceKind::Generator, std::move(reversed));
}

Result<Value> dictsort(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("dictsort", arguments, {}));
    if (!input.is(Kind::Dict))
        return templateError(fmt::format("dictsort needs a dict, not {}", input.typeName()));
    ENGINE_TRY(const std::vector<Value> pairs, pairsOf(context, input.asDict()));
    std::vector<KeyedValue> entries;
    for (const Value& pair : pairs) {
        ENGINE_TRY(Value key, keyOf(context, pair.asSequence()->items.front()));
        entries.push_back({std::move(key), pair});
    }
    return sortedByKey(context, std::move(entries));
}

Result<Value> unique(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("unique", arguments, {}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    Dict seen;
    std::vector<Value> kept;
    for (const Value& item : *items) {
        ENGINE_TRY(const Value key, keyOf(context, item));
        ENGINE_TRY(const Value* known, seen.find(key));
        if (known != nullptr)
            continue;
        ENGINE_TRY_DO(seen.set(key, Value::none()));
        kept.push_back(item);
    }
    return Value::sequence(SequenceKind::Generator, std::move(kept));
}

Result<Value> joinItems(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("join", arguments, {"d"}));
    ENGINE_TRY(const std::string separator, toText(context, bound.valueAt(0)));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    return joinedValue(context, *items, separator);
}

constexpr std::pair<std::string_view, FilterFunction> kSelectionFilters[] = {
    {"dictsort", dictsort},
    {"join", joinItems},
    {"map", map},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"reverse", reverse},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};

} // namespace

FilterFunction findSelectionFilter(std::string_view name) {
    return findNamed(kSelectionFilters, name);
}

} // namespace engine::jinja
