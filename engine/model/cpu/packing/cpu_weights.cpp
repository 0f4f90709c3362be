// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/packing/cpu_weights.h"

#include "engine/kernels/processor_share.h"
#include "engine/loading/files/readable_text.h"
#include "engine/model/cpu/layer_cut.h"
#include "engine/model/cpu/packing/packed_cache.h"
#include "engine/model/memory_need.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>

namespace engine::cpu {

namespace {

constexpr std::string_view kWhat = "the packed weights";

/// First finds and measures all matrices, then packs them.
class Packer {
public:
    Packer(const ModelConfig& config, const WeightSource& source, const Options& options)
        : m_config(config)
        , m_source(source)
        , m_options(options)
        , m_form(chosenForm(source, options.weights)) {}

    Result<Weights> outline() {
        Weights weights;
        ENGINE_TRY_DO(plan(weights));
        if (m_config.isPlanted)
            doubleLayers(weights);
        return weights;
    }

    Result<void> plan(Weights& weights) {
        weights.layers.resize(static_cast<std::size_t>(m_config.storedLayerCount()));
        for (int stored = 0; stored < m_config.storedLayerCount(); ++stored)
            ENGINE_TRY_DO(planLayer(m_config.firstLayerWith(stored),
                                    weights.layers[static_cast<std::size_t>(stored)]));
        ENGINE_TRY_DO(norm(finalNormTensor(m_config), weights.finalNorm));
        if (!m_config.tiedHead)
            ENGINE_TRY_DO(linear(headTensor(m_config), weights.head));
        if (!m_config.isDraft())
            return linear(embeddingTensor(m_config), weights.embedding);
        const DraftInputTensors tensors = draftInputTensors(m_config);
        ENGINE_TRY_DO(norm(tensors.streamNorm, weights.streamNorm));
        ENGINE_TRY_DO(norm(tensors.tokenNorm, weights.tokenNorm));
        return linear(tensors.input, weights.draftInput);
    }

    Result<Weights> packAll() {
        Weights weights;
        ENGINE_TRY_DO(plan(weights));
        const std::size_t copiedBytes = m_config.isPlanted ? layerBytes(weights) : 0;
        ENGINE_TRY_DO(checkMemory(m_bytes + copiedBytes, chosenKvType(weights, m_options.kvType)));
        ENGINE_TRY_DO(fill(weights));
        if (m_config.isPlanted)
            ENGINE_TRY_DO(copyLayers(weights, copiedBytes));
        weights.fileState = m_source.fileState();
        return weights;
    }

private:
    /// Bytes of the matrices of all layers.
    static std::size_t layerBytes(const Weights& weights) {
        std::size_t bytes = 0;
        for (const LayerWeights& layer : weights.layers)
            layer.forEachLinear([&](const Linear& linear) { bytes += matrixBytes(linear.matrix); });
        return bytes;
    }

    /// From the layers of the files to those of a lesson model.
    static void doubleLayers(Weights& weights) {
        std::vector<LayerWeights> twice;
        for (const LayerWeights& layer : weights.layers)
            twice.insert(twice.end(), 2, layer);
        weights.layers = std::move(twice);
    }

    /// Before anything is packed: a model that does not fit is refused at once.
    Result<void> checkMemory(std::size_t heldBytes, KvType kvType) const {
        const int slots = m_options.cacheSlots;
        auto checked = checkLoad(memoryNeed(m_config, heldBytes, kvType, slots), slots, kWhat);
        if (checked)
            return {};
        Error error = std::move(checked).error();
        if (const std::string note = wideningNoteOf(m_source, m_options.weights, heldBytes);
            !note.empty())
            error.message += " " + note;
        return error;
    }

    /// Doubles the layers; the second of each pair gets a copy of the matrices.
    static Result<void> copyLayers(Weights& weights, std::size_t copiedBytes) {
        doubleLayers(weights);
        ENGINE_TRY(weights.copies, HugeMemory::make(copiedBytes, kWhat));
        std::byte* into = weights.copies.data();
        for (std::size_t layer = 1; layer < weights.layers.size(); layer += 2)
            weights.layers[layer].forEachLinear([&](Linear& linear) {
                const std::size_t size = matrixBytes(linear.matrix);
                if (size == 0)
                    return;
                std::memcpy(into, linear.matrix.data, size);
                linear.matrix.data = into;
                into += size;
            });
        return {};
    }

