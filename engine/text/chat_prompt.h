// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/chat_template.h"

#include <vector>

namespace engine {

/// The tokens of a conversation, ready for the model to answer. Begin and end tokens that the
/// template writes as text become their ids also where the tokenizer itself would not read them so
/// (SentencePiece models). Errors: those of rendering and encoding.
Result<std::vector<TokenId>> encodeChat(const ChatTemplate& chatTemplate,
                                        const std::vector<ChatMessage>& messages,
                                        const Tokenizer& tokenizer);

/// Ids that end an answer in a conversation: the tokenizer's own and the known end-of-turn tokens
/// of its vocabulary ("<|im_end|>", "<|eot_id|>", ...).
std::vector<TokenId> chatEndIds(const Tokenizer& tokenizer);

} // namespace engine
