// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/builtins/filters.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/operations/arithmetic.h"
#include "engine/text/jinja/operations/attribute_path.h"
#include "engine/text/jinja/values/utf8_text.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

Result<Value> length(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("length", arguments, {}));
    ENGINE_TRY(const std::int64_t count, lengthOf(context, input));
    return Value::integer(count);
}

Result<Value> list(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("list", arguments, {}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY_DO(context.spend(items->size()));
    return Value::list(*items);
}

Result<Value> first(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("first", arguments, {}));
    if (input.isSequence(SequenceKind::Generator)) {
        Sequence& generator = *input.asSequence();
        if (generator.consumed < generator.items.size())
            return generator.items[generator.consumed++];
        return Value::undefined("No first item, sequence was empty.");
    }
    if (input.isText() && !input.asText().empty())
        return Value::text(input.asText().substr(0, utf8::characterAt(input.asText(), 0).bytes));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    return items->empty() ? Value::undefined("No first item, sequence was empty.") : items->front();
}

Result<Value> last(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("last", arguments, {}));
    if (input.isSequence(SequenceKind::Generator))
        return templateError("'generator' object is not reversible");
    ENGINE_TRY(const Items items, itemsOf(context, input));
    return items->empty() ? Value::undefined("No last item, sequence was empty.") : items->back();
}

Result<Value> reverse(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("reverse", arguments, {}));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY_DO(context.spend(items->size()));
    if (!input.isText())
        return Value::sequence(SequenceKind::Generator, {items->rbegin(), items->rend()});
    std::string out;
    for (auto character = items->rbegin(); character != items->rend(); ++character)
        out += character->asText();
    return Value::text(std::move(out));
}

Result<Value> join(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("join", arguments, {"d", "attribute"}));
    ENGINE_TRY(const std::string separator, toText(context, bound.valueAt(0)));
    ENGINE_TRY(const AttributePath path, AttributePath::parse(bound.given(1)));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    std::string out;
    bool isFirst = true;
    for (const Value& item : *items) {
        ENGINE_TRY(const Value value, path.follow(context, item));
        ENGINE_TRY(const std::string text, toText(context, value));
        const std::size_t added = text.size() + (isFirst ? 0 : separator.size());
        ENGINE_TRY_DO(context.spend(1 + added / 32));
        if (out.size() + added > context.maxTextBytes())
            ENGINE_TRY_DO(context.spendText(out.size() + added));
        out += isFirst ? "" : separator;
        out += text;
        isFirst = false;
    }
    return Value::text(std::move(out));
}

Result<Value> items(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("items", arguments, {}));
    if (input.isUndefined())
        return Value::sequence(SequenceKind::Generator, {});
    if (!input.is(Kind::Dict))
        return templateError("Can only get item pairs from a mapping.");
    std::vector<Value> pairs;
    for (const Dict::Entry& entry : input.asDict().entries()) {
        ENGINE_TRY_DO(context.spend(3));
        ENGINE_TRY(Value pair, Value::sequence(SequenceKind::Tuple, {entry.key, entry.value}));
        pairs.push_back(std::move(pair));
    }
    return Value::sequence(SequenceKind::Generator, std::move(pairs));
}

Result<Value> sum(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("sum", arguments, {"attribute", "start"}));
    ENGINE_TRY(const AttributePath path, AttributePath::parse(bound.given(0)));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    Value total = bound.has(1) ? bound.valueAt(1) : Value::integer(0);
    for (const Value& item : *items) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(const Value value, path.follow(context, item));
        ENGINE_TRY(total, calculate(context, ArithmeticOperator::Add, total, value));
    }
    return total;
}

Result<Value> batch(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("batch", arguments, {"linecount", "fill_with"}, 1));
    ENGINE_TRY(const std::int64_t lineCount, bound.integerOr(0, 1));
    if (lineCount < 1)
        return templateError("batch() needs a positive number");
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY_DO(context.spend(4 * items->size()));
    const auto size = static_cast<std::size_t>(lineCount);
    std::vector<Value> lines;
    for (std::size_t start = 0; start < items->size(); start += std::min(size, items->size())) {
        const std::size_t end = start + std::min(size, items->size() - start);
        std::vector<Value> line(items->begin() + static_cast<std::ptrdiff_t>(start),
                                items->begin() + static_cast<std::ptrdiff_t>(end));
        if (line.size() < size && bound.given(1) != nullptr) {
            ENGINE_TRY_DO(context.spend(size - line.size()));
            line.resize(size, bound.valueAt(1));
        }
        ENGINE_TRY(Value made, Value::list(std::move(line)));
        lines.push_back(std::move(made));
    }
    return Value::sequence(SequenceKind::Generator, std::move(lines));
}

Result<Value> slice(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("slice", arguments, {"slices", "fill_with"}, 1));
    ENGINE_TRY(const std::int64_t given, bound.integerOr(0, 1));
    if (given < 1)
        return templateError("slice() needs a positive number");
    const auto count = static_cast<std::size_t>(given);
    ENGINE_TRY_DO(context.spend(4 * static_cast<std::uint64_t>(std::min(given, INT64_MAX / 4))));
    ENGINE_TRY(const Items items, itemsOf(context, input));
    ENGINE_TRY_DO(context.spend(items->size()));
    const std::size_t whole = items->size() / count;
    const std::size_t longer = items->size() % count;
    std::vector<Value> slices;
    std::size_t start = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t end = start + whole + (i < longer ? 1 : 0);
        std::vector<Value> part(items->begin() + static_cast<std::ptrdiff_t>(start),
                                items->begin() + static_cast<std::ptrdiff_t>(end));
        if (i >= longer && bound.given(1) != nullptr)
            part.push_back(bound.valueAt(1));
        ENGINE_TRY(Value made, Value::list(std::move(part)));
        slices.push_back(std::move(made));
        start = end;
    }
    return Value::sequence(SequenceKind::Generator, std::move(slices));
}

constexpr NamedFilter kSequenceFilters[] = {
    {"batch", batch},
    {"count", length},
    {"first", first},
    {"items", items},
    {"join", join},
    {"last", last},
    {"length", length},
    {"list", list},
    {"reverse", reverse},
    {"slice", slice},
    {"sum", sum},
};

} // namespace

FilterFunction findSequenceFilter(std::string_view name) {
    return findNamed(kSequenceFilters, name);
}

} // namespace engine::jinja
