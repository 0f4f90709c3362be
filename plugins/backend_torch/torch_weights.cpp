// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_torch/torch_weights.h"

#include "engine/base/to_size.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/model/memory_need.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace backend_torch {

using namespace engine;

namespace {

/// Values read at once: 4 MB of float32.
constexpr std::uint64_t kBlockValues = std::uint64_t{1} << 20U;

/// The largest float32 that does not become infinite in bfloat16 (which rounds to nearest).
const float kLargestForBfloat16 = std::bit_cast<float>(0x7F7F7FFFU);

using Shape = std::vector<std::int64_t>;

/// Reads tensors into their final type and minds checks, progress and the stop token.
class Reader {
public:
    Reader(const ModelConfig& config, const WeightSource& source, const TransformerOptions& options)
        : m_config(config)
        , m_source(source)
        , m_options(options)
        , m_stored(storedType(options.precision))
        , m_math(mathType(options.precision)) {
        for (const TensorInfo& tensor : source.tensors())
            m_totalValues +=
                static_cast<double>(tensor.rows()) * static_cast<double>(tensor.columns());
    }

    Result<Weights> readAll() {
        ENGINE_TRY_DO(checkMemory());
        ENGINE_TRY(m_weights.embedding, readTable(embeddingTensor(m_config)));
        for (int stored = 0; stored < m_config.storedLayerCount(); ++stored)
            ENGINE_TRY_DO(readLayer(m_config.firstLayerWith(stored)));
        ENGINE_TRY(m_weights.finalNorm, readNorm(finalNormTensor(m_config)));
        m_weights.head = m_weights.embedding;
        if (!m_config.tiedHead) {
            ENGINE_TRY(m_weights.head, readTable(headTensor(m_config)));
        }
        if (m_options.progress)
            m_options.progress(1.0);
        return std::move(m_weights);
    }

private:
    /// A model that does not fit would be killed by the system half-way, without a word.
    Result<void> checkMemory() const {
        const int slots = m_options.cacheSlots;
        MemoryNeed need = memoryNeed(m_config, m_options.precision, slots);
        need.weightBytes = static_cast<std::uint64_t>(
            m_totalValues * static_cast<double>(c10::elementSize(m_stored)));
        return checkLoad(need, slots, "the weights in the torch backend");
    }

    Result<void> readLayer(int index) {
        LayerWeights& layer = m_weights.layers.emplace_back();
        layer.mlps.resize(m_config.hasExperts(index) ? toSize(m_config.experts.count) : 1);
        const std::vector<TensorSpec> tensors = layerTensors(m_config, index);
        for (std::size_t i = 0; i < tensors.size();) {
            if (tensors[i].isNorm()) {
                ENGINE_TRY(layer.norm(tensors[i].role), readNorm(tensors[i]));
                ++i;
                continue;
            }
            const std::size_t count = stackedFrom(tensors[i].role);
            ENGINE_TRY(linearOf(layer, tensors[i]),
                       readLinear(std::span(tensors).subspan(i, count)));
            i += count;
        }
        return {};
    }

    /// Tensors that become one linear layer: neighbours in the description, with the same input.
    static std::size_t stackedFrom(TensorRole role) {
        if (role == TensorRole::Query)
            return 3;
        return role == TensorRole::Gate ? 2 : 1;
    }

    static Linear& linearOf(LayerWeights& layer, const TensorSpec& spec) {
        GatedMlp& mlp = layer.mlps[toSize(std::max(spec.expert, 0))];
        switch (spec.role) {
        case TensorRole::Query:
            return layer.queryKeyValue;
        case TensorRole::Output:
            return layer.output;
        case TensorRole::Router:
            return layer.router;
        case TensorRole::Gate:
            return mlp.gateUp;
        default:
            ENGINE_CHECK(spec.role == TensorRole::Down, "no linear layer of a layer");
            return mlp.down;
        }
    }

    Result<at::Tensor> readTable(const TensorSpec& spec) {
        ENGINE_TRY(Linear table, readLinear({&spec, 1}));
        return std::move(table.weight);
    }

    Result<at::Tensor> readNorm(const TensorSpec& spec) {
        at::Tensor weight = makeTensor({spec.outputs}, m_math);
        ENGINE_TRY_DO(readInto(spec.weightName(), weight));
        return weight;
    }

