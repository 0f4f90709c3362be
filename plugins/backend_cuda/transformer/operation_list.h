// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/transformer/cuda_weights.h"

#include <string>
#include <vector>

namespace backend_cuda {

/// What a pass does, as the list that the kernel walks: a plan's skipped sublayers are not in it,
/// so they cost nothing. `headCount` rows go through the head. A hand-out's index is its place in
/// the request; where the weights are some layers alone, whose stream goes on elsewhere, that comes
/// first: it has index 0, the others one more, and it is the last operation.
std::vector<Operation> makeOperations(const engine::ModelConfig& config,
                                      const DeviceWeights& weights,
                                      const engine::ForwardRequest& request,
                                      int headCount,
                                      bool goesOn,
                                      int blocks);

/// For people: where an operation belongs, and the tensor behind which its numbers were found.
struct OperationPlace {
    std::string where;  ///< "layer 3's attention"
    std::string tensor; ///< "model.layers.3.self_attn.q_proj.weight"
};

OperationPlace placeOf(const engine::ModelConfig& config, const Operation& operation, int tensor);

} // namespace backend_cuda
