// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/json/schema_words.h"

#include "engine/loading/json/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace engine {

namespace {

constexpr int kMostCount = 1'000'000;
constexpr int kMostReferences = 50; // most references that lead to another

/// Keywords without an effect on which values fit.
constexpr std::array<std::string_view, 17> kAnnotations = {"$schema",
                                                           "$id",
                                                           "$anchor",
                                                           "$comment",
                                                           "$defs",
                                                           "definitions",
                                                           "title",
                                                           "description",
                                                           "default",
                                                           "examples",
                                                           "example",
                                                           "deprecated",
                                                           "readOnly",
                                                           "writeOnly",
                                                           "contentMediaType",
                                                           "contentEncoding",
                                                           "$vocabulary"};

struct TypeName {
    std::string_view name;
    unsigned type;
};

constexpr std::array<TypeName, 7> kTypes = {{{"null", kNullType},
                                             {"boolean", kBooleanType},
                                             {"integer", kIntegerType},
                                             {"number", kNumberType},
                                             {"string", kStringType},
                                             {"array", kArrayType},
                                             {"object", kObjectType}}};

unsigned typeNamed(std::string_view name) {
    for (const TypeName& type : kTypes)
        if (type.name == name)
            return type.type;
    return 0;
}

/// Of a JSON value; a whole number is an integer.
unsigned typeOf(JsonValue value) {
    switch (value.type()) {
    case JsonType::Null:
        return kNullType;
    case JsonType::Bool:
        return kBooleanType;
    case JsonType::Integer:
        return kIntegerType;
    case JsonType::Number:
        return std::trunc(*value.asNumber()) == *value.asNumber() ? kIntegerType : kNumberType;
    case JsonType::String:
        return kStringType;
    case JsonType::Array:
        return kArrayType;
    case JsonType::Object:
        return kObjectType;
    }
    return 0;
}

/// A URI's escapes undone: "a%20b" is "a b".
std::string withoutPercents(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        unsigned byte = 0;
        const char* const end = text.data() + std::min<std::size_t>(text.size(), 3);
        const bool isEscape = text.size() >= 3 && text.front() == '%' &&
                              std::from_chars(text.data() + 1, end, byte, 16).ptr == end;
        plain += isEscape ? static_cast<char>(byte) : text.front();
        text.remove_prefix(isEscape ? 3U : 1U);
    }
    return plain;
}

/// One step of a JSON pointer with its escapes undone.
std::string unescaped(std::string_view step) {
    std::string text;
    for (std::size_t at = 0; at < step.size(); ++at) {
        const std::string_view rest = step.substr(at);
        if (rest.starts_with("~0") || rest.starts_with("~1")) {
            text += rest[1] == '0' ? '~' : '/';
            ++at;
        } else {
            text += rest.front();
        }
    }
    return text;
}

/// The constants of which a value must be one; nothing if other values are allowed.
std::optional<std::set<std::string>> constantsOf(JsonValue schema) {
    std::set<std::string> texts;
    if (schema.contains("const"))
        texts.insert(jsonTextOf(schema["const"]));
    else if (schema.contains("enum"))
        for (const JsonValue item : schema["enum"].items())
            texts.insert(jsonTextOf(item));
    else
        return std::nullopt;
    return texts;
}

bool haveNothingInCommon(const std::optional<std::set<std::string>>& a,
                         const std::optional<std::set<std::string>>& b) {
    return a && b && std::none_of(a->begin(), a->end(), [&](const std::string& text) {
               return b->contains(text);
           });
}

bool isRequired(JsonValue schema, std::string_view name) {
    const auto names = schema["required"].items();
    return std::any_of(names.begin(), names.end(), [&](JsonValue required) {
        return required.asString() == name;
    });
}

} // namespace

SchemaPlace SchemaPlace::operator[](std::string_view key) const {
    std::string step;
    for (const char character : key)
        step += character == '~'   ? std::string("~0")
                : character == '/' ? std::string("~1")
                                   : std::string(1, character);
    return {value[key], pointer + "/" + step};
}

