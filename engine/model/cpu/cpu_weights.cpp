// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/cpu_weights.h"

#include "engine/base/system_memory.h"
#include "engine/kernels/processor.h"
#include "engine/loading/readable_text.h"
#include "engine/model/cpu/packed_cache.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <new>

namespace engine::cpu {

namespace {

constexpr std::string_view kWhat = "the packed weights";

/// First finds and measures all matrices, then packs them.
class Packer {
public:
    Packer(const ModelConfig& config, const WeightSource& source, const TransformerOptions& options)
        : m_config(config)
        , m_source(source)
        , m_options(options)
        , m_form(chosenForm(source, options.weights)) {}

    Result<void> plan(Weights& weights) {
        const int vocab = m_config.vocabSize;
        const int hidden = m_config.hiddenSize;
        weights.layers.resize(static_cast<std::size_t>(m_config.layerCount));
        for (int layer = 0; layer < m_config.layerCount; ++layer)
            ENGINE_TRY_DO(planLayer(layer, weights.layers[static_cast<std::size_t>(layer)]));
        ENGINE_TRY_DO(vector("model.norm.weight", hidden, weights.finalNorm));
        if (!m_config.tiedHead)
            ENGINE_TRY_DO(linear({"lm_head", vocab, hidden, false}, weights.head));
        ENGINE_TRY_DO(linear({"model.embed_tokens", vocab, hidden, false}, weights.embedding));
        return {};
    }

    Result<Weights> packAll() {
        Weights weights;
        ENGINE_TRY_DO(plan(weights));
        ENGINE_TRY_DO(checkMemory(chosenKvType(weights, m_options.kvType)));
        ENGINE_TRY_DO(fill(weights));
        for (const PackingJob& job : m_jobs)
            job.matrix->data = weights.memory.data() + job.offset;
        return weights;
    }

private:
    struct LinearShape {
        std::string name;
        int outputs;
        int inputs;
        bool hasBias;
    };

    /// Before anything is packed: a model that does not fit is refused at once.
    Result<void> checkMemory(KvType kvType) const {
        const double slot = 2.0 * m_config.layerCount * m_config.kvHeadCount * m_config.headDim *
                            static_cast<double>(kvTypeBytes(kvType));
        return checkMemoryFor(
            static_cast<double>(m_bytes) + slot * m_options.cacheSlots,
            m_options.cacheSlots > 0
                ? fmt::format("{} and a context of {} tokens", kWhat, m_options.cacheSlots)
                : std::string(kWhat));
    }

    Result<void> planLayer(int index, LayerWeights& layer) {
        const std::string prefix = fmt::format("model.layers.{}.", index);
        const std::string attention = prefix + "self_attn.";
        const std::string mlp = prefix + "mlp.";
        const int hidden = m_config.hiddenSize;
        const int inner = m_config.mlpSize;
        const int queryWidth = m_config.headCount * m_config.headDim;
        const int keyWidth = m_config.kvHeadCount * m_config.headDim;
        const bool qkvBias = m_config.qkvBias;
        const bool mlpBias = m_config.mlpBias;
        ENGINE_TRY_DO(vector(prefix + "input_layernorm.weight", hidden, layer.attentionNorm));
        ENGINE_TRY_DO(linear({attention + "q_proj", queryWidth, hidden, qkvBias}, layer.query));
        ENGINE_TRY_DO(linear({attention + "k_proj", keyWidth, hidden, qkvBias}, layer.key));
        ENGINE_TRY_DO(linear({attention + "v_proj", keyWidth, hidden, qkvBias}, layer.value));
        ENGINE_TRY_DO(
            linear({attention + "o_proj", hidden, queryWidth, m_config.outputBias}, layer.output));
        ENGINE_TRY_DO(vector(prefix + "post_attention_layernorm.weight", hidden, layer.mlpNorm));
        ENGINE_TRY_DO(linear({mlp + "gate_proj", inner, hidden, mlpBias}, layer.gate));
        ENGINE_TRY_DO(linear({mlp + "up_proj", inner, hidden, mlpBias}, layer.up));
        ENGINE_TRY_DO(linear({mlp + "down_proj", hidden, inner, mlpBias}, layer.down));
        return {};
    }

    Result<void> linear(const LinearShape& shape, Linear& into) {
        into.name = shape.name + ".weight";
        const std::vector<std::uint64_t> wanted = {static_cast<std::uint64_t>(shape.outputs),
                                                   static_cast<std::uint64_t>(shape.inputs)};
        const TensorInfo* tensor = m_source.find(into.name);
        if (tensor == nullptr)
            return Error{
                ErrorCode::NotFound,
                fmt::format("the model has no tensor {}", into.name),
                "Its files are incomplete, or its configuration belongs to another model."};
        if (tensor->shape != wanted)
            return Error{
                ErrorCode::CorruptFile,
                fmt::format("tensor {} has shape [{}], but the configuration asks for [{}]",
                            readable(tensor->name),
                            fmt::join(tensor->shape, ", "),
                            fmt::join(wanted, ", ")),
                "The weights and the configuration belong to different models."};
        if (tensor->type == TensorType::Other)
            return Error{ErrorCode::Unsupported,
                         fmt::format("tensor {} is stored as {}, which cannot be computed with",
                                     readable(tensor->name),
                                     tensor->typeName()),
                         "Convert the model to float16, bfloat16 or a quantised GGUF."};
        const TileFormat format = tileFormat(tensor->type, m_form);
        into.matrix = outlineMatrix(format, shape.outputs, shape.inputs);
        m_jobs.push_back({tensor, format, &into.matrix, m_bytes});
        m_fileBytes += tensor->byteSize;
        m_bytes += matrixBytes(into.matrix);
        if (shape.hasBias)
            ENGINE_TRY_DO(vector(shape.name + ".bias", shape.outputs, into.bias));
        return {};
    }

