// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/functions.h"

#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <ctime>

namespace engine::jinja {

namespace {

// The sandbox that published templates run in has the same limit.
constexpr std::int64_t kMaxRange = 100'000;
constexpr std::size_t kMaxTimeFormatBytes = 1000;

using FunctionCode = Result<Value> (*)(RenderContext&, const Arguments&);

class Function : public Object {
public:
    explicit Function(FunctionCode code)
        : m_code(code) {}

    std::string_view typeName() const override { return "function"; }

    bool isCallable() const override { return true; }

    Result<Value> call(RenderContext& context, const Arguments& arguments) override {
        return m_code(context, arguments);
    }

private:
    FunctionCode m_code;
};

/// Says nothing when called first and the separator ever after.
class Joiner : public Object {
public:
    explicit Joiner(std::string separator)
        : m_separator(std::move(separator)) {}

    std::string_view typeName() const override { return "Joiner"; }

    bool isCallable() const override { return true; }

    Result<Value> call(RenderContext& context, const Arguments&) override {
        ENGINE_TRY_DO(context.spendText(m_separator.size()));
        return Value::text(std::exchange(m_isUsed, true) ? m_separator : "");
    }

private:
    std::string m_separator;
    bool m_isUsed = false;
};

/// Hands out its items in turn.
class Cycler : public Object {
public:
    explicit Cycler(Value items)
        : m_items(std::move(items))
        , m_position(std::make_shared<std::size_t>(0)) {}

    std::string_view typeName() const override { return "Cycler"; }

    int depth() const override { return m_items.depth() + 1; }

    std::optional<Value> attribute(std::string_view name) const override;

private:
    /// cycler.next() and cycler.reset().
    class Step : public Object {
    public:
        Step(const Cycler& cycler, bool isReset)
            : m_items(cycler.m_items)
            , m_position(cycler.m_position)
            , m_isReset(isReset) {}

        std::string_view typeName() const override { return "method"; }

        bool isCallable() const override { return true; }

        int depth() const override { return m_items.depth() + 1; }

        Result<Value> call(RenderContext&, const Arguments&) override {
            const std::vector<Value>& items = m_items.asSequence()->items;
            const std::size_t at = std::exchange(*m_position, 0);
            if (m_isReset)
                return Value::none();
            *m_position = (at + 1) % items.size();
            return items[at];
        }

    private:
        Value m_items;
        std::shared_ptr<std::size_t> m_position; // shared by a cycler and its methods
        bool m_isReset;
    };

    Value m_items;
    std::shared_ptr<std::size_t> m_position;
};

std::optional<Value> Cycler::attribute(std::string_view name) const {
    if (name == "next" || name == "reset")
        return Value::object(std::make_shared<Step>(*this, name == "reset"));
    if (name == "current")
        return m_items.asSequence()->items[*m_position];
    return std::nullopt;
}

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

/// The entries of a dict or of a list of pairs, then the named arguments.
Result<Dict> dictFrom(RenderContext& context, const Arguments& arguments) {
    Dict dict;
    if (arguments.positional.size() > 1)
        return templateError("dict expected at most 1 argument");
    for (const Value& source : arguments.positional) {
        ENGINE_TRY(const Items items, itemsOf(context, source));
        for (const Value& item : *items) {
            ENGINE_TRY_DO(context.spend(4));
            if (source.is(Kind::Dict)) {
                ENGINE_TRY(const Value* value, source.asDict().find(item));
                ENGINE_TRY_DO(dict.set(item, *value));
                continue;
            }
            ENGINE_TRY(const Items pair, itemsOf(context, item));
            if (pair->size() != 2)
                return templateError("dict update sequence needs pairs");
            ENGINE_TRY_DO(dict.set(pair->front(), pair->back()));
        }
    }
    for (const auto& [name, value] : arguments.named)
        dict.setText(name, value);
    ENGINE_TRY_DO(context.spend(4 * arguments.named.size()));
    return dict;
}

Result<Value> makeDict(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY(Dict dict, dictFrom(context, arguments));
    return Value::dict(std::move(dict));
}

Result<Value> makeNamespace(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY_DO(context.spend(20));
    ENGINE_TRY(Dict dict, dictFrom(context, arguments));
    auto made = std::make_shared<Namespace>(std::move(dict));
    context.keep(made);
    return Value::object(std::move(made));
}

Result<Value> raiseException(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("raise_exception", arguments, {"message"}, 1));
    ENGINE_TRY(std::string message, toText(context, bound.valueAt(0)));
    return context.refuse(std::move(message));
}

/// The local time now. Only conversions without a width are passed on to the C library.
Result<Value> strftimeNow(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("strftime_now", arguments, {"format"}, 1));
    ENGINE_TRY(const std::string format, bound.textOr(0, ""));
    if (format.size() > kMaxTimeFormatBytes)
        return templateLimit("the format of strftime_now is too long");
    ENGINE_TRY_DO(context.spend(format.size()));
    constexpr std::string_view kConversions = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%";
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::string out;
    for (std::size_t i = 0; i < format.size(); ++i) {
        const std::size_t letter = i + 1 < format.size() && format[i + 1] == '-' ? i + 2 : i + 1;
        const bool isConversion = format[i] == '%' && letter < format.size() &&
                                  kConversions.find(format[letter]) != std::string_view::npos;
        if (!isConversion) {
            out += format[i];
            continue;
        }
        char buffer[256];
        const std::string conversion = format.substr(i, letter - i + 1);
        out.append(buffer, std::strftime(buffer, sizeof buffer, conversion.c_str(), &local));
        i = letter;
    }
    return Value::text(std::move(out));
}

Result<Value> makeJoiner(RenderContext& context, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("joiner", arguments, {"sep"}));
    ENGINE_TRY(std::string separator,
               bound.has(0) ? toText(context, bound.valueAt(0)) : std::string(", "));
    return Value::object(std::make_shared<Joiner>(std::move(separator)));
}

Result<Value> makeCycler(RenderContext&, const Arguments& arguments) {
    if (arguments.positional.empty() || !arguments.named.empty())
        return templateError("at least one item has to be provided");
    ENGINE_TRY(Value items, Value::list(arguments.positional));
    return Value::object(std::make_shared<Cycler>(std::move(items)));
}

} // namespace

std::optional<Value> Namespace::attribute(std::string_view name) const {
    const Value* found = m_attributes.findText(name);
    return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::vector<std::pair<std::string, Value>> globalFunctions() {
    constexpr std::pair<std::string_view, FunctionCode> kFunctions[] = {
        {"cycler", makeCycler},
        {"dict", makeDict},
        {"joiner", makeJoiner},
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

} // namespace engine::jinja
