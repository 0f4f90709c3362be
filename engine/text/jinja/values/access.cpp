// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"
#include "engine/text/jinja/values/text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

bool canBeIndexed(const Value& value) {
    return value.isText() || value.isSequence(SequenceKind::List) ||
           value.isSequence(SequenceKind::Tuple) || value.isSequence(SequenceKind::Range);
}

struct SliceRange {
    std::int64_t start = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;
};

Value slicedText(const std::string& text, const SliceRange& range) {
    const std::vector<std::size_t> offsets = utf8::characterOffsets(text);
    std::string out;
    for (std::int64_t i = 0; i < range.count; ++i) {
        const auto at = static_cast<std::size_t>(range.start + i * range.step);
        out.append(text, offsets[at], offsets[at + 1] - offsets[at]);
    }
    return Value::text(std::move(out));
}

Result<std::optional<Value>>
indexed(RenderContext& context, const Value& value, std::int64_t index) {
    ENGINE_TRY(const std::int64_t length, lengthOf(context, value));
    const std::int64_t place = index < 0 ? index + length : index;
    if (place < 0 || place >= length)
        return std::optional<Value>();
    return std::optional(value.isText()
                             ? slicedText(value.asText(), {.start = place, .count = 1})
                             : value.asSequence()->items[static_cast<std::size_t>(place)]);
}

Result<std::optional<Value>> ownItem(RenderContext& context, const Value& value, const Value& key) {
    if (value.is(Kind::Dict)) {
        if (key.isText())
            ENGINE_TRY_DO(context.spendReading(key.asText().size()));
        const auto found = value.asDict().find(key);
        // An impossible key is no error here: the template language says "undefined".
        return found && found.value() != nullptr ? std::optional(*found.value()) : std::nullopt;
    }
    if (canBeIndexed(value) && key.isIntegral())
        return indexed(context, value, key.asInteger());
    return std::optional<Value>();
}

Result<std::optional<std::int64_t>> sliceBound(const Value& bound) {
    if (bound.is(Kind::None))
        return std::optional<std::int64_t>();
    if (!bound.isIntegral())
        return templateError("slice indices must be integers or None");
    return std::optional(bound.asInteger());
}

/// Python's rule: count from the end when negative, then keep within what the step can reach.
std::int64_t clampedBound(std::int64_t bound, std::int64_t length, bool isForward) {
    if (bound < 0)
        bound = bound < -length ? -1 : bound + length;
    const std::int64_t lowest = isForward ? 0 : -1;
    const std::int64_t highest = isForward ? length : length - 1;
    return std::clamp(bound, lowest, std::max(lowest, highest));
}

Result<SliceRange> sliceRange(const Value (&bounds)[3], std::int64_t length) {
    ENGINE_TRY(const auto start, sliceBound(bounds[0]));
    ENGINE_TRY(const auto stop, sliceBound(bounds[1]));
    ENGINE_TRY(const auto givenStep, sliceBound(bounds[2]));
    const std::int64_t step = givenStep.value_or(1);
    if (step == 0)
        return templateError("slice step cannot be zero");
    const bool isForward = step > 0;
    const std::int64_t first =
        start ? clampedBound(*start, length, isForward) : (isForward ? 0 : length - 1);
    const std::int64_t last =
        stop ? clampedBound(*stop, length, isForward) : (isForward ? length : -1);
    const std::int64_t distance = isForward ? last - first : first - last;
    if (distance <= 0)
        return SliceRange{};
    // A step longer than the sequence takes one item, whatever its size.
    const std::int64_t stride =
        isForward ? std::min(step, length) : std::min(-std::max(step, -length), length);
    return SliceRange{first, (distance - 1) / stride + 1, isForward ? stride : -stride};
}

Result<Items> charactersOf(RenderContext& context, const std::string& text) {
    std::vector<Value> characters;
    for (std::size_t offset = 0; offset < text.size();) {
        const std::size_t bytes = utf8::characterAt(text, offset).bytes;
        ENGINE_TRY_DO(context.spend(3));
        characters.push_back(Value::text(text.substr(offset, bytes)));
        offset += bytes;
    }
    return Items(std::make_shared<const std::vector<Value>>(std::move(characters)));
}

