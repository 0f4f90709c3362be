// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/cuda_weights.h"

#include "engine/base/to_size.h"
#include "engine/kernels/aligned_buffer.h"
#include "engine/kernels/processor_share.h"
#include "plugins/backend_cuda/transformer/weight_packing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace backend_cuda {

using namespace engine;

namespace {

constexpr std::size_t kAlignment = 256;

/// A tensor's numbers, or none when only sizes are wanted.
using Numbers = std::vector<float>;

/// Goes through all tensors in the order in which a pass reads them: once to learn how much memory
/// they take, and once more to fill it.
class Builder {
public:
    Builder(const ModelConfig& config,
            const WeightSource& source,
            std::optional<Form> wanted,
            LayerSpan span)
        : m_config(config)
        , m_source(source)
        , m_wanted(wanted) {
        m_made.span = span;
        m_made.hasHead = span.end == config.layerCount;
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
        m_pool.emplace(usefulThreads(options.threads));
        ENGINE_TRY(m_made.memory, DeviceMemory::make(device, bytes));
        m_made.bytes = bytes;
        ENGINE_TRY_DO(buildAll());
        return std::move(m_made);
    }

private:
    Result<void> buildAll() {
        const int layers = m_config.storedLayerCount();
        for (int stored = 0; stored < layers; ++stored) {
            DeviceLayer& layer = m_made.layers.emplace_back();
            if (isInSpan(stored))
                ENGINE_TRY_DO(buildLayer(m_config.firstLayerWith(stored), layer));
            if (m_options != nullptr && m_options->progress)
                m_options->progress((stored + 1.0) / (layers + 1.0));
        }
        if (m_made.hasHead) {
            ENGINE_TRY(m_made.finalNorm, norm(finalNormTensor(m_config), 1, m_config.hiddenSize));
        }
        if (m_made.span.first == 0 || (m_made.hasHead && m_config.tiedHead))
            ENGINE_TRY_DO(single(embeddingTensor(m_config), m_made.embedding));
        if (m_made.hasHead && !m_config.tiedHead)
            ENGINE_TRY_DO(single(headTensor(m_config), m_made.head));
        if (m_options != nullptr && m_options->progress)
            m_options->progress(1.0);
        return {};
    }

    bool isInSpan(int stored) const {
        for (int layer = m_made.span.first; layer < m_made.span.end; ++layer)
            if (m_config.storedLayer(layer) == stored)
                return true;
        return false;
    }

