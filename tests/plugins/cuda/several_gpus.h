// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/plugins/cuda/cuda_support.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Emulated GPUs that hold the layers of a network together.
namespace several_gpus {

inline constexpr int kLayers = 5;

/// An emulated GPU with so much memory, which can be lost.
class OneOfSeveral final : public backend_cuda::WrappedDevice {
public:
    explicit OneOfSeveral(std::uint64_t isFree, bool isLinked = false)
        : OneOfSeveral(std::make_shared<backend_cuda::EmulatedDevice>(2), isFree, isLinked) {}

    engine::Result<std::uint64_t> freeBytes() override { return m_free; }

    engine::Result<void> upload(std::byte* to, std::span<const std::byte> from) override {
        uploaded += from.size();
        return isLost ? fellOff() : backend_cuda::WrappedDevice::upload(to, from);
    }

    engine::Result<void> send(std::byte* to, std::span<const std::byte> from) override {
        return isLost ? fellOff() : backend_cuda::WrappedDevice::send(to, from);
    }

    engine::Result<void> download(std::span<std::byte> to, const std::byte* from) override {
        ++downloads;
        downloaded += to.size();
        return isLost ? fellOff() : backend_cuda::WrappedDevice::download(to, from);
    }

    engine::Result<void> launch(backend_cuda::Kernel kernel,
                                int blocks,
                                const backend_cuda::PassArguments& arguments) override {
        launches += isLost ? 0 : 1;
        return isLost ? fellOff() : backend_cuda::WrappedDevice::launch(kernel, blocks, arguments);
    }

    bool reaches(backend_cuda::Device& /*other*/) override { return m_isLinked; }

    engine::Result<void> copyTo(backend_cuda::Device& other,
                                std::byte* to,
                                const std::byte* from,
                                std::size_t bytes) override {
        handedOver += bytes;
        const auto& peer = dynamic_cast<const OneOfSeveral&>(other);
        if (isLost || peer.isLost)
            return fellOff();
        return isLinkDead ? engine::Result<void>()
                          : backend_cuda::WrappedDevice::copyTo(other, to, from, bytes);
    }

    int heldPieces() const { return m_emulated->heldPieces(); }

    bool isLost = false;
    bool isLinkDead = false; // what is handed over gets lost, and no call fails
    int launches = 0;
    int downloads = 0;
    std::size_t uploaded = 0;
    std::size_t downloaded = 0;
    std::size_t handedOver = 0; // straight to another one

private:
    OneOfSeveral(const std::shared_ptr<backend_cuda::EmulatedDevice>& emulated,
                 std::uint64_t isFree,
                 bool isLinked)
        : backend_cuda::WrappedDevice(emulated)
        , m_emulated(emulated)
        , m_free(isFree)
        , m_isLinked(isLinked) {}

    static engine::Result<void> fellOff() {
        return engine::Error{
            engine::ErrorCode::Device, "The GPU fell off.", "Load the model again."};
    }

    std::shared_ptr<backend_cuda::EmulatedDevice> m_emulated;
    std::uint64_t m_free;
    bool m_isLinked; // reaches the others
};

using Gpus = std::vector<std::shared_ptr<OneOfSeveral>>;

inline Gpus gpusWith(std::initializer_list<std::uint64_t> freeBytes) {
    Gpus gpus;
    for (const std::uint64_t isFree : freeBytes)
        gpus.push_back(std::make_shared<OneOfSeveral>(isFree));
    return gpus;
}

inline constexpr std::uint64_t kEnough = std::uint64_t{1} << 32U;

inline Gpus linkedGpus(int count) {
    Gpus gpus;
    for (int i = 0; i < count; ++i)
        gpus.push_back(std::make_shared<OneOfSeveral>(kEnough, true));
    return gpus;
}

inline backend_cuda::Machine machineOf(const Gpus& gpus) {
    return {.list =
                [gpus] {
                    std::vector<backend_cuda::DeviceFacts> all;
                    for (const auto& gpu : gpus)
                        all.push_back(gpu->facts());
                    return engine::Result<std::vector<backend_cuda::DeviceFacts>>(all);
                },
            .open =
                [gpus](int place) {
                    return engine::Result<std::shared_ptr<backend_cuda::Device>>(
                        gpus[static_cast<std::size_t>(place)]);
                },
            .checkedRows = 9};
}

/// Five layers with windows, of which one is skipped by decoders without much harm.
inline engine::ModelConfig fiveLayers() {
    engine::ModelConfig config = support::layeredConfig(kLayers);
    config.hiddenSize = 64;
    config.headDim = 16;
    config.mlpSize = 96;
    config.layerWindows = {0, 6, 0, 6, 0};
    return config;
}

inline support::MemoryWeights weightsOf(const engine::ModelConfig& config) {
    support::MemoryWeights weights = support::randomWeights(config, 4);
    for (int layer = 1; layer + 1 < kLayers; ++layer)
        support::quietenLayer(weights, layer, 0.1F);
    return weights;
}

inline engine::Result<std::unique_ptr<engine::Transformer>>
loadOnAll(const Gpus& gpus,
          const engine::ModelConfig& config,
          const engine::WeightSource& source,
          engine::SettingValues settings = {}) {
    engine::BackendRegistry registry("");
    backend_cuda::registerBackend(registry, machineOf(gpus));
    engine::TransformerOptions options;
    settings.try_emplace("gpus", static_cast<double>(gpus.size()));
    options.settings = std::move(settings);
    options.cacheSlots = 64;
    return registry.find("cuda").value()(config, source, options);
}

} // namespace several_gpus
