// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <clocale>
#include <ctime>

namespace engine::jinja {

namespace {

// The sandbox that published templates run in has the same limit.
constexpr std::int64_t kMaxRange = 100'000;
constexpr std::size_t kMaxTimeBytes = 2000;

using FunctionCode = Result<Value> (*)(RenderContext&, const Arguments&);

class Function : public Object {
public:
    explicit Function(FunctionCode code)
        : m_code(code) {}

    std::string_view typeName() const override { return "function"; }

    Result<Value> call(RenderContext& context, const Arguments& arguments) override {
        return m_code(context, arguments);
    }

private:
    FunctionCode m_code;
};

Result<Value> makeRange(RenderContext& context, const Arguments& arguments) {
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

Result<Value> makeNamespace(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY_DO(context.spend(20 + 4 * arguments.named.size()));
    if (!arguments.positional.empty())
        return templateError("namespace() takes named arguments only");
    Dict attributes;
    for (const auto& [name, value] : arguments.named)
        attributes.setText(name, value);
    auto made = std::make_shared<Namespace>(std::move(attributes));
    context.keep(made);
    return Value::object(std::move(made));
}

Result<Value> raiseException(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("raise_exception", arguments, {"message"}, 1));
    ENGINE_TRY(std::string message, toText(context, bound.valueAt(0)));
    return context.refuse(std::move(message));
}

/// The local time now, with English names whatever the user's language: prompts are in English.
Result<Value> strftimeNow(RenderContext& context, const Arguments& arguments) {
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

} // namespace

std::optional<Value> Namespace::attribute(std::string_view name) const {
    const Value* found = m_attributes.findText(name);
    return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::vector<std::pair<std::string, Value>> globalFunctions() {
    constexpr std::pair<std::string_view, FunctionCode> kFunctions[] = {
        {"namespace", makeNamespace},
        {"raise_exception", raiseException},
        {"range", makeRange},
        {"strftime_now", strftimeNow},
    };
    std::vector<std::pair<std::string, Value>> functions;
    for (const auto& [name, code] : kFunctions)
        functions.emplace_back(name, Value::object(std::make_shared<Function>(code)));
    return functions;
}

Result<BoundArguments> BoundArguments::bind(std::string_view function,
                                            const Arguments& arguments,
                                            std::initializer_list<std::string_view> parameters,
                                            std::size_t required) {
    if (arguments.positional.size() > parameters.size())
        return templateError(fmt::format("{}() takes at most {} arguments, not {}",
                                         function,
                                         parameters.size(),
                                         arguments.positional.size()));
    BoundArguments bound;
    bound.m_function = function;
    bound.m_values.assign(arguments.positional.begin(), arguments.positional.end());
    bound.m_values.resize(parameters.size());
    for (const auto& [name, value] : arguments.named) {
        const auto* place = std::find(parameters.begin(), parameters.end(), name);
        if (place == parameters.end())
            return templateError(
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
                fmt::format("{}() misses its argument '{}'", function, *(parameters.begin() + i)));
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
