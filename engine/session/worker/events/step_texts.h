// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"
#include "engine/session/recording/session_records.h"

#include <span>
#include <string>
#include <vector>

namespace engine {

class Tokenizer;

// The readable texts of a step's token ids. A null tokenizer gives empty texts.

std::string tokenText(TokenId id, const Tokenizer* tokenizer);

std::vector<TokenChoice> tokenChoices(std::span<const TokenChance> chances,
                                      const Tokenizer* tokenizer);

std::vector<std::string> draftTexts(const DraftTree& draft, const Tokenizer* tokenizer);

std::vector<std::string> sideTexts(std::span<const SideRow> sides, const Tokenizer* tokenizer);

std::vector<ShownTable> shownTables(std::span<const StepTable> tables, const Tokenizer* tokenizer);

} // namespace engine