    Result<void> planLayer(int index, LayerWeights& layer) {
        layer.mlps.resize(
            m_config.hasExperts(index) ? static_cast<std::size_t>(m_config.experts.count) : 1);
        for (const TensorSpec& spec : layerTensors(m_config, index)) {
            if (spec.isNorm())
                ENGINE_TRY_DO(norm(spec, layer.norm(spec.role)));
            else
                ENGINE_TRY_DO(linear(spec, layer.linear(spec.role, spec.expert)));
        }
        return {};
    }

    Result<void> linear(const TensorSpec& spec, Linear& into) {
        into.name = spec.weightName();
        ENGINE_TRY(const TensorInfo* tensor, findTensor(m_source, into.name, spec.shape()));
        if (tensor->type == TensorType::Other)
            return Error{ErrorCode::Unsupported,
                         fmt::format("tensor {} is stored as {}, which cannot be computed with",
                                     readable(tensor->name),
                                     tensor->typeName()),
                         "Convert the model to float16, bfloat16 or a quantised GGUF."};
        const TileFormat format = tileFormat(tensor->type, m_form);
        into.matrix = outlineMatrix(format, spec.outputs, spec.inputs);
        m_jobs.push_back({tensor, format, &into.matrix, m_bytes});
        m_fileBytes += tensor->byteSize;
        m_bytes += matrixBytes(into.matrix);
        if (spec.hasBias) {
            const std::uint64_t shape[] = {static_cast<std::uint64_t>(spec.outputs)};
            ENGINE_TRY(into.bias, readTensor(m_source, spec.biasName(), shape));
        }
        return {};
    }

    Result<void> norm(const TensorSpec& spec, std::vector<float>& into) {
        ENGINE_TRY(into, readTensor(m_source, spec.weightName(), spec.shape()));
        return {};
    }

    /// Memory for all matrices, each in its place, which nobody has touched yet.
    Result<void> reserve(Weights& weights, const NodeThreads& threads) const {
        ENGINE_TRY(weights.memory, HugeMemory::make(m_bytes, kWhat));
        for (const PackingJob& job : m_jobs)
            job.matrix->data = weights.memory.data() + job.offset;
        placeWeights(weights, {weights.memory.data(), m_bytes}, threads);
        return {};
    }

    /// From the packed cache, or by packing.
    Result<void> fill(Weights& weights) {
        WorkerPool pool(threadCount(m_options.threads), *m_options.machine);
        const PackingWatch watch{m_options.stop, m_options.progress};
        const PackedCache cache(m_options.packedCache, m_config, m_source, m_jobs);
        ENGINE_TRY_DO(reserve(weights, pool.nodes()));
        const std::span memory(weights.memory.data(), m_bytes);
        if (cache.load(memory, watch, pool))
            return {};
        if (cache.isOn()) { // what could be read of a damaged file is in there
            weights.memory = HugeMemory();
            ENGINE_TRY_DO(reserve(weights, pool.nodes()));
        }
        const std::span zeros(weights.memory.data(), m_bytes);
        ENGINE_TRY(const double workMs, packAllMatrices(m_source, m_jobs, zeros, watch, pool));
        weights.keeper = cache.keep(zeros, {workMs, pool.threads(), m_fileBytes, m_bytes});
        return {};
    }