Error refuseSchema(const std::string& pointer, const std::string& why) {
    return {ErrorCode::InvalidInput,
            fmt::format("The JSON schema is refused at {}: {}.", pointer, why),
            "Supported are type, properties, required, additionalProperties, items, prefixItems, "
            "minItems, maxItems, minLength, maxLength, pattern, format, minimum, maximum, enum, "
            "exclusiveMinimum, exclusiveMaximum, multipleOf, const, anyOf, oneOf, allOf and $ref "
            "within the document."};
}

std::string jsonTextOf(JsonValue value) {
    if (const auto truth = value.asBool())
        return *truth ? "true" : "false";
    if (const auto integer = value.asInteger())
        return fmt::format("{}", *integer);
    if (const auto number = value.asNumber())
        return fmt::format("{}", *number);
    if (const auto text = value.asString())
        return jsonString(*text);
    std::string joined;
    if (value.isArray()) {
        for (const JsonValue item : value.items())
            joined += (joined.empty() ? "" : ",") + jsonTextOf(item);
        return "[" + joined + "]";
    }
    if (value.isObject()) {
        for (const auto& [name, member] : value.members())
            joined += (joined.empty() ? "" : ",") + jsonString(name) + ":" + jsonTextOf(member);
        return "{" + joined + "}";
    }
    return "null";
}

bool isAnnotation(std::string_view word) {
    return std::find(kAnnotations.begin(), kAnnotations.end(), word) != kAnnotations.end();
}

Result<void> checkWords(const SchemaPlace& place, const std::vector<std::string_view>& known) {
    for (const auto& [word, value] : place.value.members()) {
        const bool isKnown =
            isAnnotation(word) || std::find(known.begin(), known.end(), word) != known.end();
        if (!isKnown)
            return refuseSchema(place.pointer, fmt::format("\"{}\" is not supported here", word));
    }
    return {};
}

Result<int> countOf(const SchemaPlace& place, std::string_view word, int otherwise) {
    if (!place.value.contains(word))
        return otherwise;
    const auto count = place.value[word].asInteger();
    if (!count || *count < 0 || *count > kMostCount)
        return refuseSchema(
            place.pointer,
            fmt::format("\"{}\" is not a whole number from 0 to {}", word, kMostCount));
    return static_cast<int>(*count);
}

Result<unsigned> typesOf(const SchemaPlace& place) {
    const JsonValue type = place.value["type"];
    std::vector<JsonValue> names = type.items();
    if (type.isString())
        names = {type};
    unsigned types = 0;
    for (const JsonValue name : names) {
        const unsigned found = typeNamed(name.asString().value_or(""));
        if (found == 0)
            return refuseSchema(place.pointer + "/type", "it is not the name of a JSON type");
        types |= found;
    }
    if (place.value.contains("type") && types == 0)
        return refuseSchema(place.pointer + "/type", "it is not the name of a JSON type");
    if (types != 0)
        return types;
    constexpr std::array<TypeName, 16> kAbout = {{{"properties", kObjectType},
                                                  {"required", kObjectType},
                                                  {"additionalProperties", kObjectType},
                                                  {"items", kArrayType},
                                                  {"prefixItems", kArrayType},
                                                  {"minItems", kArrayType},
                                                  {"maxItems", kArrayType},
                                                  {"minLength", kStringType},
                                                  {"maxLength", kStringType},
                                                  {"pattern", kStringType},
                                                  {"format", kStringType},
                                                  {"minimum", kNumberType},
                                                  {"exclusiveMinimum", kNumberType},
                                                  {"exclusiveMaximum", kNumberType},
                                                  {"multipleOf", kNumberType},
                                                  {"maximum", kNumberType}}};
    for (const TypeName& about : kAbout)
        if (place.value.contains(about.name))
            types |= about.type;
    return types;
}

bool isOfType(JsonValue value, unsigned types) {
    if ((types & kNumberType) != 0)
        types |= kIntegerType;
    return (typeOf(value) & types) != 0;
}

