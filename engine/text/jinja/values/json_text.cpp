// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/json_text.h"

#include "engine/text/jinja/values/containers.h"
#include "engine/text/jinja/values/utf8_text.h"
#include "engine/text/jinja/values/value_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace engine::jinja {

namespace {

std::string escapedUnit(char32_t unit) {
    return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(unit));
}

std::string escapedNonAscii(char32_t codePoint) {
    if (codePoint < 0x10000)
        return escapedUnit(codePoint);
    const char32_t above = codePoint - 0x10000;
    return escapedUnit(0xD800 + (above >> 10U)) + escapedUnit(0xDC00 + (above & 0x3FFU));
}

std::string escapedAscii(char character) {
    switch (character) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    default:
        break;
    }
    return static_cast<unsigned char>(character) < 0x20
               ? escapedUnit(static_cast<unsigned char>(character))
               : std::string(1, character);
}

std::string jsonString(std::string_view text, bool escapesNonAscii) {
    std::string out = "\"";
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(text, offset);
        if (codePoint < 0x80)
            out += escapedAscii(text[offset]);
        else if (escapesNonAscii && codePoint != utf8::kInvalid)
            out += escapedNonAscii(codePoint);
        else
            out += text.substr(offset, bytes);
        offset += bytes;
    }
    return out + '"';
}

std::string jsonNumber(double number) {
    if (std::isnan(number))
        return "NaN";
    if (std::isinf(number))
        return number < 0 ? "-Infinity" : "Infinity";
    return floatText(number);
}

class JsonWriter {
public:
    JsonWriter(RenderContext& context, const JsonStyle& style)
        : m_context(context)
        , m_style(style) {}

    Result<void> write(const Value& value);

    std::string takeText() { return std::move(m_text); }

private:
    Result<void> writeArray(const Sequence& sequence);
    Result<void> writeObject(const Dict& dict);
    Result<std::string> keyText(const Value& key) const;
    Result<void> put(std::string_view part);
    Result<void> startItem(bool isFirst);
    Result<void> endItems(std::string_view bracket);
    Result<void> breakLine();

    RenderContext& m_context;
    const JsonStyle& m_style;
    std::string m_text;
    std::size_t m_level = 0;
};

Result<void> JsonWriter::put(std::string_view part) {
    if (m_text.size() + part.size() > m_context.maxTextBytes())
        return m_context.spendText(m_text.size() + part.size());
    m_text += part;
    return m_context.spend(1);
}

Result<void> JsonWriter::breakLine() {
    if (m_style.indent < 0)
        return {};
    ENGINE_TRY_DO(put("\n"));
    return put(std::string(m_level * static_cast<std::size_t>(m_style.indent), ' '));
}

Result<void> JsonWriter::startItem(bool isFirst) {
    if (!isFirst)
        ENGINE_TRY_DO(put(m_style.itemSeparator));
    return breakLine();
}

Result<void> JsonWriter::endItems(std::string_view bracket) {
    --m_level;
    ENGINE_TRY_DO(breakLine());
    return put(bracket);
}

Result<void> JsonWriter::writeArray(const Sequence& sequence) {
    if (sequence.items.empty())
        return put("[]");
    ENGINE_TRY_DO(put("["));
    ++m_level;
    bool isFirst = true;
    for (const Value& item : sequence.items) {
        ENGINE_TRY_DO(startItem(isFirst));
        isFirst = false;
        ENGINE_TRY_DO(write(item));
    }
    return endItems("]");
}

Result<std::string> JsonWriter::keyText(const Value& key) const {
    switch (key.kind()) {
    case Kind::Text:
        return key.asText();
    case Kind::None:
        return std::string("null");
    case Kind::Boolean:
        return std::string(key.asBoolean() ? "true" : "false");
    case Kind::Integer:
        return fmt::format("{}", key.asInteger());
    case Kind::Float:
        return jsonNumber(key.asDouble());
    default:
        return templateError(
            fmt::format("keys must be str, int, float, bool or None, not {}", key.typeName()));
    }
}

