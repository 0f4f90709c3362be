// SPDX-License-Identifier: Apache-2.0
#include "engine/base/checked_math.h"
#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/builtins/filters.h"
#include "engine/text/jinja/formatting/text_format.h"
#include "engine/text/jinja/methods/text_parts.h"
#include "engine/text/jinja/operations/access.h"
#include "engine/text/jinja/values/utf8_text.h"
#include "engine/text/jinja/values/value_text.h"

namespace engine::jinja {

namespace {

using TextMapping = std::string (*)(std::string_view);

template <TextMapping Mapping>
Result<Value> mapped(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("filter", arguments, {}));
    ENGINE_TRY(const std::string text, toText(context, input));
    ENGINE_TRY_DO(context.spendLookingUp(text.size()));
    return Value::text(Mapping(text));
}

bool separatesWords(char32_t codePoint) {
    return utf8::isSpace(codePoint) || codePoint == '-' || codePoint == '(' || codePoint == '{' ||
           codePoint == '[' || codePoint == '<';
}

/// The filter's own idea of a title, other than str.title(): only these separators start a word.
std::string titled(std::string_view text) {
    std::string out;
    for (std::size_t offset = 0; offset < text.size();) {
        const std::size_t start = offset;
        const bool isSeparator = separatesWords(utf8::characterAt(text, start).codePoint);
        while (offset < text.size() &&
               separatesWords(utf8::characterAt(text, offset).codePoint) == isSeparator)
            offset += utf8::characterAt(text, offset).bytes;
        const std::string_view part = text.substr(start, offset - start);
        const std::size_t first = utf8::characterAt(part, 0).bytes;
        out += isSeparator ? std::string(part)
                           : utf8::upper(part.substr(0, first)) + utf8::lower(part.substr(first));
    }
    return out;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char character : text) {
        if (character == '&')
            out += "&amp;";
        else if (character == '<')
            out += "&lt;";
        else if (character == '>')
            out += "&gt;";
        else if (character == '"')
            out += "&#34;";
        else if (character == '\'')
            out += "&#39;";
        else
            out += character;
    }
    return out;
}

std::string unchanged(std::string_view text) { return std::string(text); }

Result<Value> trim(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("trim", arguments, {"chars"}));
    if (input.isText())
        return strippedValue(context, input, bound.given(0), Side::Both);
    ENGINE_TRY(std::string text, toText(context, input));
    return strippedValue(context, Value::text(std::move(text)), bound.given(0), Side::Both);
}

Result<Value> replace(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("replace", arguments, {"old", "new", "count"}, 2));
    ENGINE_TRY(const std::string text, toText(context, input));
    ENGINE_TRY(const std::string wanted, toText(context, bound.valueAt(0)));
    ENGINE_TRY(const std::string replacement, toText(context, bound.valueAt(1)));
    std::int64_t limit = -1;
    if (bound.given(2) != nullptr) {
        ENGINE_TRY(limit, bound.integerOr(2, -1));
    }
    return replacedValue(context, text, {wanted, replacement, limit});
}

Result<std::string> indention(const BoundArguments& bound, RenderContext& context) {
    if (bound.has(0) && bound.valueAt(0).isText())
        return bound.textOr(0, "");
    ENGINE_TRY(const std::int64_t width, bound.integerOr(0, 4));
    if (width <= 0)
        return std::string();
    ENGINE_TRY_DO(context.spendText(static_cast<std::uint64_t>(width)));
    return std::string(static_cast<std::size_t>(width), ' ');
}

Result<Value> indent(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("indent", arguments, {"width", "first", "blank"}));
    if (!input.isText())
        return templateError(fmt::format("indent needs a str, not {}", input.typeName()));
    ENGINE_TRY(const std::string text, toText(context, input));
    ENGINE_TRY(const std::string spaces, indention(bound, context));
    const std::string ended = text + "\n";
    const auto lines = splitLines(ended, false);
    const auto added = checked::mul(lines.size(), spaces.size() + 1);
    if (!added)
        return templateLimit("a text grows too long");
    ENGINE_TRY_DO(context.spendText(text.size() + *added));
    std::string out = bound.truthOr(1, false) ? spaces : "";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool isIndented = i > 0 && (!lines[i].empty() || bound.truthOr(2, false));
        out += i > 0 ? "\n" : "";
        out += isIndented ? spaces : "";
        out += lines[i];
    }
    return Value::text(std::move(out));
}

