// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/grammar_builder.h"

#include <string_view>

namespace engine {

/// The JSON texts that fit a JSON schema (a JSON text itself). Members come in the order of
/// `properties`; further ones only if `additionalProperties` allows them, or if no properties are
/// named. All these texts fit the schema; valid texts with another order, other spaces, needless
/// escapes or longer numbers are left out (see JsonParts). Unsupported keywords are refused by
/// name. Errors: InvalidInput with the place in the schema.
Result<GrammarPart> schemaPart(GrammarBuilder& builder, std::string_view schema);

} // namespace engine
