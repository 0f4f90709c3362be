// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/model/model_network.h"

#include <cstdint>
#include <span>
#include <vector>

namespace trainer_torch {

/// Bytes that the layers of one pass may keep for their gradients.
inline constexpr double kKeptBytes = 600e6;

/// One pass over the rows of a text, forward and backward, layer after layer. The streams between
/// layers are cut off from each other: a layer is computed once more for its gradients where
/// keeping what it computed would take too much memory, which changes no bit of them. References
/// are guests.
class ModelPass {
public:
    /// Computes the streams behind all layers. Shapes: dropped [layers]: the stream goes around
    /// these; empty: around none. Without gradients nothing is kept for them, and with them
    /// `mostKept` bytes at most, about.
    ModelPass(const ModelNetwork& network,
              const TensorMap& trained,
              const ModelRows& rows,
              std::vector<bool> dropped,
              bool hasGradients,
              double mostKept = kKeptBytes);

    /// Behind the first `layers` layers, without gradients of its own. [rows, hidden]
    const at::Tensor& streamBehind(int layers) const {
        return m_streams[static_cast<std::size_t>(layers)];
    }

    /// What the head says behind these rows of a stream. Shapes: stream [rows, hidden], returns
    /// [rows, vocab].
    at::Tensor logits(const at::Tensor& stream, std::span<const std::int64_t> rows) const;

    bool hasGradients() const { return m_hasGradients; }

    at::ScalarType type() const { return m_entry.scalar_type(); }

    /// Adds to how the loss changes with that stream. Shapes: gradient [rows, hidden].
    void addGradient(int layers, const at::Tensor& gradient);

    /// Hands on to the trained tensors what was added. Once.
    void backward();

private:
    bool isDropped(int layer) const {
        return !m_dropped.empty() && m_dropped[static_cast<std::size_t>(layer)];
    }

    at::Tensor run(int layer) const;

    const ModelNetwork& m_network;
    const TensorMap& m_trained;
    const ModelRows& m_rows;
    std::vector<bool> m_dropped;
    bool m_hasGradients;
    bool m_keepsLayers;
    at::Tensor m_entry;                  // with gradients
    std::vector<at::Tensor> m_streams;   // [layers + 1]; what the layers read
    std::vector<at::Tensor> m_outputs;   // [layers] with gradients, where they are kept
    std::vector<at::Tensor> m_gradients; // [layers + 1]
};

} // namespace trainer_torch
