// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/text/bpe/byte_level_bpe.h"
#include "engine/text/vocabulary/gguf_vocabulary.h"

#include <vector>

namespace engine {

/// The merges of a GGUF file, in order of rank. Errors: CorruptFile where there is no list of them,
/// or one is not two tokens with a space between them.
Result<std::vector<BpeModel::Merge>> readGgufMerges(const GgufFile& file);

/// The control, unknown and user-defined tokens that have a text, in order of id.
std::vector<AddedToken> ggufAddedTokens(const GgufVocabulary& vocabulary);

/// Reads a GGUF vocabulary of tokenizer model "gpt2": tokens, types, merges and the named split
/// patterns. Control and user-defined tokens become added tokens.
/// Errors: Unsupported names the pre-tokenizer, and that of gguf_vocabulary::checkByteLevel();
/// CorruptFile says what contradicts what.
/// Source: llama.cpp's vocabulary keys.
Result<BpeParts> readGgufBpe(const GgufFile& file);

} // namespace engine
