// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/operations.h"

#include "engine/base/checked_math.h"
#include "engine/text/jinja/values/text.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <charconv>

namespace engine::jinja {

namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

/// `problem` is told with the types of both, unless one of them is undefined.
Error mismatch(std::string_view problem, const Value& left, const Value& right) {
    for (const Value* value : {&left, &right})
        if (value->isUndefined())
            return templateError(value->undefinedReason());
    return templateError(
        fmt::format("{} '{}' and '{}'", problem, left.typeName(), right.typeName()));
}

Error tooLarge() { return templateLimit("an integer does not fit into 64 bits"); }

Result<Value> integerPower(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0)
        return templateLimit("negative powers are not supported");
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < exponent && result != 0; ++i) {
        if (i > 64 && (base == 1 || base == -1)) // every second power is the same
            return Value::integer(exponent % 2 == 0 ? 1 : base);
        if (__builtin_mul_overflow(result, base, &result))
            return tooLarge();
    }
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

Result<Value> calculateFloats(ArithmeticOperator op, double a, double b) {
    switch (op) {
    case ArithmeticOperator::Add:
        return Value::number(a + b);
    case ArithmeticOperator::Subtract:
        return Value::number(a - b);
    case ArithmeticOperator::Multiply:
        return Value::number(a * b);
    case ArithmeticOperator::Divide:
        if (b == 0.0)
            return templateError("float division by zero");
        return Value::number(a / b);
    default:
        return templateLimit(fmt::format("{} of numbers with a fraction is not supported",
                                         kSymbols[static_cast<std::size_t>(op)]));
    }
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
    ENGINE_TRY_DO(value.isText() ? context.spendText(*total) : context.spend(*total));
    std::string text;
    std::vector<Value> items;
    for (std::uint64_t i = 0; i < times && size > 0; ++i) {
        if (value.isText())
            text += value.asText();
        else
            items.insert(
                items.end(), value.asSequence()->items.begin(), value.asSequence()->items.end());
    }
    return value.isText() ? Value::text(std::move(text))
                          : Value::sequence(value.asSequence()->kind, std::move(items));
}

/// What "%-5.2f" makes of a value; takes all but the sign in front off the format.
Result<std::string>
converted(RenderContext& context, std::string_view& format, const Value& value) {
    const std::size_t begin = std::min(format.find_first_not_of("-+0"), format.size());
    const std::size_t end = std::min(format.find_first_not_of("0123456789.", begin), format.size());
    const std::string_view flags = format.substr(0, begin);
    const std::string_view sizes = format.substr(begin, end - begin);
    const std::string_view kind = format.substr(end, 1);
    const bool isFraction = kind == "f" || kind == "e" || kind == "g";
    const auto points = std::ranges::count(sizes, '.');
    const bool isKnown = isFraction ? points < 2 : points == 0 && (kind == "s" || kind == "d");
    if (!isKnown || sizes.size() > 4 || sizes.ends_with('.'))
        return templateLimit(
            fmt::format("'%{}' in a text is not supported", format.substr(0, end + 1)));
    format.remove_prefix(end + 1);
    const auto hasFlag = [&](char flag) { return flags.find(flag) != std::string_view::npos; };
    if (kind == "s") {
        ENGINE_TRY(std::string text, toText(context, value));
        std::size_t width = 0;
        std::from_chars(sizes.data(), sizes.data() + sizes.size(), width);
        const std::size_t count = utf8::characterCount(text);
        return text.insert(hasFlag('-') ? text.size() : 0, std::max(width, count) - count, ' ');
    }
    if (!value.isIntegral() && !(isFraction && value.isNumber()))
        return (value.isNumber() ? templateLimit : templateError)(
            fmt::format("%{} does not write values of the type {}", kind, value.typeName()));
    const std::string style = fmt::format("{{:{}{}{}{}{}}}",
                                          hasFlag('-') ? "<" : "",
                                          hasFlag('+') ? "+" : "",
                                          hasFlag('0') && !hasFlag('-') ? "0" : "",
                                          sizes,
                                          kind);
    return isFraction ? fmt::format(fmt::runtime(style), value.asDouble())
                      : fmt::format(fmt::runtime(style), value.asInteger());
}

