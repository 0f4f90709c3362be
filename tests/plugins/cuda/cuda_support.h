// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/cuda_backend.h"
#include "plugins/backend_cuda/device/wrapped_device.h"
#include "plugins/backend_cuda/emulation/emulated_device.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/value_of.h"

#include <QDebug>

#include <initializer_list>
#include <memory>
#include <string>

namespace support {

/// A machine whose one GPU is this one. It checks a load with few rows, as many are slow here.
inline backend_cuda::Machine machineOf(const std::shared_ptr<backend_cuda::Device>& device) {
    return {
        .list =
            [device] {
                return engine::Result<std::vector<backend_cuda::DeviceFacts>>({device->facts()});
            },
        .open =
            [device](int) { return engine::Result<std::shared_ptr<backend_cuda::Device>>(device); },
        .checkedRows = 9};
}

/// Whether an error has all these words in its message, and a hint.
inline bool says(const engine::Error& error, std::initializer_list<const char*> words) {
    for (const char* word : words)
        if (error.message.find(word) == std::string::npos) {
            qWarning("%s", error.message.c_str());
            return false;
        }
    return !error.hint.empty();
}

/// Loads a model into the backend on this device, for a context of so many tokens.
inline engine::Result<std::unique_ptr<engine::Transformer>>
loadOn(const std::shared_ptr<backend_cuda::Device>& device,
       const engine::ModelConfig& config,
       const engine::WeightSource& weights,
       const engine::SettingValues& settings = {},
       engine::Position contextLength = 0) {
    engine::BackendRegistry registry("");
    backend_cuda::registerBackend(registry, machineOf(device));
    engine::TransformerOptions options;
    options.settings = settings;
    options.cacheSlots = contextLength;
    return registry.find("cuda").value()(config, weights, options);
}

/// What loading it would take; fails by exception.
inline engine::MemoryNeed memoryOn(const std::shared_ptr<backend_cuda::Device>& device,
                                   const engine::ModelConfig& config,
                                   const engine::WeightSource& weights,
                                   engine::Position contextLength,
                                   const engine::SettingValues& settings = {}) {
    engine::BackendRegistry registry("");
    backend_cuda::registerBackend(registry, machineOf(device));
    engine::TransformerOptions options;
    options.settings = settings;
    return registry.info("cuda")
        .value()
        .forecast(config, weights, options, contextLength)
        .value()
        .memory;
}

/// The same; fails by exception.
inline std::unique_ptr<engine::Transformer>
makeOn(const std::shared_ptr<backend_cuda::Device>& device,
       const engine::ModelConfig& config,
       const engine::WeightSource& weights,
       const engine::SettingValues& settings = {}) {
    return valueOf(loadOn(device, config, weights, settings));
}

/// Matrices of several slabs, strips and heads, none of which fills anything but groups of 32
/// columns evenly.
inline engine::ModelConfig unevenConfig() {
    engine::ModelConfig config = tinyConfig();
    config.layerCount = 2;
    config.layerWindows = {0, 20};
    config.hiddenSize = 192;
    config.mlpSize = 1056;
    config.headCount = 4;
    config.headDim = 80;
    config.vocabSize = 513;
    return config;
}

/// Seeded ids of a vocabulary of at least 160.
inline std::vector<engine::TokenId> someIds(int count) {
    std::vector<engine::TokenId> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back((i * 37 + 5) % 160);
    return ids;
}

} // namespace support
