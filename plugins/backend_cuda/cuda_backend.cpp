// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/cuda_backend.h"

#include "engine/base/setting_makers.h"
#include "engine/base/to_size.h"
#include "plugins/backend_cuda/checks/load_check.h"
#include "plugins/backend_cuda/checks/self_test.h"
#include "plugins/backend_cuda/transformer/cuda_transformer.h"
#include "plugins/backend_cuda/workspaces/pass_spaces.h"

#include <algorithm>

namespace backend_cuda {

using namespace engine;

namespace {

constexpr double kMostDevices = 64;
constexpr std::uint64_t kLeftFree = std::uint64_t{256} << 20U; // for the driver and others

std::vector<SettingInfo> settings() {
    SettingInfo device = describedSetting(integerSetting("device", "GPU", 0, {0, kMostDevices - 1}),
                                          "",
                                          SettingEffect::NextLoad,
                                          "Number of the GPU to compute on, from 0.");
    return {loadChoice("weights",
                       "Weights",
                       {"auto", "bf16", "f16", "f32", "int8"},
                       {"Automatic", "bfloat16", "float16", "float32", "8-bit"},
                       "How weights are held: auto (as in the file, never below its precision), "
                       "bf16, f16, f32 or int8."),
            kvSetting(false),
            loadChoice("launch",
                       "Launches",
                       {"pass", "operation"},
                       {"Whole passes", "Each operation"},
                       "What is handed to the GPU at once: a whole pass, or one operation after "
                       "the other, slower and with the same numbers."),
            std::move(device),
            precisionSetting({Precision::F32})};
}

Result<CudaOptions> optionsOf(const TransformerOptions& options) {
    if (options.precision != Precision::F32)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The cuda backend adds in float32, not in {}.",
                                 precisionName(options.precision)),
                     "Choose another backend (--backend), or the precision float32."};
    CudaOptions own;
    const std::vector<SettingInfo> known = settings();
    for (const auto& [name, value] : options.settings) {
        const SettingInfo* setting = findSetting(known, name);
        if (setting == nullptr)
            return unknownSetting("The backend cuda", known, name);
        ENGINE_TRY_DO(checkSetting(*setting, value));
        if (name == "device") {
            own.device = integerOf(options.settings, name);
            continue;
        }
        const auto& word = std::get<std::string>(value);
        if (name == "weights" && word != "auto")
            own.weights = word == "f32"    ? Form::F32
                          : word == "f16"  ? Form::F16
                          : word == "bf16" ? Form::Bf16
                                           : Form::Int8;
        else if (name == "kv" && word != "auto")
            own.kvType = word == "f32" ? KvType::F32 : word == "f16" ? KvType::F16 : KvType::BF16;
        else if (name == "launch")
            own.isByOperations = word == "operation";
    }
    return own;
}

Result<DeviceFacts> factsOf(const Machine& machine, int device) {
    ENGINE_TRY(const std::vector<DeviceFacts> all, machine.list());
    if (toSize(device) < all.size())
        return all[toSize(device)];
    std::string names;
    for (std::size_t i = 0; i < all.size(); ++i)
        names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, all[i].name);
    return Error{ErrorCode::InvalidInput,
                 fmt::format("There is no GPU {}; there are: {}.", device, names),
                 "Name one of these with --device."};
}

std::uint64_t cacheBytesOf(const ModelConfig& config, KvType type, int slots) {
    return slotBytes({config.layerCount, config.kvHeadCount, config.headDim, 1, type},
                     headWidthOf(config)) *
           static_cast<std::uint64_t>(slots);
}

Result<LoadForecast> forecast(const Machine& machine,
                              const ModelConfig& config,
                              const WeightSource& source,
                              const TransformerOptions& options,
                              int contextLength) {
    ENGINE_TRY(const CudaOptions own, optionsOf(options));
    ENGINE_TRY(const DeviceFacts facts, factsOf(machine, own.device));
    ENGINE_TRY_DO(checkNetwork(config));
    ENGINE_TRY(const DeviceWeights outline, outlineWeights(config, source, own.weights));
    const KvType kvType = kvTypeOf(own, outline.mainFormat);
    LoadForecast told{memoryNeed(config, outline.bytes, kvType, contextLength),
                      std::string(tileFormatName(outline.mainFormat)),
                      std::string(kvTypeName(kvType)),
                      fmt::format("sm_{}", facts.capability)};
    told.memory.cacheBytes = cacheBytesOf(config, kvType, contextLength);
    told.memory.scratchBytes = cacheBytesOf(config, kvType, kScratchSlots);
    told.memory.passBytes = workspaceBytes(config, outline, contextLength);
    told.wideningNote = wideningNote(
        outline.bytes,
        storedBytes(source),
        own.weights ? "that form was asked for"
                    : "the cuda backend has no smaller form for some of it that loses nothing");
    return told;
}

