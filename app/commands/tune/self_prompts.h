// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/data_model.h"
#include "app/data/prompt_source.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// What the prompts that the model writes itself are called where a file has its name.
inline constexpr const char* kSelfPromptsName = "prompts that the model wrote itself";

/// Guests of the call.
struct SelfPromptWork {
    std::filesystem::path file; ///< keeps what was written, for a run that goes on
    int count = 0;              ///< that are wanted
    std::uint64_t seed = 0;
    engine::Transformer& transformer;
    const engine::Tokenizer& tokenizer;
    const PromptEncoder& encoder;
    int contextLength = 0;
    std::vector<engine::TokenId> endIds;
    engine::TokenId forbidden = engine::kNoToken; ///< as in AnswerTerms; of no prompt, either
    std::function<void(int written)> onProgress;
    std::stop_token stop;
};

/// Lets the model write a user's messages: it is given all that its chat template puts before one,
/// and what it then writes at temperature 1 up to the end of the message is a prompt. Messages that
/// do not end, are shorter than a few letters, were there before or have the forbidden token when
/// they are read do not count. Which ones there are in the end does not depend on where a run was
/// stopped. Source: Magpie, arXiv 2406.08464.
/// There may be fewer than were wanted, but one at least. Errors: those of PromptEncoder::userTurn
/// and of a pass; InvalidInput if there is none in many tries; Io; Cancelled.
engine::Result<std::vector<DataPrompt>> writeSelfPrompts(const SelfPromptWork& work);

} // namespace app
