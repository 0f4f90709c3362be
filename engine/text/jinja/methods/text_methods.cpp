// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/builtins/bound_arguments.h"
#include "engine/text/jinja/formatting/text_format.h"
#include "engine/text/jinja/methods/methods.h"
#include "engine/text/jinja/methods/text_parts.h"
#include "engine/text/jinja/operations/text_search.h"
#include "engine/text/jinja/values/utf8_text.h"

#include <algorithm>

namespace engine::jinja {

namespace {

using TextMapping = std::string (*)(std::string_view);

template <TextMapping Mapping>
Result<Value> mapped(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("method", arguments, {}));
    ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
    return Value::text(Mapping(text.asText()));
}

using CharacterTest = bool (*)(char32_t);

bool isLetterOrNumber(char32_t codePoint) {
    return utf8::isLetter(codePoint) || utf8::isNumeric(codePoint);
}

/// str.isdigit and its like: every character passes, and there is one.
template <CharacterTest Test>
Result<Value> allPass(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("method", arguments, {}));
    ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
    const std::string& all = text.asText();
    for (std::size_t offset = 0; offset < all.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(all, offset);
        if (!Test(codePoint))
            return Value::boolean(false);
        offset += bytes;
    }
    return Value::boolean(!all.empty());
}

/// str.isupper and str.islower: at least one letter of this case and none of the other.
template <CharacterTest Wanted, CharacterTest Other>
Result<Value> hasCase(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("method", arguments, {}));
    ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
    return Value::boolean(hasOnlyCase(text.asText(), Wanted, Other));
}

Result<Value> isTitle(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY_DO(BoundArguments::bind("istitle", arguments, {}));
    ENGINE_TRY_DO(context.spendLookingUp(2 * text.asText().size()));
    const std::string& all = text.asText();
    return Value::boolean(utf8::titled(all) == all && utf8::lower(all) != all);
}

template <Side From>
Result<Value> strip(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("strip", arguments, {"chars"}));
    return strippedValue(context, text, bound.given(0), From);
}

template <Side From>
Result<Value> split(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("split", arguments, {"sep", "maxsplit"}));
    ENGINE_TRY(const std::int64_t limit, bound.integerOr(1, -1));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    if (bound.given(0) == nullptr)
        ENGINE_TRY_DO(context.spendLookingUp(text.asText().size()));
    std::optional<std::string> separator;
    if (bound.given(0) != nullptr) {
        ENGINE_TRY(separator, bound.textOr(0, ""));
        if (separator->empty())
            return templateError("empty separator");
        ENGINE_TRY_DO(context.spendReading(separator->size()));
    }
    return listOfTexts(context, splitText(text.asText(), separator, limit, From));
}

Result<Value> splitlines(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("splitlines", arguments, {"keepends"}));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    return listOfTexts(context, splitLines(text.asText(), bound.truthOr(0, false)));
}

template <Side From>
Result<Value> partition(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("partition", arguments, {"sep"}, 1));
    ENGINE_TRY(const std::string separator, bound.textOr(0, ""));
    if (separator.empty())
        return templateError("empty separator");
    const std::string& all = text.asText();
    ENGINE_TRY_DO(context.spendText(all.size() + separator.size()));
    const std::size_t found =
        From == Side::Left ? findText(all, separator, 0) : findLastText(all, separator);
    if (found != std::string::npos)
        return Value::sequence(SequenceKind::Tuple,
                               {Value::text(all.substr(0, found)),
                                Value::text(separator),
                                Value::text(all.substr(found + separator.size()))});
    const Value empty = Value::text("");
    return Value::sequence(SequenceKind::Tuple,
                           From == Side::Left ? std::vector<Value>{text, empty, empty}
                                              : std::vector<Value>{empty, empty, text});
}

/// str.startswith and endswith; the wanted text may be a tuple of texts.
template <Side From>
Result<Value> touches(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("startswith", arguments, {"text", "start", "end"}, 1));
    ENGINE_TRY(const auto part,
               characterRange(context, text.asText(), bound.given(1), bound.given(2)));
    const Value wanted = bound.valueAt(0);
    const bool isTuple = wanted.isSequence(SequenceKind::Tuple);
    const std::vector<Value> all = isTuple ? wanted.asSequence()->items : std::vector{wanted};
    for (const Value& one : all) {
        if (!one.isText())
            return templateError(fmt::format(
                "startswith and endswith need a str or a tuple of str, not {}", one.typeName()));
        ENGINE_TRY_DO(context.spend(1 + one.asText().size() / 64));
        if (!part)
            continue;
        if (From == Side::Left ? part->starts_with(one.asText()) : part->ends_with(one.asText()))
            return Value::boolean(true);
    }
    return Value::boolean(false);
}

template <Side From>
Result<Value> removeAffix(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("removeprefix", arguments, {"affix"}, 1));
    ENGINE_TRY(const std::string affix, bound.textOr(0, ""));
    const std::string& all = text.asText();
    ENGINE_TRY_DO(context.spendText(all.size()));
    if (From == Side::Left)
        return Value::text(all.substr(all.starts_with(affix) ? affix.size() : 0));
    return Value::text(all.substr(0, all.size() - (all.ends_with(affix) ? affix.size() : 0)));
}

