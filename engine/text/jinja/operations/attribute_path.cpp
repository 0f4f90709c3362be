// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/operations/attribute_path.h"

#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/operations/text_search.h"

#include <charconv>

namespace engine::jinja {

namespace {

constexpr std::size_t kMaxSteps = 100;

Value pathStep(std::string_view name) {
    std::int64_t number = 0;
    const char* end = name.data() + name.size();
    const bool hasDigits =
        !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
    if (hasDigits && std::from_chars(name.data(), end, number).ec == std::errc())
        return Value::integer(number);
    return Value::text(std::string(name));
}

} // namespace

Result<AttributePath> AttributePath::parse(const Value* attribute) {
    AttributePath path;
    if (attribute == nullptr)
        return path;
    if (attribute->isIntegral()) {
        path.m_steps = {*attribute};
        return path;
    }
    if (!attribute->isText())
        return templateError("the attribute of a filter must be a text or an integer");
    for (const std::string_view name : splitText(attribute->asText(), ".", -1, Side::Left))
        path.m_steps.push_back(pathStep(name));
    if (path.m_steps.size() > kMaxSteps)
        return templateLimit(fmt::format("an attribute path has more than {} parts", kMaxSteps));
    return path;
}

Result<Value> AttributePath::follow(RenderContext& context, const Value& start) const {
    Value value = start;
    for (const Value& step : m_steps) {
        ENGINE_TRY_DO(context.spend(1));
        ENGINE_TRY(value, itemOf(context, value, step));
    }
    return value;
}

} // namespace engine::jinja
