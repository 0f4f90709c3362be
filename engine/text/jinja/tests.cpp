// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"

namespace engine::jinja {

namespace {

using Claim = bool (*)(const Value&);

template <Claim Holds>
Result<bool> claimed(RenderContext&, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("test", arguments, {}));
    return Holds(value);
}

/// What has a length and can be indexed.
bool isSequence(const Value& value) {
    if (!value.is(Kind::Sequence))
        return value.isText() || value.is(Kind::Dict) || value.isUndefined();
    return value.isSequence(SequenceKind::List) || value.isSequence(SequenceKind::Tuple) ||
           value.isSequence(SequenceKind::Range);
}

/// Remainder 0 is even, 1 is odd; 3.5 is neither.
template <std::int64_t Wanted>
Result<bool> parity(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("even", arguments, {}));
    ENGINE_TRY(const Value remainder,
               calculate(context, ArithmeticOperator::Modulo, value, Value::integer(2)));
    return areEqual(context, remainder, Value::integer(Wanted));
}

using ComparisonCode = Result<bool> (*)(RenderContext&, const Value&, const Value&);

template <ComparisonCode Compare>
Result<bool> compared(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("test", arguments, {"other"}, 1));
    return Compare(context, value, bound.valueAt(0));
}

constexpr std::pair<std::string_view, TestFunction> kTests[] = {
    {"boolean", claimed<[](const Value& value) { return value.is(Kind::Boolean); }>},
    {"defined", claimed<[](const Value& value) { return !value.isUndefined(); }>},
    {"eq", compared<areEqual>},
    {"equalto", compared<areEqual>},
    {"even", parity<0>},
    {"false",
     claimed<[](const Value& value) { return value.is(Kind::Boolean) && !value.asBoolean(); }>},
    {"in", compared<isContained>},
    {"iterable",
     claimed<[](const Value& value) { return value.is(Kind::Sequence) || isSequence(value); }>},
    {"mapping", claimed<[](const Value& value) { return value.is(Kind::Dict); }>},
    {"none", claimed<[](const Value& value) { return value.is(Kind::None); }>},
    {"number", claimed<[](const Value& value) { return value.isNumber(); }>},
    {"odd", parity<1>},
    {"sequence", claimed<isSequence>},
    {"string", claimed<[](const Value& value) { return value.isText(); }>},
    {"true",
     claimed<[](const Value& value) { return value.is(Kind::Boolean) && value.asBoolean(); }>},
    {"undefined", claimed<[](const Value& value) { return value.isUndefined(); }>},
    {"==", compared<areEqual>},
    {"!=", compared<areDifferent>},
};

} // namespace

TestFunction findTest(std::string_view name) { return findNamed(kTests, name); }

} // namespace engine::jinja
