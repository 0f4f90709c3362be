// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/tiles/packing/tile_packing.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/model/transformer.h"
#include "plugins/backend_cuda/device/device.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace backend_cuda {

/// A linear layer on the GPU.
struct DeviceLinear {
    DeviceMatrix matrix;
    const float* bias = nullptr; // [strips * kStrip], or null
    int firstOutput = 0;         // of those that are computed side by side
};

/// What one layer of the files is made of. Norms are filled up by zeros; what the network does
/// without is null.
struct DeviceLayer {
    std::vector<DeviceLinear> queryKeyValue; // each head filled up to headWidth; one a form
    DeviceLinear output;
    std::vector<DeviceLinear> gateUp; // 16 outputs of each by turns; one, or one an expert
    std::vector<DeviceLinear> down;
    DeviceLinear router; // without matrix where there are no experts
    const float* attentionNorm = nullptr;
    const float* queryNorm = nullptr;
    const float* keyNorm = nullptr;
    const float* attentionPostNorm = nullptr;
    const float* mlpNorm = nullptr;
    const float* mlpPostNorm = nullptr;
};

/// Layers [first, end) of a network. A plain value.
struct LayerSpan {
    int first = 0;
    int end = 0;

    int count() const { return end - first; }
};

/// All layers of a network.
inline LayerSpan allLayers(const engine::ModelConfig& config) { return {0, config.layerCount}; }

/// The weights of a network, or of some of its layers, in one piece of a GPU's memory, in the order
/// in which a pass reads them. Without a device: the sizes alone.
struct DeviceWeights {
    DeviceMemory memory;
    LayerSpan span; // whose weights these are
    bool hasHead = true;
    engine::TileFormat mainFormat; // that most of the memory has
    bool isWide = false;           // some matrix is held in float32
    std::size_t bytes = 0;
    DeviceLinear embedding;          // the head too when tied
    std::vector<DeviceLayer> layers; // [stored layers], empty ones outside the span
    const float* finalNorm = nullptr;
    DeviceLinear head; // without matrix when tied

    const DeviceLinear& outputHead() const { return head.matrix.outputs == 0 ? embedding : head; }
};

/// Numbers that a head takes: filled up to 64, 128 or 256.
int headWidthOf(const engine::ModelConfig& config);

/// The form that a matrix of this type gets: what was asked for, else the one in which the cpu
/// backend holds it, which loses nothing.
engine::TileFormat formatOf(engine::TensorType type, std::optional<Form> wanted);

/// Refuses networks that the kernels cannot compute yet, each by name. Errors: Unsupported.
engine::Result<void> checkNetwork(const engine::ModelConfig& config);

/// Finds every tensor of these layers, of the embedding where they are the first ones, and of the
/// head where they are the last ones, and says how much memory they take. Errors: NotFound,
/// CorruptFile.
engine::Result<DeviceWeights> outlineWeights(const engine::ModelConfig& config,
                                             const engine::WeightSource& source,
                                             std::optional<Form> wanted,
                                             LayerSpan span);

/// Reads, packs and uploads every tensor. Errors: as outlineWeights; Numeric names a tensor with
/// numbers that the form cannot hold; NoMemory; Cancelled; those of the device.
engine::Result<DeviceWeights> uploadWeights(const engine::ModelConfig& config,
                                            const engine::WeightSource& source,
                                            std::optional<Form> wanted,
                                            LayerSpan span,
                                            const std::shared_ptr<Device>& device,
                                            const engine::TransformerOptions& options);

} // namespace backend_cuda