Result<std::vector<std::string>> requiredNames(const SchemaPlace& place) {
    const SchemaPlace properties = place["properties"];
    if (!properties.value.isNull() && !properties.value.isObject())
        return refuseSchema(properties.pointer, "it is not an object of schemas");
    const SchemaPlace required = place["required"];
    if (!required.value.isNull() && !required.value.isArray())
        return refuseSchema(required.pointer, "it is not a list of names");
    std::vector<std::string> names;
    for (const JsonValue name : required.value.items()) {
        if (!name.asString())
            return refuseSchema(required.pointer, "it is not a list of names");
        names.emplace_back(*name.asString());
    }
    return names;
}

std::string typesText(unsigned types) {
    std::string names;
    for (const TypeName& type : kTypes)
        if ((types & type.type) != 0)
            names += fmt::format("{}\"{}\"", names.empty() ? "" : ",", type.name);
    return "[" + names + "]";
}

Result<SchemaPlace> resolveReference(const SchemaPlace& place, JsonValue root) {
    const std::string reference(place.value["$ref"].asString().value_or(""));
    if (!reference.starts_with('#') || (reference.size() > 1 && reference[1] != '/'))
        return refuseSchema(place.pointer,
                            fmt::format("\"$ref\": \"{}\" leads out of the document", reference));
    SchemaPlace found{root, withoutPercents(reference)};
    std::string_view rest = std::string_view(found.pointer).substr(1);
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::size_t end = std::min(rest.find('/'), rest.size());
        const std::string step = unescaped(rest.substr(0, end));
        rest.remove_prefix(end);
        const std::vector<JsonValue> items = found.value.items();
        const bool isIndex = found.value.isArray() && !step.empty() && step.size() < 7 &&
                             step.find_first_not_of("0123456789") == std::string::npos;
        if (isIndex && std::stoul(step) < items.size())
            found.value = items[std::stoul(step)];
        else if (found.value.contains(step))
            found.value = found.value[step];
        else
            return refuseSchema(place.pointer,
                                fmt::format("\"$ref\": \"{}\" leads to nothing", reference));
    }
    return found;
}

Result<bool> areDisjoint(const std::vector<SchemaPlace>& alternatives, JsonValue root) {
    std::vector<SchemaPlace> meant;
    std::vector<unsigned> types;
    for (SchemaPlace place : alternatives) {
        for (int count = 0; place.value.contains("$ref") && count < kMostReferences; ++count) {
            ENGINE_TRY(place, resolveReference(place, root));
        }
        ENGINE_TRY(unsigned found, typesOf(place));
        if (const JsonValue constant = place.value["const"]; place.value.contains("const"))
            found = typeOf(constant);
        if ((found & kNumberType) != 0)
            found |= kIntegerType;
        types.push_back(found);
        meant.push_back(std::move(place));
    }
    for (std::size_t i = 0; i < meant.size(); ++i)
        for (std::size_t j = i + 1; j < meant.size(); ++j) {
            const JsonValue a = meant[i].value;
            const JsonValue b = meant[j].value;
            bool isApart = types[i] != 0 && types[j] != 0 && (types[i] & types[j]) == 0;
            isApart |= haveNothingInCommon(constantsOf(a), constantsOf(b));
            const bool areObjects = types[i] == kObjectType && types[j] == kObjectType;
            for (const auto& [name, schema] : a["properties"].members())
                isApart |=
                    areObjects && isRequired(a, name) && isRequired(b, name) &&
                    haveNothingInCommon(constantsOf(schema), constantsOf(b["properties"][name]));
            if (!isApart)
                return false;
        }
    return true;
}

Result<std::vector<SchemaPlace>>
alternativesOf(const SchemaPlace& list, bool isOne, JsonValue root) {
    std::vector<SchemaPlace> places;
    for (const JsonValue item : list.value.items())
        places.push_back({item, fmt::format("{}/{}", list.pointer, places.size())});
    if (places.empty() || !list.value.isArray())
        return refuseSchema(list.pointer, "it is not a list of schemas");
    if (!isOne)
        return places;
    ENGINE_TRY(const bool isDisjoint, areDisjoint(places, root));
    if (isDisjoint)
        return places;
    return refuseSchema(list.pointer,
                        "one value may fit two of these; write \"anyOf\" if that is right");
}

} // namespace engine
