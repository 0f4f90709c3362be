// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/model/model_pass.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/network/row_math.h"

#include <c10/core/GradMode.h>

namespace trainer_torch {

using namespace engine;

namespace {

/// What a layer keeps, about: rows of several widths, and scores three times.
double keptBytes(const ModelConfig& config, double rows) {
    const double widths =
        8.0 * config.hiddenSize + 6.0 * config.mlpSize + 6.0 * config.headCount * config.headDim;
    return 4.0 * rows * (widths + 3.0 * config.headCount * rows) * config.layerCount;
}

} // namespace

ModelPass::ModelPass(const ModelNetwork& network,
                     const TensorMap& trained,
                     const ModelRows& rows,
                     std::vector<bool> dropped,
                     bool hasGradients,
                     double mostKept)
    : m_network(network)
    , m_trained(trained)
    , m_rows(rows)
    , m_dropped(std::move(dropped))
    , m_hasGradients(hasGradients)
    , m_keepsLayers(hasGradients &&
                    keptBytes(network.config(), static_cast<double>(rows.count())) < mostKept) {
    const int layers = network.config().layerCount;
    m_outputs.resize(toSize(layers));
    m_gradients.resize(toSize(layers) + 1);
    const c10::AutoGradMode recording(hasGradients);
    m_entry = network.embed(trained, rows);
    m_streams.push_back(m_entry.detach());
    for (int layer = 0; layer < layers; ++layer) {
        if (isDropped(layer)) {
            m_streams.push_back(m_streams.back());
            continue;
        }
        if (hasGradients) { // a leaf of its own, also behind a layer that is left out
            m_streams.back() = m_streams.back().detach();
            m_streams.back().set_requires_grad(true);
        }
        const c10::AutoGradMode keeping(m_keepsLayers);
        const at::Tensor output = run(layer);
        if (m_keepsLayers)
            m_outputs[toSize(layer)] = output;
        m_streams.push_back(output.detach());
    }
}

at::Tensor ModelPass::logits(const at::Tensor& stream, std::span<const std::int64_t> rows) const {
    return m_network.logits(m_trained, stream.index_select(0, wholeNumbers(rows)));
}

at::Tensor ModelPass::run(int layer) const {
    return m_network.runLayer(m_trained, layer, m_streams[toSize(layer)], m_rows);
}

void ModelPass::addGradient(int layers, const at::Tensor& gradient) {
    addTo(m_gradients[toSize(layers)], gradient);
}

void ModelPass::backward() {
    const int layers = m_network.config().layerCount;
    at::Tensor gradient = m_gradients[toSize(layers)];
    for (int layer = layers - 1; layer >= 0; --layer) {
        if (gradient.defined() && !isDropped(layer)) {
            at::Tensor output = m_keepsLayers ? m_outputs[toSize(layer)] : run(layer);
            output.backward(gradient);
            m_outputs[toSize(layer)] = at::Tensor(); // gives its memory back
            gradient = m_streams[toSize(layer)].grad();
        }
        if (const at::Tensor& own = m_gradients[toSize(layer)]; own.defined())
            addTo(gradient, own);
    }
    if (gradient.defined() && m_entry.requires_grad())
        m_entry.backward(gradient);
}

} // namespace trainer_torch
