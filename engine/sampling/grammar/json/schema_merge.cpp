// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/json/schema_merge.h"

#include "engine/loading/json/json_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr int kMostParts = 1'000; // a schema that contains itself would never end

using Texts = std::vector<std::string>;

void addOnce(Texts& texts, std::string text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
        texts.push_back(std::move(text));
}

std::string listed(const Texts& texts) { return fmt::format("[{}]", fmt::join(texts, ",")); }

/// The schema that combines all of these.
std::string allOf(Texts schemas) {
    if (std::find(schemas.begin(), schemas.end(), "false") != schemas.end())
        return "false";
    std::erase(schemas, "true");
    if (schemas.empty())
        return "true";
    return schemas.size() == 1 ? schemas.front() : fmt::format("{{\"allOf\":{}}}", listed(schemas));
}

/// The merge of schemas that must all hold.
class SchemaMerge {
public:
    explicit SchemaMerge(JsonValue root)
        : m_root(root) {}

    Result<void> add(const SchemaPlace& place) {
        if (++m_parts > kMostParts)
            return refuseSchema(place.pointer, "\"allOf\" refers to itself endlessly");
        if (const auto truth = place.value.asBool()) {
            m_isFalse |= !*truth;
            return {};
        }
        if (!place.value.isObject())
            return refuseSchema(place.pointer, "a schema is an object, true or false");
        for (const auto& [word, value] : place.value.members())
            ENGINE_TRY_DO(addWord(place, word, value));
        return addMembers(place);
    }

    std::string text() const {
        if (m_isFalse)
            return "false";
        std::string own = ownText();
        if (m_choices.empty())
            return own;
        // A value fits one option of the first choice and all of the rest: each option in turn.
        Texts rest = {std::move(own)};
        for (std::size_t i = 1; i < m_choices.size(); ++i)
            rest.push_back(fmt::format("{{\"anyOf\":{}}}", listed(m_choices[i])));
        Texts turns;
        for (const std::string& choice : m_choices.front()) {
            Texts together = rest;
            together.push_back(choice);
            turns.push_back(fmt::format("{{\"allOf\":{}}}", listed(together)));
        }
        return fmt::format("{{\"anyOf\":{}}}", listed(turns));
    }

private:
    /// What one of the schemas requires of names.
    struct Members {
        Texts names;
        std::optional<std::string> others; ///< "additionalProperties"
    };

    Result<void> addWord(const SchemaPlace& place, std::string_view word, JsonValue value) {
        const bool isLeast = word.starts_with("min") || word == "exclusiveMinimum";
        if (word == "$ref") {
            ENGINE_TRY(const SchemaPlace meant, resolveReference(place, m_root));
            return add(meant);
        }
        if (word == "allOf")
            return addAll(place[word]);
        if (word == "anyOf" || word == "oneOf")
            return addChoice(place[word], word == "oneOf");
        if (word == "type")
            return addTypes(place);
        if (word == "const" || word == "enum")
            return addConstants(place, word);
        if (isLeast || word.starts_with("max") || word == "exclusiveMaximum")
            return addBound(place, word, isLeast);
        if (word == "items" || word == "prefixItems")
            return addItems(place, word, value);
        if (word == "pattern" || word == "format" || word == "multipleOf") {
            const std::string text = jsonTextOf(value);
            if (m_words.try_emplace(std::string(word), text).first->second != text)
                return refuseSchema(
                    place.pointer,
                    fmt::format("two different \"{}\" together are not supported", word));
            return {};
        }
        if (word == "properties" || word == "required" || word == "additionalProperties")
            return {}; // see addMembers()
        return checkWords({value, place.pointer}, word);
    }

    static Result<void> checkWords(const SchemaPlace& place, std::string_view word) {
        if (isAnnotation(word))
            return {};
        return refuseSchema(place.pointer, fmt::format("\"{}\" is not supported here", word));
    }

    Result<void> addAll(const SchemaPlace& list) {
        const auto items = list.value.items();
        if (items.empty() || !list.value.isArray())
            return refuseSchema(list.pointer, "it is not a list of schemas");
        for (std::size_t i = 0; i < items.size(); ++i)
            ENGINE_TRY_DO(add({items[i], fmt::format("{}/{}", list.pointer, i)}));
        return {};
    }

    Result<void> addChoice(const SchemaPlace& list, bool isOne) {
        ENGINE_TRY(const auto places, alternativesOf(list, isOne, m_root));
        Texts texts;
        for (const SchemaPlace& place : places)
            texts.push_back(jsonTextOf(place.value));
        m_choices.push_back(std::move(texts));
        return {};
    }

    Result<void> addTypes(const SchemaPlace& place) {
        ENGINE_TRY(const unsigned types, typesOf(place));
        const auto widened = [](unsigned set) {
            return (set & kNumberType) != 0 ? set | kIntegerType : set;
        };
        m_types = m_types ? widened(*m_types) & widened(types) : types;
        m_isFalse |= *m_types == 0;
        return {};
    }

