// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/cuda_backend.h"

#include "engine/base/setting_makers.h"
#include "engine/base/to_size.h"
#include "plugins/backend_cuda/checks/load_check.h"
#include "plugins/backend_cuda/checks/self_test.h"
#include "plugins/backend_cuda/pipeline/layer_shares.h"
#include "plugins/backend_cuda/pipeline/pipeline_transformer.h"
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
    SettingInfo gpus = describedSetting(integerSetting("gpus", "GPUs", 1, {1, kMostDevices}),
                                        "",
                                        SettingEffect::NextLoad,
                                        "Number of GPUs that hold the layers together, from that "
                                        "one on. It gains room and no speed.");
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
            std::move(gpus),
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
        if (name == "device" || name == "gpus") {
            (name == "device" ? own.device : own.gpus) = integerOf(options.settings, name);
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

/// The GPUs that were asked for.
Result<std::vector<DeviceFacts>> factsOf(const Machine& machine, const CudaOptions& own) {
    ENGINE_TRY(std::vector<DeviceFacts> all, machine.list());
    const std::size_t first = toSize(own.device);
    const std::size_t end = first + toSize(own.gpus);
    if (end <= all.size())
        return std::vector(all.begin() + own.device, all.begin() + own.device + own.gpus);
    std::string names;
    for (std::size_t i = 0; i < all.size(); ++i)
        names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, all[i].name);
    return Error{
        ErrorCode::InvalidInput,
        fmt::format("There is no GPU {}; there are: {}.", std::max(first, all.size()), names),
        own.gpus == 1 ? "Name one of these with --device."
                      : "Name one of these with --device, and fewer with --gpus."};
}

std::uint64_t cacheBytesOf(const ModelConfig& config, LayerSpan span, KvType type, int slots) {
    return slotBytes({span.count(), config.kvHeadCount, config.headDim, 1, type},
                     headWidthOf(config)) *
           static_cast<std::uint64_t>(slots);
}

/// What a GPU with these layers holds.
MemoryNeed
needOf(const ModelConfig& config, const DeviceWeights& outline, KvType kvType, int contextLength) {
    return {outline.bytes,
            cacheBytesOf(config, outline.span, kvType, contextLength),
            cacheBytesOf(config, outline.span, kvType, kScratchSlots),
            workspaceBytes(config, outline, contextLength)};
}

/// Which layers each GPU holds: of GPUs of one size about as many bytes each.
Result<std::vector<LayerSpan>> sharesOf(const ModelConfig& config,
                                        const WeightSource& source,
                                        const CudaOptions& own,
                                        KvType kvType,
                                        int contextLength,
                                        std::span<const std::uint64_t> roomBytes) {
    if (own.gpus == 1)
        return std::vector{allLayers(config)};
    if (own.gpus > config.layerCount)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The model has {} layers, which {} GPUs cannot share.",
                                 config.layerCount,
                                 own.gpus),
                     "Ask for fewer with --gpus."};
    std::vector<std::uint64_t> layerBytes;
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const LayerSpan span{layer, layer + 1};
        ENGINE_TRY(const DeviceWeights outline, outlineWeights(config, source, own.weights, span));
        layerBytes.push_back(outline.bytes + cacheBytesOf(config, span, kvType, contextLength));
    }
    return shareLayers(layerBytes, roomBytes);
}

Result<LoadForecast> forecast(const Machine& machine,
                              const ModelConfig& config,
                              const WeightSource& source,
                              const TransformerOptions& options,
                              int contextLength) {
    ENGINE_TRY(const CudaOptions own, optionsOf(options));
    ENGINE_TRY(const std::vector<DeviceFacts> gpus, factsOf(machine, own));
    ENGINE_TRY_DO(checkNetwork(config));
    ENGINE_TRY(const DeviceWeights outline,
               outlineWeights(config, source, own.weights, allLayers(config)));
    const KvType kvType = kvTypeOf(own, outline.mainFormat);
    LoadForecast told{{},
                      std::string(tileFormatName(outline.mainFormat)),
                      std::string(kvTypeName(kvType)),
                      fmt::format("sm_{}", gpus.front().capability)};
    std::vector<std::uint64_t> roomBytes;
    for (const DeviceFacts& facts : gpus) {
        told.deviceBytes += facts.memoryBytes;
        roomBytes.push_back(std::max<std::uint64_t>(facts.memoryBytes, 1));
    }
    ENGINE_TRY(const std::vector<LayerSpan> spans,
               sharesOf(config, source, own, kvType, contextLength, roomBytes));
    for (const LayerSpan span : spans) {
        ENGINE_TRY(const DeviceWeights part, outlineWeights(config, source, own.weights, span));
        const MemoryNeed need = needOf(config, part, kvType, contextLength);
        told.memory.weightBytes += need.weightBytes;
        told.memory.cacheBytes += need.cacheBytes;
        told.memory.scratchBytes += need.scratchBytes;
        told.memory.passBytes += need.passBytes;
    }
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
        "Ask for a shorter --context, for --weights int8, for another GPU with --device, or for "
        "several with --gpus."};
}

