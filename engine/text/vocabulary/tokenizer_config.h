// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/model_files.h"
#include "engine/text/vocabulary/added_tokens.h"

#include <optional>
#include <string>
#include <vector>

namespace engine {

/// What of a tokenizer_config.json concerns tokens. A plain value.
struct TokenizerConfig {
    bool isPresent = false;
    std::string tokenizerClass;
    std::string bosToken; ///< empty when not given
    std::string eosToken;
    std::optional<bool> addsBos;
    std::optional<bool> addsEos;
    /// Every text between added tokens gets a space in front, as the model's own file has it. If
    /// not, only one that begins the whole text gets it, and `addsPrefixSpace` says whether.
    /// Source: LlamaTokenizer of transformers 4.
    bool isLegacy = true;
    bool addsPrefixSpace = true;
    std::vector<AddedToken> addedTokens; ///< added_tokens_decoder, in file order
    /// Contents of the tokens that are named for a use, such as "pad_token".
    std::vector<std::string> specialTokens;

    /// Whether Hugging Face's class of this name takes add_bos_token and add_eos_token to heart;
    /// the others follow tokenizer.json alone.
    bool honoursAddFlags() const;
};

/// Reads tokenizer_config.json if the folder has one; else all fields are empty.
/// Errors: CorruptFile with the byte offset.
Result<TokenizerConfig> readTokenizerConfig(const ModelFiles& files);

/// The added_tokens.json of a folder whose `config` lists no added tokens; none if it has none.
/// Those are special that the configuration or special_tokens_map.json names for a use, and those
/// that end a turn. Errors: CorruptFile with the byte offset.
Result<std::vector<AddedToken>> readAddedTokensFile(const ModelFiles& files,
                                                    const TokenizerConfig& config);

} // namespace engine
