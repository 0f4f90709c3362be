// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/methods/methods.h"
#include "engine/text/jinja/operations/value_compare.h"

namespace engine::jinja {

namespace {

Result<Value> dictGet(RenderContext& context, const Value& dict, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("get", arguments, {"key", "default"}, 1));
    const Value key = bound.valueAt(0);
    if (key.isText())
        ENGINE_TRY_DO(context.spendReading(key.asText().size()));
    ENGINE_TRY(const Value* found, dict.asDict().find(key));
    if (found != nullptr)
        return *found;
    return bound.has(1) ? bound.valueAt(1) : Value::none();
}

Result<Value> dictItems(RenderContext& context, const Value& dict, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("items", arguments, {}));
    const auto& entries = dict.asDict().entries();
    ENGINE_TRY_DO(context.spend(3 * entries.size()));
    std::vector<Value> pairs;
    pairs.reserve(entries.size());
    for (const Dict::Entry& entry : entries) {
        ENGINE_TRY(Value pair, Value::sequence(SequenceKind::Tuple, {entry.key, entry.value}));
        pairs.push_back(std::move(pair));
    }
    return Value::sequence(SequenceKind::Items, std::move(pairs));
}

Result<Value> dictKeys(RenderContext& context, const Value& dict, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("keys", arguments, {}));
    std::vector<Value> keys;
    for (const Dict::Entry& entry : dict.asDict().entries())
        keys.push_back(entry.key);
    ENGINE_TRY_DO(context.spend(keys.size()));
    return Value::sequence(SequenceKind::Keys, std::move(keys));
}

Result<Value> dictValues(RenderContext& context, const Value& dict, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("values", arguments, {}));
    std::vector<Value> values;
    for (const Dict::Entry& entry : dict.asDict().entries())
        values.push_back(entry.value);
    ENGINE_TRY_DO(context.spend(values.size()));
    return Value::sequence(SequenceKind::Values, std::move(values));
}

/// Values never change, so a copy is the value itself.
Result<Value> copy(RenderContext&, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("copy", arguments, {}));
    return value;
}

Result<Value> sequenceCount(RenderContext& context, const Value& list, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("count", arguments, {"value"}, 1));
    std::int64_t count = 0;
    for (const Value& item : list.asSequence()->items) {
        ENGINE_TRY(const bool isEqual, areEqual(context, item, bound.valueAt(0)));
        count += isEqual ? 1 : 0;
    }
    return Value::integer(count);
}

Result<Value> sequenceIndex(RenderContext& context, const Value& list, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("index", arguments, {"value"}, 1));
    std::int64_t index = 0;
    for (const Value& item : list.asSequence()->items) {
        ENGINE_TRY(const bool isEqual, areEqual(context, item, bound.valueAt(0)));
        if (isEqual)
            return Value::integer(index);
        ++index;
    }
    return templateError("the value is not in the list");
}

constexpr NamedMethod kDictMethods[] = {
    {"copy", copy},
    {"get", dictGet},
    {"items", dictItems},
    {"keys", dictKeys},
    {"values", dictValues},
};

constexpr NamedMethod kSequenceMethods[] = {
    {"copy", copy},
    {"count", sequenceCount},
    {"index", sequenceIndex},
};

template <std::size_t Count>
MethodFunction find(const NamedMethod (&methods)[Count], std::string_view name) {
    for (const NamedMethod& method : methods)
        if (method.name == name)
            return method.function;
    return nullptr;
}

} // namespace

MethodFunction findDictMethod(std::string_view name) { return find(kDictMethods, name); }

MethodFunction findSequenceMethod(std::string_view name) { return find(kSequenceMethods, name); }

} // namespace engine::jinja
