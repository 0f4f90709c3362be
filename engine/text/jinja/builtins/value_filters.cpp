// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/builtins/filters.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/operations/arithmetic.h"
#include "engine/text/jinja/operations/text_search.h"
#include "engine/text/jinja/values/json_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace engine::jinja {

namespace {

constexpr std::int64_t kMaxJsonIndent = 100;

/// What Python's int() and float() read: blanks around and single underscores between digits go.
std::string withoutUnderscores(std::string_view text) {
    const std::string_view inner = stripped(text, std::nullopt, Side::Both);
    std::string out;
    for (std::size_t i = 0; i < inner.size(); ++i) {
        const auto isDigit = [&](std::size_t at) {
            return at < inner.size() && inner[at] >= '0' && inner[at] <= '9';
        };
        const bool isJoint = inner[i] == '_' && i > 0 && isDigit(i - 1) && isDigit(i + 1);
        if (!isJoint)
            out += inner[i];
    }
    return out;
}

std::optional<std::int64_t> parseInteger(std::string_view text, int base) {
    std::string digits = withoutUnderscores(text);
    const bool isNegative = digits.starts_with('-');
    std::size_t start = isNegative || digits.starts_with('+') ? 1 : 0;
    const std::string_view prefix = std::string_view(digits).substr(start, 2);
    const bool hasPrefix = (base == 16 && (prefix == "0x" || prefix == "0X")) ||
                           (base == 8 && (prefix == "0o" || prefix == "0O")) ||
                           (base == 2 && (prefix == "0b" || prefix == "0B"));
    start += hasPrefix ? 2 : 0;
    if (start < digits.size() && digits[start] == '-')
        return std::nullopt;
    std::int64_t number = 0;
    digits.erase(0, start);
    if (isNegative)
        digits.insert(0, 1, '-');
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    return number;
}

std::optional<double> parseFloat(std::string_view text) {
    std::string digits = withoutUnderscores(text);
    const bool isNegative = digits.starts_with('-');
    if (isNegative || digits.starts_with('+'))
        digits.erase(0, 1);
    if (digits.starts_with('-'))
        return std::nullopt;
    double number = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error == std::errc::result_out_of_range)
        number = std::strtod(digits.c_str(), nullptr);
    else if (error != std::errc())
        return std::nullopt;
    if (stop != end)
        return std::nullopt;
    return isNegative ? -number : number;
}

Result<Value> truncated(double number) {
    if (!(std::fabs(number) < 0x1.0p63))
        return templateError("cannot convert the float to an integer");
    return Value::integer(static_cast<std::int64_t>(number));
}

Result<Value> toInteger(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("int", arguments, {"default", "base"}));
    const Value standard = bound.has(0) ? bound.valueAt(0) : Value::integer(0);
    ENGINE_TRY(const std::int64_t base, bound.integerOr(1, 10));
    if (input.isUndefined())
        return templateError(input.undefinedReason());
    if (input.isIntegral())
        return Value::integer(input.asInteger());
    if (input.is(Kind::Float))
        return std::isfinite(input.asDouble()) ? truncated(input.asDouble()) : standard;
    if (!input.isText() || base < 2 || base > 36)
        return standard;
    ENGINE_TRY_DO(context.spendText(input.asText().size()));
    if (const auto number = parseInteger(input.asText(), static_cast<int>(base)))
        return Value::integer(*number);
    const auto number = parseFloat(input.asText());
    return number && std::isfinite(*number) ? truncated(*number) : standard;
}

Result<Value> toFloat(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("float", arguments, {"default"}));
    if (input.isUndefined())
        return templateError(input.undefinedReason());
    if (input.isNumber())
        return Value::number(input.asDouble());
    std::optional<double> number;
    if (input.isText()) {
        ENGINE_TRY_DO(context.spendText(input.asText().size()));
        number = parseFloat(input.asText());
    }
    if (number)
        return Value::number(*number);
    return bound.has(0) ? bound.valueAt(0) : Value::number(0.0);
}

Result<Value> absolute(RenderContext&, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("abs", arguments, {}));
    if (input.is(Kind::Float))
        return Value::number(std::fabs(input.asDouble()));
    if (input.isIntegral() && input.asInteger() >= 0)
        return Value::integer(input.asInteger());
    if (!input.isIntegral() && !input.isUndefined())
        return templateError(fmt::format("bad operand type for abs(): '{}'", input.typeName()));
    return negated(input);
}

