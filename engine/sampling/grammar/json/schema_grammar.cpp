// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/json/schema_grammar.h"

#include "engine/loading/json/json_text.h"
#include "engine/sampling/grammar/json/json_parts.h"
#include "engine/sampling/grammar/json/schema_merge.h"
#include "engine/sampling/grammar/json/schema_numbers.h"
#include "engine/sampling/grammar/json/schema_words.h"
#include "engine/sampling/grammar/regex_grammar.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace engine {

namespace {

constexpr JsonLimits kSchemaLimits{.maxBytes = 4U << 20U, .maxDepth = 64, .maxNodes = 200'000};

constexpr std::size_t kMostMerged = 1'000;
constexpr int kMostNested = 300; // schemas, each reached from the one before

/// Texts of each format. All of them are valid; a few valid ones are missing (29 February).
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFormats = {
    {{"date",
      "[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|"
      "(?:0[13578]|1[02])-31)"},
     {"time",
      "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?"
      "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"},
     {"date-time",
      "[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|"
      "(?:0[13578]|1[02])-31)T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?"
      "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"},
     {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"}}};

/// Characters that a pattern never matches: those that a JSON string cannot contain unescaped, and
/// spaces and line ends beyond ASCII, which regular expression dialects classify differently.
const std::vector<CharacterRange>& neverInPatterns() {
    static const std::vector<CharacterRange> kNever = [] {
        std::vector<CharacterRange> ranges = charactersBut(plainJsonCharacters());
        for (const CharacterRange& space : std::vector<CharacterRange>{{0x85, 0x85},
                                                                       {0xA0, 0xA0},
                                                                       {0x1680, 0x1680},
                                                                       {0x2000, 0x200A},
                                                                       {0x2028, 0x2029},
                                                                       {0x202F, 0x202F},
                                                                       {0x205F, 0x205F},
                                                                       {0x3000, 0x3000},
                                                                       {0xFEFF, 0xFEFF}})
            ranges.push_back(space);
        return ranges;
    }();
    return kNever;
}

/// The conversion of one schema to a grammar.
class SchemaGrammar {
public:
    SchemaGrammar(GrammarBuilder& builder, JsonValue root)
        : m_builder(builder)
        , m_parts(builder)
        , m_root(root) {}

    Result<GrammarPart> whole() { return reference({m_root, "#"}); }

private:
    using Words = std::vector<std::string_view>;

    Result<GrammarPart> value(const SchemaPlace& place) {
        if (m_depth >= kMostNested)
            return refuseSchema(
                place.pointer,
                fmt::format("more than {} schemas lead one to the next", kMostNested));
        ++m_depth;
        auto part = valueAt(place);
        --m_depth;
        return part;
    }

    Result<GrammarPart> valueAt(const SchemaPlace& place) {
        if (const auto truth = place.value.asBool())
            return *truth ? m_parts.anyValue() : m_builder.choice({});
        if (!place.value.isObject())
            return refuseSchema(place.pointer, "a schema is an object, true or false");
        if (place.value.contains("allOf"))
            return merged(place);
        if (place.value.contains("$ref"))
            return referred(place);
        if (place.value.contains("const") || place.value.contains("enum"))
            return constants(place);
        for (const char* word : {"anyOf", "oneOf"})
            if (place.value.contains(word))
                return alternatives(place, word);
        return byTypes(place);
    }

    Result<GrammarPart> referred(const SchemaPlace& place) {
        if (!checkWords(place, {"$ref"}))
            return merged(place);
        ENGINE_TRY(const SchemaPlace meant, resolveReference(place, m_root));
        return reference(meant);
    }

    /// Each referenced place is a rule, so that schemas may contain themselves.
    Result<GrammarPart> reference(const SchemaPlace& place) {
        const auto [entry, isNew] = m_rules.try_emplace(place.pointer, 0);
        if (isNew) {
            const int rule = m_builder.addRule(place.pointer);
            entry->second = rule;
            ENGINE_TRY(const GrammarPart part, value(place));
            m_builder.define(rule, part);
            return m_builder.call(rule);
        }
        return m_builder.call(entry->second);
    }

    /// Those constants that are of the type.
    Result<GrammarPart> constants(const SchemaPlace& place) {
        ENGINE_TRY_DO(checkWords(place, {"const", "enum", "type"}));
        if (place.value.contains("const") && place.value.contains("enum"))
            return refuseSchema(place.pointer, "\"const\" beside \"enum\" is not supported");
        std::vector<JsonValue> values = place.value["enum"].items();
        if (place.value.contains("const"))
            values = {place.value["const"]};
        else if (!place.value["enum"].isArray())
            return refuseSchema(place.pointer, "\"enum\" is not a list");
        ENGINE_TRY(const unsigned types, typesOf(place));
        std::vector<std::string> texts;
        for (const JsonValue constant : values)
            if (types == 0 || isOfType(constant, types))
                texts.push_back(jsonTextOf(constant));
        return m_builder.anyOfTexts(std::move(texts));
    }

    Result<GrammarPart> alternatives(const SchemaPlace& place, const char* word) {
        ENGINE_TRY_DO(checkWords(place, {word}));
        ENGINE_TRY(const auto places,
                   alternativesOf(place[word], word == std::string_view("oneOf"), m_root));
        std::vector<GrammarPart> parts;
        for (const SchemaPlace& alternative : places) {
            ENGINE_TRY(const GrammarPart part, value(alternative));
            parts.push_back(part);
        }
        return m_builder.choice(parts);
    }

    /// Merged into one schema. The same combination of parts is one rule, so that merged schemas
    /// may contain themselves, too.
    Result<GrammarPart> merged(const SchemaPlace& place) {
        ENGINE_TRY(const std::string text, mergedSchema(place, m_root));
        const auto [entry, isNew] = m_rules.try_emplace("allOf " + text, 0);
        if (!isNew)
            return m_builder.call(entry->second);
        const int rule = m_builder.addRule(place.pointer);
        entry->second = rule;
        auto document = JsonDocument::parse(text, "the JSON schema", kSchemaLimits);
        if (!document || m_merged.size() >= kMostMerged)
            return refuseSchema(place.pointer, "\"allOf\" makes it too large");
        const JsonValue root = m_merged.emplace_back(std::move(document).value()).root();
        ENGINE_TRY(const GrammarPart part, value({root, place.pointer + "/allOf"}));
        m_builder.define(rule, part);
        return m_builder.call(rule);
    }

    /// Keywords for a type apply only to values of that type.
    Result<GrammarPart> byTypes(const SchemaPlace& place) {
        ENGINE_TRY(unsigned types, typesOf(place));
        Words known = {"type"};
        const auto add = [&](unsigned type, const Words& words) {
            if ((types & type) != 0)
                known.insert(known.end(), words.begin(), words.end());
        };
        add(kObjectType, {"properties", "required", "additionalProperties"});
        add(kArrayType, {"items", "prefixItems", "minItems", "maxItems"});
        add(kStringType, {"minLength", "maxLength", "pattern", "format"});
        if ((types & kNumberType) != 0)
            types &= ~static_cast<unsigned>(kIntegerType);
        add(kIntegerType | kNumberType,
            {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"});
        ENGINE_TRY_DO(checkWords(place, known));
        if (types == 0)
            return m_parts.anyValue();
        std::vector<GrammarPart> parts;
        const auto take = [&](auto&& made) -> Result<void> {
            ENGINE_TRY(const GrammarPart part, std::forward<decltype(made)>(made));
            parts.push_back(part);
            return {};
        };
        if ((types & kObjectType) != 0)
            ENGINE_TRY_DO(take(object(place)));
        if ((types & kArrayType) != 0)
            ENGINE_TRY_DO(take(array(place)));
        if ((types & kStringType) != 0)
            ENGINE_TRY_DO(take(string(place)));
        if ((types & kNumberType) != 0)
            ENGINE_TRY_DO(take(numberPart(m_builder, m_parts, place)));
        if ((types & kIntegerType) != 0)
            ENGINE_TRY_DO(take(integerPart(m_builder, m_parts, place)));
        if ((types & kBooleanType) != 0)
            parts.push_back(m_builder.anyOfTexts({"true", "false"}));
        if ((types & kNullType) != 0)
            parts.push_back(m_builder.text("null"));
        return m_builder.choice(parts);
    }

    Result<GrammarPart> object(const SchemaPlace& place) {
        const SchemaPlace properties = place["properties"];
        const JsonValue others = place.value["additionalProperties"];
        ENGINE_TRY(const std::vector<std::string> required, requiredNames(place));
        const auto isRequired = [&](std::string_view name) {
            return std::find(required.begin(), required.end(), name) != required.end();
        };
        std::vector<std::string> names;
        std::vector<JsonParts::Member> members;
        for (const auto& [name, schema] : properties.value.members()) {
            ENGINE_TRY(const GrammarPart part, value(properties[name]));
            members.push_back({member(name, part), isRequired(name)});
            names.emplace_back(name);
        }
        const bool allowsOthers =
            others.isNull() ? properties.value.size() == 0 : others.asBool().value_or(true);
        for (const std::string& name : required) {
            if (std::find(names.begin(), names.end(), name) != names.end())
                continue;
            // A name that is not in properties may have any value allowed for other names.
            const bool isForbidden = others.asBool().has_value() && !*others.asBool();
            ENGINE_TRY(const GrammarPart part,
                       isForbidden ? Result<GrammarPart>(m_builder.choice({})) : otherValue(place));
            members.push_back({member(name, part), true});
            names.push_back(name);
        }
        int rest = -1;
        if (allowsOthers) {
            ENGINE_TRY(const GrammarPart part, otherValue(place));
            rest = m_parts.memberRule(names, part);
        }
        return m_parts.object(members, rest);
    }

    Result<GrammarPart> otherValue(const SchemaPlace& place) {
        const SchemaPlace others = place["additionalProperties"];
        if (others.value.isNull())
            return m_parts.anyValue();
        return reference(others);
    }

    int member(std::string_view name, GrammarPart value) {
        const int rule = m_builder.addRule("a member of an object");
        const std::array<GrammarPart, 3> parts = {
            m_builder.text(jsonString(name) + ":"), m_parts.space(), value};
        m_builder.define(rule, m_builder.sequence(parts));
        return rule;
    }

    Result<GrammarPart> array(const SchemaPlace& place) {
        ENGINE_TRY(const int least, countOf(place, "minItems", 0));
        ENGINE_TRY(const int most, countOf(place, "maxItems", GrammarBuilder::kUnbounded));
        const SchemaPlace first = place["prefixItems"];
        const SchemaPlace items = place["items"];
        if (items.value.isArray() || (!first.value.isNull() && !first.value.isArray()))
            return refuseSchema(place.pointer,
                                "\"items\" is one schema, and \"prefixItems\" a list of them");
        std::vector<int> rules;
        for (const JsonValue item : first.value.items()) {
            ENGINE_TRY(const int rule,
                       itemRule({item, fmt::format("{}/{}", first.pointer, rules.size())}));
            rules.push_back(rule);
        }
        const bool hasRest =
            !items.value.isNull() || rules.empty() || least > static_cast<int>(rules.size());
        int rest = -1;
        if (hasRest) {
            if (items.value.isNull()) {
                rest = m_builder.addRule("an item");
                m_builder.define(rest, m_parts.anyValue());
            } else {
                ENGINE_TRY(rest, itemRule(items));
            }
        }
        return m_parts.array(rules, rest, least, most);
    }

    Result<int> itemRule(const SchemaPlace& place) {
        const int rule = m_builder.addRule(place.pointer);
        ENGINE_TRY(const GrammarPart part, value(place));
        m_builder.define(rule, part);
        return rule;
    }

    Result<GrammarPart> string(const SchemaPlace& place) {
        ENGINE_TRY(const int least, countOf(place, "minLength", 0));
        ENGINE_TRY(const int most, countOf(place, "maxLength", GrammarBuilder::kUnbounded));
        for (const char* keyword : {"pattern", "format"})
            if (place.value.contains(keyword) && !place.value[keyword].asString())
                return refuseSchema(place[keyword].pointer, "it is not a text");
        const auto pattern = place.value["pattern"].asString();
        const auto format = place.value["format"].asString();
        const bool hasLength =
            place.value.contains("minLength") || place.value.contains("maxLength");
        if (static_cast<int>(hasLength) + static_cast<int>(pattern.has_value()) +
                static_cast<int>(format.has_value()) >
            1)
            return refuseSchema(place.pointer,
                                "a length, \"pattern\" and \"format\" are not supported together");
        if (pattern)
            return patterned(place["pattern"], *pattern);
        if (format) {
            for (const auto& [name, form] : kFormats)
                if (name == *format)
                    return quoted(regexPart(m_builder, form));
            return refuseSchema(place.pointer,
                                fmt::format("the format \"{}\" is not supported (date, time, "
                                            "date-time and uuid are)",
                                            *format));
        }
        if (most != GrammarBuilder::kUnbounded && most < least)
            return m_builder.choice({});
        return m_parts.string(least, most);
    }

    Result<GrammarPart> patterned(const SchemaPlace& place, std::string_view pattern) {
        const bool isAnchored = pattern.starts_with('^') && pattern.ends_with('$');
        const std::string_view inner =
            isAnchored ? pattern.substr(1, pattern.size() - 2) : std::string_view();
        const std::size_t slashes = inner.size() - (inner.find_last_not_of('\\') + 1);
        if (!isAnchored || slashes % 2 != 0) // \$ is a character
            return refuseSchema(place.pointer,
                                "a pattern is supported when it begins with ^ and ends with $");
        // Refuses alternatives between the anchors, because the anchors would not apply to all of
        // them.
        if (pattern.find('|') != std::string_view::npos && !isOneGroup(pattern))
            return refuseSchema(place.pointer,
                                "alternatives need a group between ^ and $, as in ^(a|b)$");
        auto part = regexPart(m_builder, pattern, neverInPatterns());
        if (!part)
            return refuseSchema(place.pointer, part.error().message);
        return quoted(std::move(part));
    }

    /// Accepts ^( ... )$ with alternatives only inside groups.
    static bool isOneGroup(std::string_view pattern) {
        int depth = 0;
        for (std::size_t at = 0; at < pattern.size(); ++at) {
            if (pattern[at] == '\\')
                ++at;
            else if (pattern[at] == '[')
                at = classEnd(pattern, at);
            else if (pattern[at] == '(')
                ++depth;
            else if (pattern[at] == ')')
                --depth;
            else if (pattern[at] == '|' && depth == 0)
                return false;
        }
        return true;
    }

    /// The place of the ] of a class that begins here; as its first character, ] is one of it.
    static std::size_t classEnd(std::string_view pattern, std::size_t begin) {
        std::size_t at = begin + (pattern.substr(begin + 1).starts_with('^') ? 2 : 1);
        for (bool isFirst = true; at < pattern.size() && (isFirst || pattern[at] != ']');
             isFirst = false)
            at += pattern[at] == '\\' ? 2 : 1;
        return at;
    }

    Result<GrammarPart> quoted(Result<GrammarPart> made) {
        ENGINE_TRY(const GrammarPart part, std::move(made));
        const std::array<GrammarPart, 3> parts = {m_builder.text("\""), part, m_builder.text("\"")};
        return m_builder.sequence(parts);
    }

    GrammarBuilder& m_builder;
    JsonParts m_parts;
    JsonValue m_root;
    std::map<std::string, int> m_rules; // by the place in the document, or what was merged
    std::deque<JsonDocument> m_merged;
    int m_depth = 0; // of value()
};

} // namespace

Result<GrammarPart> schemaPart(GrammarBuilder& builder, std::string_view schema) {
    auto document = JsonDocument::parse(schema, "the JSON schema", kSchemaLimits);
    if (!document) {
        Error error = std::move(document).error();
        error.code = ErrorCode::InvalidInput;
        error.hint = "A JSON schema is a JSON text, for instance {\"type\": \"object\"}.";
        return error;
    }
    return SchemaGrammar(builder, document.value().root()).whole();
}

} // namespace engine
