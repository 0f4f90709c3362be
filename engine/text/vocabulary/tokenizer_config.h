// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/model_files.h"
#include "engine/text/vocabulary/added_tokens.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a token may be named for, in the order in which transformers adds such tokens.
inline constexpr std::array<std::string_view, 7> kTokenUses = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

/// What of a tokenizer_config.json concerns tokens; where it lists no added tokens, a
/// special_tokens_map.json names them, as in transformers. A plain value.
struct TokenizerConfig {
    bool isPresent = false; ///< tokenizer_config.json is there
    std::string tokenizerClass;
    std::optional<bool> addsBos;
    std::optional<bool> addsEos;
    /// Every text between added tokens gets a space in front, as the model's own file has it. If
    /// not, only one that begins the whole text gets it, and `addsPrefixSpace` says whether.
    /// Source: LlamaTokenizer of transformers 4.
    bool isLegacy = true;
    bool addsPrefixSpace = true;
    bool listsAddedTokens = false;       ///< has an added_tokens_decoder, though it may be empty
    std::vector<AddedToken> addedTokens; ///< added_tokens_decoder, by id
    /// By kTokenUses, without ids; a use that is said to have no token has an empty content.
    std::array<std::optional<AddedToken>, kTokenUses.size()> namedTokens;
    std::vector<AddedToken> moreSpecialTokens; ///< additional_special_tokens, without ids

    /// The text of the token that is named for one of kTokenUses, else of the one that Hugging
    /// Face's class has for it; empty when there is none.
    std::string textFor(std::string_view use) const;

    /// Whether Hugging Face's class of this name takes add_bos_token and add_eos_token to heart;
    /// the others follow tokenizer.json alone.
    bool honoursAddFlags() const;
};

/// Reads both files where the folder has them. Errors: CorruptFile with the byte offset.
Result<TokenizerConfig> readTokenizerConfig(const ModelFiles& files);

/// The added_tokens.json of a folder whose `config` has no list of added tokens, as in
/// transformers; none if there is no such file. Those are special that the configuration names for
/// a use, and those that end a turn. Errors: CorruptFile with the byte offset.
Result<std::vector<AddedToken>> readAddedTokensFile(const ModelFiles& files,
                                                    const TokenizerConfig& config);

} // namespace engine
