// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/grammar_builder.h"

#include <string_view>

namespace engine {

/// The JSON texts that fit a JSON schema (a JSON text itself). Members come in the order of
/// `properties`; further ones only where `additionalProperties` says so, or where no properties are
/// named. All texts of the part fit the schema; of those that do it leaves out other orders, other
/// spaces, needless escapes and the longest numbers (see JsonParts). What is not supported is
/// refused by name. Errors: InvalidInput with the place in the schema.
Result<GrammarPart> schemaPart(GrammarBuilder& builder, std::string_view schema);

} // namespace engine
