// SPDX-License-Identifier: Apache-2.0
#include "engine/base/checked_math.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace engine::jinja {

namespace {

using TextMapping = std::string (*)(std::string_view);

template <TextMapping Mapping>
Result<Value> mapped(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("filter", arguments, {}));
    ENGINE_TRY(const std::string text, toText(context, input));
    ENGINE_TRY_DO(context.spendLookingUp(text.size()));
    return Value::text(Mapping(text));
}

bool separatesWords(char32_t codePoint) {
    return utf8::isSpace(codePoint) || codePoint == '-' || codePoint == '(' || codePoint == '{' ||
           codePoint == '[' || codePoint == '<';
}

/// The filter's own idea of a title, other than str.title(): only these separators start a word.
std::string titled(std::string_view text) {
    std::string out;
    for (std::size_t offset = 0; offset < text.size();) {
        const std::size_t start = offset;
        const bool isSeparator = separatesWords(utf8::characterAt(text, start).codePoint);
        while (offset < text.size() &&
               separatesWords(utf8::characterAt(text, offset).codePoint) == isSeparator)
            offset += utf8::characterAt(text, offset).bytes;
        const std::string_view part = text.substr(start, offset - start);
        const std::size_t first = utf8::characterAt(part, 0).bytes;
        out += isSeparator ? std::string(part)
                           : utf8::upper(part.substr(0, first)) + utf8::lower(part.substr(first));
    }
    return out;
}

std::string unchanged(std::string_view text) { return std::string(text); }

Result<Value> trim(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("trim", arguments, {"chars"}));
    if (input.isText())
        return strippedValue(context, input, bound.given(0), Side::Both);
    ENGINE_TRY(std::string text, toText(context, input));
    return strippedValue(context, Value::text(std::move(text)), bound.given(0), Side::Both);
}

/// An empty text is found before every character and at the end.
std::vector<std::string_view> splitEverywhere(std::string_view text, std::int64_t limit) {
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    for (const std::size_t offset : utf8::characterOffsets(text)) {
        if (static_cast<std::int64_t>(parts.size()) == limit)
            break;
        parts.push_back(text.substr(start, offset - start));
        start = offset;
    }
    parts.push_back(text.substr(start));
    return parts;
}

Result<Value> replaceAll(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("replace", arguments, {"old", "new", "count"}, 2));
    ENGINE_TRY(const std::string text, toText(context, input));
    ENGINE_TRY(const std::string wanted, toText(context, bound.valueAt(0)));
    ENGINE_TRY(const std::string replacement, toText(context, bound.valueAt(1)));
    std::int64_t limit = -1;
    if (bound.given(2) != nullptr) {
        ENGINE_TRY(limit, bound.integerOr(2, -1));
    }
    ENGINE_TRY_DO(context.spendReading(text.size() + wanted.size()));
    const auto parts =
        wanted.empty() ? splitEverywhere(text, limit) : splitText(text, wanted, limit);
    const auto added = checked::mul(parts.size() - 1, replacement.size());
    if (!added)
        return templateLimit("a text grows too long");
    ENGINE_TRY_DO(context.spendText(text.size() + *added));
    std::string out(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i)
        out.append(replacement).append(parts[i]);
    return Value::text(std::move(out));
}

Result<Value> indent(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("indent", arguments, {"width", "first", "blank"}));
    if (!input.isText())
        return templateError(fmt::format("indent needs a str, not {}", input.typeName()));
    ENGINE_TRY(const std::int64_t width, bound.integerOr(0, 4));
    const std::string text = input.asText();
    ENGINE_TRY_DO(context.spendText(static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0))));
    const std::string spaces(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
    const std::string ended = text + "\n";
    const auto lines = splitLines(ended);
    const auto added = checked::mul(lines.size(), spaces.size() + 1);
    if (!added)
        return templateLimit("a text grows too long");
    ENGINE_TRY_DO(context.spendText(text.size() + *added));
    std::string out = bound.truthOr(1, false) ? spaces : "";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool isIndented = i > 0 && (!lines[i].empty() || bound.truthOr(2, false));
        out += i > 0 ? "\n" : "";
        out += isIndented ? spaces : "";
        out += lines[i];
    }
    return Value::text(std::move(out));
}

constexpr std::int64_t kMaxJsonIndent = 100;

