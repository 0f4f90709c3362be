// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/tokenizer.h"

#include <string_view>

namespace engine {

/// A plain chat template of our own for models that bring none.
struct BuiltinTemplate {
    std::string_view name;   ///< for people: "ChatML"
    std::string_view marker; ///< the vocabulary entry that points to it
    std::string_view source; ///< Jinja
};

/// The template that the special tokens of a vocabulary point to. Mistral's older vocabularies
/// hold the same tokens as Llama 2's, so `architecture` ("mistral", "llama", empty when not known)
/// decides between the two. A vocabulary without such tokens gets plain turns, marker empty.
const BuiltinTemplate& builtinTemplateFor(const Tokenizer& tokenizer,
                                          std::string_view architecture);

} // namespace engine