Result<Value> center(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("center", arguments, {"width"}));
    ENGINE_TRY(const std::int64_t width, bound.integerOr(0, 80));
    ENGINE_TRY(const std::string text, toText(context, input));
    return justifiedValue(context, text, {width, " ", '^'});
}

Result<Value> truncate(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(
        const auto bound,
        BoundArguments::bind("truncate", arguments, {"length", "killwords", "end", "leeway"}));
    ENGINE_TRY(const std::int64_t length, bound.integerOr(0, 255));
    ENGINE_TRY(const std::string end, bound.textOr(2, "..."));
    std::int64_t leeway = 5;
    if (bound.given(3) != nullptr) {
        ENGINE_TRY(leeway, bound.integerOr(3, 5));
    }
    ENGINE_TRY(const std::int64_t characters, lengthOf(context, input));
    const auto endLength = static_cast<std::int64_t>(utf8::characterCount(end));
    if (length < endLength || leeway < 0)
        return templateError(
            fmt::format("truncate() expects a length of at least {} and a leeway", endLength));
    if (characters - leeway <= length)
        return input;
    if (!input.isText())
        return templateError(fmt::format("truncate needs a str, not {}", input.typeName()));
    const std::string& text = input.asText();
    ENGINE_TRY_DO(context.spendText(text.size()));
    const std::vector<std::size_t> offsets = utf8::characterOffsets(text);
    const std::string kept = text.substr(0, offsets[static_cast<std::size_t>(length - endLength)]);
    const std::size_t lastSpace = kept.rfind(' ');
    const bool cutsWord = bound.truthOr(1, false) || lastSpace == std::string::npos;
    return Value::text((cutsWord ? kept : kept.substr(0, lastSpace)) + end);
}

Result<Value> wordcount(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("wordcount", arguments, {}));
    ENGINE_TRY(const std::string text, toText(context, input));
    ENGINE_TRY_DO(context.spendLookingUp(text.size()));
    std::int64_t words = 0;
    bool isInWord = false;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(text, offset);
        const bool isWordPart =
            utf8::isLetter(codePoint) || utf8::isNumeric(codePoint) || codePoint == '_';
        words += isWordPart && !isInWord ? 1 : 0;
        isInWord = isWordPart;
        offset += bytes;
    }
    return Value::integer(words);
}

Result<Value> format(RenderContext& context, const Value& input, const Arguments& arguments) {
    ENGINE_TRY(const std::string text, toText(context, input));
    if (arguments.named.empty()) {
        ENGINE_TRY(const Value values, Value::sequence(SequenceKind::Tuple, arguments.positional));
        return percentFormatted(context, text, values);
    }
    if (!arguments.positional.empty())
        return templateError("can't handle positional and keyword arguments at the same time");
    Dict named;
    for (const auto& [name, value] : arguments.named)
        named.setText(name, value);
    ENGINE_TRY(const Value values, Value::dict(std::move(named)));
    return percentFormatted(context, text, values);
}

constexpr NamedFilter kTextFilters[] = {
    {"capitalize", mapped<utf8::capitalized>},
    {"center", center},
    {"e", mapped<escaped>},
    {"escape", mapped<escaped>},
    {"forceescape", mapped<escaped>},
    {"format", format},
    {"indent", indent},
    {"lower", mapped<utf8::lower>},
    {"replace", replace},
    {"safe", mapped<unchanged>},
    {"string", mapped<unchanged>},
    {"title", mapped<titled>},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", mapped<utf8::upper>},
    {"wordcount", wordcount},
};

} // namespace

FilterFunction findTextFilter(std::string_view name) { return findNamed(kTextFilters, name); }

} // namespace engine::jinja