/// What Python's int() makes of a text, or of the float that it reads in it; nothing when neither
/// is there. Numbers beyond 64 bits are none.
std::optional<std::int64_t> parseInteger(std::string_view text) {
    std::string_view digits = stripped(text, std::nullopt, Side::Both);
    if (digits.starts_with('+') && !digits.starts_with("+-"))
        digits.remove_prefix(1);
    const char* end = digits.data() + digits.size();
    std::int64_t integer = 0;
    if (const auto [stop, error] = std::from_chars(digits.data(), end, integer);
        error == std::errc() && stop == end)
        return integer;
    double number = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    const bool isWhole = error == std::errc() && stop == end && std::fabs(number) < 0x1.0p63;
    return isWhole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

Result<Value> toInteger(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("int", arguments, {"default"}));
    std::optional<std::int64_t> number;
    if (input.isUndefined())
        return templateError(input.undefinedReason());
    if (input.isIntegral()) {
        number = input.asInteger();
    } else if (input.is(Kind::Float)) {
        if (std::fabs(input.asDouble()) < 0x1.0p63)
            number = static_cast<std::int64_t>(input.asDouble());
    } else if (input.isText()) {
        ENGINE_TRY_DO(context.spendText(input.asText().size()));
        number = parseInteger(input.asText());
    }
    if (number)
        return Value::integer(*number);
    return bound.has(0) ? bound.valueAt(0) : Value::integer(0);
}

Result<Value> standIn(RenderContext&, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("default", arguments, {"default_value", "boolean"}));
    const bool isMissing = input.isUndefined() || (bound.truthOr(1, false) && !input.isTrue());
    if (!isMissing)
        return input;
    return bound.has(0) ? bound.valueAt(0) : Value::text("");
}

Result<Value> tojson(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("tojson", arguments, {"ensure_ascii", "indent"}));
    JsonStyle style;
    style.escapesNonAscii = bound.truthOr(0, false);
    if (bound.given(1) != nullptr) {
        ENGINE_TRY(const std::int64_t indent, bound.integerOr(1, 0));
        if (indent > kMaxJsonIndent)
            return templateLimit(fmt::format("tojson indents by more than {}", kMaxJsonIndent));
        style.indent = static_cast<int>(std::max<std::int64_t>(indent, 0));
    }
    ENGINE_TRY(std::string json, toJson(context, input, style));
    ENGINE_TRY_DO(context.spendText(json.size()));
    return Value::text(std::move(json));
}

Result<Value> formatted(RenderContext& context, const Value& input, const Arguments& arguments) {
    if (!arguments.named.empty() && !arguments.positional.empty())
        return templateError("can't handle positional and keyword arguments at the same time");
    Dict named;
    for (const auto& [name, value] : arguments.named)
        named.setText(name, value);
    ENGINE_TRY(std::string text, toText(context, input));
    ENGINE_TRY(const Value values,
               arguments.named.empty() ? Value::sequence(SequenceKind::Tuple, arguments.positional)
                                       : Value::dict(std::move(named)));
    return calculate(context, ArithmeticOperator::Modulo, Value::text(std::move(text)), values);
}

Result<Value> length(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("length", arguments, {}));
    ENGINE_TRY(const std::int64_t count, lengthOf(context, input));
    return Value::integer(count);
}

/// To a whole number, halves to the even one.
Result<Value> rounded(RenderContext&, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("round", arguments, {}));
    if (!input.isNumber())
        return templateError(fmt::format("round needs a number, not {}", input.typeName()));
    return input.isIntegral() ? Value::integer(input.asInteger())
                              : Value::number(std::nearbyint(input.asDouble()));
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

Result<Value> items(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("items", arguments, {}));
    if (input.isUndefined())
        return Value::sequence(SequenceKind::Generator, {});
    if (!input.is(Kind::Dict))
        return templateError("Can only get item pairs from a mapping.");
    ENGINE_TRY(std::vector<Value> pairs, pairsOf(context, input.asDict()));
    return Value::sequence(SequenceKind::Generator, std::move(pairs));
}

constexpr std::pair<std::string_view, FilterFunction> kFilters[] = {
    {"capitalize", mapped<utf8::capitalized>},
    {"count", length},
    {"d", standIn},
    {"default", standIn},
    {"first", first},
    {"format", formatted},
    {"indent", indent},
    {"int", toInteger},
    {"items", items},
    {"last", last},
    {"length", length},
    {"list", list},
    {"lower", mapped<utf8::lower>},
    {"replace", replaceAll},
    {"round", rounded},
    {"safe", mapped<unchanged>},
    {"string", mapped<unchanged>},
    {"title", mapped<titled>},
    {"tojson", tojson},
    {"trim", trim},
    {"upper", mapped<utf8::upper>},
};

} // namespace

FilterFunction findFilter(std::string_view name) {
    const FilterFunction found = findNamed(kFilters, name);
    return found != nullptr ? found : findSelectionFilter(name);
}

} // namespace engine::jinja
