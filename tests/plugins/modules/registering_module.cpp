// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backend_registry.h"

namespace {

engine::Result<std::unique_ptr<engine::Transformer>>
refuse(const engine::ModelConfig&, const engine::WeightSource&, const engine::TransformerOptions&) {
    return engine::Error{engine::ErrorCode::Unsupported, "Only a test.", ""};
}

} // namespace

ENGINE_BACKEND_MODULE(TEST_MODULE_NAME, &refuse);
