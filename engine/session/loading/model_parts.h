// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/session/recording/session_records.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// The common parts of loading and inspecting a model.

namespace engine {

/// The requested context; for 0 the smaller of the model's and 8192 tokens. Errors: InvalidInput if
/// it is longer than the model was trained for.
Result<int> chosenContext(int asked, const ModelConfig& config);

/// How a model reads and writes text; it may lack both parts.
struct ModelText {
    std::unique_ptr<Tokenizer> tokenizer;
    std::optional<ChatTemplate> chatTemplate; ///< none without a tokenizer
    std::vector<std::string> notes;
};

/// Errors: those of reading the parts; InvalidInput for a tokenizer of another model.
Result<ModelText> readModelText(const ModelFiles& files, const ModelConfig& config);

FileFacts fileFactsOf(const ModelFiles& files, const WeightSource& weights);

/// The facts from the configuration and the files, without those of the backend and without the
/// context.
ModelFacts modelFactsOf(const ModelConfig& config, const FileFacts& file);

} // namespace engine
