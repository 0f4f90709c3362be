// SPDX-License-Identifier: Apache-2.0
// Functions, tests, and how arguments are bound to parameters.
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/operations.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <clocale>
#include <ctime>

namespace engine::jinja {

namespace {

// The sandbox that published templates run in has the same limit.
constexpr std::int64_t kMaxRange = 100'000;
constexpr std::size_t kMaxTimeBytes = 2000;

Result<Value> makeRange(RenderContext& context, const Value&, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("range", arguments, {"a", "b", "c"}, 1));
    ENGINE_TRY(const std::int64_t a, bound.integerOr(0, 0));
    ENGINE_TRY(const std::int64_t b, bound.integerOr(1, 0));
    ENGINE_TRY(const std::int64_t step, bound.integerOr(2, 1));
    const std::int64_t start = bound.has(1) ? a : 0;
    const std::int64_t stop = bound.has(1) ? b : a;
    if (step == 0)
        return templateError("range() arg 3 must not be zero");
    std::vector<Value> numbers;
    std::int64_t next = start;
    while (step > 0 ? next < stop : next > stop) {
        if (numbers.size() >= static_cast<std::size_t>(kMaxRange))
            return templateLimit(fmt::format("a range has more than {} numbers", kMaxRange));
        numbers.push_back(Value::integer(next));
        if (__builtin_add_overflow(next, step, &next))
            break;
    }
    ENGINE_TRY_DO(context.spend(numbers.size()));
    const std::string suffix = step == 1 ? "" : fmt::format(", {}", step);
    return Value::range(std::move(numbers), fmt::format("range({}, {}{})", start, stop, suffix));
}

/// What dict() and namespace() are made of: a dict or pairs, then what is named.
Result<Dict> entriesOf(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY_DO(context.spend(20 + 4 * arguments.named.size()));
    if (arguments.positional.size() > 1)
        return templateError("a dict is made of one value at most");
    Value from = arguments.positional.empty() ? Value() : arguments.positional.front();
    if (from.is(Kind::Dict)) {
        ENGINE_TRY(from, findFilter("items")(context, from, {}));
    }
    ENGINE_TRY(const Items pairs, itemsOf(context, from));
    Dict dict;
    for (const Value& pair : *pairs) {
        ENGINE_TRY(const Items parts, itemsOf(context, pair));
        if (parts->size() != 2)
            return templateError("a dict is made of pairs");
        const Value& key = parts->front();
        ENGINE_TRY_DO(context.spend(6 + (key.isText() ? key.asText().size() / 16 : 0)));
        ENGINE_TRY_DO(dict.set(key, parts->back()));
    }
    for (const auto& [name, value] : arguments.named)
        dict.setText(name, value);
    return dict;
}

Result<Value> makeDict(RenderContext& context, const Value&, const Arguments& arguments) {
    ENGINE_TRY(Dict entries, entriesOf(context, arguments));
    return Value::dict(std::move(entries));
}

Result<Value> makeNamespace(RenderContext& context, const Value&, const Arguments& arguments) {
    ENGINE_TRY(Dict attributes, entriesOf(context, arguments));
    auto made = std::make_shared<Namespace>(std::move(attributes));
    context.keep(made);
    return Value::object(std::move(made));
}

Result<Value> raiseException(RenderContext& context, const Value&, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("raise_exception", arguments, {"message"}, 1));
    ENGINE_TRY(std::string message, toText(context, bound.valueAt(0)));
    return context.refuse(std::move(message));
}

/// The local time now, with English names whatever the user's language: prompts are in English.
Result<Value> strftimeNow(RenderContext& context, const Value&, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("strftime_now", arguments, {"format"}, 1));
    ENGINE_TRY(const std::string format, bound.textOr(0, ""));
    ENGINE_TRY_DO(context.spendReading(format.size()));
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    static const locale_t english = newlocale(LC_ALL_MASK, "C", nullptr);
    char text[kMaxTimeBytes]; // bounds what widths in the format can ask for
    const std::size_t bytes = strftime_l(text, sizeof text, format.c_str(), &local, english);
    if (bytes == 0 && !format.empty())
        return templateLimit("strftime_now is asked for too long a text");
    return Value::text(std::string(text, bytes));
}

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

template <Relation Wanted>
Result<bool> compared(RenderContext& context, const Value& value, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("test", arguments, {"other"}, 1));
    return holds(context, Wanted, value, bound.valueAt(0));
}

