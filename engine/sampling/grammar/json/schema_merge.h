// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/json/schema_words.h"

#include <string>

namespace engine {

/// One schema, as JSON text, for a place with "allOf", or with "$ref" beside other keywords: a
/// value fits it if it fits all of them. Errors: InvalidInput, naming the parts that cannot be
/// merged.
Result<std::string> mergedSchema(const SchemaPlace& place, JsonValue root);

} // namespace engine
