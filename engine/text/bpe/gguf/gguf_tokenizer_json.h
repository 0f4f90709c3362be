// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/gguf/gguf_file.h"

#include <string>

namespace engine {

/// The tokenizer of a GGUF file in the shape of Hugging Face's files.
struct TokenizerJson {
    std::string tokenizer; ///< tokenizer.json
    std::string config;    ///< tokenizer_config.json, with the file's chat template
};

/// Errors: Unsupported for a vocabulary that is no byte-level BPE (tokenizer model "gpt2"), for an
/// unknown pre-tokenizer, for two tokens of one text, and for a merge that makes no token; those of
/// gguf_vocabulary::read and of readGgufMerges.
Result<TokenizerJson> ggufTokenizerJson(const GgufFile& file);

} // namespace engine
