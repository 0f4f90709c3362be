// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/value.h"

#include "engine/text/jinja/values/containers.h"

#include <algorithm>

namespace engine::jinja {

Value Value::undefined(std::string reason) {
    Value value;
    value.m_data = UndefinedTag{std::make_shared<const std::string>(std::move(reason))};
    return value;
}

Value Value::none() {
    Value value;
    value.m_data = NoneTag{};
    return value;
}

Value Value::boolean(bool value) {
    Value made;
    made.m_data = value;
    return made;
}

Value Value::integer(std::int64_t value) {
    Value made;
    made.m_data = value;
    return made;
}

Value Value::number(double value) {
    Value made;
    made.m_data = value;
    return made;
}

Value Value::text(std::string value) {
    Value made;
    made.m_data = std::make_shared<const std::string>(std::move(value));
    return made;
}

Value Value::object(std::shared_ptr<Object> value) {
    Value made;
    made.m_data = std::move(value);
    return made;
}

Result<Value> Value::list(std::vector<Value> items) {
    return sequence(SequenceKind::List, std::move(items));
}

Result<Value> Value::sequence(SequenceKind kind, std::vector<Value> items) {
    int depth = 1;
    for (const Value& item : items)
        depth = std::max(depth, item.depth() + 1);
    if (depth > kMaxValueDepth)
        return templateLimit(fmt::format("values are nested more than {} deep", kMaxValueDepth));
    Value made;
    made.m_data = std::make_shared<Sequence>(Sequence{kind, std::move(items), depth, 0, {}});
    return made;
}

Result<Value> Value::dict(Dict entries) {
    if (entries.depth() > kMaxValueDepth)
        return templateLimit(fmt::format("values are nested more than {} deep", kMaxValueDepth));
    Value made;
    made.m_data = std::make_shared<const Dict>(std::move(entries));
    return made;
}

Value Value::range(std::vector<Value> items, std::string description) {
    Value made;
    made.m_data = std::make_shared<Sequence>(
        Sequence{SequenceKind::Range, std::move(items), 1, 0, std::move(description)});
    return made;
}

bool Value::isNumber() const { return isIntegral() || is(Kind::Float); }

bool Value::isIntegral() const { return is(Kind::Integer) || is(Kind::Boolean); }

bool Value::isSequence(SequenceKind kind_) const {
    return is(Kind::Sequence) && asSequence()->kind == kind_;
}

std::int64_t Value::asInteger() const {
    return is(Kind::Boolean) ? static_cast<std::int64_t>(asBoolean())
                             : std::get<std::int64_t>(m_data);
}

double Value::asDouble() const {
    return is(Kind::Float) ? std::get<double>(m_data) : static_cast<double>(asInteger());
}

const std::string& Value::asText() const { return *std::get<Shared>(m_data); }

const std::shared_ptr<Sequence>& Value::asSequence() const {
    return std::get<std::shared_ptr<Sequence>>(m_data);
}

const Dict& Value::asDict() const { return *std::get<std::shared_ptr<const Dict>>(m_data); }

const std::shared_ptr<Object>& Value::asObject() const {
    return std::get<std::shared_ptr<Object>>(m_data);
}

std::string Value::undefinedReason() const {
    const auto& reason = std::get<UndefinedTag>(m_data).reason;
    return reason ? *reason : "an undefined value is used";
}

bool Value::isTrue() const {
    switch (kind()) {
    case Kind::Undefined:
    case Kind::None:
        return false;
    case Kind::Boolean:
    case Kind::Integer:
        return asInteger() != 0;
    case Kind::Float:
        return asDouble() != 0.0;
    case Kind::Text:
        return !asText().empty();
    case Kind::Sequence:
        return isSequence(SequenceKind::Generator) || !asSequence()->items.empty();
    case Kind::Dict:
        return !asDict().entries().empty();
    case Kind::Object:
        return true;
    }
    return false;
}

int Value::depth() const {
    if (is(Kind::Sequence))
        return asSequence()->depth;
    if (is(Kind::Object))
        return asObject()->depth();
    return is(Kind::Dict) ? asDict().depth() : 0;
}

bool Value::isSameAs(const Value& other) const {
    if (kind() != other.kind())
        return false;
    switch (kind()) {
    case Kind::Undefined:
    case Kind::None:
        return true;
    case Kind::Boolean:
    case Kind::Integer:
        return asInteger() == other.asInteger();
    case Kind::Float:
        return asDouble() == other.asDouble();
    case Kind::Text:
        return &asText() == &other.asText();
    case Kind::Sequence:
        return asSequence() == other.asSequence();
    case Kind::Dict:
        return &asDict() == &other.asDict();
    case Kind::Object:
        return asObject() == other.asObject();
    }
    return false;
}

std::string_view Value::typeName() const {
    constexpr std::string_view kSequenceNames[] = {
        "list", "tuple", "range", "dict_keys", "dict_values", "dict_items", "generator"};
    constexpr std::string_view kNames[] = {
        "Undefined", "NoneType", "bool", "int", "float", "str", "list", "dict"};
    if (is(Kind::Sequence))
        return kSequenceNames[static_cast<std::size_t>(asSequence()->kind)];
    if (is(Kind::Object))
        return asObject()->typeName();
    return kNames[m_data.index()];
}

} // namespace engine::jinja