/// Python's round(number, digits): half to even on the exact value.
double roundedHalfEven(double number, int digits) {
    char buffer[512];
    if (digits >= 0) {
        std::snprintf(buffer, sizeof buffer, "%.*f", digits, number);
        return std::strtod(buffer, nullptr);
    }
    const double scale = std::pow(10.0, -digits);
    return std::nearbyint(number / scale) * scale;
}

Result<Value> roundNumber(RenderContext&, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("round", arguments, {"precision", "method"}));
    ENGINE_TRY(const std::int64_t precision, bound.integerOr(0, 0));
    ENGINE_TRY(const std::string method, bound.textOr(1, "common"));
    if (method != "common" && method != "ceil" && method != "floor")
        return templateError("method must be common, ceil or floor");
    if (precision < -18 || precision > 100)
        return templateLimit("round() is asked for too many digits");
    if (!input.isNumber())
        return templateError(input.isUndefined()
                                 ? input.undefinedReason()
                                 : fmt::format("type {} has no round", input.typeName()));
    if (method == "common" && input.isIntegral() && precision >= 0)
        return Value::integer(input.asInteger());
    const auto digits = static_cast<int>(precision);
    const double number = input.asDouble();
    if (!std::isfinite(number))
        return Value::number(number);
    if (method == "common") {
        const double rounded = roundedHalfEven(number, digits);
        return input.isIntegral() ? truncated(rounded) : Value::number(rounded);
    }
    const double scale = std::pow(10.0, digits);
    const double scaled = number * scale;
    return Value::number((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Result<Value> standIn(RenderContext&, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("default", arguments, {"default_value", "boolean"}));
    const bool isMissing = input.isUndefined() || (bound.truthOr(1, false) && !input.isTrue());
    if (!isMissing)
        return input;
    return bound.has(0) ? bound.valueAt(0) : Value::text("");
}

Result<Value> attribute(RenderContext&, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("attr", arguments, {"name"}, 1));
    ENGINE_TRY(const std::string name, bound.textOr(0, ""));
    return ownAttributeOf(input, name)
        .value_or(Value::undefined(fmt::format("'{}' has no such attribute", input.typeName())));
}

/// The text of (item separator, key separator).
Result<std::pair<std::string, std::string>> separatorPair(const Value& given) {
    const bool isPair =
        (given.isSequence(SequenceKind::Tuple) || given.isSequence(SequenceKind::List)) &&
        given.asSequence()->items.size() == 2;
    if (!isPair || !given.asSequence()->items[0].isText() || !given.asSequence()->items[1].isText())
        return templateError("separators of tojson must be two texts");
    return std::pair(given.asSequence()->items[0].asText(), given.asSequence()->items[1].asText());
}

Result<Value> tojson(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind(
                   "tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}));
    JsonStyle style;
    style.escapesNonAscii = bound.truthOr(0, false);
    style.sortsKeys = bound.truthOr(3, false);
    if (bound.given(1) != nullptr) {
        ENGINE_TRY(const std::int64_t indent, bound.integerOr(1, 0));
        if (indent > kMaxJsonIndent)
            return templateLimit(fmt::format("tojson indents by more than {}", kMaxJsonIndent));
        style.indent = static_cast<int>(std::max<std::int64_t>(indent, 0));
        style.itemSeparator.assign(1, ',');
    }
    if (bound.given(2) != nullptr) {
        ENGINE_TRY(std::tie(style.itemSeparator, style.keySeparator),
                   separatorPair(bound.valueAt(2)));
    }
    ENGINE_TRY(std::string json, toJson(context, input, style));
    ENGINE_TRY_DO(context.spendText(json.size()));
    return Value::text(std::move(json));
}

constexpr NamedFilter kValueFilters[] = {
    {"abs", absolute},
    {"attr", attribute},
    {"d", standIn},
    {"default", standIn},
    {"float", toFloat},
    {"int", toInteger},
    {"round", roundNumber},
    {"tojson", tojson},
};

} // namespace

FilterFunction findValueFilter(std::string_view name) { return findNamed(kValueFilters, name); }

} // namespace engine::jinja
