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

template <Side From>
Result<Value> strip(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("strip", arguments, {"chars"}));
    return strippedValue(context, text, bound.given(0), From);
}

Result<Value> listOf(RenderContext& context, const std::vector<std::string_view>& parts) {
    ENGINE_TRY_DO(context.spend(3 * parts.size()));
    std::vector<Value> items;
    for (const std::string_view part : parts)
        items.push_back(Value::text(std::string(part)));
    return Value::list(std::move(items));
}

/// str.split and str.rsplit.
template <Side From>
Result<Value> split(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("split", arguments, {"sep", "maxsplit"}));
    ENGINE_TRY(const std::int64_t limit, bound.integerOr(1, -1));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    if (bound.given(0) == nullptr) {
        ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
        return listOf(context, splitText(text.asText(), std::nullopt, limit, From));
    }
    ENGINE_TRY(const std::string separator, bound.textOr(0, ""));
    if (separator.empty())
        return templateError("empty separator");
    ENGINE_TRY_DO(context.spendReading(separator.size()));
    return listOf(context, splitText(text.asText(), separator, limit, From));
}

/// str.partition and str.rpartition.
template <Side From>
Result<Value> partition(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("partition", arguments, {"sep"}, 1));
    ENGINE_TRY(std::string separator, bound.textOr(0, ""));
    const Value between = Value::text(std::move(separator));
    ENGINE_TRY(const Value cut, split<From>(context, text, {{between, Value::integer(1)}, {}}));
    std::vector<Value> parts = cut.asSequence()->items;
    if (parts.size() == 2)
        parts.insert(parts.begin() + 1, between);
    else
        parts.insert(From == Side::Left ? parts.end() : parts.begin(), 2, Value::text(""));
    return Value::sequence(SequenceKind::Tuple, std::move(parts));
}

Result<Value> lines(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("splitlines", arguments, {}));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    return listOf(context, splitLines(text.asText()));
}

Result<Value> title(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("title", arguments, {}));
    ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
    return Value::text(utf8::titled(text.asText()));
}

enum class Search : std::uint8_t { Find, Index, Count };

/// str.find, str.index or str.count in the whole text.
template <Search Wanted>
Result<Value> find(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("find", arguments, {"sub"}, 1));
    ENGINE_TRY(const std::string wanted, bound.textOr(0, ""));
    if (wanted.empty())
        return templateLimit("looking for an empty text is not supported");
    ENGINE_TRY_DO(context.spend(2 + (text.asText().size() + wanted.size()) / 16));
    const auto parts = splitText(text.asText(), wanted, Wanted == Search::Count ? -1 : 1);
    if (Wanted == Search::Count)
        return Value::integer(static_cast<std::int64_t>(parts.size()) - 1);
    if (Wanted == Search::Index && parts.size() == 1)
        return templateError("substring not found");
    const std::size_t place = utf8::characterCount(parts.front());
    return Value::integer(parts.size() == 1 ? -1 : static_cast<std::int64_t>(place));
}

/// list.index in the whole list.
Result<Value> indexOf(RenderContext& context, const Value& list, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("index", arguments, {"value"}, 1));
    const std::vector<Value>& items = list.asSequence()->items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        ENGINE_TRY(const bool isEqual, areEqual(context, items[i], bound.valueAt(0)));
        if (isEqual)
            return Value::integer(static_cast<std::int64_t>(i));
    }
    return templateError("what is looked for is not in the list");
}

bool touches(const Value& text, const std::string& affix, Side side) {
    return side == Side::Left ? text.asText().starts_with(affix) : text.asText().ends_with(affix);
}

/// str.startswith and str.endswith; a tuple names several texts.
template <Side From>
Result<Value> touchesAny(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("startswith", arguments, {"text"}, 1));
    const Value wanted = bound.valueAt(0);
    const bool isTuple = wanted.isSequence(SequenceKind::Tuple);
    for (const Value& one : isTuple ? wanted.asSequence()->items : std::vector{wanted}) {
        if (!one.isText())
            return templateError(
                fmt::format("startswith() needs a str or a tuple of them, not {}", one.typeName()));
        ENGINE_TRY_DO(context.spend(1 + one.asText().size() / 64));
        if (touches(text, one.asText(), From))
            return Value::boolean(true);
    }
    return Value::boolean(false);
}

/// str.removeprefix and str.removesuffix.
template <Side From>
Result<Value> withoutAffix(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("removeprefix", arguments, {"affix"}, 1));
    ENGINE_TRY(const std::string affix, bound.textOr(0, ""));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    if (!touches(text, affix, From))
        return text;
    const std::size_t length = text.asText().size() - affix.size();
    return Value::text(text.asText().substr(From == Side::Left ? affix.size() : 0, length));
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
    {"count", find<Search::Count>},
    {"endswith", touchesAny<Side::Right>},
    {"find", find<Search::Find>},
    {"index", find<Search::Index>},
    {"join", join},
    {"lstrip", strip<Side::Left>},
    {"partition", partition<Side::Left>},
    {"removeprefix", withoutAffix<Side::Left>},
    {"removesuffix", withoutAffix<Side::Right>},
    {"rpartition", partition<Side::Right>},
    {"rsplit", split<Side::Right>},
    {"rstrip", strip<Side::Right>},
    {"split", split<Side::Left>},
    {"splitlines", lines},
    {"startswith", touchesAny<Side::Left>},
    {"title", title},
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

Value boundTo(Value receiver, FilterFunction function) {
    return Value::object(std::make_shared<BoundMethod>(std::move(receiver), function));
}

std::optional<Value> boundMethod(const Value& receiver, std::string_view name) {
    FilterFunction function = nullptr;
    if (receiver.isText() && std::ranges::count(kFilterMethods, name) > 0)
        function = findFilter(name == "strip" ? "trim" : name);
    else if (receiver.isText())
        function = findNamed(kTextMethods, name);
    else if (receiver.is(Kind::Dict))
        function = findNamed(kDictMethods, name);
    else if (receiver.isSequence(SequenceKind::List) && name == "index")
        function = indexOf;
    if (function == nullptr)
        return std::nullopt;
    return boundTo(receiver, function);
}

} // namespace engine::jinja
