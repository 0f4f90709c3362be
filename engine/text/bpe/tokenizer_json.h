// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json/json_document.h"
#include "engine/text/bpe/byte_level_bpe.h"
#include "engine/text/vocabulary/tokenizer_config.h"

#include <string>
#include <string_view>

namespace engine {

/// Reads the BPE or unigram tokenizer that a tokenizer.json describes, over whose added tokens
/// those of the configuration are laid. `source` names the file in messages. Errors: Unsupported
/// names the component; CorruptFile says what is wrong and the byte offset. Its behaviour is
/// checked against Hugging Face tokenizers 0.23.
Result<BpeParts>
readTokenizerJson(const JsonValue& root, const std::string& source, const TokenizerConfig& config);

/// Parts of that reader, one section of the file each.
namespace tokenizer_json {
Result<BpeModel> readModel(const JsonValue& model, const std::string& source);
Result<Normalizer> readNormalizer(const JsonValue& value, const std::string& source);
Result<PreTokenizer> readPreTokenizer(const JsonValue& value, const std::string& source);
Result<TokenDecoder> readDecoder(const JsonValue& value, const std::string& source);

/// A pattern: {"String": ...} or {"Regex": ...}.
Result<SplitPattern> readPattern(const JsonValue& value, const std::string& source);

/// The "type" of a component, empty when it has none.
std::string_view typeOf(const JsonValue& component);
std::string textOr(const JsonValue& value, std::string_view otherwise);
bool boolOr(const JsonValue& value, bool otherwise);
Error unsupported(const std::string& source, std::string_view section, std::string_view what);
Error corrupt(const std::string& source, const JsonValue& at, std::string_view problem);
} // namespace tokenizer_json

} // namespace engine
