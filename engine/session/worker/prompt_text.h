// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/loading/model_loader.h"
#include "engine/text/chat_prompt.h"

#include <vector>

namespace engine {

/// The tokens of a prompt: its ids, a conversation by the model's template, or raw text. Thread:
/// engine. Errors: InvalidInput for two of them at once, or when there is no answer to go on with;
/// NotFound without tokenizer or template; those of rendering and encoding.
Result<PromptTokens> promptTokens(const SubmitPrompt& command, const SessionModel& model);

/// The number of tokens; raw text has no messages. Errors: as promptTokens().
Result<PromptCount> countTokens(const CountTokens& command, const SessionModel& model);

/// The user's question: the user's last message, or the raw text, cut at kQuestionBytes between two
/// characters.
std::string questionOf(const SubmitPrompt& command);

} // namespace engine
