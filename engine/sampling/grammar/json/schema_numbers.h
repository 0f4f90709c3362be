// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/json/json_parts.h"
#include "engine/sampling/grammar/json/schema_words.h"

namespace engine {

/// The numbers that "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" and "multipleOf"
/// allow; with any of them except "minimum": 0, numbers are written without an exponent. Errors:
/// InvalidInput, naming a keyword with an unsupported value.
Result<GrammarPart> numberPart(GrammarBuilder& builder, JsonParts& parts, const SchemaPlace& place);

/// The same for integers.
Result<GrammarPart>
integerPart(GrammarBuilder& builder, JsonParts& parts, const SchemaPlace& place);

} // namespace engine