/// Refuses what does not fit before anything is packed.
Result<void> checkMemory(Device& device, std::uint64_t modelBytes) {
    ENGINE_TRY(const std::uint64_t isFree, device.freeBytes());
    const std::uint64_t needed = modelBytes + kLeftFree;
    if (needed <= isFree)
        return {};
    return Error{
        ErrorCode::NoMemory,
        fmt::format("The model needs {:.2f} GB on the GPU {}, of which {:.2f} GB are free.",
                    static_cast<double>(needed) / 1e9,
                    device.facts().name,
                    static_cast<double>(isFree) / 1e9),
        "Ask for a shorter --context, for --weights int8, or for another GPU with "
        "--device."};
}

Result<std::unique_ptr<Transformer>> load(const Machine& machine,
                                          const ModelConfig& config,
                                          const WeightSource& source,
                                          const TransformerOptions& options) {
    ENGINE_TRY_DO(config.validate());
    ENGINE_TRY(const CudaOptions own, optionsOf(options));
    ENGINE_TRY_DO(factsOf(machine, own.device));
    ENGINE_TRY_DO(checkNetwork(config));
    ENGINE_TRY(const DeviceWeights outline, outlineWeights(config, source, own.weights));
    ENGINE_TRY(const std::shared_ptr<Device> device, machine.open(own.device));
    ENGINE_TRY_DO(checkMemory(*device,
                              outline.bytes +
                                  cacheBytesOf(config,
                                               kvTypeOf(own, outline.mainFormat),
                                               options.cacheSlots + kScratchSlots) +
                                  workspaceBytes(config, outline, options.cacheSlots)));
    if (!machine.testFolder.empty())
        ENGINE_TRY_DO(testDeviceOnce(device, machine.testFolder));
    ENGINE_TRY(DeviceWeights weights, uploadWeights(config, source, own.weights, device, options));
    ENGINE_TRY(std::unique_ptr<CudaTransformer> made,
               CudaTransformer::make(device, config, std::move(weights), own, options.cacheSlots));
    ENGINE_TRY_DO(checkLoaded(*made, device->facts().name, machine.checkedRows));
    return std::unique_ptr<Transformer>(std::move(made));
}

std::string heldAs(const WeightSource&, const TensorInfo& tensor) {
    if (tensor.type == TensorType::Other)
        return "cannot be computed with";
    if (tensor.shape.size() < 2)
        return "float32";
    return std::string(tileFormatName(formatOf(tensor.type, std::nullopt)));
}

} // namespace

void registerBackend(BackendRegistry& registry, const Machine& machine) {
    BackendInfo info;
    info.name = "cuda";
    info.title = "NVIDIA GPU";
    info.summary = "NVIDIA GPUs; never run on one yet";
    info.settings = settings();
    info.hasOwnMemory = true;
    info.forecast = [machine](const ModelConfig& config,
                              const WeightSource& source,
                              const TransformerOptions& options,
                              int contextLength) {
        return forecast(machine, config, source, options, contextLength);
    };
    info.devices = [machine]() -> Result<std::vector<BackendDevice>> {
        ENGINE_TRY(const std::vector<DeviceFacts> all, machine.list());
        std::vector<BackendDevice> devices;
        for (const DeviceFacts& facts : all)
            devices.push_back({facts.name, facts.memoryBytes});
        return devices;
    };
    info.heldAs = &heldAs;
    registry.add(std::move(info),
                 [machine](const ModelConfig& config,
                           const WeightSource& source,
                           const TransformerOptions& options) {
                     return load(machine, config, source, options);
                 });
}

} // namespace backend_cuda
