// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/decoder_options.h"
#include "app/commands/options/sampling_options.h"

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
};

/// Adds them all to a command; `defaultMaxTokens` is the default length limit of an answer.
void addTextOptions(CLI::App& command, TextOptions& options, int defaultMaxTokens);

/// Whether the texts can be read by a tokenizer. Errors: InvalidInput naming the option.
engine::Result<void> checkTexts(const TextOptions& options);

/// The error with which a stopped command ends; main reports the signal.
engine::Error cancelledError();

} // namespace app
