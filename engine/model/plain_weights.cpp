// SPDX-License-Identifier: Apache-2.0
#include "engine/model/plain_weights.h"

#include "engine/base/system_memory.h"

#include <new>

namespace engine::plain {

namespace {

/// Reads tensors one after the other, minding progress and the stop token.
template <typename Real> class Reader {
public:
    Reader(const ModelConfig& config, const WeightSource& source, const TransformerOptions& options)
        : m_config(config)
        , m_source(source)
        , m_options(options) {}

    Result<Weights<Real>> readAll() {
        const int vocab = m_config.vocabSize;
        const int hidden = m_config.hiddenSize;
        ENGINE_TRY_DO(checkMemory());
        Weights<Real> weights;
        ENGINE_TRY_DO(linear("model.embed_tokens", vocab, hidden, false, weights.embedding));
        for (int layer = 0; layer < m_config.layerCount; ++layer) {
            if (m_options.stop.stop_requested())
                return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
            ENGINE_TRY_DO(readLayer(layer, weights.layers.emplace_back()));
            if (m_options.progress)
                m_options.progress((layer + 1.0) / (m_config.layerCount + 1.0));
        }
        ENGINE_TRY_DO(vector("model.norm.weight", weights.finalNorm));
        if (!m_config.tiedHead)
            ENGINE_TRY_DO(linear("lm_head", vocab, hidden, false, weights.head));
        if (m_options.progress)
            m_options.progress(1.0);
        return weights;
    }

private:
    Result<void> readLayer(int index, LayerWeights<Real>& layer) {
        const std::string prefix = fmt::format("model.layers.{}.", index);
        const std::string attention = prefix + "self_attn.";
        const int hidden = m_config.hiddenSize;
        const int queryWidth = m_config.headCount * m_config.headDim;
        const int keyWidth = m_config.kvHeadCount * m_config.headDim;
        const bool biased = m_config.qkvBias;
        ENGINE_TRY_DO(vector(prefix + "input_layernorm.weight", layer.attentionNorm));
        ENGINE_TRY_DO(linear(attention + "q_proj", queryWidth, hidden, biased, layer.query));
        ENGINE_TRY_DO(linear(attention + "k_proj", keyWidth, hidden, biased, layer.key));
        ENGINE_TRY_DO(linear(attention + "v_proj", keyWidth, hidden, biased, layer.value));
        ENGINE_TRY_DO(
            linear(attention + "o_proj", hidden, queryWidth, m_config.outputBias, layer.output));
        const std::string mlp = prefix + "mlp.";
        const int inner = m_config.mlpSize;
        ENGINE_TRY_DO(vector(prefix + "post_attention_layernorm.weight", layer.mlpNorm));
        ENGINE_TRY_DO(linear(mlp + "gate_proj", inner, hidden, m_config.mlpBias, layer.gate));
        ENGINE_TRY_DO(linear(mlp + "up_proj", inner, hidden, m_config.mlpBias, layer.up));
        ENGINE_TRY_DO(linear(mlp + "down_proj", hidden, inner, m_config.mlpBias, layer.down));
        return {};
    }

    Result<void>
    linear(const std::string& name, int outputs, int inputs, bool hasBias, Linear<Real>& into) {
        into.name = name + ".weight";
        into.inputs = static_cast<std::size_t>(inputs);
        const std::uint64_t rows = static_cast<std::uint64_t>(outputs);
        ENGINE_TRY_DO(tensor(into.name, {rows, static_cast<std::uint64_t>(inputs)}, into.weight));
        if (hasBias)
            ENGINE_TRY_DO(tensor(name + ".bias", {rows}, into.bias));
        return {};
    }

    Result<void> vector(const std::string& name, std::vector<Real>& into) {
        return tensor(name, {static_cast<std::uint64_t>(m_config.hiddenSize)}, into);
    }

    Result<void> tensor(const std::string& name,
                        const std::vector<std::uint64_t>& shape,
                        std::vector<Real>& into) {
        ENGINE_TRY(std::vector<float> values, readTensor(m_source, name, shape));
        if constexpr (std::is_same_v<Real, float>)
            into = std::move(values);
        else
            into.assign(values.begin(), values.end());
        return {};
    }

    /// A model that does not fit would be killed by the system half-way, without a word.
    Result<void> checkMemory() const {
        double values = 0;
        for (const TensorInfo& tensor : m_source.tensors())
            values += static_cast<double>(tensor.rows()) * static_cast<double>(tensor.columns());
        return checkMemoryFor(values * sizeof(Real), "the weights in the plain backend");
    }

    const ModelConfig& m_config;
    const WeightSource& m_source;
    const TransformerOptions& m_options;
};

template <typename Real> std::size_t linearBytes(const Linear<Real>& linear) {
    return (linear.weight.size() + linear.bias.size()) * sizeof(Real);
}

} // namespace

template <typename Real> std::size_t Weights<Real>::byteSize() const {
    std::size_t bytes =
        linearBytes(embedding) + linearBytes(head) + finalNorm.size() * sizeof(Real);
    for (const LayerWeights<Real>& layer : layers) {
        bytes += (layer.attentionNorm.size() + layer.mlpNorm.size()) * sizeof(Real);
        for (const Linear<Real>* linear : {&layer.query,
                                           &layer.key,
                                           &layer.value,
                                           &layer.output,
                                           &layer.gate,
                                           &layer.up,
                                           &layer.down})
            bytes += linearBytes(*linear);
    }
    return bytes;
}

template <typename Real>
Result<Weights<Real>> readWeights(const ModelConfig& config,
                                  const WeightSource& source,
                                  const TransformerOptions& options) {
    try {
        return Reader<Real>(config, source, options).readAll();
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     "There is not enough memory for the weights of this model.",
                     "Close other programs or choose a smaller model."};
    }
}

template std::size_t Weights<float>::byteSize() const;
template std::size_t Weights<double>::byteSize() const;
template Result<Weights<float>>
readWeights(const ModelConfig&, const WeightSource&, const TransformerOptions&);
template Result<Weights<double>>
readWeights(const ModelConfig&, const WeightSource&, const TransformerOptions&);

} // namespace engine::plain
