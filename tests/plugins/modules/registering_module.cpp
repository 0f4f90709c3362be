// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"

namespace {

engine::Result<std::unique_ptr<engine::Transformer>>
refuse(const engine::ModelConfig&, const engine::WeightSource&, const engine::TransformerOptions&) {
    return engine::Error{engine::ErrorCode::Unsupported, "Only a test.", ""};
}

} // namespace

static void registerRefusing(engine::BackendRegistry& registry) {
    engine::BackendInfo info;
    info.name = TEST_MODULE_NAME;
    info.summary = "only a test";
    info.settings = {engine::loadChoice("device", "Device", {"0", "1"}, {}, "Which one computes.")};
    info.hasOwnMemory = true;
    info.forecast = &engine::widenedForecast;
    info.devices = [] { return engine::Error{engine::ErrorCode::Unsupported, "Needs more.", ""}; };
    registry.add(std::move(info), &refuse);
}

ENGINE_BACKEND_MODULE(registerRefusing);
