// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/value_text.h"

#include "engine/text/jinja/values/text.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace engine::jinja {

namespace {

std::string escapedCharacter(char32_t codePoint, std::string_view bytes, char quote) {
    if (codePoint == static_cast<char32_t>(quote) || codePoint == '\\')
        return fmt::format("\\{}", bytes);
    if (codePoint == '\n')
        return "\\n";
    if (codePoint == '\r')
        return "\\r";
    if (codePoint == '\t')
        return "\\t";
    if (utf8::isPrintable(codePoint) || codePoint == utf8::kInvalid)
        return std::string(bytes);
    const auto number = static_cast<std::uint32_t>(codePoint);
    if (number < 0x100)
        return fmt::format("\\x{:02x}", number);
    return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

std::string quotedText(std::string_view text) {
    const bool hasSingle = text.find('\'') != std::string_view::npos;
    const bool hasDouble = text.find('"') != std::string_view::npos;
    const char quote = hasSingle && !hasDouble ? '"' : '\'';
    std::string out(1, quote);
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(text, offset);
        out += escapedCharacter(codePoint, text.substr(offset, bytes), quote);
        offset += bytes;
    }
    out += quote;
    return out;
}

std::string jsonString(const std::string& text, bool escapesNonAscii) {
    const auto replace = nlohmann::json::error_handler_t::replace;
    return nlohmann::json(text).dump(-1, ' ', escapesNonAscii, replace);
}

/// Writes values one into another, as Python's repr or as json.dumps does, and stops as soon as the
/// text is too long.
class ValueWriter {
public:
    /// `json` is null for repr.
    ValueWriter(RenderContext& context, const JsonStyle* json)
        : m_context(context)
        , m_json(json) {}

    Result<void> write(const Value& value) {
        const bool isJson = m_json != nullptr;
        switch (value.kind()) {
        case Kind::None:
            return put(isJson ? "null" : "None");
        case Kind::Boolean:
            return put(value.asBoolean() ? (isJson ? "true" : "True")
                                         : (isJson ? "false" : "False"));
        case Kind::Integer:
            return put(fmt::format("{}", value.asInteger()));
        case Kind::Float:
            if (isJson && !std::isfinite(value.asDouble()))
                return unwritable(value);
            return put(floatText(value.asDouble()));
        case Kind::Text:
            ENGINE_TRY_DO(m_context.spendLookingUp(value.asText().size()));
            return put(isJson ? jsonString(value.asText(), m_json->escapesNonAscii)
                              : quotedText(value.asText()));
        case Kind::Sequence:
            return writeSequence(value);
        case Kind::Dict:
            return writeDict(value.asDict());
        case Kind::Undefined:
            return isJson ? Result<void>(unwritable(value)) : put("Undefined");
        case Kind::Object:
            break;
        }
        return unwritable(value);
    }

    std::string takeText() { return std::move(m_text); }

private:
    Error unwritable(const Value& value) const {
        const std::string_view type = value.typeName();
        return m_json != nullptr
                   ? templateError(fmt::format("Object of type {} is not JSON serializable", type))
                   : templateLimit(fmt::format("a {} cannot be printed", type));
    }

    Result<void> put(std::string_view part) {
        if (m_text.size() + part.size() > m_context.maxTextBytes())
            return m_context.spendText(m_text.size() + part.size());
        m_text += part;
        return m_context.spend(1);
    }

    Result<void> breakLine() {
        if (m_json == nullptr || m_json->indent < 0)
            return {};
        ENGINE_TRY_DO(put("\n"));
        return put(std::string(m_level * static_cast<std::size_t>(m_json->indent), ' '));
    }

    Result<void> open(std::string_view bracket) {
        ++m_level;
        return put(bracket);
    }

    Result<void> startItem(bool isFirst) {
        if (!isFirst)
            ENGINE_TRY_DO(put(m_json != nullptr && m_json->indent >= 0 ? "," : ", "));
        return breakLine();
    }

