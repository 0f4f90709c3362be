// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <charconv>

namespace engine {

namespace {

constexpr std::string_view kLayers = "model.layers.";

/// Collects the tensors of one layer.
class LayerList {
public:
    /// `experts`: how many are listed.
    LayerList(const ModelConfig& config, int layer, int experts)
        : m_config(config)
        , m_layer(layer)
        , m_experts(experts)
        , m_prefix(fmt::format("{}{}.", kLayers, config.storedLayer(layer))) {}

    std::vector<TensorSpec> take() && {
        addAttention();
        addMlp();
        return std::move(m_tensors);
    }

private:
    void norm(TensorRole role, std::string_view name, int width) {
        m_tensors.push_back({role, m_prefix + std::string(name), width});
    }

    void linear(TensorRole role, const std::string& name, int outputs, int inputs, bool hasBias) {
        m_tensors.push_back({role, m_prefix + name, outputs, inputs, hasBias});
    }

    void addAttention() {
        const int hidden = m_config.hiddenSize;
        const int queries = m_config.headCount * m_config.headDim;
        const int keys = m_config.kvHeadCount * m_config.headDim;
        const bool biased = m_config.qkvBias;
        if (m_config.hasNormsBefore())
            norm(TensorRole::AttentionNorm, "input_layernorm", hidden);
        linear(TensorRole::Query, "self_attn.q_proj", queries, hidden, biased);
        linear(TensorRole::Key, "self_attn.k_proj", keys, hidden, biased);
        linear(TensorRole::Value, "self_attn.v_proj", keys, hidden, biased);
        if (m_config.headNorm != HeadNorm::None) {
            const bool isWide = m_config.headNorm == HeadNorm::FullWidth;
            norm(TensorRole::QueryNorm, "self_attn.q_norm", isWide ? queries : m_config.headDim);
            norm(TensorRole::KeyNorm, "self_attn.k_norm", isWide ? keys : m_config.headDim);
        }
        linear(TensorRole::Output, "self_attn.o_proj", hidden, queries, m_config.outputBias);
        if (m_config.hasNormsBehind())
            norm(TensorRole::AttentionPostNorm, "post_attention_layernorm", hidden);
    }

    void addMlp() {
        const int hidden = m_config.hiddenSize;
        // Where norms stand around a sublayer, their names say more.
        if (m_config.hasNormsBefore())
            norm(TensorRole::MlpNorm,
                 m_config.hasNormsBehind() ? "pre_feedforward_layernorm"
                                           : "post_attention_layernorm",
                 hidden);
        if (m_config.hasExperts(m_layer)) {
            linear(TensorRole::Router, "mlp.gate", m_config.experts.count, hidden, false);
            for (int expert = 0; expert < m_experts; ++expert)
                addGated(fmt::format("mlp.experts.{}.", expert), m_config.experts.size, expert);
        } else {
            addGated("mlp.", m_config.mlpSize, -1);
        }
        if (m_config.hasNormsBehind())
            norm(TensorRole::MlpPostNorm, "post_feedforward_layernorm", hidden);
    }

    void addGated(const std::string& prefix, int inner, int expert) {
        const int hidden = m_config.hiddenSize;
        const bool biased = expert < 0 && m_config.mlpBias;
        linear(TensorRole::Gate, prefix + "gate_proj", inner, hidden, biased);
        linear(TensorRole::Up, prefix + "up_proj", inner, hidden, biased);
        linear(TensorRole::Down, prefix + "down_proj", hidden, inner, biased);
        for (std::size_t i = m_tensors.size() - 3; i < m_tensors.size(); ++i)
            m_tensors[i].expert = expert;
    }

    const ModelConfig& m_config;
    int m_layer;
    int m_experts;
    std::string m_prefix;
    std::vector<TensorSpec> m_tensors;
};

bool isNamed(const TensorSpec& tensor, std::string_view name) {
    if (!name.starts_with(tensor.name))
        return false;
    const std::string_view kind = name.substr(tensor.name.size());
    return kind == ".weight" || (kind == ".bias" && tensor.hasBias);
}

} // namespace

std::vector<std::uint64_t> TensorSpec::shape() const {
    if (isNorm())
        return {static_cast<std::uint64_t>(outputs)};
    return {static_cast<std::uint64_t>(outputs), static_cast<std::uint64_t>(inputs)};
}

std::vector<TensorSpec> layerTensors(const ModelConfig& config, int layer) {
    return LayerList(config, layer, config.experts.count).take();
}

TensorSpec embeddingTensor(const ModelConfig& config) {
    return {TensorRole::Embedding, "model.embed_tokens", config.vocabSize, config.hiddenSize};
}

DraftInputTensors draftInputTensors(const ModelConfig& config) {
    const int width = config.hiddenSize;
    return {{TensorRole::Embedding, "draft.stream_norm", width},
            {TensorRole::Embedding, "draft.token_norm", width},
            {TensorRole::Embedding, "draft.input", width, 2 * width}};
}

TensorSpec finalNormTensor(const ModelConfig& config) {
    return {TensorRole::FinalNorm, "model.norm", config.hiddenSize};
}

TensorSpec headTensor(const ModelConfig& config) {
    return {TensorRole::Head, "lm_head", config.headSize(), config.hiddenSize};
}

void forEachTensor(const ModelConfig& config, const std::function<void(const TensorSpec&)>& visit) {
    visit(embeddingTensor(config));
    for (int stored = 0; stored < config.storedLayerCount(); ++stored)
        for (const TensorSpec& tensor : layerTensors(config, config.firstLayerWith(stored)))
            visit(tensor);
    visit(finalNormTensor(config));
    if (!config.tiedHead)
        visit(headTensor(config));
}

bool computesWith(const ModelConfig& config, std::string_view tensor) {
    if (isNamed(embeddingTensor(config), tensor) || isNamed(finalNormTensor(config), tensor))
        return true;
    if (!config.tiedHead && isNamed(headTensor(config), tensor))
        return true;
    if (!tensor.starts_with(kLayers))
        return false;
    const int stored = splitNumber(tensor.substr(kLayers.size()), config.storedLayerCount()).number;
    if (stored < 0)
        return false;
    // Of many experts the first stands for all, so that a file of many tensors is not slow.
    std::string name(tensor);
    constexpr std::string_view kExperts = ".mlp.experts.";
    if (const std::size_t at = tensor.find(kExperts); at != std::string_view::npos) {
        const std::size_t numberAt = at + kExperts.size();
        const auto [expert, rest] = splitNumber(tensor.substr(numberAt), config.experts.count);
        if (expert < 0)
            return false;
        name = fmt::format("{}0.{}", tensor.substr(0, numberAt), rest);
    }
    const std::vector<TensorSpec> tensors =
        LayerList(config, config.firstLayerWith(stored), 1).take();
    return std::any_of(tensors.begin(), tensors.end(), [&](const TensorSpec& known) {
        return isNamed(known, name);
    });
}

NumberedName splitNumber(std::string_view name, int end) {
    const std::size_t point = name.find('.');
    if (point == std::string_view::npos || point == 0 || (name[0] == '0' && point > 1))
        return {};
    int number = -1;
    const auto [stop, failure] = std::from_chars(name.data(), name.data() + point, number);
    if (failure != std::errc() || stop != name.data() + point || number < 0 || number >= end)
        return {};
    return {number, name.substr(point + 1)};
}

} // namespace engine
