// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/model_loader.h"

#include "engine/kernels/huge_memory.h"
#include "engine/kernels/processor_share.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "engine/session/loading/model_parts.h"

namespace engine {

namespace {

/// The state shared by all loads.
struct LoaderOptions {
    std::filesystem::path moduleFolder;
    PackedCacheOptions packedCache;
    std::filesystem::path adapterFolder;
};

Result<SessionModel>
loadFiles(const LoaderOptions& loader, const LoadModel& command, const ModelLoadWork& work) {
    const auto enter = [&work](std::string_view stage) -> Result<void> {
        work.progress(stage, 0.0);
        if (work.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
        return {};
    };
    ENGINE_TRY_DO(enter("files"));
    ENGINE_TRY(ModelFiles files, ModelFiles::open(command.path));
    if (command.isPlanted)
        files.plantCopies();
    ENGINE_TRY(const ModelConfig config, files.config());
    SessionModel model;
    model.backend = chosenBackend(command.backend);
    BackendRegistry backends(loader.moduleFolder);
    ENGINE_TRY(TransformerOptions options, backends.options(model.backend, command.settings));
    ENGINE_TRY(model.contextLength, chosenContext(command.contextLength, config));
    model.notes = config.notes;
    ENGINE_TRY_DO(enter("tokenizer"));
    ENGINE_TRY(ModelText text, readModelText(files, config));
    model.tokenizer = std::move(text.tokenizer);
    model.chatTemplate = std::move(text.chatTemplate);
    model.notes.insert(model.notes.end(), text.notes.begin(), text.notes.end());
    ENGINE_TRY(const TransformerFactory factory, backends.find(model.backend));
    ENGINE_TRY(const auto weights, files.weights());
    model.file = fileFactsOf(files, *weights);
    ENGINE_TRY_DO(enter("fingerprint"));
    ENGINE_TRY(model.fingerprint, modelFingerprint(config, *weights));
    ENGINE_TRY_DO(enter("weights"));
    if (const std::string note = threadsNote(options.threads); !note.empty())
        model.notes.push_back(note);
    options.threads = usefulThreads(options.threads);
    options.cacheSlots = model.contextLength;
    options.packedCache = loader.packedCache;
    options.packedCache.fingerprint = model.fingerprint;
    options.stop = work.stop;
    options.progress = [&work](double part) { work.progress("weights", part); };
    ENGINE_TRY(model.transformer, factory(config, *weights, options));
    if (const std::string note = memoryNote(); !note.empty())
        model.notes.push_back(note);
    ENGINE_TRY(
        const std::vector<std::string> notes,
        adoptDraftAdapter(
            *model.transformer, model.fingerprint, command.draftAdapter, loader.adapterFolder));
    model.notes.insert(model.notes.end(), notes.begin(), notes.end());
    return model;
}

} // namespace

std::shared_ptr<const TokenTrie> vocabularyOf(SessionModel& model) {
    if (model.vocabulary == nullptr && model.tokenizer != nullptr)
        model.vocabulary = std::make_shared<const TokenTrie>(
            TokenTrie::of(*model.tokenizer, model.transformer->config().vocabSize));
    return model.vocabulary;
}

ModelLoader makeModelLoader(std::filesystem::path moduleFolder,
                            PackedCacheOptions packedCache,
                            std::filesystem::path adapterFolder) {
    return [loader = LoaderOptions{std::move(moduleFolder),
                                   std::move(packedCache),
                                   std::move(adapterFolder)}](const LoadModel& command,
                                                              const ModelLoadWork& work) {
        return loadFiles(loader, command, work);
    };
}

} // namespace engine
