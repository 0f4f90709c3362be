// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json_document.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The types of JSON values, as bits of a set.
enum SchemaType : unsigned {
    kNullType = 1,
    kBooleanType = 2,
    kIntegerType = 4,
    kNumberType = 8,
    kStringType = 16,
    kArrayType = 32,
    kObjectType = 64,
};

/// One part of a JSON schema and where it stands: "#/properties/name".
struct SchemaPlace {
    JsonValue value;
    std::string pointer;

    SchemaPlace operator[](std::string_view key) const;
};

/// "The JSON schema is refused at <place>: <why>."
Error refuseSchema(const std::string& pointer, const std::string& why);

/// The value as JSON without spaces.
std::string jsonTextOf(JsonValue value);

/// Whether a word says nothing about which values fit.
bool isAnnotation(std::string_view word);

/// Refuses words that are neither annotations nor among these. Errors: InvalidInput, naming one.
Result<void> checkWords(const SchemaPlace& place, const std::vector<std::string_view>& known);

/// A count of items or characters; `otherwise` when the word is not there.
/// Errors: InvalidInput for what is no whole number from 0 to a million.
Result<int> countOf(const SchemaPlace& place, std::string_view word, int otherwise);

/// The types that `type` names, or those that other words are about; 0 when neither says anything.
Result<unsigned> typesOf(const SchemaPlace& place);

/// What "type" says of a set of types, as JSON.
std::string typesText(unsigned types);

/// What a "$ref" within the document means. Errors: InvalidInput when there is no such place.
Result<SchemaPlace> resolveReference(const SchemaPlace& place, JsonValue root);

/// Whether no value fits two of the alternatives, by their types, their constants, or a required
/// property that has another constant in each.
Result<bool> areDisjoint(const std::vector<SchemaPlace>& alternatives, JsonValue root);

/// The schemas of "anyOf" or "oneOf" (`isOne`). Errors: InvalidInput for what is no list of them,
/// and when one value may fit two of those of which it must fit one.
Result<std::vector<SchemaPlace>>
alternativesOf(const SchemaPlace& list, bool isOne, JsonValue root);

} // namespace engine
