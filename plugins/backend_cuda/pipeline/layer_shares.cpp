// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/pipeline/layer_shares.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <limits>

namespace backend_cuda {

std::vector<LayerSpan> shareLayers(std::span<const std::uint64_t> layerBytes,
                                   std::span<const std::uint64_t> roomBytes) {
    const std::size_t layers = layerBytes.size();
    const std::size_t gpus = roomBytes.size();
    ENGINE_CHECK(gpus > 0 && gpus <= layers, "{} layers for {} GPUs", layers, gpus);
    // The fullest of the first `gpu + 1` GPUs when they hold the layers below `end`, and where the
    // last of them begins.
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> fullest(gpus, std::vector<double>(layers + 1, kNever));
    std::vector<std::vector<std::size_t>> begins(gpus, std::vector<std::size_t>(layers + 1, 0));
    for (std::size_t gpu = 0; gpu < gpus; ++gpu)
        for (std::size_t end = gpu + 1; end <= layers; ++end) {
            double bytes = 0.0;
            for (std::size_t first = end; first-- > gpu;) {
                bytes += static_cast<double>(layerBytes[first]);
                if (gpu == 0 && first > 0)
                    continue;
                const double before = gpu == 0 ? 0.0 : fullest[gpu - 1][first];
                const double full = std::max(before, bytes / static_cast<double>(roomBytes[gpu]));
                if (full < fullest[gpu][end]) {
                    fullest[gpu][end] = full;
                    begins[gpu][end] = first;
                }
            }
        }
    std::vector<LayerSpan> spans(gpus);
    std::size_t end = layers;
    for (std::size_t gpu = gpus; gpu-- > 0; end = begins[gpu][end])
        spans[gpu] = {static_cast<int>(begins[gpu][end]), static_cast<int>(end)};
    return spans;
}

} // namespace backend_cuda
