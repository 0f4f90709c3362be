// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/data_model.h"
#include "app/data/prompt_source.h"
#include "engine/tuning/rows/row_collector.h"

#include <functional>
#include <string>
#include <vector>

namespace app {

/// The prompts of a training as tokens.
struct TunePrompts {
    std::vector<engine::TuningPrompt> prompts;
    std::string hash; ///< over texts, tasks and tokens
};

/// Prompts of many kinds of signs, for what must hold of any prompt, also where the model writes
/// its prompts itself.
std::vector<DataPrompt> probePrompts();

/// First turns alone: later ones would depend on answers. A prompt that cannot be encoded, or that
/// leaves no room for an answer, is left out and `note` is told of it. The hash is the same by
/// whichever rule they are dealt out.
TunePrompts encodePrompts(const std::vector<DataPrompt>& from,
                          const PromptEncoder& encoder,
                          int contextLength,
                          const std::function<void(const std::string&)>& note,
                          engine::SplitRule rule = engine::SplitRule::ByText);

} // namespace app
