// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/formatting/format_field.h"
#include "engine/text/jinja/formatting/text_format.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>
#include <cmath>

namespace engine::jinja {

namespace {

/// Goes through the format once and takes the values one after the other, or by name.
class PercentFormatter {
public:
    PercentFormatter(RenderContext& context, std::string_view format, const Value& values);
    Result<Value> run();

private:
    Result<void> appendField();
    Result<Value> namedValue();
    Result<Value> nextValue();
    void readFlags(FieldFormat& field);
    Result<std::optional<std::int64_t>> readNumber();
    Result<void> readSizes(FieldFormat& field);
    Result<std::string> written(Value value, FieldFormat& field);
    Result<void> append(std::string_view part);

    RenderContext& m_context;
    std::string_view m_format;
    const Value& m_values;
    std::vector<Value> m_positional;
    std::size_t m_offset = 0;
    std::size_t m_used = 0;
    std::string m_out;
};

PercentFormatter::PercentFormatter(RenderContext& context,
                                   std::string_view format,
                                   const Value& values)
    : m_context(context)
    , m_format(format)
    , m_values(values) {
    if (values.isSequence(SequenceKind::Tuple))
        m_positional = values.asSequence()->items;
    else
        m_positional = {values};
}

Result<void> PercentFormatter::append(std::string_view part) {
    ENGINE_TRY_DO(m_context.spendReading(part.size()));
    if (m_out.size() + part.size() > m_context.maxTextBytes())
        return m_context.spendText(m_out.size() + part.size());
    m_out += part;
    return {};
}

Result<Value> PercentFormatter::namedValue() {
    const std::size_t end = m_format.find(')', m_offset);
    if (end == std::string_view::npos)
        return templateError("incomplete format key");
    const std::string_view name = m_format.substr(m_offset + 1, end - m_offset - 1);
    m_offset = end + 1;
    if (!m_values.is(Kind::Dict))
        return templateError("format requires a mapping");
    const Value* found = m_values.asDict().findText(name);
    if (found == nullptr)
        return templateError(fmt::format("format key '{}' is missing", name.substr(0, 100)));
    m_used = m_positional.size();
    return *found;
}

Result<Value> PercentFormatter::nextValue() {
    if (m_used >= m_positional.size())
        return templateError("not enough arguments for format string");
    return m_positional[m_used++];
}

void PercentFormatter::readFlags(FieldFormat& field) {
    for (; m_offset < m_format.size(); ++m_offset) {
        const char flag = m_format[m_offset];
        if (flag == '-')
            field.align = '<';
        else if (flag == '+')
            field.positiveSign = '+';
        else if (flag == ' ')
            field.positiveSign = field.positiveSign == 0 ? ' ' : field.positiveSign;
        else if (flag == '#')
            field.isAlternate = true;
        else if (flag == '0')
            field.fill.assign(1, '0');
        else
            break;
    }
}

Result<std::optional<std::int64_t>> PercentFormatter::readNumber() {
    if (m_offset >= m_format.size() || m_format[m_offset] != '*')
        return readFieldNumber(m_context, m_format, m_offset);
    ++m_offset;
    ENGINE_TRY(const Value number, nextValue());
    if (!number.isIntegral())
        return templateError("* wants int");
    const std::int64_t size = number.asInteger();
    if (size < 0 || static_cast<std::uint64_t>(size) > m_context.maxTextBytes())
        return templateLimit("a field is wider than a text may become");
    return std::optional(size);
}

Result<void> PercentFormatter::readSizes(FieldFormat& field) {
    ENGINE_TRY(const auto width, readNumber());
    field.width = width.value_or(0);
    if (m_offset < m_format.size() && m_format[m_offset] == '.') {
        ++m_offset;
        ENGINE_TRY(const auto precision, readNumber());
        field.precision = precision.value_or(0);
    }
    while (m_offset < m_format.size() &&
           std::string_view("hlL").find(m_format[m_offset]) != std::string_view::npos)
        ++m_offset;
    return {};
}

Result<std::string> PercentFormatter::written(Value value, FieldFormat& field) {
    const char type = m_format[m_offset++];
    field.type = type == 'i' || type == 'u' ? 'd' : type;
    if (type == 'r' || type == 'a') {
        ENGINE_TRY(std::string text, toRepresentation(m_context, value));
        value = Value::text(std::move(text));
        field.type = 's';
    }
    if (type == 'c') {
        if (!value.isText())
            return templateError("%c requires a character");
        field.type = 's';
    }
    if (field.type == 'd' && value.is(Kind::Float)) {
        if (!(std::fabs(value.asDouble()) < 0x1.0p62))
            return templateLimit("an integer does not fit into 64 bits");
        value = Value::integer(static_cast<std::int64_t>(value.asDouble()));
    }
    if (value.isUndefined() && field.type != 's')
        return templateError(value.undefinedReason());
    const bool isZeroFilled = field.fill == "0";
    if (isZeroFilled && (field.type == 's' || field.align == '<'))
        field.fill.assign(1, ' ');
    else if (isZeroFilled)
        field.align = '=';
    if (field.align == 0)
        field.align = '>';
    return formatField(m_context, value, field);
}

Result<void> PercentFormatter::appendField() {
    ENGINE_TRY_DO(m_context.spend(1));
    ++m_offset;
    if (m_offset < m_format.size() && m_format[m_offset] == '%') {
        ++m_offset;
        return append("%");
    }
    const bool isNamed = m_offset < m_format.size() && m_format[m_offset] == '(';
    Value value;
    if (isNamed) {
        ENGINE_TRY(value, namedValue());
    }
    FieldFormat field;
    readFlags(field);
    ENGINE_TRY_DO(readSizes(field));
    if (m_offset >= m_format.size())
        return templateError("incomplete format");
    if (!isNamed) {
        ENGINE_TRY(value, nextValue());
    }
    ENGINE_TRY(const std::string text, written(std::move(value), field));
    return append(text);
}

Result<Value> PercentFormatter::run() {
    while (m_offset < m_format.size()) {
        const std::size_t next = std::min(m_format.find('%', m_offset), m_format.size());
        ENGINE_TRY_DO(append(m_format.substr(m_offset, next - m_offset)));
        m_offset = next;
        if (m_offset < m_format.size())
            ENGINE_TRY_DO(appendField());
    }
    const bool isMapping = m_values.is(Kind::Dict) || m_values.isUndefined() ||
                           m_values.isSequence(SequenceKind::List);
    if (m_used < m_positional.size() && !isMapping)
        return templateError("not all arguments converted during string formatting");
    ENGINE_TRY_DO(m_context.spendText(m_out.size()));
    return Value::text(std::move(m_out));
}

} // namespace

Result<Value>
percentFormatted(RenderContext& context, const std::string& format, const Value& values) {
    return PercentFormatter(context, format, values).run();
}

} // namespace engine::jinja
