// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"

#include <stdexcept>

extern "C" void swiftStudioRegisterBackend(engine::BackendRegistry& registry) {
    engine::BackendInfo info;
    info.name = "throwing";
    info.forecast = &engine::widenedForecast;
    info.devices = &engine::processorDevice;
    registry.add(
        std::move(info),
        [](const engine::ModelConfig&,
           const engine::WeightSource&,
           const engine::TransformerOptions&)
            -> engine::Result<std::unique_ptr<engine::Transformer>> { return engine::Error{}; });
    throw std::runtime_error("the registration broke down");
}
