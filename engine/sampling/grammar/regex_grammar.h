// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/grammar_builder.h"

#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// The texts that match a regular expression as a whole: characters, `.` (any but a line feed),
/// classes, groups, alternatives, bounds of repetition, \d \w \s (of ASCII) and the usual escapes.
/// Anchors are allowed at the ends. Errors: InvalidInput with the place in the pattern; features of
/// other dialects (look-around, references, word boundaries, possessive repetition, flags) are
/// refused by name. `never` are characters that no part of the pattern matches.
Result<GrammarPart> regexPart(GrammarBuilder& builder,
                              std::string_view pattern,
                              std::span<const CharacterRange> never = {});

/// All characters except these.
std::vector<CharacterRange> charactersBut(std::vector<CharacterRange> ranges);

} // namespace engine
