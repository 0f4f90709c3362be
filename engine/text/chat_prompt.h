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

/// A message and, for an earlier answer of the model, the ids that it was made of.
struct StoredMessage {
    ChatMessage message;
    std::vector<TokenId> tokens = {}; ///< of an "assistant" message; empty = encode the text
};

/// The tokens of a conversation whose earlier answers keep the very ids that the model wrote: text
/// that is encoded anew may split otherwise, and everything behind would have to be read again. So
/// the prompt of a turn begins with the last turn's prompt and answer, as far as the template
/// writes the same around them. An end id that the template writes itself is not doubled. Where
/// the template does not write each such answer exactly once and whole, the texts are encoded
/// instead.
/// Errors: as encodeChat.
Result<std::vector<TokenId>> encodeConversation(const ChatTemplate& chatTemplate,
                                                const std::vector<StoredMessage>& messages,
                                                const Tokenizer& tokenizer);

/// A prompt, and the ids at its end that an answer began with.
struct PromptTokens {
    std::vector<TokenId> ids;
    std::vector<TokenId> begun = {};
};

/// The tokens of a conversation whose last message, an answer, goes on: those of the prompt that
/// it answers, then its own as far as it came, without an end id. An answer without stored ids is
/// encoded together with what the template writes before it. Errors: as encodeChat.
Result<PromptTokens> encodeContinuation(const ChatTemplate& chatTemplate,
                                        const std::vector<StoredMessage>& messages,
                                        const Tokenizer& tokenizer);

/// How the tokens of a conversation's prompt are spread over its messages.
struct PromptCount {
    int total = 0; ///< tokens of encodeConversation()
    /// [messages] what each adds, the text that the template writes around it included. What is
    /// left of the total is what the template writes for the answer to begin. Where the template
    /// writes messages only together (a system message into the first question), the last of them
    /// counts for all.
    std::vector<int> perMessage;
};

/// Counts each stretch of text once, however long the conversation. Errors: as encodeChat.
Result<PromptCount> countConversation(const ChatTemplate& chatTemplate,
                                      const std::vector<StoredMessage>& messages,
                                      const Tokenizer& tokenizer);

/// The place of a user's first message in a conversation.
struct UserTurn {
    std::vector<TokenId> begin; ///< all that the template writes before it; never empty
    std::string end;            ///< the first line that it writes behind it, spaces apart
};

/// Errors: those of rendering and encoding; Unsupported where the template writes nothing before
/// the message, or not the message itself.
Result<UserTurn> userTurnOf(const ChatTemplate& chatTemplate, const Tokenizer& tokenizer);

/// Ids that end an answer in a conversation: the tokenizer's own and the known end-of-turn tokens
/// of its vocabulary ("<|im_end|>", "<|eot_id|>", ...).
std::vector<TokenId> chatEndIds(const Tokenizer& tokenizer);

} // namespace engine
