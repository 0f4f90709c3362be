// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/model_inspection.h"

#include "engine/base/system_memory.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/session/loading/model_parts.h"

#include <limits>

namespace engine {

namespace {

/// What is free on a GPU is not known before something is loaded there, only what it has.
MemoryFacts memoryFactsOf(const LoadForecast& forecast, bool hasOwnMemory) {
    const MemoryNeed& need = forecast.memory;
    const double freeBytes =
        hasOwnMemory ? static_cast<double>(forecast.deviceBytes) : availableMemoryBytes();
    const bool isKnown = freeBytes < std::numeric_limits<double>::max();
    return {.weightBytes = need.weightBytes,
            .cacheBytes = need.cacheBytes,
            .scratchBytes = need.scratchBytes,
            .passBytes = need.passBytes,
            .totalBytes = need.totalBytes(),
            .freeBytes = isKnown ? static_cast<std::uint64_t>(freeBytes) : 0,
            .isOfDevice = hasOwnMemory,
            .copyBytes = forecast.copyBytes};
}

} // namespace

Result<ModelInspected> inspectModel(const std::filesystem::path& moduleFolder,
                                    const InspectModel& command) {
    ENGINE_TRY(ModelFiles files, ModelFiles::open(command.path));
    if (command.isPlanted)
        files.plantCopies();
    ENGINE_TRY(const ModelConfig config, files.config());
    BackendRegistry backends(moduleFolder);
    ENGINE_TRY(const BackendInfo backend, backends.info(chosenBackend(command.backend)));
    ENGINE_TRY(const TransformerOptions options, backends.options(backend.name, command.settings));
    ENGINE_TRY(const int contextLength, chosenContext(command.contextLength, config));
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(ModelText text, readModelText(files, config));
    ModelInspected inspected{.requestId = command.requestId,
                             .path = command.path,
                             .model = modelFactsOf(config, fileFactsOf(files, *weights)),
                             .memory = {},
                             .notes = config.notes};
    inspected.model.contextLength = contextLength;
    inspected.model.backend = backend.name;
    ENGINE_TRY(const LoadForecast forecast,
               backend.forecast(config, *weights, options, contextLength));
    inspected.memory = memoryFactsOf(forecast, backend.hasOwnMemory);
    inspected.model.arithmetic = forecast.arithmeticName;
    inspected.model.instructionSet = forecast.instructionSet;
    inspected.model.kvType = forecast.kvTypeName;
    inspected.model.precision = shortArithmetic(inspected.model.arithmetic);
    inspected.model.weightBytes = forecast.memory.weightBytes;
    if (text.tokenizer)
        inspected.model.tokenizer = text.tokenizer->description();
    if (text.chatTemplate)
        inspected.model.chatTemplate = text.chatTemplate->origin();
    if (!forecast.wideningNote.empty())
        inspected.notes.push_back(forecast.wideningNote);
    inspected.notes.insert(inspected.notes.end(), text.notes.begin(), text.notes.end());
    return inspected;
}

} // namespace engine
