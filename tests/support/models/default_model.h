// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/model/transformer.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace support {

/// The model that installer/run.sh fetches, ready to answer.
struct DefaultModel {
    engine::ModelConfig config;
    std::unique_ptr<engine::Transformer> transformer;
    std::unique_ptr<engine::Tokenizer> tokenizer;
    std::unique_ptr<engine::ChatTemplate> chatTemplate;

    /// False when it was never fetched.
    static bool isThere();

    /// `planted`: the lesson model made of it (withSilentCopies). `backend` is "torch" if there is
    /// such a module, otherwise "plain" (unless given). Fails by exception.
    static DefaultModel load(bool planted, std::string backend = {});

    /// A user's message in the chat template, as ids.
    std::vector<engine::TokenId> prompt(const std::string& text) const;

    std::vector<engine::TokenId> endIds() const;
};

/// The tasks of the shared data.
inline constexpr std::array<const char*, 9> kDataTasks = {"code",
                                                          "instruction_following",
                                                          "long_context_qa",
                                                          "math_reasoning",
                                                          "multi_turn_chat",
                                                          "question_answering",
                                                          "story",
                                                          "summarization",
                                                          "translation"};

/// Whether the shared data is beside the checkout. Without it dataPrompts() reads the few prompts
/// of tests/data/prompts, which has no file for some tasks.
bool hasSharedData();

/// The first `count` prompts of a task (for several turns the first one).
std::vector<std::string> dataPrompts(const std::string& task, int count);

} // namespace support