    const ModelConfig& m_config;
    const WeightSource& m_source;
    const Options& m_options;
    WeightForm m_form;
    std::vector<PackingJob> m_jobs;
    std::size_t m_bytes = 0;
    std::uint64_t m_fileBytes = 0;
};

template <typename Visit> void visitLinears(const Weights& weights, Visit&& visit) {
    for (const LayerWeights& layer : weights.layers)
        layer.forEachLinear(visit);
    visit(weights.embedding);
    visit(weights.head);
    visit(weights.draftInput);
}

/// Types of the file that are held in a clearly wider form, by that form: "Q2_K, Q3_K as float32".
std::string widenedTypes(const WeightSource& source, WeightForm form) {
    struct Bytes {
        double held = 0.0;
        double inFile = 0.0;
    };

    std::map<std::string_view, std::map<std::string_view, Bytes>> forms;
    for (const TensorInfo& tensor : source.tensors()) {
        if (tensor.type == TensorType::Other || tensor.shape.size() < 2)
            continue;
        const TileFormat format = tileFormat(tensor.type, form);
        const auto columns = static_cast<int>(std::min<std::uint64_t>(tensor.columns(), 1U << 30U));
        Bytes& bytes = forms[tileFormatName(format)][tensor.typeName()];
        bytes.held += static_cast<double>(outlineMatrix(format, kTileRows, columns).tileBytes) /
                      kTileRows * static_cast<double>(tensor.rows());
        bytes.inFile += static_cast<double>(tensor.byteSize);
    }
    std::vector<std::string> told;
    for (const auto& [name, types] : forms) {
        std::vector<std::string_view> widened;
        for (const auto& [type, bytes] : types)
            if (bytes.held >= kClearlyWider * bytes.inFile)
                widened.push_back(type);
        if (!widened.empty())
            told.push_back(fmt::format("{} as {}", fmt::join(widened, ", "), name));
    }
    return fmt::format("{}", fmt::join(told, " and "));
}

} // namespace

std::size_t Weights::byteSize() const {
    std::size_t packed = 0;
    std::size_t values = finalNorm.size();
    for (const LayerWeights& layer : layers)
        layer.forEachNorm([&](const std::vector<float>& norm) { values += norm.size(); });
    visitLinears(*this, [&](const Linear& linear) {
        packed += matrixBytes(linear.matrix);
        values += linear.bias.size();
    });
    return packed + values * sizeof(float);
}

double Weights::bytesRead(const ModelConfig& config) const {
    const auto bytesOf = [](const Linear& linear) {
        return static_cast<double>(matrixBytes(linear.matrix));
    };
    double bytes = bytesOf(outputHead());
    for (const LayerWeights& layer : layers) {
        for (const Linear* each :
             {&layer.query, &layer.key, &layer.value, &layer.output, &layer.router})
            bytes += bytesOf(*each);
        const bool hasExperts = layer.router.matrix.rows > 0;
        const double used = hasExperts ? 1.0 * config.experts.used / config.experts.count : 1.0;
        for (const GatedMlp& mlp : layer.mlps)
            bytes += used * (bytesOf(mlp.gate) + bytesOf(mlp.up) + bytesOf(mlp.down));
    }
    return bytes;
}

TileFormat Weights::mainFormat() const {
    TileFormat main;
    std::size_t most = 0;
    std::map<std::string_view, std::size_t> bytes;
    visitLinears(*this, [&](const Linear& linear) {
        const TileMatrix& matrix = linear.matrix;
        if (matrix.rows == 0)
            return;
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

int threadCount(int wanted) { return wanted > 0 ? wanted : usefulThreads(0); }

KvType chosenKvType(const Weights& weights, std::optional<KvType> wanted) {
    return wanted.value_or(weights.mainFormat().form == TileForm::F32 ? KvType::F32 : KvType::F16);
}

WeightForm chosenForm(const WeightSource& source, WeightForm wanted) {
    if (wanted != WeightForm::Auto)
        return wanted;
    constexpr double kFitsCaches = 16.0 * 1024 * 1024;
    double bytes = 0.0;
    for (const TensorInfo& tensor : source.tensors()) {
        bytes += static_cast<double>(tensor.rows()) * static_cast<double>(tensor.columns()) * 4.0;
        if (bytes > kFitsCaches) // asked for each of many tensors
            return WeightForm::File;
    }
    return WeightForm::F32;
}

std::string wideningNoteOf(const WeightSource& source, WeightForm wanted, std::uint64_t heldBytes) {
    const WeightForm form = chosenForm(source, wanted);
    const std::string types = widenedTypes(source, form);
    if (types.empty())
        return {};
    const char* why = form == WeightForm::File     ? ": it has no smaller form that loses nothing"
                      : wanted == WeightForm::Auto ? ", which is fastest for a model this small"
                                                   : ", as was asked for";
    return wideningNote(
        heldBytes, storedBytes(source), fmt::format("the cpu backend holds {}{}", types, why));
}

Result<Weights>
outlineWeights(const ModelConfig& config, const WeightSource& source, WeightForm form) {
    const Options options{.weights = form};
    return Packer(config, source, options).outline();
}

Result<Weights>
packWeights(const ModelConfig& config, const WeightSource& source, const Options& options) {
    try {
        return Packer(config, source, options).packAll();
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     "There is not enough memory for the weights of this model.",
                     "Close other programs or choose a smaller model."};
    }
}

} // namespace engine::cpu