Result<void> JsonWriter::writeObject(const Dict& dict) {
    if (dict.entries().empty())
        return put("{}");
    std::vector<std::pair<std::string, const Value*>> members;
    members.reserve(dict.entries().size());
    for (const Dict::Entry& entry : dict.entries()) {
        ENGINE_TRY(std::string key, keyText(entry.key));
        members.emplace_back(std::move(key), &entry.value);
    }
    if (m_style.sortsKeys)
        std::sort(members.begin(), members.end());
    ENGINE_TRY_DO(put("{"));
    ++m_level;
    bool isFirst = true;
    for (const auto& [key, value] : members) {
        ENGINE_TRY_DO(startItem(isFirst));
        isFirst = false;
        ENGINE_TRY_DO(put(jsonString(key, m_style.escapesNonAscii)));
        ENGINE_TRY_DO(put(m_style.keySeparator));
        ENGINE_TRY_DO(write(*value));
    }
    return endItems("}");
}

Result<void> JsonWriter::write(const Value& value) {
    const bool isArray =
        value.isSequence(SequenceKind::List) || value.isSequence(SequenceKind::Tuple);
    if (isArray)
        return writeArray(*value.asSequence());
    switch (value.kind()) {
    case Kind::None:
        return put("null");
    case Kind::Boolean:
        return put(value.asBoolean() ? "true" : "false");
    case Kind::Integer:
        return put(fmt::format("{}", value.asInteger()));
    case Kind::Float:
        return put(jsonNumber(value.asDouble()));
    case Kind::Text:
        ENGINE_TRY_DO(m_context.spendReading(value.asText().size()));
        return put(jsonString(value.asText(), m_style.escapesNonAscii));
    case Kind::Dict:
        return writeObject(value.asDict());
    default:
        return templateError(
            fmt::format("Object of type {} is not JSON serializable", value.typeName()));
    }
}

Result<Value> convert(const nlohmann::ordered_json& json, int depth);

Result<Value> convertArray(const nlohmann::ordered_json& json, int depth) {
    std::vector<Value> items;
    items.reserve(json.size());
    for (const auto& element : json) {
        ENGINE_TRY(Value item, convert(element, depth + 1));
        items.push_back(std::move(item));
    }
    return Value::list(std::move(items));
}

Result<Value> convertObject(const nlohmann::ordered_json& json, int depth) {
    Dict dict;
    for (const auto& [key, element] : json.items()) {
        ENGINE_TRY(Value value, convert(element, depth + 1));
        dict.setText(key, std::move(value));
    }
    return Value::dict(std::move(dict));
}

Result<Value> convert(const nlohmann::ordered_json& json, int depth) {
    using Type = nlohmann::ordered_json::value_t;
    if (depth > kMaxValueDepth)
        return templateLimit(fmt::format("values are nested more than {} deep", kMaxValueDepth));
    switch (json.type()) {
    case Type::boolean:
        return Value::boolean(json.get<bool>());
    case Type::number_integer:
        return Value::integer(json.get<std::int64_t>());
    case Type::number_unsigned:
        if (json.get<std::uint64_t>() > INT64_MAX)
            return Value::number(json.get<double>());
        return Value::integer(json.get<std::int64_t>());
    case Type::number_float:
        return Value::number(json.get<double>());
    case Type::string:
        return Value::text(json.get_ref<const std::string&>());
    case Type::array:
        return convertArray(json, depth);
    case Type::object:
        return convertObject(json, depth);
    default:
        return Value::none();
    }
}

} // namespace

Result<std::string> toJson(RenderContext& context, const Value& value, const JsonStyle& style) {
    JsonWriter writer(context, style);
    ENGINE_TRY_DO(writer.write(value));
    return writer.takeText();
}

Result<Value> valueFromJson(const nlohmann::ordered_json& json) { return convert(json, 0); }

} // namespace engine::jinja
