// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

class BoundMethod : public Object {
public:
    BoundMethod(Value receiver, FilterFunction function)
        : m_receiver(std::move(receiver))
        , m_function(function) {}

    std::string_view typeName() const override { return "builtin_function_or_method"; }

    int depth() const override { return m_receiver.depth() + 1; }

    Result<Value> call(RenderContext& context, const Arguments& arguments) override {
        return m_function(context, m_receiver, arguments);
    }

private:
    Value m_receiver;
    FilterFunction m_function;
};

constexpr std::string_view kChangingListMethods[] = {
    "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};

constexpr std::string_view kChangingDictMethods[] = {
    "clear", "pop", "popitem", "setdefault", "update"};

bool changesReceiver(const Value& receiver, std::string_view name) {
    if (receiver.isSequence(SequenceKind::List))
        return std::ranges::count(kChangingListMethods, name) > 0;
    return receiver.is(Kind::Dict) && std::ranges::count(kChangingDictMethods, name) > 0;
}

template <Side From>
Result<Value> strip(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("strip", arguments, {"chars"}));
    return strippedValue(context, text, bound.given(0), From);
}

Result<Value> split(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("split", arguments, {"sep", "maxsplit"}));
    ENGINE_TRY(const std::int64_t limit, bound.integerOr(1, -1));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    if (bound.given(0) == nullptr)
        ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
    std::optional<std::string> separator;
    if (bound.given(0) != nullptr) {
        ENGINE_TRY(separator, bound.textOr(0, ""));
        if (separator->empty())
            return templateError("empty separator");
        ENGINE_TRY_DO(context.spendReading(separator->size()));
    }
    const auto parts = splitText(text.asText(), separator, limit);
    ENGINE_TRY_DO(context.spend(3 * parts.size()));
    std::vector<Value> items;
    items.reserve(parts.size());
    for (const std::string_view part : parts)
        items.push_back(Value::text(std::string(part)));
    return Value::list(std::move(items));
}

template <Side From>
Result<Value> touches(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("startswith", arguments, {"text"}, 1));
    ENGINE_TRY(const std::string wanted, bound.textOr(0, ""));
    ENGINE_TRY_DO(context.spend(1 + wanted.size() / 64));
    const std::string& all = text.asText();
    return Value::boolean(From == Side::Left ? all.starts_with(wanted) : all.ends_with(wanted));
}

Result<Value> join(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("join", arguments, {"iterable"}, 1));
    const Value iterable = bound.valueAt(0);
    if (iterable.isUndefined())
        return Value::text("");
    ENGINE_TRY(const Items items, itemsOf(context, iterable));
    for (std::size_t i = 0; i < items->size(); ++i)
        if (!(*items)[i].isText())
            return templateError(fmt::format(
                "sequence item {}: expected str instance, {} found", i, (*items)[i].typeName()));
    return joinedValue(context, *items, text.asText());
}

/// Methods that do what the filter of their name does; strip is the filter trim.
constexpr std::string_view kFilterMethods[] = {"capitalize", "lower", "replace", "strip", "upper"};

constexpr std::pair<std::string_view, FilterFunction> kTextMethods[] = {
    {"endswith", touches<Side::Right>},
    {"join", join},
    {"lstrip", strip<Side::Left>},
    {"rstrip", strip<Side::Right>},
    {"split", split},
    {"startswith", touches<Side::Left>},
};

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
    ENGINE_TRY(std::vector<Value> pairs, pairsOf(context, dict.asDict()));
    return Value::sequence(SequenceKind::Items, std::move(pairs));
}

/// dict.keys and dict.values.
template <Value Dict::Entry::*Part, SequenceKind View>
Result<Value> dictParts(RenderContext& context, const Value& dict, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("keys", arguments, {}));
    std::vector<Value> parts;
    for (const Dict::Entry& entry : dict.asDict().entries())
        parts.push_back(entry.*Part);
    ENGINE_TRY_DO(context.spend(parts.size()));
    return Value::sequence(View, std::move(parts));
}

