// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/sampling_options.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocabulary/token_trie.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace app {

/// The sampling options, as typed.
struct TypedSampling {
    engine::SamplingOptions options;
    std::vector<std::string> biases; ///< TOKEN_OR_ID=VALUE
    std::string schemaFile;          ///< of a JSON schema
    std::string regex;
    bool isJsonObject = false;
};

/// --temperature, --top-k, --top-p, --min-p, --typical-p, --seed, the penalties, --logit-bias,
/// --json-schema, --json-object, --regex.
void addSamplingOptions(CLI::App& command, TypedSampling& typed);

/// The options with their tokens looked up in the vocabulary. If `tokenizer` is null, only ids can
/// be named. Errors: InvalidInput, naming the fault; those of reading the schema's file.
engine::Result<engine::SamplingOptions> resolveSampling(const TypedSampling& typed,
                                                        const engine::Tokenizer* tokenizer);

/// What a grammar needs from a tokenizer; null if there is none or no grammar is requested.
std::shared_ptr<const engine::TokenTrie> vocabularyFor(const engine::SamplingOptions& sampling,
                                                       const engine::Tokenizer* tokenizer,
                                                       int vocabSize);

} // namespace app
