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
                           const SessionModel& model) {
    if (!messages.empty() && !text.empty())
        return Error{ErrorCode::InvalidInput,
                     "The prompt has both messages and raw text.",
                     "Send one of them."};
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

Result<std::vector<TokenId>> promptTokens(const SubmitPrompt& command, const SessionModel& model) {
    ENGINE_TRY_DO(checkReadable(command.messages, command.text, model));
    if (command.messages.empty())
        return model.tokenizer->encode(command.text, true);
    return encodeConversation(
        *model.chatTemplate, storedMessages(command.messages), *model.tokenizer);
}

Result<PromptCount> countTokens(const CountTokens& command, const SessionModel& model) {
    ENGINE_TRY_DO(checkReadable(command.messages, command.text, model));
    if (!command.messages.empty())
        return countConversation(
            *model.chatTemplate, storedMessages(command.messages), *model.tokenizer);
    ENGINE_TRY(const auto ids, model.tokenizer->encode(command.text, true));
    return PromptCount{static_cast<int>(ids.size()), {}};
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
