// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/value_text.h"

#include "engine/text/jinja/values/containers.h"
#include "engine/text/jinja/values/utf8_text.h"

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

/// Writes representations one into another and stops as soon as the text is too long.
class RepresentationWriter {
public:
    explicit RepresentationWriter(RenderContext& context)
        : m_context(context) {}

    Result<void> write(const Value& value);

    std::string takeText() { return std::move(m_text); }

private:
    Result<void> writeSequence(const Sequence& sequence);
    Result<void> writeItems(const std::vector<Value>& items);
    Result<void> writeDict(const Dict& dict);
    Result<void> writeObject(const Object& object);
    Result<void> put(std::string_view part);

    RenderContext& m_context;
    std::string m_text;
    int m_depth = 0;
};

Result<void> RepresentationWriter::put(std::string_view part) {
    if (m_text.size() + part.size() > m_context.maxTextBytes())
        return m_context.spendText(m_text.size() + part.size());
    m_text += part;
    return m_context.spend(1);
}

Result<void> RepresentationWriter::writeItems(const std::vector<Value>& items) {
    bool isFirst = true;
    for (const Value& item : items) {
        if (!isFirst)
            ENGINE_TRY_DO(put(", "));
        isFirst = false;
        ENGINE_TRY_DO(write(item));
    }
    return {};
}

Result<void> RepresentationWriter::writeSequence(const Sequence& sequence) {
    switch (sequence.kind) {
    case SequenceKind::List:
        ENGINE_TRY_DO(put("["));
        ENGINE_TRY_DO(writeItems(sequence.items));
        return put("]");
    case SequenceKind::Tuple:
        ENGINE_TRY_DO(put("("));
        ENGINE_TRY_DO(writeItems(sequence.items));
        return put(sequence.items.size() == 1 ? ",)" : ")");
    case SequenceKind::Range:
        return put(sequence.description);
    case SequenceKind::Generator:
        return put("<generator object>");
    default:
        break;
    }
    ENGINE_TRY_DO(put(sequence.kind == SequenceKind::Keys     ? "dict_keys(["
                      : sequence.kind == SequenceKind::Values ? "dict_values(["
                                                              : "dict_items(["));
    ENGINE_TRY_DO(writeItems(sequence.items));
    return put("])");
}

Result<void> RepresentationWriter::writeDict(const Dict& dict) {
    ENGINE_TRY_DO(put("{"));
    bool isFirst = true;
    for (const Dict::Entry& entry : dict.entries()) {
        if (!isFirst)
            ENGINE_TRY_DO(put(", "));
        isFirst = false;
        ENGINE_TRY_DO(write(entry.key));
        ENGINE_TRY_DO(put(": "));
        ENGINE_TRY_DO(write(entry.value));
    }
    return put("}");
}

Result<void> RepresentationWriter::writeObject(const Object& object) {
    const Dict* entries = object.printedEntries();
    if (entries == nullptr)
        return put(fmt::format("<{}>", object.typeName()));
    ENGINE_TRY_DO(put(fmt::format("<{} ", object.typeName())));
    ENGINE_TRY_DO(writeDict(*entries));
    return put(">");
}

Result<void> RepresentationWriter::write(const Value& value) {
    // A namespace may hold itself, so the depth of values alone is no bound.
    if (m_depth > 2 * kMaxValueDepth)
        return templateLimit("a value that is printed is nested too deeply");
    ++m_depth;
    auto written = [&]() -> Result<void> {
        switch (value.kind()) {
        case Kind::Undefined:
            return put("Undefined");
        case Kind::None:
            return put("None");
        case Kind::Boolean:
            return put(value.asBoolean() ? "True" : "False");
        case Kind::Integer:
            return put(fmt::format("{}", value.asInteger()));
        case Kind::Float:
            return put(floatText(value.asDouble()));
        case Kind::Text:
            ENGINE_TRY_DO(m_context.spendLookingUp(value.asText().size()));
            return put(quotedText(value.asText()));
        case Kind::Sequence:
            return writeSequence(*value.asSequence());
        case Kind::Dict:
            return writeDict(value.asDict());
        case Kind::Object:
            return writeObject(*value.asObject());
        }
        return {};
    }();
    --m_depth;
    return written;
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
    return toRepresentation(context, value);
}

Result<std::string> toRepresentation(RenderContext& context, const Value& value) {
    RepresentationWriter writer(context);
    ENGINE_TRY_DO(writer.write(value));
    return writer.takeText();
}

} // namespace engine::jinja
