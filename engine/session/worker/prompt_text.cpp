// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/prompt_text.h"

namespace engine {

namespace {

std::vector<StoredMessage> storedMessages(const std::vector<PromptMessage>& messages) {
    std::vector<StoredMessage> stored;
    for (const PromptMessage& message : messages)
        stored.push_back({{message.role, message.content}, message.tokens});
    return stored;
}

/// Whether the model can read this prompt.
Result<void> checkReadable(const std::vector<PromptMessage>& messages,
                           const std::string& text,
                           bool continuesLast,
                           const SessionModel& model) {
    if (!messages.empty() && !text.empty())
        return Error{ErrorCode::InvalidInput,
                     "The prompt has both messages and raw text.",
                     "Send one of them."};
    if (continuesLast && (messages.empty() || messages.back().role != "assistant"))
        return Error{ErrorCode::InvalidInput,
                     "There is no answer to continue: the last message is not the assistant's.",
                     "Send the conversation up to the answer that is to be continued."};
    if (!model.tokenizer)
        return Error{ErrorCode::NotFound,
                     "The model has no tokenizer, so it cannot read the prompt.",
                     "Put the model's tokenizer.json or tokenizer.model beside its weights."};
    if (!messages.empty() && !model.chatTemplate)
        return Error{ErrorCode::NotFound,
                     "The model has no chat template for the messages.",
                     "Send raw text instead."};
    return {};
}

} // namespace

Result<PromptTokens> promptTokens(const SubmitPrompt& command, const SessionModel& model) {
    if (!command.ids.empty() && (!command.messages.empty() || !command.text.empty()))
        return Error{ErrorCode::InvalidInput,
                     "The prompt has both token ids and texts.",
                     "Send one of them."};
    if (!command.ids.empty() && !command.continuesLast)
        return PromptTokens{command.ids, {}};
    ENGINE_TRY_DO(checkReadable(command.messages, command.text, command.continuesLast, model));
    const Tokenizer& tokenizer = *model.tokenizer;
    if (command.messages.empty()) {
        ENGINE_TRY(auto ids, tokenizer.encode(command.text, true));
        return PromptTokens{std::move(ids), {}};
    }
    const std::vector<StoredMessage> messages = storedMessages(command.messages);
    if (command.continuesLast)
        return encodeContinuation(*model.chatTemplate, messages, tokenizer);
    ENGINE_TRY(auto ids, encodeConversation(*model.chatTemplate, messages, tokenizer));
    return PromptTokens{std::move(ids), {}};
}

Result<PromptCount> countTokens(const CountTokens& command, const SessionModel& model) {
    ENGINE_TRY_DO(checkReadable(command.messages, command.text, command.continuesLast, model));
    if (command.messages.empty()) {
        ENGINE_TRY(const auto ids, model.tokenizer->encode(command.text, true));
        return PromptCount{static_cast<int>(ids.size()), {}};
    }
    const std::vector<StoredMessage> messages = storedMessages(command.messages);
    ENGINE_TRY(PromptCount count,
               countConversation(*model.chatTemplate, messages, *model.tokenizer));
    if (command.continuesLast) {
        ENGINE_TRY(const PromptTokens tokens,
                   encodeContinuation(*model.chatTemplate, messages, *model.tokenizer));
        count.total = static_cast<int>(tokens.ids.size());
    }
    return count;
}

std::string questionOf(const SubmitPrompt& command) {
    const auto asked = std::find_if(command.messages.rbegin(),
                                    command.messages.rend(),
                                    [](const auto& message) { return message.role == "user"; });
    std::string question = asked == command.messages.rend() ? command.text : asked->content;
    if (question.size() <= kQuestionBytes)
        return question;
    std::size_t end = kQuestionBytes;
    while (end > 0 && (static_cast<unsigned char>(question[end]) & 0xC0U) == 0x80U)
        --end;
    question.resize(end);
    return question;
}

} // namespace engine