    Result<void> buildLayer(int index, DeviceLayer& layer) {
        if (m_options != nullptr && m_options->stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
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
        const TensorSpec* const projections[] = {
            find(TensorRole::Query), find(TensorRole::Key), find(TensorRole::Value)};
        ENGINE_TRY_DO(queryKeyValue(projections, layer.queryKeyValue));
        ENGINE_TRY_DO(single(*find(TensorRole::Output), layer.output));
        if (const TensorSpec* router = find(TensorRole::Router))
            ENGINE_TRY_DO(single(*router, layer.router));
        const bool hasExperts = m_config.hasExperts(index);
        for (int i = 0; i < (hasExperts ? m_config.experts.count : 1); ++i) {
            const int expert = hasExperts ? i : -1;
            ENGINE_TRY_DO(gateUp(*find(TensorRole::Gate, expert),
                                 *find(TensorRole::Up, expert),
                                 layer.gateUp.emplace_back()));
            ENGINE_TRY_DO(single(*find(TensorRole::Down, expert), layer.down.emplace_back()));
        }
        return {};
    }

    /// Each head filled up to its width. Neighbours of one form are one matrix.
    Result<void> queryKeyValue(std::span<const TensorSpec* const> specs,
                               std::vector<DeviceLinear>& to) {
        const int width = headWidthOf(m_config);
        const int dim = m_config.headDim;
        int firstOutput = 0;
        for (std::size_t first = 0, end = 0; first < specs.size(); first = end) {
            ENGINE_TRY(const TileFormat format, formatOfTensor(*specs[first]));
            int outputs = 0;
            for (end = first; end < specs.size(); ++end) {
                ENGINE_TRY(const TileFormat next, formatOfTensor(*specs[end]));
                if (next != format)
                    break;
                outputs += specs[end]->outputs / dim * width;
            }
            const auto tensors = specs.subspan(first, end - first);
            const auto rowOf = [&](int out) -> TensorRow {
                std::size_t tensor = 0;
                int head = out / width;
                for (; head >= tensors[tensor]->outputs / dim; ++tensor)
                    head -= tensors[tensor]->outputs / dim;
                return {tensor, out % width < dim ? head * dim + out % width : -1};
            };
            DeviceLinear& made = to.emplace_back();
            ENGINE_TRY_DO(linear(tensors, format, outputs, rowOf, made));
            made.firstOutput = firstOutput;
            firstOutput += outputs;
        }
        return {};
    }

    Result<void> single(const TensorSpec& spec, DeviceLinear& to) {
        ENGINE_TRY(const TileFormat format, formatOfTensor(spec));
        const TensorSpec* const tensors[] = {&spec};
        return linear(
            tensors,
            format,
            spec.outputs,
            [](int out) {
                return TensorRow{0, out};
            },
            to);
    }

    /// By turns 16 outputs of each. Two that have not the same form are held in float32.
    Result<void> gateUp(const TensorSpec& gate, const TensorSpec& up, DeviceLinear& to) {
        ENGINE_TRY(TileFormat format, formatOfTensor(gate));
        ENGINE_TRY(const TileFormat other, formatOfTensor(up));
        if (format != other)
            format = {.form = TileForm::F32};
        const auto rowOf = [&](int out) -> TensorRow {
            const int row = out / 32 * 16 + out % 16;
            return {out % 32 < 16 ? 0U : 1U, row < gate.outputs ? row : -1};
        };
        const TensorSpec* const tensors[] = {&gate, &up};
        return linear(tensors, format, (gate.outputs + 15) / 16 * 32, rowOf, to);
    }

    /// Which row of which tensor an output is; row -1: filling.
    struct TensorRow {
        std::size_t tensor;
        int row;
    };

    /// Tensors that are computed together, packed in one format.
    template <typename RowOf>
    Result<void> linear(std::span<const TensorSpec* const> specs,
                        const TileFormat& format,
                        int outputs,
                        const RowOf& rowOf,
                        DeviceLinear& to) {
        std::vector<HostTiles> tiles;
        std::vector<Numbers> biases;
        bool hasBias = false;
        for (const TensorSpec* spec : specs) {
            ENGINE_TRY(HostTiles packed, pack(*spec, format));
            tiles.push_back(std::move(packed));
            ENGINE_TRY(Numbers read, bias(*spec));
            biases.push_back(std::move(read));
            hasBias = hasBias || spec->hasBias;
        }
        const std::string name = specs.front()->weightName();
        ENGINE_TRY(
            to.matrix,
            matrix(outlineMatrix(outputs, specs.front()->inputs, format), name, [&](int out) {
                const auto [tensor, row] = rowOf(out);
                return row < 0 ? TileRow() : TileRow{&tiles[tensor].matrix, row};
            }));
        count(format, matrixBytes(to.matrix));
        if (!hasBias)
            return {};
        ENGINE_TRY(to.bias, numbers(toSize(to.matrix.strips) * kStrip, [&](std::size_t out) {
                       if (out >= toSize(outputs))
                           return 0.0F;
                       const auto [tensor, row] = rowOf(static_cast<int>(out));
                       return row < 0 || biases[tensor].empty() ? 0.0F
                                                                : biases[tensor][toSize(row)];
                   }));
        return {};
    }

    void count(const TileFormat& format, std::size_t bytes) {
        std::size_t& sum = m_formBytes[tileFormatName(format)];
        sum += bytes;
        m_made.isWide = m_made.isWide || format.form == TileForm::F32;
        if (sum > m_mostBytes) {
            m_mostBytes = sum;
            m_made.mainFormat = format;
        }
    }

    /// Of `heads` times `width` numbers, each head filled up; of a whole row up to whole strips.
    Result<const float*> norm(const TensorSpec& spec, int heads, int width) {
        ENGINE_TRY(const Numbers stored, read(spec.weightName(), spec.shape()));
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

    Result<TileFormat> formatOfTensor(const TensorSpec& spec) {
        ENGINE_TRY(const TensorInfo* tensor, findTensor(m_source, spec.weightName(), spec.shape()));
        return formatOf(tensor->type, m_wanted);
    }

    /// A matrix as the cpu backend packs it; empty when only sizes are wanted.
    struct HostTiles {
        AlignedBuffer<std::byte> memory;
        TileMatrix matrix;
    };

    Result<HostTiles> pack(const TensorSpec& spec, const TileFormat& format) {
        HostTiles made;
        ENGINE_TRY(const TensorInfo* tensor, findTensor(m_source, spec.weightName(), spec.shape()));
        if (m_device == nullptr)
            return made;
        made.matrix = engine::outlineMatrix(format, spec.outputs, spec.inputs);
        made.memory.reserve(engine::matrixBytes(made.matrix));
        made.matrix.data = made.memory.data();
        ENGINE_TRY_DO(engine::packMatrix(m_source, *tensor, format, made.memory.data()));
        return made;
    }

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

    Result<DeviceMatrix>
    matrix(DeviceMatrix shape, const std::string& name, const std::function<TileRow(int)>& rowOf) {
        std::byte* to = take(matrixBytes(shape));
        if (to == nullptr)
            return shape;
        const std::vector<std::byte> packed = backend_cuda::packMatrix(shape, rowOf, *m_pool);
        if (packed.empty())
            return Error{ErrorCode::Numeric,
                         fmt::format("Numbers of tensor {}, or of one that is computed with it, "
                                     "do not fit into {}.",
                                     name,
                                     shape.form == Form::F16 ? "float16" : "bfloat16"),
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
    std::optional<Form> m_wanted;
    DeviceWeights m_made;
    std::map<std::string_view, std::size_t> m_formBytes; // by its name
    std::size_t m_mostBytes = 0;
    Device* m_device = nullptr; // null: only sizes
    const TransformerOptions* m_options = nullptr;
    std::optional<WorkerPool> m_pool; // as m_options
    std::size_t m_end = 0;
};

} // namespace

int headWidthOf(const ModelConfig& config) {
    return config.headDim <= 64 ? 64 : config.headDim <= 128 ? 128 : kWidestHead;
}

TileFormat formatOf(TensorType type, std::optional<Form> wanted) {
    if (!wanted)
        return tileFormat(type, WeightForm::File);
    switch (*wanted) {
    case Form::F32:
        return tileFormat(type, WeightForm::F32);
    case Form::Bf16:
        return tileFormat(type, WeightForm::Bf16);
    case Form::F16:
        return {.form = TileForm::F16};
    case Form::Int8:
    case Form::Int4: // is never asked for
        break;
    }
    return tileFormat(type, WeightForm::Int8);
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

Result<DeviceWeights> outlineWeights(const ModelConfig& config,
                                     const WeightSource& source,
                                     std::optional<Form> wanted,
                                     LayerSpan span) {
    return Builder(config, source, wanted, span).outline();
}

Result<DeviceWeights> uploadWeights(const ModelConfig& config,
                                    const WeightSource& source,
                                    std::optional<Form> wanted,
                                    LayerSpan span,
                                    const std::shared_ptr<Device>& device,
                                    const TransformerOptions& options) {
    ENGINE_TRY(const DeviceWeights outline, outlineWeights(config, source, wanted, span));
    return Builder(config, source, wanted, span).upload(outline.bytes, device, options);
}

} // namespace backend_cuda
