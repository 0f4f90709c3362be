// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/text/bpe/byte_level_bpe.h"

namespace engine {

/// Reads a GGUF vocabulary of tokenizer model "gpt2": tokens, types, merges and the named split
/// patterns. Control and user-defined tokens become added tokens.
/// Errors: Unsupported names the pre-tokenizer; CorruptFile says what contradicts what.
/// Source: llama.cpp's vocabulary keys.
Result<BpeParts> readGgufBpe(const GgufFile& file);

} // namespace engine
