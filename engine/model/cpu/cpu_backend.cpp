// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/cpu_backend.h"

#include "engine/kernels/nodes/node_threads.h"
#include "engine/kernels/processor.h"
#include "engine/model/cpu/packing/weight_copy.h"

#include <array>
#include <utility>

namespace engine::cpu {

namespace {

constexpr const char* kBackendName = "cpu";

constexpr std::array<std::pair<WeightForm, const char*>, 5> kForms{{{WeightForm::Auto, "auto"},
                                                                    {WeightForm::File, "file"},
                                                                    {WeightForm::F32, "f32"},
                                                                    {WeightForm::Int8, "int8"},
                                                                    {WeightForm::Bf16, "bf16"}}};

constexpr std::array<std::pair<std::optional<KvType>, const char*>, 5> kKvTypes{
    {{std::nullopt, "auto"},
     {KvType::F16, "f16"},
     {KvType::BF16, "bf16"},
     {KvType::F32, "f32"},
     {KvType::Int8, "int8"}}};

template <typename Table> std::vector<std::string> wordsOf(const Table& table) {
    std::vector<std::string> words;
    for (const auto& [meaning, word] : table)
        words.emplace_back(word);
    return words;
}

template <typename Table> auto meaningOf(const Table& table, const SettingValue& value) {
    auto found = table.front().first;
    for (const auto& [meaning, word] : table)
        if (value == SettingValue(word))
            found = meaning;
    return found;
}

std::vector<SettingInfo> settings() {
    return {loadChoice("weights",
                       "Weights",
                       wordsOf(kForms),
                       {"Automatic", "As in the file", "float32", "8-bit", "bfloat16"},
                       "How weights are held: auto (as file, small models as f32), file (as in the "
                       "file, never below its precision), f32, int8 or bf16."),
            kvSetting(true),
            loadChoice("isa",
                       "Instructions",
                       {"auto", "scalar", "avx2", "avx512", "amx"},
                       {"Automatic", "scalar", "AVX2", "AVX-512", "AMX"},
                       "Instructions that are used; auto takes the best this processor has."),
            threadsSetting(),
            precisionSetting({Precision::F32})};
}

/// In which form a tensor is held if nothing else is asked for.
std::string heldAs(const WeightSource& weights, const TensorInfo& tensor) {
    if (tensor.type == TensorType::Other)
        return "cannot be computed with";
    if (tensor.shape.size() < 2)
        return "float32";
    return std::string(
        tileFormatName(tileFormat(tensor.type, chosenForm(weights, WeightForm::Auto))));
}

} // namespace

Result<Options> optionsOf(const TransformerOptions& options) {
    if (options.precision != Precision::F32)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The cpu backend adds in float32, not in {}.",
                                 precisionName(options.precision)),
                     "Choose another backend (--backend), or the precision float32."};
    Options own{.threads = options.threads,
                .packedCache = options.packedCache,
                .cacheSlots = options.cacheSlots,
                .stop = options.stop,
                .progress = options.progress};
    const std::vector<SettingInfo> known = settings();
    for (const auto& [name, value] : options.settings) {
        const SettingInfo* setting = findSetting(known, name);
        if (setting == nullptr)
            return unknownSetting("The backend cpu", known, name);
        ENGINE_TRY_DO(checkSetting(*setting, value));
        if (name == "weights")
            own.weights = meaningOf(kForms, value);
        else if (name == "kv")
            own.kvType = meaningOf(kKvTypes, value);
        else if (name == "isa" && value != setting->initial)
            own.instructionSet = std::get<std::string>(value);
    }
    return own;
}

Result<LoadForecast> forecast(const ModelConfig& config,
                              const WeightSource& source,
                              const Options& options,
                              int contextLength) {
    ENGINE_TRY(const InstructionSet set, chooseInstructionSet(options.instructionSet));
    ENGINE_TRY(const Weights outline, outlineWeights(config, source, options.weights));
    const KvType kvType = chosenKvType(outline, options.kvType);
    LoadForecast told{memoryNeed(config, outline.byteSize(), kvType, contextLength),
                      std::string(tileFormatName(outline.mainFormat())),
                      std::string(kvTypeName(kvType)),
                      std::string(instructionSetName(set)),
                      wideningNoteOf(source, options.weights, outline.byteSize()),
                      WeightCopy::bytesFor(outline)};
    told.memoryNodes = NodeThreads(*options.machine, threadCount(options.threads)).nodeCount();
    return told;
}

void registerBackend(BackendRegistry& registry) {
    BackendInfo info;
    info.name = kBackendName;
    info.title = "Processor";
    info.summary = "packed weights, all cores";
    info.settings = settings();
    info.forecast = [](const ModelConfig& config,
                       const WeightSource& source,
                       const TransformerOptions& options,
                       int contextLength) -> Result<LoadForecast> {
        ENGINE_TRY(const Options own, optionsOf(options));
        return forecast(config, source, own, contextLength);
    };
    info.devices = &processorDevice;
    info.heldAs = &heldAs;
    registry.add(std::move(info),
                 [](const ModelConfig& config,
                    const WeightSource& source,
                    const TransformerOptions& options) -> Result<std::unique_ptr<Transformer>> {
                     ENGINE_TRY(const Options own, optionsOf(options));
                     return makeCpuTransformer(config, source, own);
                 });
}

} // namespace engine::cpu
