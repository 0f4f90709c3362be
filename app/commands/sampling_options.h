// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/sampling_options.h"
#include "engine/text/tokenizer.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace app {

/// How tokens are chosen, as typed.
struct TypedSampling {
    engine::SamplingOptions options;
    std::vector<std::string> biases; ///< TOKEN_OR_ID=VALUE
};

/// --temperature, --top-k, --top-p, --min-p, --typical-p, --seed, the penalties, --logit-bias.
void addSamplingOptions(CLI::App& command, TypedSampling& typed);

/// What was typed, its tokens found in the vocabulary. `tokenizer` may be null: only ids can be
/// named then. Errors: InvalidInput, naming what is wrong.
engine::Result<engine::SamplingOptions> resolveSampling(const TypedSampling& typed,
                                                        const engine::Tokenizer* tokenizer);

} // namespace app
