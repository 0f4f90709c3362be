// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/transformer/cuda_weights.h"

#include <cstdint>
#include <span>
#include <vector>

namespace backend_cuda {

/// Which layers each GPU holds, so that the fullest one is as empty as it can be. `layerBytes` is
/// what each layer takes, the embedding with the first and the head with the last one; `roomBytes`
/// is what each GPU has, above 0. There are at least as many layers as GPUs, and each GPU gets one.
std::vector<LayerSpan> shareLayers(std::span<const std::uint64_t> layerBytes,
                                   std::span<const std::uint64_t> roomBytes);

} // namespace backend_cuda