Result<Items> sequenceItems(RenderContext& context, const std::shared_ptr<Sequence>& sequence) {
    if (sequence->kind != SequenceKind::Generator)
        return Items(sequence, &sequence->items);
    const auto first = static_cast<std::ptrdiff_t>(sequence->consumed);
    ENGINE_TRY_DO(context.spend(sequence->items.size() - sequence->consumed));
    sequence->consumed = sequence->items.size();
    return Items(std::make_shared<const std::vector<Value>>(sequence->items.begin() + first,
                                                            sequence->items.end()));
}

} // namespace

Result<Value>
itemOf(RenderContext& context, const Value& value, const Value& key, bool isAttribute) {
    if (value.isUndefined())
        return templateError(value.undefinedReason());
    std::optional<Value> own;
    if (key.isText())
        own = value.is(Kind::Object) ? value.asObject()->attribute(key.asText())
                                     : boundMethod(value, key.asText());
    if (own && isAttribute)
        return *std::move(own);
    ENGINE_TRY(auto item, ownItem(context, value, key));
    if (item || own)
        return item ? *std::move(item) : *std::move(own);
    if (!key.isText())
        return Value::undefined(fmt::format("{} object has no such element", value.typeName()));
    ENGINE_TRY_DO(context.spendText(key.asText().size()));
    return Value::undefined(
        fmt::format("'{}' has no attribute '{}'", value.typeName(), key.asText()));
}

Result<Value> sliceOf(RenderContext& context, const Value& value, const Value (&bounds)[3]) {
    if (value.isUndefined())
        return templateError(value.undefinedReason());
    if (value.is(Kind::Dict))
        return templateError("unhashable type: 'slice'");
    if (!canBeIndexed(value))
        return templateError(fmt::format("'{}' object is not subscriptable", value.typeName()));
    ENGINE_TRY(const std::int64_t length, lengthOf(context, value));
    ENGINE_TRY(const SliceRange range, sliceRange(bounds, length));
    if (value.isText()) {
        ENGINE_TRY_DO(context.spendText(value.asText().size()));
        return slicedText(value.asText(), range);
    }
    ENGINE_TRY_DO(context.spend(static_cast<std::uint64_t>(range.count)));
    std::vector<Value> items;
    items.reserve(static_cast<std::size_t>(range.count));
    for (std::int64_t i = 0; i < range.count; ++i)
        items.push_back(
            value.asSequence()->items[static_cast<std::size_t>(range.start + i * range.step)]);
    const SequenceKind kind = value.asSequence()->kind;
    return Value::sequence(kind == SequenceKind::Range ? SequenceKind::List : kind,
                           std::move(items));
}

Result<Items> itemsOf(RenderContext& context, const Value& value) {
    switch (value.kind()) {
    case Kind::Undefined:
        return Items(std::make_shared<const std::vector<Value>>());
    case Kind::Text:
        return charactersOf(context, value.asText());
    case Kind::Sequence:
        return sequenceItems(context, value.asSequence());
    case Kind::Dict: {
        ENGINE_TRY_DO(context.spend(value.asDict().entries().size()));
        std::vector<Value> keys;
        for (const Dict::Entry& entry : value.asDict().entries())
            keys.push_back(entry.key);
        return Items(std::make_shared<const std::vector<Value>>(std::move(keys)));
    }
    default:
        return templateError(fmt::format("'{}' object is not iterable", value.typeName()));
    }
}

Result<std::int64_t> lengthOf(RenderContext& context, const Value& value) {
    switch (value.kind()) {
    case Kind::Undefined:
        return std::int64_t{0};
    case Kind::Text:
        ENGINE_TRY_DO(context.spendReading(value.asText().size()));
        return static_cast<std::int64_t>(utf8::characterCount(value.asText()));
    case Kind::Sequence:
        if (value.isSequence(SequenceKind::Generator))
            break;
        return static_cast<std::int64_t>(value.asSequence()->items.size());
    case Kind::Dict:
        return static_cast<std::int64_t>(value.asDict().entries().size());
    default:
        break;
    }
    return templateError(fmt::format("object of type '{}' has no len()", value.typeName()));
}

} // namespace engine::jinja
