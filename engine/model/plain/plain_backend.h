// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/backends/backend_registry.h"

namespace engine {

/// The reference of exactness: plain loops, float32 or float64, each output row summed in one
/// fixed order whatever the number of rows. Reads its weights from `source`, which may go away
/// afterwards. Errors: Unsupported precision; NotFound, CorruptFile, Numeric name the tensor;
/// Cancelled; NoMemory.
Result<std::unique_ptr<Transformer>> makePlainTransformer(const ModelConfig& config,
                                                          const WeightSource& source,
                                                          const TransformerOptions& options);

void registerPlainBackend(BackendRegistry& registry);

} // namespace engine
