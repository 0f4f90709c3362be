// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/tests.h"

#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/builtins/filters.h"
#include "engine/text/jinja/methods/text_parts.h"
#include "engine/text/jinja/operations/arithmetic.h"
#include "engine/text/jinja/operations/value_compare.h"
#include "engine/text/jinja/values/utf8_text.h"
#include "engine/text/jinja/values/value_text.h"

namespace engine::jinja {

namespace {

using Claim = bool (*)(const Value&);

template <Claim Holds>
Result<bool> claimed(RenderContext&, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("test", arguments, {}));
    return Holds(value);
}

bool isDefined(const Value& value) { return !value.isUndefined(); }

bool isUndefined(const Value& value) { return value.isUndefined(); }

bool isNone(const Value& value) { return value.is(Kind::None); }

bool isText(const Value& value) { return value.isText(); }

bool isMapping(const Value& value) { return value.is(Kind::Dict); }

bool isIterable(const Value& value) {
    return value.isText() || value.is(Kind::Sequence) || value.is(Kind::Dict) ||
           value.isUndefined();
}

/// What has a length and can be indexed.
bool isSequence(const Value& value) {
    if (!value.is(Kind::Sequence))
        return value.isText() || value.is(Kind::Dict) || value.isUndefined();
    return value.isSequence(SequenceKind::List) || value.isSequence(SequenceKind::Tuple) ||
           value.isSequence(SequenceKind::Range);
}

bool isNumber(const Value& value) { return value.isNumber(); }

bool isInteger(const Value& value) { return value.is(Kind::Integer); }

bool isFloat(const Value& value) { return value.is(Kind::Float); }

bool isBoolean(const Value& value) { return value.is(Kind::Boolean); }

bool isExactlyTrue(const Value& value) { return value.is(Kind::Boolean) && value.asBoolean(); }

bool isExactlyFalse(const Value& value) { return value.is(Kind::Boolean) && !value.asBoolean(); }

bool isCallable(const Value& value) {
    return value.isUndefined() || (value.is(Kind::Object) && value.asObject()->isCallable());
}

bool isEscaped(const Value&) { return false; }

/// Whether value % divisor is `wanted`.
Result<bool>
leaves(RenderContext& context, const Value& value, const Value& divisor, std::int64_t wanted) {
    ENGINE_TRY(const Value remainder,
               calculate(context, ArithmeticOperator::Modulo, value, divisor));
    return areEqual(context, remainder, Value::integer(wanted));
}

/// Remainder 0 is even, 1 is odd; 3.5 is neither.
template <std::int64_t Remainder>
Result<bool> parity(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("even", arguments, {}));
    return leaves(context, value, Value::integer(2), Remainder);
}

Result<bool> divisible(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("divisibleby", arguments, {"num"}, 1));
    return leaves(context, value, bound.valueAt(0), 0);
}

using OrderTest = Result<bool> (*)(RenderContext&, const Value&, const Value&);

template <OrderTest Compare>
Result<bool> compared(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("test", arguments, {"other"}, 1));
    return Compare(context, value, bound.valueAt(0));
}

Result<bool> isSame(RenderContext& context, const Value& a, const Value& b) {
    // Python's small integers and literals are one object each, which is what templates rely on.
    if (a.isText() && b.isText())
        return areEqual(context, a, b);
    return a.isSameAs(b);
}

template <bool (*Wanted)(char32_t), bool (*Other)(char32_t)>
Result<bool> hasCase(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("upper", arguments, {}));
    ENGINE_TRY(const std::string text, toText(context, value));
    ENGINE_TRY_DO(context.spendLookingUp(text.size()));
    return hasOnlyCase(text, Wanted, Other);
}

Result<bool> namesFilter(RenderContext&, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("filter", arguments, {}));
    return value.isText() && findFilter(value.asText()) != nullptr;
}

Result<bool> namesTest(RenderContext&, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("test", arguments, {}));
    return value.isText() && findTest(value.asText()) != nullptr;
}

struct NamedTest {
    std::string_view name;
    TestFunction function;
};

constexpr NamedTest kTests[] = {
    {"boolean", claimed<isBoolean>},
    {"callable", claimed<isCallable>},
    {"defined", claimed<isDefined>},
    {"divisibleby", divisible},
    {"eq", compared<areEqual>},
    {"equalto", compared<areEqual>},
    {"escaped", claimed<isEscaped>},
    {"even", parity<0>},
    {"false", claimed<isExactlyFalse>},
    {"filter", namesFilter},
    {"float", claimed<isFloat>},
    {"ge", compared<isGreaterOrEqual>},
    {"greaterthan", compared<isGreater>},
    {"gt", compared<isGreater>},
    {"in", compared<isContained>},
    {"integer", claimed<isInteger>},
    {"iterable", claimed<isIterable>},
    {"le", compared<isLessOrEqual>},
    {"lessthan", compared<isLess>},
    {"lower", hasCase<utf8::isLower, utf8::isUpper>},
    {"lt", compared<isLess>},
    {"mapping", claimed<isMapping>},
    {"ne", compared<areDifferent>},
    {"none", claimed<isNone>},
    {"number", claimed<isNumber>},
    {"odd", parity<1>},
    {"sameas", compared<isSame>},
    {"sequence", claimed<isSequence>},
    {"string", claimed<isText>},
    {"test", namesTest},
    {"true", claimed<isExactlyTrue>},
    {"undefined", claimed<isUndefined>},
    {"upper", hasCase<utf8::isUpper, utf8::isLower>},
    {"==", compared<areEqual>},
    {"!=", compared<areDifferent>},
    {"<", compared<isLess>},
    {"<=", compared<isLessOrEqual>},
    {">", compared<isGreater>},
    {">=", compared<isGreaterOrEqual>},
};

} // namespace

TestFunction findTest(std::string_view name) {
    for (const NamedTest& test : kTests)
        if (test.name == name)
            return test.function;
    return nullptr;
}

} // namespace engine::jinja