    /// Parts with the same input, stacked into one linear layer.
    Result<Linear> readLinear(std::span<const TensorSpec> parts) {
        const std::int64_t inputs = parts.front().inputs;
        const bool hasBias = parts.front().hasBias;
        std::int64_t outputs = 0;
        for (const TensorSpec& part : parts)
            outputs += part.outputs;
        Linear linear;
        linear.weight = makeTensor({outputs, paddedColumns(inputs)}, m_stored);
        const at::Tensor columns = linear.weight.narrow(1, 0, inputs);
        if (paddedColumns(inputs) != inputs)
            linear.weight.zero_();
        if (hasBias)
            linear.bias = makeTensor({outputs}, m_stored);
        std::int64_t at = 0;
        for (const TensorSpec& part : parts) {
            ENGINE_TRY_DO(readInto(part.weightName(), columns.narrow(0, at, part.outputs)));
            if (hasBias)
                ENGINE_TRY_DO(readInto(part.biasName(), linear.bias.narrow(0, at, part.outputs)));
            at += part.outputs;
        }
        return linear;
    }

    at::Tensor makeTensor(const Shape& shape, at::ScalarType type) {
        at::Tensor tensor = at::empty(shape, at::TensorOptions().dtype(type));
        m_weights.byteSize += tensor.nbytes();
        return tensor;
    }

    /// Fills a tensor from the file's tensor of that name, which must have its shape.
    Result<void> readInto(const std::string& name, const at::Tensor& into) {
        const std::vector<std::uint64_t> shape(into.sizes().begin(), into.sizes().end());
        ENGINE_TRY(const TensorInfo* tensor, findTensor(m_source, name, shape));
        const std::uint64_t columns = tensor->columns();
        // A vector is one row to the file, however long; here its values are rows of one column.
        const bool isVector = into.dim() == 1;
        const std::uint64_t rows = tensor->rows();
        const std::uint64_t step = std::max<std::uint64_t>(1, kBlockValues / columns);
        const at::Tensor flat = isVector ? into.unsqueeze(0) : into;
        for (std::uint64_t row = 0; row < rows; row += step) {
            const std::uint64_t count = std::min(step, rows - row);
            ENGINE_TRY_DO(readBlock(
                *tensor,
                row,
                flat.narrow(0, static_cast<std::int64_t>(row), static_cast<std::int64_t>(count))));
        }
        return {};
    }

    /// Reads the rows from `firstRow` on that `into` [rows, columns] has place for.
    Result<void>
    readBlock(const TensorInfo& tensor, std::uint64_t firstRow, const at::Tensor& into) {
        if (m_options.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
        const auto rows = static_cast<std::uint64_t>(into.size(0));
        const auto count = static_cast<std::size_t>(into.numel());
        const bool isDirect = into.scalar_type() == at::kFloat && into.is_contiguous();
        if (!isDirect)
            m_scratch.resize(std::max(m_scratch.size(), count));
        const std::span<float> values(isDirect ? into.mutable_data_ptr<float>() : m_scratch.data(),
                                      count);
        ENGINE_TRY_DO(m_source.readRows(tensor, firstRow, rows, values));
        ENGINE_TRY_DO(checkFinite(tensor, firstRow, values));
        if (!isDirect)
            into.copy_(at::from_blob(values.data(), into.sizes(), at::kFloat));
        m_readValues += static_cast<double>(count);
        if (m_options.progress)
            m_options.progress(std::min(1.0, m_readValues / m_totalValues));
        return {};
    }

    Result<void>
    checkFinite(const TensorInfo& tensor, std::uint64_t firstRow, std::span<const float> values) {
        const float limit =
            m_stored == at::kBFloat16 ? kLargestForBfloat16 : std::numeric_limits<float>::max();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!(std::abs(values[i]) <= limit)) // also true of NaN
                return Error{
                    ErrorCode::Numeric,
                    fmt::format("Tensor {} holds {} at row {}, column {}, which is not a finite "
                                "number in {}.",
                                tensor.name,
                                values[i],
                                firstRow + i / tensor.columns(),
                                i % tensor.columns(),
                                precisionName(m_options.precision)),
                    "The file is damaged or its training went wrong: fetch the model again."};
        return {};
    }

    const ModelConfig& m_config;
    const WeightSource& m_source;
    const TransformerOptions& m_options;
    at::ScalarType m_stored;
    at::ScalarType m_math;
    Weights m_weights;
    std::vector<float> m_scratch; // one block
    double m_totalValues = 0;
    double m_readValues = 0;
};

} // namespace

at::ScalarType storedType(Precision precision) {
    switch (precision) {
    case Precision::F32:
        return at::kFloat;
    case Precision::F64:
        return at::kDouble;
    case Precision::BF16:
        return at::kBFloat16;
    }
    return at::kFloat;
}

at::ScalarType mathType(Precision precision) {
    return precision == Precision::F64 ? at::kDouble : at::kFloat;
}

Result<Weights> readWeights(const ModelConfig& config,
                            const WeightSource& source,
                            const TransformerOptions& options) {
    return Reader(config, source, options).readAll();
}

} // namespace backend_torch
