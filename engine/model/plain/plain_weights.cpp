// SPDX-License-Identifier: Apache-2.0
#include "engine/model/plain/plain_weights.h"

#include "engine/base/to_size.h"
#include "engine/model/memory_need.h"

#include <algorithm>
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
        ENGINE_TRY_DO(checkMemory());
        Weights<Real> weights;
        if (m_config.isDraft())
            ENGINE_TRY_DO(readDraftInput(weights));
        else
            ENGINE_TRY_DO(linear(embeddingTensor(m_config), weights.embedding));
        const int layers = m_config.storedLayerCount();
        for (int stored = 0; stored < layers; ++stored) {
            if (m_options.stop.stop_requested())
                return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
            ENGINE_TRY_DO(
                readLayer(m_config.firstLayerWith(stored), weights.layers.emplace_back()));
            if (m_options.progress)
                m_options.progress((stored + 1.0) / (layers + 1.0));
        }
        ENGINE_TRY_DO(norm(finalNormTensor(m_config), weights.finalNorm));
        if (!m_config.tiedHead)
            ENGINE_TRY_DO(linear(headTensor(m_config), weights.head));
        if (m_options.progress)
            m_options.progress(1.0);
        return weights;
    }

private:
    Result<void> readDraftInput(Weights<Real>& weights) {
        const DraftInputTensors tensors = draftInputTensors(m_config);
        ENGINE_TRY_DO(norm(tensors.streamNorm, weights.streamNorm));
        ENGINE_TRY_DO(norm(tensors.tokenNorm, weights.tokenNorm));
        return linear(tensors.input, weights.draftInput);
    }

    Result<void> readLayer(int index, LayerWeights<Real>& layer) {
        layer.mlps.resize(m_config.hasExperts(index) ? toSize(m_config.experts.count) : 1);
        for (const TensorSpec& spec : layerTensors(m_config, index)) {
            if (spec.isNorm())
                ENGINE_TRY_DO(norm(spec, layer.norm(spec.role)));
            else
                ENGINE_TRY_DO(linear(spec, layer.linear(spec.role, spec.expert)));
        }
        return {};
    }

    Result<void> linear(const TensorSpec& spec, Linear<Real>& into) {
        into.name = spec.weightName();
        into.inputs = toSize(spec.inputs);
        ENGINE_TRY_DO(tensor(into.name, spec.shape(), into.weight));
        if (spec.hasBias)
            ENGINE_TRY_DO(
                tensor(spec.biasName(), {static_cast<std::uint64_t>(spec.outputs)}, into.bias));
        return {};
    }

    Result<void> norm(const TensorSpec& spec, std::vector<Real>& into) {
        return tensor(spec.weightName(), spec.shape(), into);
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
        constexpr Precision kPrecision =
            std::is_same_v<Real, double> ? Precision::F64 : Precision::F32;
        const int slots = m_options.cacheSlots;
        MemoryNeed need = memoryNeed(m_config, kPrecision, slots);
        need.weightBytes = static_cast<std::uint64_t>(values * sizeof(Real));
        return checkLoad(need, slots, "the weights in the plain backend");
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
    std::size_t bytes = linearBytes(embedding) + linearBytes(head) + linearBytes(draftInput) +
                        (finalNorm.size() + streamNorm.size() + tokenNorm.size()) * sizeof(Real);
    for (const LayerWeights<Real>& layer : layers) {
        layer.forEachNorm(
            [&](const std::vector<Real>& norm) { bytes += norm.size() * sizeof(Real); });
        layer.forEachLinear([&](const Linear<Real>& linear) { bytes += linearBytes(linear); });
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