/// str.find, rfind, index and rindex.
template <Side From, bool MustBeThere>
Result<Value> find(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("find", arguments, {"sub", "start", "end"}, 1));
    ENGINE_TRY(const std::string wanted, bound.textOr(0, ""));
    ENGINE_TRY(const auto part,
               characterRange(context, text.asText(), bound.given(1), bound.given(2)));
    ENGINE_TRY_DO(context.spendText(text.asText().size()));
    const std::size_t found = !part                ? std::string_view::npos
                              : From == Side::Left ? findText(*part, wanted, 0)
                                                   : findLastText(*part, wanted);
    if (found == std::string_view::npos && MustBeThere)
        return templateError("substring not found");
    if (found == std::string_view::npos)
        return Value::integer(-1);
    const auto before = static_cast<std::size_t>(part->data() - text.asText().data()) + found;
    return Value::integer(static_cast<std::int64_t>(
        utf8::characterCount(std::string_view(text.asText()).substr(0, before))));
}

Result<Value> count(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("count", arguments, {"sub", "start", "end"}, 1));
    ENGINE_TRY(const std::string wanted, bound.textOr(0, ""));
    ENGINE_TRY(const auto part,
               characterRange(context, text.asText(), bound.given(1), bound.given(2)));
    ENGINE_TRY_DO(context.spendReading(text.asText().size()));
    return Value::integer(part ? static_cast<std::int64_t>(countText(*part, wanted)) : 0);
}

Result<Value> replace(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("replace", arguments, {"old", "new", "count"}, 2));
    ENGINE_TRY(const std::string wanted, bound.textOr(0, ""));
    ENGINE_TRY(const std::string replacement, bound.textOr(1, ""));
    ENGINE_TRY(const std::int64_t limit, bound.integerOr(2, -1));
    return replacedValue(context, text.asText(), {wanted, replacement, limit});
}

Result<Value> join(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("join", arguments, {"iterable"}, 1));
    return joinedTexts(context, bound.valueAt(0), text.asText());
}

template <char Align>
Result<Value> justify(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound,
               BoundArguments::bind("justify", arguments, {"width", "fillchar"}, 1));
    ENGINE_TRY(const std::int64_t width, bound.integerOr(0, 0));
    ENGINE_TRY(const std::string fill, bound.textOr(1, " "));
    if (utf8::characterCount(fill) != 1)
        return templateError("The fill character must be exactly one character long");
    return justifiedValue(context, text.asText(), {width, fill, Align});
}

Result<Value> zfill(RenderContext& context, const Value& text, const Arguments& arguments) {
    ENGINE_TRY(const auto bound, BoundArguments::bind("zfill", arguments, {"width"}, 1));
    ENGINE_TRY(const std::int64_t width, bound.integerOr(0, 0));
    const std::string& all = text.asText();
    const bool isSigned = !all.empty() && (all[0] == '-' || all[0] == '+');
    const std::size_t signBytes = isSigned ? 1 : 0;
    ENGINE_TRY(const Value digits,
               justifiedValue(context,
                              all.substr(signBytes),
                              {std::max<std::int64_t>(width, 1) - (isSigned ? 1 : 0), "0", '>'}));
    return Value::text(all.substr(0, signBytes) +
                       (width > 0 ? digits.asText() : all.substr(signBytes)));
}

Result<Value> format(RenderContext& context, const Value& text, const Arguments& arguments) {
    return braceFormatted(context, text.asText(), arguments);
}

constexpr NamedMethod kMethods[] = {
    {"capitalize", mapped<utf8::capitalized>},
    {"casefold", mapped<utf8::lower>},
    {"center", justify<'^'>},
    {"count", count},
    {"endswith", touches<Side::Right>},
    {"find", find<Side::Left, false>},
    {"format", format},
    {"index", find<Side::Left, true>},
    {"isalnum", allPass<isLetterOrNumber>},
    {"isalpha", allPass<utf8::isLetter>},
    {"isdecimal", allPass<utf8::isDecimal>},
    {"isdigit", allPass<utf8::isDecimal>},
    {"islower", hasCase<utf8::isLower, utf8::isUpper>},
    {"isnumeric", allPass<utf8::isNumeric>},
    {"isspace", allPass<utf8::isSpace>},
    {"istitle", isTitle},
    {"isupper", hasCase<utf8::isUpper, utf8::isLower>},
    {"join", join},
    {"ljust", justify<'<'>},
    {"lower", mapped<utf8::lower>},
    {"lstrip", strip<Side::Left>},
    {"partition", partition<Side::Left>},
    {"removeprefix", removeAffix<Side::Left>},
    {"removesuffix", removeAffix<Side::Right>},
    {"replace", replace},
    {"rfind", find<Side::Right, false>},
    {"rindex", find<Side::Right, true>},
    {"rjust", justify<'>'>},
    {"rpartition", partition<Side::Right>},
    {"rsplit", split<Side::Right>},
    {"rstrip", strip<Side::Right>},
    {"split", split<Side::Left>},
    {"splitlines", splitlines},
    {"startswith", touches<Side::Left>},
    {"strip", strip<Side::Both>},
    {"swapcase", mapped<utf8::swappedCase>},
    {"title", mapped<utf8::titled>},
    {"upper", mapped<utf8::upper>},
    {"zfill", zfill},
};

} // namespace

MethodFunction findTextMethod(std::string_view name) {
    for (const NamedMethod& method : kMethods)
        if (method.name == name)
            return method.function;
    return nullptr;
}

} // namespace engine::jinja
