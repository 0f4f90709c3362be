// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/formatting/format_field.h"
#include "engine/text/jinja/formatting/text_format.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/values/utf8_text.h"
#include "engine/text/jinja/values/value_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

class BraceFormatter {
public:
    BraceFormatter(RenderContext& context, std::string_view format, const Arguments& arguments)
        : m_context(context)
        , m_format(format)
        , m_arguments(arguments) {}

    Result<Value> run();

private:
    Result<void> appendBrace();
    Result<std::string> fieldText(std::string_view field);
    Result<Value> fieldValue(std::string_view path);
    Result<Value> firstValue(std::string_view name);
    Result<void> append(std::string_view part);

    RenderContext& m_context;
    std::string_view m_format;
    const Arguments& m_arguments;
    std::size_t m_offset = 0;
    std::size_t m_next = 0;
    std::string m_out;
};

bool isDigits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// [[fill]align][sign][#][0][width][,][.precision][type]
Result<FieldFormat> parseFieldFormat(RenderContext& context, std::string_view text) {
    constexpr std::string_view kAligns = "<>^=";
    FieldFormat format;
    std::size_t offset = 0;
    const std::size_t fillBytes = text.empty() ? 0 : utf8::characterAt(text, 0).bytes;
    if (fillBytes < text.size() && kAligns.find(text[fillBytes]) != std::string_view::npos) {
        format.fill = text.substr(0, fillBytes);
        format.align = text[fillBytes];
        offset = fillBytes + 1;
    } else if (!text.empty() && kAligns.find(text[0]) != std::string_view::npos) {
        format.align = text[0];
        offset = 1;
    }
    const auto take = [&](char wanted) {
        const bool isThere = offset < text.size() && text[offset] == wanted;
        offset += isThere ? 1 : 0;
        return isThere;
    };
    if (take('+'))
        format.positiveSign = '+';
    else if (take(' '))
        format.positiveSign = ' ';
    else
        take('-');
    format.isAlternate = take('#');
    if (take('0') && format.align == 0) {
        format.fill.assign(1, '0');
        format.align = '=';
    }
    ENGINE_TRY(const auto width, readFieldNumber(context, text, offset));
    format.width = width.value_or(0);
    format.groupsThousands = take(',');
    if (take('.')) {
        ENGINE_TRY(format.precision, readFieldNumber(context, text, offset));
    }
    if (offset < text.size())
        format.type = text[offset++];
    if (offset < text.size())
        return templateError("invalid format specifier");
    return format;
}

Result<void> BraceFormatter::append(std::string_view part) {
    ENGINE_TRY_DO(m_context.spendReading(part.size()));
    if (m_out.size() + part.size() > m_context.maxTextBytes())
        return m_context.spendText(m_out.size() + part.size());
    m_out += part;
    return {};
}

Result<Value> BraceFormatter::firstValue(std::string_view name) {
    ENGINE_TRY_DO(m_context.spend(1 + m_arguments.named.size() / 4));
    if (!name.empty() && !isDigits(name)) {
        const Value* found = m_arguments.findNamed(name);
        if (found == nullptr)
            return templateError(
                fmt::format("format() is given no '{}'", std::string(name.substr(0, 100))));
        return *found;
    }
    std::size_t digits = 0;
    ENGINE_TRY(const auto number, readFieldNumber(m_context, name, digits));
    const std::size_t index = number ? static_cast<std::size_t>(*number) : m_next++;
    if (index >= m_arguments.positional.size())
        return templateError("Replacement index out of range for positional args tuple");
    return m_arguments.positional[index];
}

Result<Value> BraceFormatter::fieldValue(std::string_view path) {
    const std::size_t nameEnd = std::min(path.find_first_of(".["), path.size());
    ENGINE_TRY(Value value, firstValue(path.substr(0, nameEnd)));
    std::size_t offset = nameEnd;
    while (offset < path.size()) {
        const bool isItem = path[offset] == '[';
        const std::size_t start = offset + 1;
        const std::size_t end =
            std::min(isItem ? path.find(']', start) : path.find_first_of(".[", start), path.size());
        const std::string_view name = path.substr(start, end - start);
        offset = isItem ? end + 1 : end;
        if (!isItem) {
            ENGINE_TRY(value, attributeOf(m_context, value, name));
            continue;
        }
        std::size_t digits = 0;
        std::optional<std::int64_t> number;
        if (isDigits(name)) {
            ENGINE_TRY(number, readFieldNumber(m_context, name, digits));
        }
        ENGINE_TRY(value,
                   itemOf(m_context,
                          value,
                          number ? Value::integer(*number) : Value::text(std::string(name))));
    }
    return value;
}

Result<std::string> BraceFormatter::fieldText(std::string_view field) {
    const std::size_t pathEnd = std::min(field.find_first_of("!:"), field.size());
    ENGINE_TRY(Value value, fieldValue(field.substr(0, pathEnd)));
    std::size_t offset = pathEnd;
    if (offset < field.size() && field[offset] == '!') {
        const char conversion = offset + 1 < field.size() ? field[offset + 1] : 0;
        if (conversion != 's' && conversion != 'r' && conversion != 'a')
            return templateError("a conversion in a format string is not s, r or a");
        ENGINE_TRY(std::string text,
                   conversion == 's' ? toText(m_context, value)
                                     : toRepresentation(m_context, value));
        value = Value::text(std::move(text));
        offset += 2;
    }
    const std::string_view specification =
        offset < field.size() ? field.substr(offset + 1) : std::string_view();
    if (specification.find('{') != std::string_view::npos)
        return templateLimit("fields inside the format of a field are not supported");
    ENGINE_TRY(FieldFormat format, parseFieldFormat(m_context, specification));
    // A boolean is a number as soon as anything is asked about its form.
    if (value.is(Kind::Boolean) && !specification.empty() && format.type == 0)
        format.type = 'd';
    return formatField(m_context, value, format);
}

Result<void> BraceFormatter::appendBrace() {
    const char brace = m_format[m_offset++];
    if (m_offset < m_format.size() && m_format[m_offset] == brace) {
        ++m_offset;
        return append(std::string_view(&brace, 1));
    }
    if (brace == '}')
        return templateError("Single '}' encountered in format string");
    const std::size_t end = m_format.find('}', m_offset);
    if (end == std::string_view::npos)
        return templateError("expected '}' before end of string");
    ENGINE_TRY(const std::string text, fieldText(m_format.substr(m_offset, end - m_offset)));
    m_offset = end + 1;
    return append(text);
}

Result<Value> BraceFormatter::run() {
    while (m_offset < m_format.size()) {
        const std::size_t next = std::min(m_format.find_first_of("{}", m_offset), m_format.size());
        ENGINE_TRY_DO(append(m_format.substr(m_offset, next - m_offset)));
        m_offset = next;
        if (m_offset < m_format.size()) {
            ENGINE_TRY_DO(m_context.spend(1));
            ENGINE_TRY_DO(appendBrace());
        }
    }
    ENGINE_TRY_DO(m_context.spendText(m_out.size()));
    return Value::text(std::move(m_out));
}

} // namespace

Result<Value>
braceFormatted(RenderContext& context, const std::string& format, const Arguments& arguments) {
    return BraceFormatter(context, format, arguments).run();
}

} // namespace engine::jinja
