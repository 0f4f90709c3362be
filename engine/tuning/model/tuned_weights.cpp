// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model/tuned_weights.h"

#include "engine/base/to_size.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/safetensors_writer.h"

#include <algorithm>

namespace engine {

namespace {

/// W + scale * up * down, summed in double: a row of W at a time.
void mergeLora(std::vector<float>& weights,
               const std::vector<float>& down,
               const std::vector<float>& up,
               std::size_t inputs) {
    const std::size_t rank = down.size() / inputs;
    std::vector<double> sums(inputs);
    for (std::size_t row = 0; row < weights.size() / inputs; ++row) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t r = 0; r < rank; ++r) {
            const double factor = kLoraScale * static_cast<double>(up[row * rank + r]);
            const float* from = down.data() + r * inputs;
            for (std::size_t column = 0; column < inputs; ++column)
                sums[column] += factor * static_cast<double>(from[column]);
        }
        float* to = weights.data() + row * inputs;
        for (std::size_t column = 0; column < inputs; ++column)
            to[column] = static_cast<float>(static_cast<double>(to[column]) + sums[column]);
    }
}

/// Hands out the tensors of the tuned model.
class TunedTensors {
public:
    TunedTensors(const WeightSource& weights, const NamedArrays& trained, TokenId maskToken)
        : m_weights(weights)
        , m_trained(trained)
        , m_maskToken(maskToken) {}

    Result<std::vector<float>> read(const TensorSpec& spec) const {
        ENGINE_TRY(std::vector<float> values, readPlain(spec.weightName(), spec.shape()));
        const std::size_t inputs = toSize(spec.inputs);
        if (const auto down = m_trained.find(spec.name + kLoraDown); down != m_trained.end()) {
            const auto up = m_trained.find(spec.name + kLoraUp);
            ENGINE_CHECK(up != m_trained.end() && inputs > 0 && down->second.size() % inputs == 0 &&
                             up->second.size() ==
                                 down->second.size() / inputs * toSize(spec.outputs),
                         "LoRA's parts of {} do not fit it",
                         spec.name);
            mergeLora(values, down->second, up->second, inputs);
        }
        const auto mask = m_trained.find(kMaskEmbedding);
        if (spec.role == TensorRole::Embedding && mask != m_trained.end()) {
            ENGINE_CHECK(m_maskToken >= 0 && m_maskToken < spec.outputs &&
                             mask->second.size() == inputs,
                         "the mask's row does not fit token {}",
                         m_maskToken);
            std::copy(mask->second.begin(),
                      mask->second.end(),
                      values.begin() + static_cast<std::ptrdiff_t>(toSize(m_maskToken) * inputs));
        }
        return values;
    }

    Result<std::vector<float>> readBias(const TensorSpec& spec) const {
        return readPlain(spec.biasName(), {static_cast<std::uint64_t>(spec.outputs)});
    }

private:
    /// As it was trained, or as it was.
    Result<std::vector<float>> readPlain(const std::string& name,
                                         const std::vector<std::uint64_t>& shape) const {
        const auto found = m_trained.find(name);
        return found == m_trained.end() ? readTensor(m_weights, name, shape)
                                        : Result<std::vector<float>>(found->second);
    }

    const WeightSource& m_weights;
    const NamedArrays& m_trained;
    TokenId m_maskToken;
};

} // namespace

TensorType tunedType(const WeightSource& weights) {
    const TensorInfo* const embedding = weights.find("model.embed_tokens.weight");
    if (embedding != nullptr &&
        (embedding->type == TensorType::F32 || embedding->type == TensorType::F16))
        return embedding->type;
    return TensorType::BF16;
}

Result<std::uint64_t> writeTunedWeights(const std::filesystem::path& file,
                                        const ModelConfig& config,
                                        const WeightSource& weights,
                                        const NamedArrays& trained,
                                        TokenId maskToken) {
    const TensorType type = tunedType(weights);
    std::vector<TensorSpec> specs;
    std::vector<PlannedTensor> planned;
    forEachTensor(config, [&](const TensorSpec& spec) {
        specs.push_back(spec);
        planned.push_back({spec.weightName(), type, spec.shape()});
        if (spec.hasBias)
            planned.push_back({spec.biasName(), type, {static_cast<std::uint64_t>(spec.outputs)}});
    });
    const TunedTensors tensors(weights, trained, maskToken);
    ENGINE_TRY(SafetensorsWriter writer, SafetensorsWriter::begin(file, std::move(planned)));
    for (const TensorSpec& spec : specs) {
        ENGINE_TRY(const std::vector<float> values, tensors.read(spec));
        ENGINE_TRY_DO(writer.add(values));
        if (spec.hasBias) {
            ENGINE_TRY(const std::vector<float> bias, tensors.readBias(spec));
            ENGINE_TRY_DO(writer.add(bias));
        }
    }
    return writer.finish();
}

} // namespace engine
