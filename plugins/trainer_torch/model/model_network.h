// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"
#include "plugins/trainer_torch/model/model_rows.h"
#include "plugins/trainer_torch/network/draft_weights.h"

#include <ATen/core/Tensor.h>

namespace trainer_torch {

/// What a model computes that checkModelPlan() lets pass, from differentiable operations: gradients
/// go to those of the trained tensors that a pass uses. A trained tensor takes the place of the
/// model's own of the same name; LoRA's come on top.
class ModelNetwork {
public:
    /// `tensors`: those of the model that are not trained.
    ModelNetwork(engine::ModelConfig config, TensorMap tensors);

    const engine::ModelConfig& config() const { return m_config; }

    /// The stream in front of the first layer. Shapes: returns [rows, hidden].
    at::Tensor embed(const TensorMap& trained, const ModelRows& rows) const;

    /// Shapes: stream [rows, hidden], returns likewise.
    at::Tensor runLayer(const TensorMap& trained,
                        int layer,
                        const at::Tensor& stream,
                        const ModelRows& rows) const;

    /// What the head says behind these streams, whichever layer they come from. Shapes: streams
    /// [rows, hidden], returns [rows, vocab].
    at::Tensor logits(const TensorMap& trained, const at::Tensor& streams) const;

private:
    const at::Tensor& find(const TensorMap& trained, const std::string& name) const;
    const at::Tensor* findIfThere(const TensorMap& trained, const std::string& name) const;
    at::Tensor
    linear(const TensorMap& trained, const std::string& name, const at::Tensor& in) const;
    at::Tensor norm(const TensorMap& trained, const std::string& name, const at::Tensor& in) const;
    at::Tensor heads(const TensorMap& trained,
                     const std::string& layer,
                     const char* which,
                     const at::Tensor& in,
                     int count) const;
    at::Tensor attend(const at::Tensor& queries,
                      const at::Tensor& keys,
                      const at::Tensor& values,
                      const at::Tensor& seen) const;

    engine::ModelConfig m_config;
    TensorMap m_tensors;
};

} // namespace trainer_torch
