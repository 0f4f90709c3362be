// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/containers.h"

#include <algorithm>
#include <cmath>

namespace engine::jinja {

namespace {

std::string textHashKey(std::string_view text) {
    std::string key(1, 't');
    key += text;
    return key;
}

/// A text that is equal for exactly those keys that Python calls equal.
Result<std::string> hashKeyOf(const Value& key) {
    switch (key.kind()) {
    case Kind::Text:
        return textHashKey(key.asText());
    case Kind::Undefined:
        return std::string("u");
    case Kind::None:
        return std::string("n");
    case Kind::Boolean:
    case Kind::Integer:
        return fmt::format("i{}", key.asInteger());
    case Kind::Float: {
        const double number = key.asDouble();
        if (std::trunc(number) == number && std::fabs(number) < 0x1.0p62)
            return fmt::format("i{}", static_cast<std::int64_t>(number));
        return fmt::format("f{}", number);
    }
    default:
        break;
    }
    // Tuples of tuples could double in size at every level, so only flat ones are keys.
    if (!key.isSequence(SequenceKind::Tuple) || key.depth() > 1)
        return templateError(fmt::format("unhashable type: '{}'", key.typeName()));
    std::string joined = "(";
    for (const Value& item : key.asSequence()->items) {
        ENGINE_TRY(const std::string part, hashKeyOf(item));
        joined += fmt::format("{}:{}", part.size(), part);
    }
    return joined;
}

} // namespace

Result<void> Dict::set(const Value& key, Value value) {
    ENGINE_TRY(std::string hashKey, hashKeyOf(key));
    put(std::move(hashKey), key, std::move(value));
    return {};
}

void Dict::setText(std::string key, Value value) {
    std::string hashKey = textHashKey(key);
    put(std::move(hashKey), Value::text(std::move(key)), std::move(value));
}

void Dict::put(std::string hashKey, Value key, Value value) {
    m_depth = std::max({m_depth, value.depth() + 1, key.depth() + 1});
    const auto [place, isNew] = m_index.try_emplace(std::move(hashKey), m_entries.size());
    if (isNew)
        m_entries.push_back({std::move(key), std::move(value)});
    else
        m_entries[place->second].value = std::move(value);
}

Result<const Value*> Dict::find(const Value& key) const {
    ENGINE_TRY(const std::string hashKey, hashKeyOf(key));
    const auto place = m_index.find(hashKey);
    return place == m_index.end() ? nullptr : &m_entries[place->second].value;
}

const Value* Dict::findText(std::string_view key) const {
    const auto place = m_index.find(textHashKey(key));
    return place == m_index.end() ? nullptr : &m_entries[place->second].value;
}

const Value* Arguments::findNamed(std::string_view name) const {
    for (const auto& [given, value] : named)
        if (given == name)
            return &value;
    return nullptr;
}

std::optional<Value> Object::attribute(std::string_view) const { return std::nullopt; }

Result<Value> Object::call(RenderContext&, const Arguments&) {
    return templateError(fmt::format("'{}' object is not callable", typeName()));
}

} // namespace engine::jinja
