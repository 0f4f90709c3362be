// SPDX-License-Identifier: Apache-2.0
#include "tests/support/models/tiny_model.h"

#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace support {

using namespace engine;

void MemoryWeights::add(const std::string& name,
                        std::vector<std::uint64_t> shape,
                        std::vector<float> values) {
    TensorInfo tensor;
    tensor.name = name;
    tensor.shape = std::move(shape);
    tensor.byteSize = values.size() * sizeof(float);
    m_tensors.push_back(std::move(tensor));
    m_values[name] = std::move(values);
}

std::vector<float>& MemoryWeights::values(const std::string& name) { return m_values.at(name); }

const TensorInfo* MemoryWeights::find(std::string_view name) const {
    for (const TensorInfo& tensor : m_tensors)
        if (tensor.name == name)
            return &tensor;
    return nullptr;
}

Result<void> MemoryWeights::readRows(const TensorInfo& tensor,
                                     std::uint64_t firstRow,
                                     std::uint64_t rowCount,
                                     std::span<float> out) const {
    const std::vector<float>& values = m_values.at(tensor.name);
    const std::uint64_t columns = tensor.columns();
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(firstRow * columns),
                rowCount * columns,
                out.begin());
    return {};
}

Result<void> MemoryWeights::readRawRows(const TensorInfo& tensor,
                                        std::uint64_t firstRow,
                                        std::uint64_t rowCount,
                                        std::span<std::byte> out) const {
    const std::uint64_t columns = tensor.columns();
    std::memcpy(out.data(),
                m_values.at(tensor.name).data() + firstRow * columns,
                rowCount * columns * sizeof(float));
    return {};
}

ModelConfig tinyConfig() {
    ModelConfig config;
    config.architecture = "llama";
    config.layerCount = 3;
    config.hiddenSize = 48;
    config.mlpSize = 80;
    config.headCount = 4;
    config.kvHeadCount = 2;
    config.headDim = 12;
    config.vocabSize = 160;
    config.contextLength = 512;
    config.normEpsilon = 1e-5;
    config.layerWindows.assign(3, 0);
    return config;
}

namespace {

/// Sizes in whole groups.
ModelConfig evenConfig() {
    ModelConfig config = tinyConfig();
    config.hiddenSize = 64;
    config.mlpSize = 96;
    config.headDim = 16;
    return config;
}

} // namespace

ModelConfig expertConfig() {
    ModelConfig config = evenConfig();
    config.headNorm = HeadNorm::EachHead;
    config.layerRopes = {LayerRope::Model, LayerRope::None, LayerRope::Model};
    config.rotatedDim = 12;
    config.experts = {.count = 6, .used = 2, .size = 32};
    config.denseLayers = {1};
    return config;
}

ModelConfig cappedConfig() {
    ModelConfig config = evenConfig();
    config.normPlace = NormPlace::Around;
    config.activation = Activation::GeluTanh;
    config.layerWindows = {24, 0, 24};
    config.layerRopes = {LayerRope::Window, LayerRope::Model, LayerRope::Window};
    config.windowRopeTheta = 500.0;
    config.attentionScale = 0.4;
    config.attentionSoftCap = 4.0;
    config.logitSoftCap = 6.0;
    config.logitScale = 0.8;
    config.embeddingScale = 3.0;
    config.residualScale = 0.7;
    return config;
}

ModelConfig normsBehindConfig() {
    ModelConfig config = evenConfig();
    config.normPlace = NormPlace::Behind;
    config.headNorm = HeadNorm::FullWidth;
    config.experts = {.count = 5, .used = 3, .size = 32, .renormalises = false};
    return config;
}

ModelConfig layeredConfig(int layers) {
    ModelConfig config = tinyConfig();
    config.layerCount = layers;
    config.layerWindows.assign(static_cast<std::size_t>(layers), 0);
    return config;
}

MemoryWeights randomWeights(const ModelConfig& config, unsigned seed) {
    MemoryWeights weights;
    std::mt19937 random(seed);
    const auto tensor =
        [&](const std::string& name, std::vector<int> shape, double mean, double spread) {
            std::size_t count = 1;
            std::vector<std::uint64_t> sizes;
            for (const int size : shape) {
                count *= static_cast<std::size_t>(size);
                sizes.push_back(static_cast<std::uint64_t>(size));
            }
            std::normal_distribution<double> normal(mean, spread);
            std::vector<float> values(count);
            for (float& value : values)
                value = static_cast<float>(normal(random));
            weights.add(name, std::move(sizes), std::move(values));
        };
    forEachTensor(config, [&](const TensorSpec& spec) {
        if (spec.isNorm())
            return tensor(spec.weightName(), {spec.outputs}, 1.0, 0.1);
        const double spread =
            spec.role == TensorRole::Embedding ? 1.0 : 1.5 / std::sqrt(spec.inputs);
        tensor(spec.weightName(), {spec.outputs, spec.inputs}, 0.0, spread);
        if (spec.hasBias)
            tensor(spec.biasName(), {spec.outputs}, 0.0, 0.1);
    });
    return weights;
}

void quietenLayer(MemoryWeights& weights, int layer, float part) {
    for (const char* name : {"self_attn.o_proj", "mlp.down_proj"})
        for (float& weight : weights.values(fmt::format("model.layers.{}.{}.weight", layer, name)))
            weight *= part;
}

void sharpenHead(MemoryWeights& weights) {
    for (float& weight : weights.values("lm_head.weight"))
        weight *= 40.0F;
}

} // namespace support
