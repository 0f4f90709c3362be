// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/cuda_weights.h"

#include "engine/base/to_size.h"
#include "plugins/backend_cuda/transformer/weight_packing.h"

#include <algorithm>
#include <numeric>

namespace backend_cuda {

using namespace engine;

namespace {

constexpr std::size_t kAlignment = 256;
constexpr int kWidestHead = 128;

/// A tensor's numbers, or none when only sizes are wanted.
using Numbers = std::vector<float>;

/// Goes through all tensors in the order in which a pass reads them: once to learn how much memory
/// they take, and once more to fill it.
class Builder {
public:
    Builder(const ModelConfig& config, const WeightSource& source, Form form)
        : m_config(config)
        , m_source(source) {
        m_made.form = form;
    }

    Result<DeviceWeights> outline() {
        ENGINE_TRY_DO(buildAll());
        m_made.bytes = m_end;
        return std::move(m_made);
    }

    Result<DeviceWeights> upload(std::size_t bytes,
                                 const std::shared_ptr<Device>& device,
                                 const TransformerOptions& options) {
        m_device = device.get();
        m_options = &options;
        ENGINE_TRY(m_made.memory, DeviceMemory::make(device, bytes));
        m_made.bytes = bytes;
        ENGINE_TRY_DO(buildAll());
        return std::move(m_made);
    }

private:
    Result<void> buildAll() {
        const int layers = m_config.storedLayerCount();
        for (int stored = 0; stored < layers; ++stored) {
            ENGINE_TRY_DO(buildLayer(m_config.firstLayerWith(stored)));
            if (m_options != nullptr && m_options->progress)
                m_options->progress((stored + 1.0) / (layers + 1.0));
        }
        ENGINE_TRY(m_made.finalNorm, norm(finalNormTensor(m_config), 1, m_config.hiddenSize));
        ENGINE_TRY_DO(plain(embeddingTensor(m_config), m_made.embedding));
        if (!m_config.tiedHead)
            ENGINE_TRY_DO(plain(headTensor(m_config), m_made.head));
        if (m_options != nullptr && m_options->progress)
            m_options->progress(1.0);
        return {};
    }

