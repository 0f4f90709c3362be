// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/formatting/format_field.h"

#include "engine/text/jinja/values/utf8_text.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace engine::jinja {

namespace {

constexpr std::int64_t kMaxPrecision = 100;

/// A number's text in three parts, so that zeros can be put between them.
struct NumberText {
    std::string sign;
    std::string prefix;
    std::string digits;
};

std::string withThousands(const std::string& digits) {
    const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0)
            out += ',';
        out += digits[i];
    }
    return out;
}

std::string signOf(bool isNegative, const FieldFormat& format) {
    const char sign = isNegative ? '-' : format.positiveSign;
    return std::string(sign == 0 ? 0 : 1, sign);
}

Result<NumberText> integerText(std::int64_t number, const FieldFormat& format) {
    const auto magnitude = number < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(number)
                                      : static_cast<std::uint64_t>(number);
    NumberText text;
    text.sign = signOf(number < 0, format);
    if (format.type == 'x')
        text.digits = fmt::format("{:x}", magnitude);
    else if (format.type == 'X')
        text.digits = fmt::format("{:X}", magnitude);
    else if (format.type == 'o')
        text.digits = fmt::format("{:o}", magnitude);
    else if (format.type == 'b')
        text.digits = fmt::format("{:b}", magnitude);
    else
        text.digits = fmt::format("{}", magnitude);
    const bool hasPrefix = format.isAlternate && format.type != 0 && format.type != 'd';
    text.prefix = hasPrefix ? std::string("0") + format.type : "";
    if (format.groupsThousands)
        text.digits = withThousands(text.digits);
    const auto least = static_cast<std::size_t>(format.precision.value_or(0));
    if (text.digits.size() < least)
        text.digits.insert(0, least - text.digits.size(), '0');
    return text;
}

NumberText floatDigits(double number, const FieldFormat& format) {
    NumberText text;
    const bool isNegative = std::signbit(number) && !std::isnan(number);
    text.sign = signOf(isNegative, format);
    const double magnitude = std::fabs(number);
    if (!std::isfinite(number)) {
        text.digits = std::isnan(number) ? "nan" : "inf";
    } else if (format.type == 0 && !format.precision) {
        text.digits = floatText(magnitude);
    } else {
        const char type = format.type == '%' ? 'f' : format.type == 0 ? 'g' : format.type;
        const char pattern[] = {'%', '.', '*', type, 0};
        const auto precision = static_cast<int>(format.precision.value_or(6));
        char buffer[512]; // 309 digits, the point and kMaxPrecision digits fit
        std::snprintf(buffer,
                      sizeof buffer,
                      pattern,
                      precision,
                      format.type == '%' ? number * 100 : magnitude);
        text.digits = buffer;
        if (format.type == '%')
            text.digits = (isNegative ? text.digits.substr(1) : text.digits) + '%';
        if (format.type == 0 && text.digits.find_first_of(".e") == std::string::npos)
            text.digits += ".0";
    }
    if (format.groupsThousands)
        text.digits = withThousands(text.digits);
    return text;
}

std::string repeatedFill(const std::string& fill, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i)
        out += fill;
    return out;
}

std::string padded(const NumberText& text, const FieldFormat& format, char ownAlign) {
    const std::string whole = text.sign + text.prefix + text.digits;
    const std::size_t length = utf8::characterCount(whole);
    const auto width = static_cast<std::size_t>(format.width);
    if (length >= width)
        return whole;
    const std::size_t missing = width - length;
    switch (format.align == 0 ? ownAlign : format.align) {
    case '<':
        return whole + repeatedFill(format.fill, missing);
    case '^':
        return repeatedFill(format.fill, missing / 2) + whole +
               repeatedFill(format.fill, missing - missing / 2);
    case '=':
        return text.sign + text.prefix + repeatedFill(format.fill, missing) + text.digits;
    default:
        return repeatedFill(format.fill, missing) + whole;
    }
}

Result<std::string>
formatText(RenderContext& context, const Value& value, const FieldFormat& format) {
    ENGINE_TRY(std::string text, toText(context, value));
    if (format.precision) {
        const auto offsets = utf8::characterOffsets(text);
        const auto most = static_cast<std::size_t>(*format.precision);
        if (most < offsets.size())
            text.resize(offsets[most]);
    }
    return padded({{}, {}, std::move(text)}, format, '<');
}

} // namespace

Result<std::optional<std::int64_t>>
readFieldNumber(RenderContext& context, std::string_view text, std::size_t& offset) {
    std::optional<std::int64_t> number;
    for (; offset < text.size() && text[offset] >= '0' && text[offset] <= '9'; ++offset) {
        number = number.value_or(0) * 10 + (text[offset] - '0');
        if (static_cast<std::uint64_t>(*number) > context.maxTextBytes())
            return templateLimit("a field is wider than a text may become");
    }
    return number;
}

Result<std::string>
formatField(RenderContext& context, const Value& value, const FieldFormat& format) {
    ENGINE_TRY_DO(context.spendText(static_cast<std::uint64_t>(format.width) * format.fill.size()));
    constexpr std::string_view kIntegerTypes = "dxXob";
    constexpr std::string_view kFloatTypes = "fFeEgG%";
    const bool isInteger = kIntegerTypes.find(format.type) != std::string_view::npos;
    const bool isFloat = kFloatTypes.find(format.type) != std::string_view::npos;
    if (format.type != 0 && format.type != 's' && !isInteger && !isFloat)
        return templateError(fmt::format("unsupported format character '{}'", format.type));
    const bool isPlainNumber = format.type == 0 && value.isNumber() && !value.is(Kind::Boolean);
    if (!isInteger && !isFloat && !isPlainNumber)
        return formatText(context, value, format);
    if (!value.isNumber())
        return templateError(
            fmt::format("format '{}' needs a number, not {}", format.type, value.typeName()));
    if (format.precision.value_or(0) > kMaxPrecision)
        return templateLimit("a number is asked for with too many digits");
    if (isFloat || value.is(Kind::Float))
        return padded(floatDigits(value.asDouble(), format), format, '>');
    ENGINE_TRY(const NumberText text, integerText(value.asInteger(), format));
    return padded(text, format, '>');
}

} // namespace engine::jinja
