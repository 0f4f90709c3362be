// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/operations/value_compare.h"

#include "engine/text/jinja/operations/text_search.h"
#include "engine/text/jinja/values/containers.h"

#include <algorithm>

namespace engine::jinja {

namespace {

Result<bool> areItemsEqual(RenderContext& context, const Sequence& a, const Sequence& b) {
    if (a.items.size() != b.items.size())
        return false;
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        ENGINE_TRY(const bool isEqual, areEqual(context, a.items[i], b.items[i]));
        if (!isEqual)
            return false;
    }
    return true;
}

Result<bool> areSequencesEqual(RenderContext& context, const Value& a, const Value& b) {
    if (a.isSameAs(b))
        return true;
    const Sequence& left = *a.asSequence();
    const Sequence& right = *b.asSequence();
    const bool hasNoEquality =
        left.kind == SequenceKind::Generator || left.kind == SequenceKind::Values;
    if (left.kind != right.kind || hasNoEquality)
        return false;
    return areItemsEqual(context, left, right);
}

Result<bool> areDictsEqual(RenderContext& context, const Dict& a, const Dict& b) {
    if (a.entries().size() != b.entries().size())
        return false;
    for (const Dict::Entry& entry : a.entries()) {
        ENGINE_TRY(const Value* other, b.find(entry.key));
        if (other == nullptr)
            return false;
        ENGINE_TRY(const bool isEqual, areEqual(context, entry.value, *other));
        if (!isEqual)
            return false;
    }
    return true;
}

Error noOrder(const Value& a, const Value& b) {
    if (a.isUndefined() || b.isUndefined())
        return templateError(a.isUndefined() ? a.undefinedReason() : b.undefinedReason());
    return templateError(fmt::format(
        "'<' not supported between instances of '{}' and '{}'", a.typeName(), b.typeName()));
}

Result<bool> areItemsLess(RenderContext& context, const Sequence& a, const Sequence& b) {
    const std::size_t shared = std::min(a.items.size(), b.items.size());
    for (std::size_t i = 0; i < shared; ++i) {
        ENGINE_TRY(const bool isEqual, areEqual(context, a.items[i], b.items[i]));
        if (!isEqual)
            return isLess(context, a.items[i], b.items[i]);
    }
    return a.items.size() < b.items.size();
}

Result<bool> isContainedInText(RenderContext& context, const Value& item, const Value& text) {
    if (item.isUndefined())
        return templateError(item.undefinedReason());
    if (!item.isText())
        return templateError(
            fmt::format("'in <string>' requires string as left operand, not {}", item.typeName()));
    ENGINE_TRY_DO(context.spendReading(text.asText().size() + item.asText().size()));
    return findText(text.asText(), item.asText(), 0) != std::string_view::npos;
}

Result<bool> isContainedInItems(RenderContext& context, const Value& item, Sequence& sequence) {
    const bool isGenerator = sequence.kind == SequenceKind::Generator;
    for (std::size_t i = isGenerator ? sequence.consumed : 0; i < sequence.items.size(); ++i) {
        if (isGenerator)
            sequence.consumed = i + 1;
        ENGINE_TRY(const bool isEqual, areEqual(context, item, sequence.items[i]));
        if (isEqual)
            return true;
    }
    return false;
}

} // namespace

Result<bool> areEqual(RenderContext& context, const Value& a, const Value& b) {
    ENGINE_TRY_DO(context.spend(1));
    if (a.isNumber() && b.isNumber())
        return a.isIntegral() && b.isIntegral() ? a.asInteger() == b.asInteger()
                                                : a.asDouble() == b.asDouble();
    if (a.kind() != b.kind())
        return false;
    if (a.isText()) {
        ENGINE_TRY_DO(context.spendReading(std::min(a.asText().size(), b.asText().size())));
        return a.asText() == b.asText();
    }
    if (a.is(Kind::Sequence))
        return areSequencesEqual(context, a, b);
    if (a.is(Kind::Dict))
        return areDictsEqual(context, a.asDict(), b.asDict());
    return a.isSameAs(b);
}

Result<bool> isLess(RenderContext& context, const Value& a, const Value& b) {
    ENGINE_TRY_DO(context.spend(1));
    if (a.isNumber() && b.isNumber())
        return a.isIntegral() && b.isIntegral() ? a.asInteger() < b.asInteger()
                                                : a.asDouble() < b.asDouble();
    if (a.isText() && b.isText()) {
        // UTF-8 bytes are in the order of their code points.
        ENGINE_TRY_DO(context.spendReading(std::min(a.asText().size(), b.asText().size())));
        return a.asText() < b.asText();
    }
    const bool areLists = a.isSequence(SequenceKind::List) && b.isSequence(SequenceKind::List);
    const bool areTuples = a.isSequence(SequenceKind::Tuple) && b.isSequence(SequenceKind::Tuple);
    if (!areLists && !areTuples)
        return noOrder(a, b);
    return areItemsLess(context, *a.asSequence(), *b.asSequence());
}

Result<bool> areDifferent(RenderContext& context, const Value& a, const Value& b) {
    ENGINE_TRY(const bool isEqual, areEqual(context, a, b));
    return !isEqual;
}

Result<bool> isLessOrEqual(RenderContext& context, const Value& a, const Value& b) {
    ENGINE_TRY(const bool isSmaller, isLess(context, a, b));
    return isSmaller ? Result<bool>(true) : areEqual(context, a, b);
}

Result<bool> isGreater(RenderContext& context, const Value& a, const Value& b) {
    return isLess(context, b, a);
}

Result<bool> isGreaterOrEqual(RenderContext& context, const Value& a, const Value& b) {
    return isLessOrEqual(context, b, a);
}

Result<bool> isContained(RenderContext& context, const Value& item, const Value& container) {
    switch (container.kind()) {
    case Kind::Undefined:
        return false;
    case Kind::Text:
        return isContainedInText(context, item, container);
    case Kind::Sequence:
        return isContainedInItems(context, item, *container.asSequence());
    case Kind::Dict: {
        if (item.isText())
            ENGINE_TRY_DO(context.spendReading(item.asText().size()));
        ENGINE_TRY(const Value* found, container.asDict().find(item));
        return found != nullptr;
    }
    default:
        return templateError(
            fmt::format("argument of type '{}' is not iterable", container.typeName()));
    }
}

} // namespace engine::jinja