    Result<void> buildLayer(int index) {
        if (m_options != nullptr && m_options->stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
        DeviceLayer& layer = m_made.layers.emplace_back();
        const std::vector<TensorSpec> specs = layerTensors(m_config, index);
        const auto find = [&specs](TensorRole role, int expert = -1) -> const TensorSpec* {
            for (const TensorSpec& spec : specs)
                if (spec.role == role && spec.expert == expert)
                    return &spec;
            return nullptr;
        };
        const bool isWhole = m_config.headNorm == HeadNorm::FullWidth;
        const auto ownNorm =
            [&](TensorRole role, int heads, int width, const float*& to) -> Result<void> {
            if (const TensorSpec* spec = find(role)) {
                ENGINE_TRY(to, norm(*spec, heads, width));
            }
            return {};
        };
        const int hidden = m_config.hiddenSize;
        const int dim = m_config.headDim;
        ENGINE_TRY_DO(ownNorm(TensorRole::AttentionNorm, 1, hidden, layer.attentionNorm));
        ENGINE_TRY_DO(
            ownNorm(TensorRole::QueryNorm, isWhole ? m_config.headCount : 1, dim, layer.queryNorm));
        ENGINE_TRY_DO(
            ownNorm(TensorRole::KeyNorm, isWhole ? m_config.kvHeadCount : 1, dim, layer.keyNorm));
        ENGINE_TRY_DO(ownNorm(TensorRole::AttentionPostNorm, 1, hidden, layer.attentionPostNorm));
        ENGINE_TRY_DO(ownNorm(TensorRole::MlpNorm, 1, hidden, layer.mlpNorm));
        ENGINE_TRY_DO(ownNorm(TensorRole::MlpPostNorm, 1, hidden, layer.mlpPostNorm));
        ENGINE_TRY_DO(queryKeyValue(*find(TensorRole::Query),
                                    *find(TensorRole::Key),
                                    *find(TensorRole::Value),
                                    layer.queryKeyValue));
        ENGINE_TRY_DO(output(*find(TensorRole::Output), layer.output));
        if (const TensorSpec* router = find(TensorRole::Router))
            ENGINE_TRY_DO(plain(*router, layer.router));
        const bool hasExperts = m_config.hasExperts(index);
        for (int i = 0; i < (hasExperts ? m_config.experts.count : 1); ++i) {
            const int expert = hasExperts ? i : -1;
            ENGINE_TRY_DO(gateUp(*find(TensorRole::Gate, expert),
                                 *find(TensorRole::Up, expert),
                                 layer.gateUp.emplace_back()));
            ENGINE_TRY_DO(plain(*find(TensorRole::Down, expert), layer.down.emplace_back()));
        }
        return {};
    }

    /// Each head filled up to its width.
    Result<void> queryKeyValue(const TensorSpec& query,
                               const TensorSpec& key,
                               const TensorSpec& value,
                               DeviceLinear& to) {
        const int width = headWidthOf(m_config);
        const int dim = m_config.headDim;
        ENGINE_TRY(const Numbers queries, weight(query));
        ENGINE_TRY(const Numbers keys, weight(key));
        ENGINE_TRY(const Numbers values, weight(value));
        ENGINE_TRY(const Numbers queryBias, bias(query));
        ENGINE_TRY(const Numbers keyBias, bias(key));
        ENGINE_TRY(const Numbers valueBias, bias(value));
        const int heads = m_config.headCount;
        const int kvHeads = m_config.kvHeadCount;
        // Which tensor an output belongs to, and which of its rows it is; -1: filling.
        const auto rowOf = [&](int out) -> std::pair<int, int> {
            const int head = out / width;
            if (out % width >= dim || head >= heads + 2 * kvHeads)
                return {0, -1};
            if (head < heads)
                return {0, head * dim + out % width};
            return {head < heads + kvHeads ? 1 : 2, (head - heads) % kvHeads * dim + out % width};
        };
        const Numbers* weights[] = {&queries, &keys, &values};
        const Numbers* biases[] = {&queryBias, &keyBias, &valueBias};
        const DeviceMatrix shape =
            outlineMatrix((heads + 2 * kvHeads) * width, query.inputs, m_made.form);
        ENGINE_TRY(to.matrix, matrix(shape, query.name, {}, [&](int out) -> const float* {
                       const auto [tensor, row] = rowOf(out);
                       return row < 0
                                  ? nullptr
                                  : weights[tensor]->data() + toSize(row) * toSize(query.inputs);
                   }));
        if (query.hasBias || key.hasBias || value.hasBias) {
            ENGINE_TRY(to.bias, numbers(toSize(shape.strips) * kStrip, [&](std::size_t out) {
                           const auto [tensor, row] = rowOf(static_cast<int>(out));
                           return row < 0 || biases[tensor]->empty()
                                      ? 0.0F
                                      : (*biases[tensor])[toSize(row)];
                       }));
        }
        return {};
    }

    /// Reads heads that are filled up.
    Result<void> output(const TensorSpec& spec, DeviceLinear& to) {
        const int width = headWidthOf(m_config);
        std::vector<int> columnOf(toSize(m_config.headCount * width), -1);
        for (int head = 0; head < m_config.headCount; ++head)
            for (int d = 0; d < m_config.headDim; ++d)
                columnOf[toSize(head * width + d)] = head * m_config.headDim + d;
        return single(spec, static_cast<int>(columnOf.size()), columnOf, to);
    }

    Result<void> plain(const TensorSpec& spec, DeviceLinear& to) {
        return single(spec, spec.inputs, {}, to);
    }

    Result<void> single(const TensorSpec& spec,
                        int columns,
                        const std::vector<int>& columnOf,
                        DeviceLinear& to) {
        ENGINE_TRY(const Numbers weights, weight(spec));
        ENGINE_TRY(const Numbers biases, bias(spec));
        ENGINE_TRY(
            to.matrix,
            matrix(outlineMatrix(spec.outputs, columns, m_made.form),
                   spec.name,
                   columnOf,
                   [&](int out) { return weights.data() + toSize(out) * toSize(spec.inputs); }));
        if (spec.hasBias) {
            ENGINE_TRY(to.bias, numbers(toSize(to.matrix.strips) * kStrip, [&](std::size_t out) {
                           return out < biases.size() ? biases[out] : 0.0F;
                       }));
        }
        return {};
    }

    Result<void> gateUp(const TensorSpec& gate, const TensorSpec& up, DeviceLinear& to) {
        ENGINE_TRY(const Numbers gates, weight(gate));
        ENGINE_TRY(const Numbers ups, weight(up));
        ENGINE_TRY(const Numbers gateBias, bias(gate));
        ENGINE_TRY(const Numbers upBias, bias(up));
        const auto rowOf = [&](int out) {
            const int row = out / 32 * 16 + out % 16;
            return row < gate.outputs ? row : -1;
        };
        const DeviceMatrix shape =
            outlineMatrix((gate.outputs + 15) / 16 * 32, gate.inputs, m_made.form);
        ENGINE_TRY(to.matrix, matrix(shape, gate.name, {}, [&](int out) -> const float* {
                       const int row = rowOf(out);
                       const Numbers& from = out % 32 < 16 ? gates : ups;
                       return row < 0 ? nullptr : from.data() + toSize(row) * toSize(gate.inputs);
                   }));
        if (gate.hasBias || up.hasBias) {
            ENGINE_TRY(to.bias, numbers(toSize(shape.strips) * kStrip, [&](std::size_t out) {
                           const int row = rowOf(static_cast<int>(out));
                           const Numbers& from = out % 32 < 16 ? gateBias : upBias;
                           return row < 0 || from.empty() ? 0.0F : from[toSize(row)];
                       }));
        }
        return {};
    }

    /// Of `heads` times `width` numbers, each head filled up; of a whole row up to whole strips.
    Result<const float*> norm(const TensorSpec& spec, int heads, int width) {
        ENGINE_TRY(const Numbers stored, weight(spec));
        const int filled =
            width == m_config.headDim && spec.outputs == heads * width &&
                    (spec.role == TensorRole::QueryNorm || spec.role == TensorRole::KeyNorm)
                ? headWidthOf(m_config)
                : (width + kStrip - 1) / kStrip * kStrip;
        return numbers(toSize(heads) * toSize(filled), [&](std::size_t at) {
            const std::size_t head = at / toSize(filled);
            const std::size_t place = at % toSize(filled);
            return place < toSize(width) ? stored[head * toSize(width) + place] : 0.0F;
        });
    }

    Result<Numbers> weight(const TensorSpec& spec) { return read(spec.weightName(), spec.shape()); }

    Result<Numbers> bias(const TensorSpec& spec) {
        if (!spec.hasBias)
            return Numbers();
        return read(spec.biasName(), {static_cast<std::uint64_t>(spec.outputs)});
    }

    Result<Numbers> read(const std::string& name, const std::vector<std::uint64_t>& shape) {
        if (m_device != nullptr)
            return readTensor(m_source, name, shape);
        ENGINE_TRY_DO(findTensor(m_source, name, shape));
        return Numbers();
    }

    /// A place for so many bytes, and whether it is to be filled.
    std::byte* take(std::size_t bytes) {
        const std::size_t at = m_end;
        m_end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
        return m_device == nullptr ? nullptr : m_made.memory.data() + at;
    }

    Result<DeviceMatrix> matrix(DeviceMatrix shape,
                                const std::string& name,
                                const std::vector<int>& columnOf,
                                const OutputNumbers& numbersOf) {
        std::byte* to = take(matrixBytes(shape));
        if (to == nullptr)
            return shape;
        const std::vector<std::byte> packed = packMatrix(shape, numbersOf, columnOf);
        if (packed.empty())
            return Error{ErrorCode::Numeric,
                         fmt::format("Numbers of tensor {}.weight, or of one that is computed "
                                     "with it, do not fit into {}.",
                                     name,
                                     formName(shape.form)),
                         "Load the model with --weights f32."};
        ENGINE_TRY_DO(m_device->upload(to, packed));
        shape.weights = to;
        return shape;
    }

    template <typename NumberAt> Result<const float*> numbers(std::size_t count, NumberAt&& at) {
        std::byte* to = take(count * sizeof(float));
        if (to == nullptr)
            return static_cast<const float*>(nullptr);
        Numbers all(count);
        for (std::size_t i = 0; i < count; ++i)
            all[i] = at(i);
        ENGINE_TRY_DO(m_device->upload(to, std::as_bytes(std::span(all))));
        return reinterpret_cast<const float*>(to);
    }

    const ModelConfig& m_config;
    const WeightSource& m_source;
    DeviceWeights m_made;
    Device* m_device = nullptr; // null: only sizes
    const TransformerOptions* m_options = nullptr;
    std::size_t m_end = 0;
};

} // namespace

int headWidthOf(const ModelConfig& config) { return config.headDim <= 64 ? 64 : kWidestHead; }

Form chosenForm(const ModelConfig& config, const WeightSource& source, std::optional<Form> wanted) {
    if (wanted)
        return *wanted;
    std::optional<TensorType> type;
    bool isMixed = false;
    forEachTensor(config, [&](const TensorSpec& spec) {
        const TensorInfo* tensor = spec.isNorm() ? nullptr : source.find(spec.weightName());
        if (tensor == nullptr)
            return;
        isMixed = isMixed || (type && *type != tensor->type);
        type = tensor->type;
    });
    if (!isMixed && type == TensorType::BF16)
        return Form::Bf16;
    return !isMixed && type == TensorType::F16 ? Form::F16 : Form::F32;
}

std::string_view formName(Form form) {
    switch (form) {
    case Form::F32:
        return "float32";
    case Form::Bf16:
        return "bfloat16";
    case Form::F16:
        return "float16";
    }
    return "unknown";
}

Result<void> checkNetwork(const ModelConfig& config) {
    if (config.headDim > kWidestHead)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The cuda backend takes heads of up to {} numbers, and this model "
                                 "has {}.",
                                 kWidestHead,
                                 config.headDim),
                     "Use --backend cpu."};
    if (config.experts.count > kMostExperts)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The cuda backend takes up to {} experts a layer, and this model "
                                 "has {}.",
                                 kMostExperts,
                                 config.experts.count),
                     "Use --backend cpu."};
    return {};
}

Result<DeviceWeights>
outlineWeights(const ModelConfig& config, const WeightSource& source, Form form) {
    return Builder(config, source, form).outline();
}

Result<DeviceWeights> uploadWeights(const ModelConfig& config,
                                    const WeightSource& source,
                                    Form form,
                                    const std::shared_ptr<Device>& device,
                                    const TransformerOptions& options) {
    ENGINE_TRY(const DeviceWeights outline, outlineWeights(config, source, form));
    return Builder(config, source, form).upload(outline.bytes, device, options);
}

} // namespace backend_cuda