constexpr std::pair<std::string_view, TestFunction> kTests[] = {
    {"boolean", claimed<[](const Value& value) { return value.is(Kind::Boolean); }>},
    {"defined", claimed<[](const Value& value) { return !value.isUndefined(); }>},
    {"eq", compared<Relation::Equal>},
    {"equalto", compared<Relation::Equal>},
    {"even", parity<0>},
    {"false",
     claimed<[](const Value& value) { return value.is(Kind::Boolean) && !value.asBoolean(); }>},
    {"float", claimed<[](const Value& value) { return value.is(Kind::Float); }>},
    {"ge", compared<Relation::GreaterOrEqual>},
    {"greaterthan", compared<Relation::Greater>},
    {"gt", compared<Relation::Greater>},
    {"in", compared<Relation::In>},
    {"integer", claimed<[](const Value& value) { return value.is(Kind::Integer); }>},
    {"iterable",
     claimed<[](const Value& value) { return value.is(Kind::Sequence) || isSequence(value); }>},
    {"le", compared<Relation::LessOrEqual>},
    {"lessthan", compared<Relation::Less>},
    {"lt", compared<Relation::Less>},
    {"mapping", claimed<[](const Value& value) { return value.is(Kind::Dict); }>},
    {"ne", compared<Relation::NotEqual>},
    {"none", claimed<[](const Value& value) { return value.is(Kind::None); }>},
    {"number", claimed<[](const Value& value) { return value.isNumber(); }>},
    {"odd", parity<1>},
    {"sequence", claimed<isSequence>},
    {"string", claimed<[](const Value& value) { return value.isText(); }>},
    {"true",
     claimed<[](const Value& value) { return value.is(Kind::Boolean) && value.asBoolean(); }>},
    {"undefined", claimed<[](const Value& value) { return value.isUndefined(); }>},
    {"==", compared<Relation::Equal>},
    {"!=", compared<Relation::NotEqual>},
    {"<", compared<Relation::Less>},
    {"<=", compared<Relation::LessOrEqual>},
    {">", compared<Relation::Greater>},
    {">=", compared<Relation::GreaterOrEqual>},
};

} // namespace

TestFunction findTest(std::string_view name) { return findNamed(kTests, name); }

std::vector<std::pair<std::string, Value>> globalFunctions() {
    constexpr std::pair<std::string_view, FilterFunction> kFunctions[] = {
        {"dict", makeDict},
        {"namespace", makeNamespace},
        {"raise_exception", raiseException},
        {"range", makeRange},
        {"strftime_now", strftimeNow},
    };
    std::vector<std::pair<std::string, Value>> functions;
    for (const auto& [name, code] : kFunctions)
        functions.emplace_back(name, boundTo(Value(), code));
    return functions;
}

Result<BoundArguments> BoundArguments::bind(std::string_view function,
                                            const Arguments& arguments,
                                            const std::vector<std::string_view>& parameters,
                                            std::size_t required) {
    if (arguments.positional.size() > parameters.size())
        return templateLimit(fmt::format("{}() takes at most {} arguments, not {}",
                                         function,
                                         parameters.size(),
                                         arguments.positional.size()));
    BoundArguments bound;
    bound.m_function = function;
    bound.m_values.assign(arguments.positional.begin(), arguments.positional.end());
    bound.m_values.resize(parameters.size());
    for (const auto& [name, value] : arguments.named) {
        const auto place = std::find(parameters.begin(), parameters.end(), name);
        if (place == parameters.end())
            return templateLimit(
                fmt::format("{}() got an unexpected keyword argument '{}'", function, name));
        auto& slot = bound.m_values[static_cast<std::size_t>(place - parameters.begin())];
        if (slot)
            return templateError(
                fmt::format("{}() got multiple values for argument '{}'", function, name));
        slot = value;
    }
    for (std::size_t i = 0; i < required; ++i)
        if (!bound.m_values[i])
            return templateError(
                fmt::format("{}() misses its argument '{}'", function, parameters[i]));
    return bound;
}

const Value* BoundArguments::given(std::size_t index) const {
    const auto& value = m_values[index];
    return value && !value->is(Kind::None) ? &*value : nullptr;
}

Result<std::int64_t> BoundArguments::integerOr(std::size_t index, std::int64_t standard) const {
    if (!m_values[index])
        return standard;
    if (!m_values[index]->isIntegral())
        return wrongType(index, "an integer");
    return m_values[index]->asInteger();
}

Result<std::string> BoundArguments::textOr(std::size_t index, std::string_view standard) const {
    if (!m_values[index])
        return std::string(standard);
    if (!m_values[index]->isText())
        return wrongType(index, "a str");
    return m_values[index]->asText();
}

Error BoundArguments::wrongType(std::size_t index, std::string_view wanted) const {
    const Value& value = *m_values[index];
    return templateError(
        value.isUndefined()
            ? value.undefinedReason()
            : fmt::format("{}() needs {}, not {}", m_function, wanted, value.typeName()));
}

bool BoundArguments::truthOr(std::size_t index, bool standard) const {
    return m_values[index] ? m_values[index]->isTrue() : standard;
}

} // namespace engine::jinja