    Result<void> close(std::string_view bracket, bool isEmpty) {
        --m_level;
        if (!isEmpty)
            ENGINE_TRY_DO(breakLine());
        return put(bracket);
    }

    Result<void> writeSequence(const Value& value) {
        const Sequence& sequence = *value.asSequence();
        const bool isTuple = sequence.kind == SequenceKind::Tuple;
        const bool isList = sequence.kind == SequenceKind::List || isTuple;
        if (m_json == nullptr && sequence.kind == SequenceKind::Range)
            return put(sequence.description);
        if (sequence.kind == SequenceKind::Generator || (m_json != nullptr && !isList))
            return unwritable(value);
        const bool isRound = isTuple && m_json == nullptr;
        const std::string view = isList ? "" : fmt::format("{}(", value.typeName());
        ENGINE_TRY_DO(open(isRound ? "(" : view + "["));
        for (std::size_t i = 0; i < sequence.items.size(); ++i) {
            ENGINE_TRY_DO(startItem(i == 0));
            ENGINE_TRY_DO(write(sequence.items[i]));
        }
        const bool isLone = sequence.items.size() == 1;
        return close(isRound ? (isLone ? ",)" : ")") : isList ? "]" : "])", sequence.items.empty());
    }

    /// A key of JSON is a text, whatever it is in Python.
    Result<void> writeKey(const Value& key) {
        if (m_json == nullptr || key.isText())
            return write(key);
        ENGINE_TRY_DO(put("\""));
        ENGINE_TRY_DO(write(key));
        return put("\"");
    }

    Result<void> writeDict(const Dict& dict) {
        ENGINE_TRY_DO(open("{"));
        bool isFirst = true;
        for (const auto& [key, value] : dict.entries()) {
            ENGINE_TRY_DO(startItem(std::exchange(isFirst, false)));
            ENGINE_TRY_DO(writeKey(key));
            ENGINE_TRY_DO(put(": "));
            ENGINE_TRY_DO(write(value));
        }
        return close("}", isFirst);
    }

    RenderContext& m_context;
    const JsonStyle* m_json;
    std::string m_text;
    std::size_t m_level = 0;
};

Result<Value> convert(const nlohmann::ordered_json& json, int depth) {
    using Type = nlohmann::ordered_json::value_t;
    if (depth > kMaxValueDepth)
        return templateLimit(fmt::format("values are nested more than {} deep", kMaxValueDepth));
    std::vector<Value> items;
    Dict dict;
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
        for (const auto& element : json) {
            ENGINE_TRY(Value item, convert(element, depth + 1));
            items.push_back(std::move(item));
        }
        return Value::list(std::move(items));
    case Type::object:
        for (const auto& [key, element] : json.items()) {
            ENGINE_TRY(Value value, convert(element, depth + 1));
            dict.setText(key, std::move(value));
        }
        return Value::dict(std::move(dict));
    default:
        return Value::none();
    }
}

} // namespace

std::string floatText(double value) {
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    char digits[40];
    const double magnitude = std::fabs(value);
    const bool isPlain = magnitude == 0.0 || (magnitude >= 1e-4 && magnitude < 1e16);
    const auto format = isPlain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(digits, digits + sizeof digits, value, format).ptr;
    std::string text(digits, end);
    if (isPlain && text.find('.') == std::string::npos)
        text += ".0";
    return text;
}

Result<std::string> toText(RenderContext& context, const Value& value) {
    if (value.isUndefined())
        return std::string();
    if (value.isText()) {
        ENGINE_TRY_DO(context.spendReading(value.asText().size()));
        return value.asText();
    }
    ValueWriter writer(context, nullptr);
    ENGINE_TRY_DO(writer.write(value));
    return writer.takeText();
}

Result<std::string> toJson(RenderContext& context, const Value& value, const JsonStyle& style) {
    ValueWriter writer(context, &style);
    ENGINE_TRY_DO(writer.write(value));
    return writer.takeText();
}

Result<Value> valueFromJson(const nlohmann::ordered_json& json) { return convert(json, 0); }

} // namespace engine::jinja
