// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a tensor does in its network.
enum class TensorRole : std::uint8_t {
    Embedding,
    AttentionNorm, ///< in front of the attention
    Query,
    Key,
    Value,
    QueryNorm,
    KeyNorm,
    Output,
    AttentionPostNorm, ///< behind the attention
    MlpNorm,           ///< in front of the MLP
    Router,
    Gate,
    Up,
    Down,
    MlpPostNorm, ///< behind the MLP
    FinalNorm,
    Head
};

/// One tensor that a network computes with: a linear layer, or the weights of a norm.
struct TensorSpec {
    TensorRole role;
    std::string name; ///< of the Hugging Face checkpoint, without ".weight"
    int outputs = 0;  ///< of a norm: its width
    int inputs = 0;   ///< 0: a norm
    bool hasBias = false;
    int expert = -1; ///< of an MLP that is cut into experts

    bool isNorm() const { return inputs == 0; }

    std::string weightName() const { return name + ".weight"; }

    std::string biasName() const { return name + ".bias"; }

    /// [outputs, inputs] or [outputs].
    std::vector<std::uint64_t> shape() const;
};

/// The tensors of one layer in the order in which a pass reads them. A copy and its original have
/// the same ones.
std::vector<TensorSpec> layerTensors(const ModelConfig& config, int layer);

TensorSpec embeddingTensor(const ModelConfig& config);

/// What a network that drafts for another one reads in place of an embedding of its own: the norm
/// of that one's stream, the norm of its embedding, and the layer that makes one row of both,
/// [hidden, 2 * hidden].
struct DraftInputTensors {
    TensorSpec streamNorm, tokenNorm, input;
};

DraftInputTensors draftInputTensors(const ModelConfig& config);

TensorSpec finalNormTensor(const ModelConfig& config);
TensorSpec headTensor(const ModelConfig& config); ///< for a head of its own

/// All tensors of the network, each once: the embedding, layer after layer, final norm, and the
/// head unless it is tied.
void forEachTensor(const ModelConfig& config, const std::function<void(const TensorSpec&)>& visit);

/// Whether a network of this configuration computes with the tensor of this Hugging Face name.
bool computesWith(const ModelConfig& config, std::string_view tensor);

/// The number in front of `name`'s first point, if that is one from 0 to `end` - 1 in its usual
/// form, and what stands behind the point; -1 otherwise.
struct NumberedName {
    int number = -1;
    std::string_view rest = {};
};

NumberedName splitNumber(std::string_view name, int end);

} // namespace engine
