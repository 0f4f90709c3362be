// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/model/backend_registry.h"
#include "engine/session/session_records.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// What loading a model and looking at one have in common.

namespace engine {

/// "float32", ... Errors: InvalidInput for another name.
Result<Precision> precisionNamed(const std::string& name);

/// What was asked for; for 0 the smaller of the model's and 8192 tokens.
/// Errors: InvalidInput for more than the model was made for.
Result<int> chosenContext(int asked, const ModelConfig& config);

/// What was asked for; else "torch" where it was built, else "plain".
std::string chosenBackend(const BackendRegistry& registry, const std::string& asked);

/// How a model reads and writes text; it may lack both parts.
struct ModelText {
    std::unique_ptr<Tokenizer> tokenizer;
    std::optional<ChatTemplate> chatTemplate; ///< none without a tokenizer
    std::vector<std::string> remarks;
};

/// Errors: those of reading the parts; InvalidInput for a tokenizer of another model.
Result<ModelText> readModelText(const ModelFiles& files, const ModelConfig& config);

FileFacts fileFactsOf(const ModelFiles& files, const WeightSource& weights);

/// The facts of the configuration and of the files; backend, precision and context are left out.
ModelFacts modelFactsOf(const ModelConfig& config, const FileFacts& file);

} // namespace engine
