// SPDX-License-Identifier: Apache-2.0
#include "engine/session/model_loader.h"

#include "engine/loading/model_files.h"
#include "engine/model/backend_registry.h"
#include "engine/model/model_fingerprint.h"

#include <algorithm>

namespace engine {

namespace {

constexpr int kDefaultContext = 8192;

Result<Precision> precisionOf(const std::string& name) {
    for (const Precision precision : {Precision::F32, Precision::F64, Precision::BF16})
        if (name == precisionName(precision))
            return precision;
    return Error{ErrorCode::InvalidInput,
                 fmt::format("There is no precision \"{}\".", name),
                 "Choose float32, float64 or bfloat16."};
}

Result<int> contextLengthOf(int asked, const ModelConfig& config) {
    if (asked < 0 || asked > config.contextLength)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("A context of {} tokens cannot be had: the model was made for {}.",
                                 asked,
                                 config.contextLength),
                     "Ask for 0, which lets the program choose, or for less."};
    return asked > 0 ? asked : std::min(config.contextLength, kDefaultContext);
}

std::string backendOf(const BackendRegistry& registry, const std::string& asked) {
    if (!asked.empty())
        return asked;
    const auto names = registry.names();
    return std::find(names.begin(), names.end(), "torch") != names.end() ? "torch" : "plain";
}

/// Tokenizer and chat template; a model may lack both.
Result<void> loadText(const ModelFiles& files, const ModelConfig& config, SessionModel& model) {
    auto tokenizer = loadTokenizer(files);
    if (!tokenizer && tokenizer.error().code == ErrorCode::NotFound) {
        model.remarks.push_back("The model has no tokenizer, so it cannot read text.");
        return {};
    }
    ENGINE_TRY(model.tokenizer, std::move(tokenizer));
    if (const TokenId beyond = firstIdBeyond(*model.tokenizer, config.vocabSize);
        beyond != kNoToken)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The tokenizer of {} knows token {}, but the model's vocabulary "
                                 "ends at {}.",
                                 files.path().string(),
                                 beyond,
                                 config.vocabSize - 1),
                     "Put the tokenizer files of this very model beside it."};
    ENGINE_TRY(ChatTemplate chatTemplate, chooseChatTemplate(files, *model.tokenizer));
    model.chatTemplate = std::move(chatTemplate);
    return {};
}

Result<SessionModel> loadFiles(const std::filesystem::path& moduleFolder,
                               const LoadModel& command,
                               const ModelLoadWork& work) {
    const auto enter = [&work](std::string_view stage) -> Result<void> {
        work.progress(stage, 0.0);
        if (work.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
        return {};
    };
    ENGINE_TRY_DO(enter("files"));
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(command.path));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const Precision precision, precisionOf(command.precision));
    SessionModel model;
    ENGINE_TRY(model.contextLength, contextLengthOf(command.contextLength, config));
    model.remarks = config.notes;
    ENGINE_TRY_DO(enter("tokenizer"));
    ENGINE_TRY_DO(loadText(files, config, model));
    BackendRegistry backends(moduleFolder);
    model.backend = backendOf(backends, command.backend);
    ENGINE_TRY(const TransformerFactory factory, backends.find(model.backend));
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY_DO(enter("fingerprint"));
    ENGINE_TRY(model.fingerprint, modelFingerprint(config, *weights));
    ENGINE_TRY_DO(enter("weights"));
    const TransformerOptions options{
        .precision = precision,
        .threads = command.threads,
        .stop = work.stop,
        .progress = [&work](double part) { work.progress("weights", part); }};
    ENGINE_TRY(model.transformer, factory(config, *weights, options));
    return model;
}

} // namespace

ModelLoader makeModelLoader(std::filesystem::path moduleFolder) {
    return [folder = std::move(moduleFolder)](const LoadModel& command, const ModelLoadWork& work) {
        return loadFiles(folder, command, work);
    };
}

} // namespace engine
