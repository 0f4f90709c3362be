// SPDX-License-Identifier: Apache-2.0
#include "engine/session/model_inspection.h"

#include "engine/base/system_memory.h"
#include "engine/kernels/processor.h"
#include "engine/model/backend_registry.h"
#include "engine/model/memory_need.h"
#include "engine/session/backend_words.h"
#include "engine/session/model_parts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace engine {

namespace {

MemoryFacts memoryFactsOf(const MemoryNeed& need) {
    const double freeBytes = availableMemoryBytes();
    const bool isKnown = freeBytes < std::numeric_limits<double>::max();
    return {.weightBytes = need.weightBytes,
            .cacheBytes = need.cacheBytes,
            .scratchBytes = need.scratchBytes,
            .passBytes = need.passBytes,
            .totalBytes = need.totalBytes(),
            .freeBytes = isKnown ? static_cast<std::uint64_t>(freeBytes) : 0};
}

/// By name alone: opening a backend's module would load all of its library.
Result<void> checkBackend(const BackendRegistry& registry, const std::string& name) {
    const auto names = registry.names();
    if (std::find(names.begin(), names.end(), name) != names.end())
        return {};
    return Error{ErrorCode::NotFound,
                 fmt::format("There is no backend \"{}\".", name),
                 fmt::format("Choose one of: {}.", fmt::join(names, ", "))};
}

/// What the backend of facts.backend would make of the weights.
Result<MemoryNeed> needOf(const ModelConfig& config,
                          const WeightSource& weights,
                          const TransformerOptions& options,
                          ModelFacts& facts) {
    if (facts.backend != "cpu") {
        facts.arithmetic = precisionName(options.precision);
        facts.kvType = facts.arithmetic;
        return memoryNeed(config, options.precision, facts.contextLength);
    }
    ENGINE_TRY(const InstructionSet set, chooseInstructionSet(options.instructionSet));
    ENGINE_TRY(PackedNeed need, packedNeed(config, weights, options, facts.contextLength));
    facts.arithmetic = std::move(need.arithmeticName);
    facts.instructionSet = instructionSetName(set);
    facts.kvType = kvTypeName(need.kvType);
    return need.memory;
}

} // namespace

Result<ModelInspected> inspectModel(const std::filesystem::path& moduleFolder,
                                    const InspectModel& command) {
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(command.path));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const TransformerOptions options,
               transformerOptions({command.backend,
                                   command.precision,
                                   command.weights,
                                   command.kvType,
                                   command.instructionSet}));
    ENGINE_TRY(const int contextLength, chosenContext(command.contextLength, config));
    const std::string backend = chosenBackend(command.backend);
    ENGINE_TRY_DO(checkBackend(BackendRegistry(moduleFolder), backend));
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(ModelText text, readModelText(files, config));
    ModelInspected inspected{.requestId = command.requestId,
                             .path = command.path,
                             .model = modelFactsOf(config, fileFactsOf(files, *weights)),
                             .memory = {},
                             .remarks = config.notes};
    inspected.model.contextLength = contextLength;
    inspected.model.backend = backend;
    ENGINE_TRY(const MemoryNeed need, needOf(config, *weights, options, inspected.model));
    inspected.memory = memoryFactsOf(need);
    inspected.model.precision = shortArithmetic(inspected.model.arithmetic);
    inspected.model.weightBytes = need.weightBytes;
    if (text.tokenizer)
        inspected.model.tokenizer = text.tokenizer->description();
    if (text.chatTemplate)
        inspected.model.chatTemplate = text.chatTemplate->origin();
    inspected.remarks.insert(inspected.remarks.end(), text.remarks.begin(), text.remarks.end());
    if (backend == "plain" && options.precision == Precision::BF16)
        inspected.remarks.push_back("The plain backend does not compute in bfloat16.");
    return inspected;
}

} // namespace engine