    Result<void> addConstants(const SchemaPlace& place, std::string_view word) {
        const JsonValue value = place.value[word];
        if (word == "enum" && !value.isArray())
            return refuseSchema(place.pointer, "\"enum\" is not a list");
        Texts texts;
        for (const JsonValue each : word == "const" ? std::vector{value} : value.items())
            addOnce(texts, jsonTextOf(each));
        if (m_constants)
            std::erase_if(texts, [this](const std::string& text) {
                return std::find(m_constants->begin(), m_constants->end(), text) ==
                       m_constants->end();
            });
        m_constants = std::move(texts);
        m_isFalse |= m_constants->empty();
        return {};
    }

    Result<void> addBound(const SchemaPlace& place, std::string_view word, bool isLeast) {
        if (!isBound(word))
            return checkWords(place, word);
        const auto bound = place.value[word].asNumber();
        if (!bound)
            return refuseSchema(place.pointer, fmt::format("\"{}\" is not a number", word));
        const auto [known, isNew] =
            m_bounds.try_emplace(std::string(word), *bound, jsonTextOf(place.value[word]));
        if (!isNew && (isLeast ? *bound > known->second.first : *bound < known->second.first))
            known->second = {*bound, jsonTextOf(place.value[word])};
        return {};
    }

    static bool isBound(std::string_view word) {
        constexpr std::array<std::string_view, 8> kBounds = {"minimum",
                                                             "maximum",
                                                             "exclusiveMinimum",
                                                             "exclusiveMaximum",
                                                             "minItems",
                                                             "maxItems",
                                                             "minLength",
                                                             "maxLength"};
        return std::find(kBounds.begin(), kBounds.end(), word) != kBounds.end();
    }

    Result<void> addItems(const SchemaPlace& place, std::string_view word, JsonValue value) {
        const bool isFirst = word == "prefixItems";
        addOnce(m_itemsPlaces, place.pointer);
        if (m_itemsPlaces.size() > 1 && (isFirst || m_words.contains("prefixItems")))
            return refuseSchema(place.pointer,
                                "\"prefixItems\" beside items of another schema is not supported");
        if (isFirst)
            m_words["prefixItems"] = jsonTextOf(value);
        else
            addOnce(m_items, jsonTextOf(value));
        return {};
    }

    Result<void> addMembers(const SchemaPlace& place) {
        ENGINE_TRY(const std::vector<std::string> required, requiredNames(place));
        Members members;
        for (const auto& [name, schema] : place.value["properties"].members()) {
            members.names.emplace_back(name);
            addOnce(m_names, std::string(name));
            addOnce(m_properties[std::string(name)], jsonTextOf(schema));
        }
        if (place.value.contains("additionalProperties"))
            members.others = jsonTextOf(place.value["additionalProperties"]);
        for (const std::string& name : required)
            addOnce(m_required, jsonString(name));
        m_hasProperties |= place.value.contains("properties");
        m_members.push_back(std::move(members));
        return {};
    }

    /// A schema's rule for other names applies to names that only the other schemas list.
    std::string propertiesText() const {
        Texts members;
        for (const std::string& name : m_names) {
            Texts schemas = m_properties.at(name);
            for (const Members& of : m_members)
                if (of.others &&
                    std::find(of.names.begin(), of.names.end(), name) == of.names.end())
                    addOnce(schemas, *of.others);
            members.push_back(jsonString(name) + ":" + allOf(std::move(schemas)));
        }
        return fmt::format("{{{}}}", fmt::join(members, ","));
    }

    std::string ownText() const {
        Texts words;
        const auto say = [&words](std::string_view word, const std::string& text) {
            words.push_back(fmt::format("\"{}\":{}", word, text));
        };
        if (m_types)
            say("type", typesText(*m_types));
        if (m_constants)
            say("enum", listed(*m_constants));
        if (m_hasProperties)
            say("properties", propertiesText());
        if (!m_required.empty())
            say("required", listed(m_required));
        Texts others;
        for (const Members& of : m_members)
            if (of.others)
                addOnce(others, *of.others);
        if (!others.empty())
            say("additionalProperties", allOf(std::move(others)));
        if (!m_items.empty())
            say("items", allOf(m_items));
        for (const auto& [word, text] : m_words)
            say(word, text);
        for (const auto& [word, bound] : m_bounds)
            say(word, bound.second);
        return fmt::format("{{{}}}", fmt::join(words, ","));
    }

    JsonValue m_root;
    int m_parts = 0;
    bool m_isFalse = false;
    bool m_hasProperties = false;
    std::optional<unsigned> m_types;
    std::optional<Texts> m_constants;
    std::map<std::string, std::string> m_words;                     // texts
    std::map<std::string, std::pair<double, std::string>> m_bounds; // numbers and their texts
    std::vector<Texts> m_choices;                                   // texts of alternatives
    Texts m_items;
    Texts m_itemsPlaces; // of the schemas that say something of items
    Texts m_names;       // of properties, in their order
    std::map<std::string, Texts> m_properties;
    Texts m_required;
    std::vector<Members> m_members; // [schemas]
};

} // namespace

Result<std::string> mergedSchema(const SchemaPlace& place, JsonValue root) {
    SchemaMerge merge(root);
    ENGINE_TRY_DO(merge.add(place));
    return merge.text();
}

} // namespace engine
