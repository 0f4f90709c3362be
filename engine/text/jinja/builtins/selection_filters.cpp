// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/builtins/filters.h"
#include "engine/text/jinja/builtins/tests.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/operations/attribute_path.h"
#include "engine/text/jinja/operations/sorting.h"

namespace engine::jinja {

namespace {

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

Result<Value> mapAttribute(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("map", arguments, {"attribute", "default"}, 1));
    ENGINE_TRY(const AttributePath path, AttributePath::parse(bound.given(0)));
    ENGINE_TRY(const Items items, selectableItems(context, input));
    std::vector<Value> mapped;
    for (const Value& item : *items) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(Value value, path.follow(context, item));
        const bool takesDefault = value.isUndefined() && bound.given(1) != nullptr;
        mapped.push_back(takesDefault ? bound.valueAt(1) : std::move(value));
    }
    return Value::sequence(SequenceKind::Generator, std::move(mapped));
}

Result<Value> map(RenderContext& context, const Value& input, const Arguments& arguments) {
    if (arguments.positional.empty() && arguments.findNamed("attribute") != nullptr)
        return mapAttribute(context, input, arguments);
    if (arguments.positional.empty() || !arguments.positional[0].isText())
        return templateError("map requires a filter argument");
    const std::string& name = arguments.positional[0].asText();
    const FilterFunction filter = findFilter(name);
    if (filter == nullptr)
        return templateLimit(fmt::format("No filter named '{}'.", name.substr(0, 100)));
    const Arguments rest = argumentsFrom(arguments, 1);
    ENGINE_TRY(const Items items, selectableItems(context, input));
    std::vector<Value> mapped;
    for (const Value& item : *items) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(Value value, filter(context, item, rest));
        mapped.push_back(std::move(value));
    }
    return Value::sequence(SequenceKind::Generator, std::move(mapped));
}

/// What select and its relatives ask of every item: truth, or a test with arguments.
struct Condition {
    TestFunction test = nullptr;
    Arguments arguments;

    Result<bool> holds(RenderContext& context, const Value& value) const {
        ENGINE_TRY_DO(context.spend(1));
        if (test == nullptr)
            return value.isTrue();
        return test(context, value, arguments);
    }
};

Result<Condition> conditionFrom(const Arguments& arguments, std::size_t testIndex) {
    Condition condition;
    if (arguments.positional.size() <= testIndex)
        return condition;
    const Value& name = arguments.positional[testIndex];
    condition.test = name.isText() ? findTest(name.asText()) : nullptr;
    if (condition.test == nullptr)
        return templateLimit(fmt::format("No test named '{}'.",
                                         name.isText() ? name.asText().substr(0, 100) : "None"));
    condition.arguments = argumentsFrom(arguments, testIndex + 1);
    return condition;
}

template <bool Wanted>
Result<Value> select(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const Condition condition, conditionFrom(arguments, 0));
    ENGINE_TRY(const Items items, selectableItems(context, input));
    std::vector<Value> kept;
    for (const Value& item : *items) {
        ENGINE_TRY(const bool holds, condition.holds(context, item));
        if (holds == Wanted)
            kept.push_back(item);
    }
    return Value::sequence(SequenceKind::Generator, std::move(kept));
}

template <bool Wanted>
Result<Value>
selectByAttribute(RenderContext& context, const Value& input, const Arguments& arguments) {
    if (arguments.positional.empty())
        return templateError("Missing parameter for attribute name");
    ENGINE_TRY(const AttributePath path, AttributePath::parse(&arguments.positional[0]));
    ENGINE_TRY(const Condition condition, conditionFrom(arguments, 1));
    ENGINE_TRY(const Items items, selectableItems(context, input));
    std::vector<Value> kept;
    for (const Value& item : *items) {
        ENGINE_TRY(const Value value, path.follow(context, item));
        ENGINE_TRY(const bool holds, condition.holds(context, value));
        if (holds == Wanted)
            kept.push_back(item);
    }
    return Value::sequence(SequenceKind::Generator, std::move(kept));
}

Result<Value> sort(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("sort", arguments, {"reverse", "case_sensitive", "attribute"}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY(auto keyed, withKeys(context, *items, {bound.given(2), !bound.truthOr(1, false)}));
    ENGINE_TRY_DO(sortByKey(context, keyed, bound.truthOr(0, false)));
    return Value::list(valuesOf(std::move(keyed)));
}

Result<Value> dictsort(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("dictsort", arguments, {"case_sensitive", "by", "reverse"}));
    ENGINE_TRY(const std::string by, bound.textOr(1, "key"));
    if (by != "key" && by != "value")
        return templateError("You can only sort by either \"key\" or \"value\"");
    if (!input.is(Kind::Dict))
        return templateError(fmt::format("dictsort needs a dict, not {}", input.typeName()));
    std::vector<Value> pairs;
    for (const Dict::Entry& entry : input.asDict().entries()) {
        ENGINE_TRY_DO(context.spend(3));
        ENGINE_TRY(Value pair, Value::sequence(SequenceKind::Tuple, {entry.key, entry.value}));
        pairs.push_back(std::move(pair));
    }
    const Value index = Value::integer(by == "key" ? 0 : 1);
    ENGINE_TRY(auto keyed, withKeys(context, pairs, {&index, !bound.truthOr(0, false)}));
    ENGINE_TRY_DO(sortByKey(context, keyed, bound.truthOr(2, false)));
    return Value::list(valuesOf(std::move(keyed)));
}

Result<Value> unique(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("unique", arguments, {"case_sensitive", "attribute"}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY(auto keyed, withKeys(context, *items, {bound.given(1), !bound.truthOr(0, false)}));
    Dict seen;
    std::vector<Value> kept;
    for (KeyedValue& entry : keyed) {
        ENGINE_TRY(const Value* known, seen.find(entry.key));
        if (known != nullptr)
            continue;
        ENGINE_TRY_DO(seen.set(entry.key, Value::none()));
        kept.push_back(std::move(entry.value));
    }
    return Value::sequence(SequenceKind::Generator, std::move(kept));
}

template <bool WantsLargest>
Result<Value> extreme(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("min", arguments, {"case_sensitive", "attribute"}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY(auto keyed, withKeys(context, *items, {bound.given(1), !bound.truthOr(0, false)}));
    if (keyed.empty())
        return Value::undefined("No aggregated item, sequence was empty.");
    std::size_t best = 0;
    for (std::size_t i = 1; i < keyed.size(); ++i) {
        ENGINE_TRY(const bool isBetter,
                   WantsLargest ? isLess(context, keyed[best].key, keyed[i].key)
                                : isLess(context, keyed[i].key, keyed[best].key));
        best = isBetter ? i : best;
    }
    return keyed[best].value;
}

constexpr NamedFilter kSelectionFilters[] = {
    {"dictsort", dictsort},
    {"map", map},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"reject", select<false>},
    {"rejectattr", selectByAttribute<false>},
    {"select", select<true>},
    {"selectattr", selectByAttribute<true>},
    {"sort", sort},
    {"unique", unique},
};

} // namespace

FilterFunction findSelectionFilter(std::string_view name) {
    return findNamed(kSelectionFilters, name);
}

} // namespace engine::jinja