    Result<void> vector(const std::string& name, int size, std::vector<float>& into) {
        const std::uint64_t shape[] = {static_cast<std::uint64_t>(size)};
        ENGINE_TRY(into, readTensor(m_source, name, shape));
        return {};
    }

    /// From the packed cache, or by packing.
    Result<void> fill(Weights& weights) {
        WorkerPool pool(threadCount(m_options.threads));
        const PackingWatch watch{m_options.stop, m_options.progress};
        const PackedCache cache(m_options.packedCache, m_config, m_source, m_jobs);
        ENGINE_TRY(weights.memory, HugeMemory::make(m_bytes, kWhat));
        const std::span memory(weights.memory.data(), m_bytes);
        if (cache.load(memory, watch, pool))
            return {};
        if (cache.isOn()) { // what could be read of a damaged file is in there
            weights.memory = HugeMemory();
            ENGINE_TRY(weights.memory, HugeMemory::make(m_bytes, kWhat));
        }
        const std::span zeros(weights.memory.data(), m_bytes);
        ENGINE_TRY(const double workMs, packAllMatrices(m_source, m_jobs, zeros, watch, pool));
        weights.keeper = cache.keep(zeros, {workMs, pool.threads(), m_fileBytes, m_bytes});
        return {};
    }

    const ModelConfig& m_config;
    const WeightSource& m_source;
    const TransformerOptions& m_options;
    WeightForm m_form;
    std::vector<PackingJob> m_jobs;
    std::size_t m_bytes = 0;
    std::uint64_t m_fileBytes = 0;
};

template <typename Visit> void visitLinears(const Weights& weights, Visit&& visit) {
    for (const LayerWeights& layer : weights.layers)
        for (const Linear* linear : {&layer.query,
                                     &layer.key,
                                     &layer.value,
                                     &layer.output,
                                     &layer.gate,
                                     &layer.up,
                                     &layer.down})
            visit(*linear);
    visit(weights.embedding);
    visit(weights.head);
}

} // namespace

std::size_t Weights::byteSize() const {
    std::size_t packed = 0;
    std::size_t values = finalNorm.size();
    for (const LayerWeights& layer : layers)
        values += layer.attentionNorm.size() + layer.mlpNorm.size();
    visitLinears(*this, [&](const Linear& linear) {
        packed += matrixBytes(linear.matrix);
        values += linear.bias.size();
    });
    return packed + values * sizeof(float);
}

TileFormat Weights::mainFormat() const {
    TileFormat main;
    std::size_t most = 0;
    std::map<std::string_view, std::size_t> bytes;
    visitLinears(*this, [&](const Linear& linear) {
        const TileMatrix& matrix = linear.matrix;
        const TileFormat format{
            matrix.form, matrix.scaleForm, matrix.groupColumns, matrix.hasMinima, matrix.offset};
        std::size_t& sum = bytes[tileFormatName(format)];
        sum += matrixBytes(matrix);
        if (sum > most) {
            most = sum;
            main = format;
        }
    });
    return main;
}

Result<void> checkPrecision(Precision precision) {
    if (precision == Precision::F32)
        return {};
    return Error{
        ErrorCode::Unsupported,
        fmt::format("The cpu backend adds in float32, not in {}.", precisionName(precision)),
        precision == Precision::F64 ? "Choose the backend plain (--backend plain), which computes "
                                      "in float64, or the precision float32."
                                    : "Choose the backend torch (--backend torch), or hold the "
                                      "weights alone in bfloat16 (--weights bf16)."};
}

int threadCount(int wanted) { return wanted > 0 ? wanted : allowedProcessors(); }

KvType chosenKvType(const Weights& weights, std::optional<KvType> wanted) {
    return wanted.value_or(weights.mainFormat().form == TileForm::F32 ? KvType::F32 : KvType::F16);
}

WeightForm chosenForm(const WeightSource& source, WeightForm wanted) {
    if (wanted != WeightForm::Auto)
        return wanted;
    constexpr double kFitsCaches = 16.0 * 1024 * 1024;
    double bytes = 0.0;
    for (const TensorInfo& tensor : source.tensors())
        bytes += static_cast<double>(tensor.rows()) * static_cast<double>(tensor.columns()) * 4.0;
    return bytes <= kFitsCaches ? WeightForm::F32 : WeightForm::File;
}

Result<Weights>
outlineWeights(const ModelConfig& config, const WeightSource& source, WeightForm form) {
    const TransformerOptions options{.weights = form};
    Weights weights;
    ENGINE_TRY_DO(Packer(config, source, options).plan(weights));
    return weights;
}

Result<Weights> packWeights(const ModelConfig& config,
                            const WeightSource& source,
                            const TransformerOptions& options) {
    try {
        return Packer(config, source, options).packAll();
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     "There is not enough memory for the weights of this model.",
                     "Close other programs or choose a smaller model."};
    }
}

} // namespace engine::cpu
