// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/schema_words.h"

#include <string>

namespace engine {

/// One schema, as JSON text, for a place whose words say "allOf", or "$ref" beside others: a value
/// fits it when it fits all of them. Errors: InvalidInput, naming what cannot be put together.
Result<std::string> mergedSchema(const SchemaPlace& place, JsonValue root);

} // namespace engine
