// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/operations/arithmetic.h"

#include "engine/base/checked_math.h"
#include "engine/text/jinja/formatting/text_format.h"
#include "engine/text/jinja/values/containers.h"

#include <algorithm>
#include <cmath>

namespace engine::jinja {

namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

Error wrongTypes(ArithmeticOperator op, const Value& left, const Value& right) {
    if (left.isUndefined() || right.isUndefined())
        return templateError(left.isUndefined() ? left.undefinedReason() : right.undefinedReason());
    return templateError(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'",
                                     kSymbols[static_cast<std::size_t>(op)],
                                     left.typeName(),
                                     right.typeName()));
}

Error tooLarge() { return templateLimit("an integer does not fit into 64 bits"); }

Result<Value> integerPower(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) {
        if (base == 0)
            return templateError("0.0 cannot be raised to a negative power");
        return Value::number(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
    std::int64_t result = 1;
    if (base == 1 || base == 0 || base == -1)
        return Value::integer(exponent % 2 == 0 && exponent != 0 ? base * base
                              : exponent == 0                    ? 1
                                                                 : base);
    for (std::int64_t i = 0; i < exponent; ++i)
        if (__builtin_mul_overflow(result, base, &result))
            return tooLarge();
    return Value::integer(result);
}

/// Quotient rounded down and remainder with the divisor's sign.
Result<Value> integerDivision(ArithmeticOperator op, std::int64_t a, std::int64_t b) {
    if (b == 0)
        return templateError("integer division or modulo by zero");
    if (b == -1) {
        std::int64_t quotient = 0;
        if (__builtin_sub_overflow(std::int64_t{0}, a, &quotient))
            return tooLarge();
        return Value::integer(op == ArithmeticOperator::FloorDivide ? quotient : 0);
    }
    const bool isBelowZero = a % b != 0 && (a < 0) != (b < 0);
    return Value::integer(op == ArithmeticOperator::FloorDivide ? a / b - (isBelowZero ? 1 : 0)
                                                                : a % b + (isBelowZero ? b : 0));
}

Result<Value> calculateIntegers(ArithmeticOperator op, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool overflows = false;
    switch (op) {
    case ArithmeticOperator::Add:
        overflows = __builtin_add_overflow(a, b, &result);
        break;
    case ArithmeticOperator::Subtract:
        overflows = __builtin_sub_overflow(a, b, &result);
        break;
    case ArithmeticOperator::Multiply:
        overflows = __builtin_mul_overflow(a, b, &result);
        break;
    case ArithmeticOperator::Divide:
        if (b == 0)
            return templateError("division by zero");
        return Value::number(static_cast<double>(a) / static_cast<double>(b));
    case ArithmeticOperator::Power:
        return integerPower(a, b);
    default:
        return integerDivision(op, a, b);
    }
    if (overflows)
        return tooLarge();
    return Value::integer(result);
}

double floatModulo(double a, double b) {
    double remainder = std::fmod(a, b);
    if (remainder != 0.0 && (remainder < 0) != (b < 0))
        remainder += b;
    return remainder == 0.0 ? std::copysign(0.0, b) : remainder;
}

/// As Python computes it: from the exact remainder, so that 1 // 0.1 is 9.
double floatFloorDivision(double a, double b) {
    const double quotient = (a - floatModulo(a, b)) / b;
    const double rounded = std::floor(quotient);
    return quotient - rounded > 0.5 ? rounded + 1.0 : rounded;
}

Result<Value> floatPower(double a, double b) {
    if (a == 0.0 && b < 0.0)
        return templateError("0.0 cannot be raised to a negative power");
    if (a < 0.0 && std::floor(b) != b)
        return templateError("complex numbers are not supported");
    return Value::number(std::pow(a, b));
}

Result<Value> calculateFloats(ArithmeticOperator op, double a, double b) {
    const bool divides = op == ArithmeticOperator::Divide ||
                         op == ArithmeticOperator::FloorDivide || op == ArithmeticOperator::Modulo;
    if (divides && b == 0.0)
        return templateError("float division by zero");
    switch (op) {
    case ArithmeticOperator::Add:
        return Value::number(a + b);
    case ArithmeticOperator::Subtract:
        return Value::number(a - b);
    case ArithmeticOperator::Multiply:
        return Value::number(a * b);
    case ArithmeticOperator::Divide:
        return Value::number(a / b);
    case ArithmeticOperator::FloorDivide:
        return Value::number(floatFloorDivision(a, b));
    case ArithmeticOperator::Modulo:
        return Value::number(floatModulo(a, b));
    case ArithmeticOperator::Power:
        return floatPower(a, b);
    }
    return Value::none();
}

bool canBeJoined(const Value& value) {
    return value.isSequence(SequenceKind::List) || value.isSequence(SequenceKind::Tuple);
}

Result<Value> joined(RenderContext& context, const Value& left, const Value& right) {
    if (left.isText()) {
        ENGINE_TRY_DO(context.spendText(left.asText().size() + right.asText().size()));
        return Value::text(left.asText() + right.asText());
    }
    std::vector<Value> items = left.asSequence()->items;
    const std::vector<Value>& more = right.asSequence()->items;
    ENGINE_TRY_DO(context.spend(items.size() + more.size()));
    items.insert(items.end(), more.begin(), more.end());
    return Value::sequence(left.asSequence()->kind, std::move(items));
}

Result<Value> repeated(RenderContext& context, const Value& value, std::int64_t count) {
    const auto times = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
    const std::uint64_t size =
        value.isText() ? value.asText().size() : std::uint64_t{value.asSequence()->items.size()};
    const auto total = checked::mul(size, times);
    if (!total)
        return tooLarge();
    if (value.isText()) {
        ENGINE_TRY_DO(context.spendText(*total));
        std::string text;
        text.reserve(*total);
        for (std::uint64_t i = 0; i < times && size > 0; ++i)
            text += value.asText();
        return Value::text(std::move(text));
    }
    ENGINE_TRY_DO(context.spend(*total));
    std::vector<Value> items;
    const std::vector<Value>& source = value.asSequence()->items;
    for (std::uint64_t i = 0; i < times && size > 0; ++i)
        items.insert(items.end(), source.begin(), source.end());
    return Value::sequence(value.asSequence()->kind, std::move(items));
}

} // namespace

