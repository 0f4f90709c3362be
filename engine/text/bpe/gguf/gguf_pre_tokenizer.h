// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string_view>
#include <vector>

namespace engine {

/// How a named pre-tokenizer of GGUF files cuts text and what else its models expect.
struct GgufPreTokenizer {
    std::vector<std::string_view> patterns; ///< one after the other, matches isolated
    bool normalizesToNfc = false;
    bool ignoresMerges = false;
    bool addsBos = false; ///< where the file does not say
};

/// By the value of tokenizer.ggml.pre. Errors: Unsupported names it.
Result<GgufPreTokenizer> findGgufPreTokenizer(std::string_view name);

} // namespace engine
