// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json/json_document.h"

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

/// One part of a JSON schema and its place: "#/properties/name".
struct SchemaPlace {
    JsonValue value;
    std::string pointer;

    SchemaPlace operator[](std::string_view key) const;
};

/// "The JSON schema is refused at <place>: <why>."
Error refuseSchema(const std::string& pointer, const std::string& why);

/// The value as JSON without spaces.
std::string jsonTextOf(JsonValue value);

/// Whether a keyword has no effect on which values fit.
bool isAnnotation(std::string_view word);

/// Refuses keywords that are neither annotations nor in this list. Errors: InvalidInput, naming
/// one.
Result<void> checkWords(const SchemaPlace& place, const std::vector<std::string_view>& known);

/// A count of items or characters; `otherwise` if the keyword is missing. Errors: InvalidInput if
/// it is not an integer from 0 to a million.
Result<int> countOf(const SchemaPlace& place, std::string_view word, int otherwise);

/// The types given by `type`, or those that other keywords imply; 0 if there are none.
Result<unsigned> typesOf(const SchemaPlace& place);

/// Whether a value is of one of these types; 1.0 is an integer, too.
bool isOfType(JsonValue value, unsigned types);

/// The names in "required". Errors: InvalidInput if it is not a list of names, or "properties" not
/// an object.
Result<std::vector<std::string>> requiredNames(const SchemaPlace& place);

/// The value of "type" for a set of types, as JSON.
std::string typesText(unsigned types);

/// The target of a "$ref" within the document, in which a URI's escapes are undone. Errors:
/// InvalidInput if there is no such place.
Result<SchemaPlace> resolveReference(const SchemaPlace& place, JsonValue root);

/// Whether no value can fit two of the alternatives, because of their types, their constants, or a
/// required property with a different constant in each.
Result<bool> areDisjoint(const std::vector<SchemaPlace>& alternatives, JsonValue root);

/// The schemas of "anyOf" or "oneOf" (`isOne`). Errors: InvalidInput if it is not a list of
/// schemas, and if a value may fit two schemas of a "oneOf".
Result<std::vector<SchemaPlace>>
alternativesOf(const SchemaPlace& list, bool isOne, JsonValue root);

} // namespace engine