Result<Value>
calculate(RenderContext& context, ArithmeticOperator op, const Value& left, const Value& right) {
    if (left.isIntegral() && right.isIntegral())
        return calculateIntegers(op, left.asInteger(), right.asInteger());
    if (left.isNumber() && right.isNumber())
        return calculateFloats(op, left.asDouble(), right.asDouble());
    if (op == ArithmeticOperator::Modulo && left.isText())
        return percentFormatted(context, left.asText(), right);
    if (op == ArithmeticOperator::Multiply) {
        if ((left.isText() || canBeJoined(left)) && right.isIntegral())
            return repeated(context, left, right.asInteger());
        if ((right.isText() || canBeJoined(right)) && left.isIntegral())
            return repeated(context, right, left.asInteger());
    }
    if (op == ArithmeticOperator::Add) {
        const bool areTexts = left.isText() && right.isText();
        const bool areLists = canBeJoined(left) && canBeJoined(right) &&
                              left.asSequence()->kind == right.asSequence()->kind;
        if (areTexts || areLists)
            return joined(context, left, right);
        if (left.isText() && !right.isUndefined())
            return templateError(
                fmt::format("can only concatenate str (not \"{}\") to str", right.typeName()));
    }
    return wrongTypes(op, left, right);
}

Result<Value> negated(const Value& value) {
    if (value.is(Kind::Float))
        return Value::number(-value.asDouble());
    if (value.isUndefined())
        return templateError(value.undefinedReason());
    if (!value.isIntegral())
        return templateError(fmt::format("bad operand type for unary -: '{}'", value.typeName()));
    return calculateIntegers(ArithmeticOperator::Subtract, 0, value.asInteger());
}

} // namespace engine::jinja
