// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/commands.h"
#include "engine/loading/model_files.h"
#include "engine/model/transformer.h"
#include "engine/session/known_backends.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// The options for a model and how it is computed.
struct ModelOptions {
    std::string model;              ///< empty = the default model
    std::string backend;            ///< empty = the default one
    engine::SettingValues settings; ///< of the backend, as they were given
    int context = 0;                ///< tokens; 0 = the smaller of the model's and 8192
    bool usesPackedCache = true;
    bool isPlanted = false;   ///< the lesson model made from it
    std::string draftAdapter; ///< a file, "none", or empty; see adoptDraftAdapter
};

/// --model alone.
void addModelPathOption(CLI::App& command, ModelOptions& options);

/// --planted: the lesson model made from the one that --model names.
void addPlantedOption(CLI::App& command, ModelOptions& options);

/// --model, --planted, --backend and an option for each setting of any backend: --precision,
/// --weights, ...
void addModelOptions(CLI::App& command, ModelOptions& options);

/// The word that was given for a setting; empty when none was.
std::string givenWord(const ModelOptions& options, std::string_view setting);

/// What --threads says; 0 when it leaves the choice to the backend.
int givenThreads(const ModelOptions& options);

/// Threads with which a backend computes under these options.
int threadCountOf(const ModelOptions& options, const std::string& backend);

/// The smaller of the model's context and 8192, unless --context says otherwise. Errors:
/// InvalidInput if it is longer than the model was trained for.
engine::Result<int> contextLength(const ModelOptions& options, const engine::ModelConfig& config);

/// Opens the files that --model names. Errors: those of ModelFiles::open; NotFound if the default
/// model was never fetched.
engine::Result<engine::ModelFiles> openModel(const ModelOptions& options);

/// The model's tokenizer, null when it has none (see loadTokenizer for errors).
engine::Result<std::unique_ptr<engine::Tokenizer>> openTokenizer(const engine::ModelFiles& files);

/// A network that is ready to run.
struct LoadedModel {
    engine::ModelConfig config;
    std::unique_ptr<engine::Transformer> transformer;
    std::string backend;
};

/// Reads config and weights with a progress bar. Errors: those of the loaders and the backend;
/// NoMemory, before packing, if the weights would leave no memory for `cacheSlots` keys and values.
engine::Result<LoadedModel> loadModel(const ModelOptions& options,
                                      const engine::ModelFiles& files,
                                      engine::Position cacheSlots,
                                      std::stop_token stop);

/// A network that does not come from a model's files. Borrowed for the call only.
struct NetworkSource {
    std::string name; ///< for the progress bar
    engine::ModelConfig config;
    const engine::WeightSource& weights;
    engine::Position cacheSlots = 0; ///< as in TransformerOptions
};

/// The same for weights from elsewhere. Errors: those of the backend.
engine::Result<LoadedModel>
loadNetwork(const ModelOptions& options, NetworkSource source, std::stop_token stop);

/// Refuses a tokenizer whose ids reach beyond the model's vocabulary. Errors: InvalidInput.
engine::Result<void> checkTokenizerFits(const engine::Tokenizer& tokenizer,
                                        const engine::ModelConfig& config);

/// Parses "1,2,3" as ids. Errors: InvalidInput naming the part that is not an id.
engine::Result<std::vector<engine::TokenId>> parseIds(const std::string& text,
                                                      const std::string& option);

} // namespace app
