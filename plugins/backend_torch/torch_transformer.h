// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <memory>

namespace backend_torch {

/// A network on LibTorch: float32, float64 or bfloat16. A row's numbers do not depend on the rows
/// that run with it (see torch_layers.h). Reads its weights from `source`, which may go away.
/// Errors: NotFound, CorruptFile, Numeric name the tensor; Cancelled; NoMemory. No exception of
/// LibTorch leaves this function or the transformer. Thread: engine.
engine::Result<std::unique_ptr<engine::Transformer>>
makeTorchTransformer(const engine::ModelConfig& config,
                     const engine::WeightSource& source,
                     const engine::TransformerOptions& options);

} // namespace backend_torch
