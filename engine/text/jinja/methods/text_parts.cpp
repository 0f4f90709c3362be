// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/methods/text_parts.h"

#include "engine/base/checked_math.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/values/utf8_text.h"

#include <algorithm>

namespace engine::jinja {

Result<Value> listOfTexts(RenderContext& context, const std::vector<std::string_view>& texts) {
    ENGINE_TRY_DO(context.spend(3 * texts.size()));
    std::vector<Value> items;
    items.reserve(texts.size());
    for (const std::string_view text : texts)
        items.push_back(Value::text(std::string(text)));
    return Value::list(std::move(items));
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

Result<Value>
replacedValue(RenderContext& context, std::string_view text, const Replacement& replacement) {
    ENGINE_TRY_DO(context.spendReading(text.size() + replacement.wanted.size()));
    const std::size_t most =
        replacement.limit < 0 ? SIZE_MAX : static_cast<std::size_t>(replacement.limit);
    const std::size_t count = std::min(countText(text, replacement.wanted), most);
    if (count == 0)
        return Value::text(std::string(text));
    const auto added = checked::mul(count, replacement.replacement.size());
    if (!added)
        return templateLimit("a text grows too long");
    const std::uint64_t kept = text.size() - count * replacement.wanted.size();
    const auto total = checked::add(kept, *added);
    if (!total)
        return templateLimit("a text grows too long");
    ENGINE_TRY_DO(context.spendText(*total));
    return Value::text(replaceText(text, replacement.wanted, replacement.replacement, count));
}

Result<Value>
joinedTexts(RenderContext& context, const Value& iterable, std::string_view separator) {
    if (iterable.isUndefined())
        return Value::text("");
    ENGINE_TRY(const Items items, itemsOf(context, iterable));
    std::string out;
    std::size_t index = 0;
    for (const Value& item : *items) {
        if (!item.isText())
            return templateError(fmt::format(
                "sequence item {}: expected str instance, {} found", index, item.typeName()));
        const std::string_view between = index == 0 ? std::string_view() : separator;
        const std::size_t added = between.size() + item.asText().size();
        ENGINE_TRY_DO(context.spend(1 + added / 32));
        if (out.size() + added > context.maxTextBytes())
            ENGINE_TRY_DO(context.spendText(out.size() + added));
        out += between;
        out += item.asText();
        ++index;
    }
    return Value::text(std::move(out));
}

Result<Value>
justifiedValue(RenderContext& context, std::string_view text, const Justification& justification) {
    ENGINE_TRY_DO(context.spendText(text.size()));
    const auto length = static_cast<std::int64_t>(utf8::characterCount(text));
    if (justification.width <= length)
        return Value::text(std::string(text));
    const auto missing = static_cast<std::uint64_t>(justification.width - length);
    const auto added = checked::mul(missing, justification.fill.size());
    if (!added)
        return templateLimit("a text grows too long");
    ENGINE_TRY_DO(context.spendText(*added));
    std::uint64_t left = justification.align == '<' ? 0 : missing;
    // Python gives the odd blank to the left only when the width is odd too.
    if (justification.align == '^')
        left = missing / 2 + (missing & static_cast<std::uint64_t>(justification.width) & 1U);
    std::string out;
    for (std::uint64_t i = 0; i < left; ++i)
        out += justification.fill;
    out += text;
    for (std::uint64_t i = left; i < missing; ++i)
        out += justification.fill;
    return Value::text(std::move(out));
}

Result<std::optional<std::string_view>> characterRange(RenderContext& context,
                                                       std::string_view text,
                                                       const Value* start,
                                                       const Value* end) {
    if (start == nullptr && end == nullptr)
        return std::optional(text);
    ENGINE_TRY_DO(context.spendText(text.size()));
    const std::vector<std::size_t> offsets = utf8::characterOffsets(text);
    const auto length = static_cast<std::int64_t>(offsets.size()) - 1;
    const auto place = [length](const Value* bound, std::int64_t open) -> Result<std::int64_t> {
        if (bound == nullptr)
            return open;
        if (!bound->isIntegral())
            return templateError("slice indices must be integers or None");
        const std::int64_t given = bound->asInteger();
        if (given < 0)
            return given < -length ? std::int64_t{0} : given + length;
        return given;
    };
    ENGINE_TRY(const std::int64_t first, place(start, 0));
    ENGINE_TRY(const std::int64_t last, place(end, length));
    if (first > std::min(last, length))
        return std::optional<std::string_view>();
    const std::size_t from = offsets[static_cast<std::size_t>(first)];
    const std::size_t to = offsets[static_cast<std::size_t>(std::min(last, length))];
    return std::optional(text.substr(from, to - from));
}

bool hasOnlyCase(std::string_view text, bool (*wanted)(char32_t), bool (*other)(char32_t)) {
    bool isFound = false;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(text, offset);
        if (other(codePoint))
            return false;
        isFound = isFound || wanted(codePoint);
        offset += bytes;
    }
    return isFound;
}

} // namespace engine::jinja