/// The GPUs, each tested if that is asked for, and found to have room for its share.
struct OpenedDevices {
    std::vector<std::shared_ptr<Device>> devices;
    std::vector<LayerSpan> spans;
};

Result<OpenedDevices> openDevices(const Machine& machine,
                                  const ModelConfig& config,
                                  const WeightSource& source,
                                  const CudaOptions& own,
                                  KvType kvType,
                                  int contextLength) {
    OpenedDevices opened;
    std::vector<std::uint64_t> roomBytes;
    for (int i = 0; i < own.gpus; ++i) {
        ENGINE_TRY(std::shared_ptr<Device> device, machine.open(own.device + i));
        ENGINE_TRY(const std::uint64_t isFree, device->freeBytes());
        roomBytes.push_back(isFree > kLeftFree ? isFree - kLeftFree : 1);
        opened.devices.push_back(std::move(device));
    }
    ENGINE_TRY(opened.spans, sharesOf(config, source, own, kvType, contextLength, roomBytes));
    for (std::size_t i = 0; i < opened.devices.size(); ++i) {
        ENGINE_TRY(const DeviceWeights outline,
                   outlineWeights(config, source, own.weights, opened.spans[i]));
        const MemoryNeed need = needOf(config, outline, kvType, contextLength);
        ENGINE_TRY_DO(
            checkMemory(*opened.devices[i],
                        need.weightBytes + need.cacheBytes + need.scratchBytes + need.passBytes));
        if (!machine.testFolder.empty())
            ENGINE_TRY_DO(testDeviceOnce(opened.devices[i], machine.testFolder));
    }
    return opened;
}

Result<std::unique_ptr<Transformer>> load(const Machine& machine,
                                          const ModelConfig& config,
                                          const WeightSource& source,
                                          const TransformerOptions& options) {
    ENGINE_TRY_DO(config.validate());
    ENGINE_TRY(CudaOptions own, optionsOf(options));
    ENGINE_TRY_DO(factsOf(machine, own));
    ENGINE_TRY_DO(checkNetwork(config));
    ENGINE_TRY(const DeviceWeights outline,
               outlineWeights(config, source, own.weights, allLayers(config)));
    own.kvType = kvTypeOf(own, outline.mainFormat);
    ENGINE_TRY(const OpenedDevices opened,
               openDevices(machine, config, source, own, *own.kvType, options.cacheSlots));
    const TransformerKey key;
    std::vector<std::unique_ptr<CudaTransformer>> parts;
    for (std::size_t i = 0; i < opened.devices.size(); ++i) {
        const std::shared_ptr<Device>& device = opened.devices[i];
        TransformerOptions shared = options;
        if (options.progress)
            shared.progress = [&](double done) {
                options.progress((static_cast<double>(i) + done) / own.gpus);
            };
        ENGINE_TRY(DeviceWeights weights,
                   uploadWeights(config, source, own.weights, opened.spans[i], device, shared));
        ENGINE_TRY(std::unique_ptr<CudaTransformer> part,
                   CudaTransformer::make(
                       device, config, std::move(weights), own, options.cacheSlots, key));
        parts.push_back(std::move(part));
    }
    std::unique_ptr<Transformer> made;
    if (parts.size() == 1)
        made = std::move(parts.front());
    else
        made = std::make_unique<PipelineTransformer>(
            std::move(parts), key, std::string(tileFormatName(outline.mainFormat)));
    ENGINE_TRY_DO(checkLoaded(*made, source, made->deviceName(), machine.checkedRows));
    return made;
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