constexpr std::pair<std::string_view, FilterFunction> kDictMethods[] = {
    {"get", dictGet},
    {"items", dictItems},
    {"keys", dictParts<&Dict::Entry::key, SequenceKind::Keys>},
    {"values", dictParts<&Dict::Entry::value, SequenceKind::Values>},
};

} // namespace

Result<std::vector<Value>> pairsOf(RenderContext& context, const Dict& dict) {
    std::vector<Value> pairs;
    for (const Dict::Entry& entry : dict.entries()) {
        ENGINE_TRY_DO(context.spend(3));
        ENGINE_TRY(Value pair, Value::sequence(SequenceKind::Tuple, {entry.key, entry.value}));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

Result<Value>
joinedValue(RenderContext& context, const std::vector<Value>& items, std::string_view separator) {
    std::string out;
    for (std::size_t i = 0; i < items.size(); ++i) {
        ENGINE_TRY(const std::string text, toText(context, items[i]));
        out += i == 0 ? std::string_view() : separator;
        out += text;
        ENGINE_TRY_DO(context.spend(1 + (text.size() + separator.size()) / 32));
        if (out.size() > context.maxTextBytes())
            ENGINE_TRY_DO(context.spendText(out.size()));
    }
    return Value::text(std::move(out));
}

Result<Value>
strippedValue(RenderContext& context, const Value& text, const Value* characters, Side side) {
    std::optional<std::string_view> set;
    if (characters != nullptr) {
        if (!characters->isText())
            return templateError("strip arg must be None or str");
        set = characters->asText();
        ENGINE_TRY_DO(context.spend(set->size() / 4));
    }
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    const std::string_view kept = stripped(text.asText(), set, side);
    ENGINE_TRY_DO(context.spendLookingUp(text.asText().size() - kept.size()));
    return kept.size() == text.asText().size() ? text : Value::text(std::string(kept));
}

Result<Value> replacedValue(RenderContext& context,
                            std::string_view text,
                            std::string_view wanted,
                            std::string_view replacement,
                            std::int64_t limit) {
    ENGINE_TRY_DO(context.spendReading(text.size() + wanted.size()));
    std::string out;
    std::size_t start = 0;
    for (std::int64_t done = 0; done != limit; ++done) {
        const std::size_t found = findText(text, wanted, start);
        if (found == std::string_view::npos)
            break;
        ENGINE_TRY_DO(context.spend(replacement.size() / 16));
        out += text.substr(start, found - start);
        out += replacement;
        start = found + wanted.size();
        if (out.size() > context.maxTextBytes())
            break;
        if (!wanted.empty())
            continue;
        // An empty text is found before every character and at the end.
        if (start == text.size())
            break;
        const std::size_t bytes = utf8::characterAt(text, start).bytes;
        out += text.substr(start, bytes);
        start += bytes;
    }
    out += text.substr(start);
    ENGINE_TRY_DO(context.spendText(out.size()));
    return Value::text(std::move(out));
}

std::optional<Value> boundMethod(const Value& receiver, std::string_view name) {
    if (changesReceiver(receiver, name))
        return Value::undefined(fmt::format(
            "access to attribute '{}' of '{}' object is unsafe.", name, receiver.typeName()));
    FilterFunction function = nullptr;
    if (receiver.isText() && std::ranges::count(kFilterMethods, name) > 0)
        function = findFilter(name == "strip" ? "trim" : name);
    else if (receiver.isText())
        function = findNamed(kTextMethods, name);
    else if (receiver.is(Kind::Dict))
        function = findNamed(kDictMethods, name);
    if (function == nullptr)
        return std::nullopt;
    return Value::object(std::make_shared<BoundMethod>(receiver, function));
}

} // namespace engine::jinja
