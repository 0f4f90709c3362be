// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/json_parts.h"
#include "engine/sampling/grammar/schema_words.h"

namespace engine {

/// The numbers that "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" and "multipleOf"
/// allow; with any but "minimum": 0 they are written without an exponent. Errors: InvalidInput,
/// naming a word whose value is not supported.
Result<GrammarPart> numberPart(GrammarBuilder& builder, JsonParts& parts, const SchemaPlace& place);

/// The same of whole numbers.
Result<GrammarPart>
integerPart(GrammarBuilder& builder, JsonParts& parts, const SchemaPlace& place);

} // namespace engine