/// The value that "(name)" asks for; takes it off the format.
Result<Value> namedValue(RenderContext& context, std::string_view& format, const Value& values) {
    const std::size_t end = format.find(')');
    if (end == std::string_view::npos)
        return templateError("incomplete format key");
    if (!values.is(Kind::Dict))
        return templateError("format requires a mapping");
    const std::string_view name = format.substr(1, end - 1);
    ENGINE_TRY_DO(context.spendReading(name.size()));
    const Value* found = values.asDict().findText(name);
    if (found == nullptr)
        return templateError(fmt::format("there is no '{}' for the format", name));
    format.remove_prefix(end + 1);
    return *found;
}

/// Python's format % values, with the conversions that templates use.
Result<Value>
percentFormatted(RenderContext& context, std::string_view format, const Value& values) {
    const bool isTuple = values.isSequence(SequenceKind::Tuple);
    const std::vector<Value> given = isTuple ? values.asSequence()->items : std::vector{values};
    // Python takes what has items for a mapping, of which not all need be used.
    const bool isMapping = values.is(Kind::Dict) || values.isSequence(SequenceKind::List);
    ENGINE_TRY_DO(context.spendReading(format.size()));
    std::string out;
    std::size_t used = 0;
    for (auto sign = format.find('%'); sign != std::string_view::npos; sign = format.find('%')) {
        out += format.substr(0, sign);
        format.remove_prefix(sign + 1);
        if (format.starts_with('%')) {
            out += '%';
            format.remove_prefix(1);
            continue;
        }
        Value value;
        if (format.starts_with('(')) {
            ENGINE_TRY(value, namedValue(context, format, values));
            used = given.size();
        } else if (used < given.size()) {
            value = given[used++];
        } else {
            return templateError("not enough arguments for format string");
        }
        ENGINE_TRY(const std::string text, converted(context, format, value));
        out += text;
        ENGINE_TRY_DO(context.spendText(out.size()));
    }
    out += format;
    if (used < given.size() && !isMapping)
        return templateError("not all arguments converted during string formatting");
    return Value::text(std::move(out));
}

Result<bool> areSequencesEqual(RenderContext& context, const Sequence& a, const Sequence& b) {
    const bool hasEquality = a.kind != SequenceKind::Generator && a.kind != SequenceKind::Values;
    if (a.kind != b.kind || !hasEquality || a.items.size() != b.items.size())
        return &a == &b;
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        ENGINE_TRY(const bool isEqual, areEqual(context, a.items[i], b.items[i]));
        if (!isEqual)
            return false;
    }
    return true;
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
    return mismatch(
        fmt::format("unsupported operand type(s) for {}:", kSymbols[static_cast<std::size_t>(op)]),
        left,
        right);
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
        return areSequencesEqual(context, *a.asSequence(), *b.asSequence());
    if (a.is(Kind::Dict))
        return areDictsEqual(context, a.asDict(), b.asDict());
    return !a.is(Kind::Object) || a.asObject() == b.asObject();
}

Result<bool> isLess(RenderContext& context, const Value& a, const Value& b) {
    ENGINE_TRY_DO(context.spend(1));
    if (a.isText() && b.isText())
        ENGINE_TRY_DO(context.spendReading(std::min(a.asText().size(), b.asText().size())));
    else if (!a.isNumber() || !b.isNumber())
        return mismatch("'<' not supported between instances of", a, b);
    return comesBefore(a, b);
}

bool comesBefore(const Value& a, const Value& b) {
    if (a.isText())
        return a.asText() < b.asText(); // UTF-8 bytes are in the order of their code points
    return a.isIntegral() && b.isIntegral() ? a.asInteger() < b.asInteger()
                                            : a.asDouble() < b.asDouble();
}

Result<bool>
holds(RenderContext& context, Relation relation, const Value& left, const Value& right) {
    const auto place = static_cast<std::size_t>(relation);
    ENGINE_TRY(const bool isTrue,
               place < 2   ? areEqual(context, left, right)
               : place < 4 ? isLess(context, left, right)
               : place < 6 ? isLess(context, right, left)
                           : isContained(context, left, right));
    return isTrue == (place % 2 == 0);
}

} // namespace engine::jinja
