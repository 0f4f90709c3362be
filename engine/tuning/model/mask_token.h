// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/text/tokenizer.h"

#include <set>
#include <string_view>

namespace engine {

/// Where ids are looked for that a model does not use. Spans and references are guests.
struct MaskSearch {
    const ModelConfig& config;
    const Tokenizer& tokenizer;
    std::string_view chatTemplate;       ///< its text
    const std::set<TokenId>& usedTokens; ///< of prompts and ends of answers
};

/// A token of the vocabulary that texts never hold, for a mask: the one that the model names; else
/// one without a text; else a special token whose text says that it is reserved; else another
/// special token that is no begin, end, unknown or padding and that the chat template does not
/// write. Of several the highest id. `wanted` is taken if it is none that texts hold; kNoToken:
/// any. Errors: Unsupported if there is none; InvalidInput for a wanted one that cannot be taken.
Result<TokenId> chooseMaskToken(const MaskSearch& search, TokenId wanted);

} // namespace engine
