// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/decoder_options.h"
#include "app/commands/options/sampling_options.h"
#include "engine/decoding/answer/generation.h"

#include <memory>
#include <string>
#include <vector>

namespace app {

/// The decoding options of `generate` and `chat`.
struct TextOptions {
    ModelOptions model;
    DecoderOptions decoder;
    TypedSampling sampling;
    int maxTokens = 256;
    std::vector<std::string> stopStrings;
    std::string system; ///< text of a system message for chats; empty = none
    bool json = false;
};

/// Adds them all to a command; `defaultMaxTokens` is the default length limit of an answer.
void addTextOptions(CLI::App& command, TextOptions& options, int defaultMaxTokens);

/// A model with a decoder.
struct TextModel {
    LoadedModel loaded;
    std::unique_ptr<engine::SkipSetMemory> memory;
    std::unique_ptr<engine::Decoder> decoder;            // refers to loaded.transformer and memory
    std::shared_ptr<const engine::TokenTrie> vocabulary; // null unless a grammar needs it
    int contextLength = 0;
    bool hasText = false; // false: ids only, there is no tokenizer
};

/// Loads the model and makes the decoder. Errors: those of loadModel and DecoderRegistry;
/// InvalidInput for options.
engine::Result<TextModel> loadTextModel(const TextOptions& options,
                                        const engine::ModelFiles& files,
                                        const engine::Tokenizer* tokenizer,
                                        std::stop_token stop);

/// Generates one answer: streams its text (or one JSON line a step), then prints the summary
/// (or the "done" line). Errors: those of generate().
engine::Result<engine::GenerationResult> streamAnswer(CommandContext& context,
                                                      const TextOptions& options,
                                                      TextModel& model,
                                                      const engine::GenerationRequest& request);

/// Has the decoder store its statistics, and reports those that could not be stored.
void storeStatistics(TextModel& model);

/// The error with which a stopped command ends; main reports the signal.
engine::Error cancelledError();

} // namespace app
