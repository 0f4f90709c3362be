// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_torch/torch_transformer.h"

#include "engine/base/to_size.h"
#include "plugins/backend_torch/torch_layers.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>

namespace backend_torch {

using namespace engine;

namespace {

/// Rows whose logits are computed at once: a bound on memory.
constexpr std::int64_t kLogitRowsAtOnce = 64;

Error noMemory() {
    return Error{ErrorCode::NoMemory,
                 "There is not enough memory for the torch backend.",
                 "Close other programs, or choose a smaller model or a shorter context."};
}

/// Runs the work of the module's border: no exception of LibTorch gets past it. EngineBug does.
template <typename Work> auto guarded(const Work& work) -> decltype(work()) {
    try {
        const c10::InferenceMode inferenceMode;
        return work();
    } catch (const std::bad_alloc&) {
        return noMemory();
    } catch (const c10::Error& failure) {
        const std::string_view message = failure.what_without_backtrace();
        if (message.find("DefaultCPUAllocator") != std::string_view::npos)
            return noMemory();
        return Error{
            ErrorCode::Unsupported,
            fmt::format("LibTorch refused the work: {}", message.substr(0, message.find('\n'))),
            "Try --backend plain; if that works, please report this sentence."};
    }
}

/// One thread pool serves a pass; the number of threads is LibTorch's own setting.
int chooseThreads(int wanted) {
    try {
        at::set_num_interop_threads(1);
    } catch (const c10::Error&) {
        // Already set, by an earlier model: it can be set once only.
    }
    return wanted > 0 ? wanted : at::get_num_threads();
}

template <typename Stored> class TorchTransformer final : public Transformer {
public:
    using Math = MathOf<Stored>;

    TorchTransformer(ModelConfig config,
                     const TransformerOptions& options,
                     Weights weights,
                     int threads)
        : m_config(std::move(config))
        , m_precision(options.precision)
        , m_weights(std::move(weights))
        , m_threads(threads)
        , m_logits(std::make_shared<HostLogits<Math>>(m_config.vocabSize))
        , m_layers(m_config, m_weights, options.cacheSlots) {}

    const ModelConfig& config() const override { return m_config; }

    Precision precision() const override { return m_precision; }

    std::size_t weightBytes() const override { return m_weights.byteSize; }

    bool tellsAttention() const override { return true; }

    Result<KvCache> makeCache(Position capacity) const override {
        ENGINE_TRY(auto storage, HostKvStorage::make(kvShape(capacity)));
        return KvCache(std::move(storage));
    }

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        checkForwardRequest(m_config, m_key, request, cache);
        HostKvStorage& storage = hostStorage(cache, kvShape(cache.capacity()));
        return guarded([&]() -> Result<void> {
            if (at::get_num_threads() != m_threads)
                at::set_num_threads(m_threads);
            Math* logits = m_logits->begin(request.logitRows.size());
            result.clear();
            result.logits.show(m_logits, static_cast<int>(request.logitRows.size()));
            Pass pass = m_layers.begin(request.layout, storage);
            pass.place = request.attention;
            if (request.wantsInfluence)
                pass.influence.assign(2 * toSize(m_config.layerCount), 0.0);
            if (run(request, pass, result, logits)) {
                result.influence = std::move(pass.influence);
                result.attention = std::move(pass.attention);
                return {};
            }
            // A pass can be repeated: it writes the same slots again. This time look closely.
            Pass search = m_layers.begin(request.layout, storage);
            search.isSearching = true;
            ENGINE_CHECK(!run(request, search, result, logits),
                         "a pass came out otherwise when repeated");
            return search.error ? *std::move(search.error) : inputError(request, search);
        });
    }

private:
    KvShape kvShape(Position capacity) const {
        const KvType type = m_precision == Precision::F64    ? KvType::F64
                            : m_precision == Precision::BF16 ? KvType::BF16
                                                             : KvType::F32;
        return {m_config.layerCount, m_config.kvHeadCount, m_config.headDim, capacity, type};
    }

    bool run(const ForwardRequest& request, Pass& pass, ForwardResult& result, Math* logits);
    Error inputError(const ForwardRequest& request, const Pass& pass) const;
    void readInput(const ForwardRequest& request, Pass& pass) const;
    void runLayers(const ForwardRequest& request, Pass& pass);
    bool runHead(const ForwardRequest& request, Pass& pass, ForwardResult& result, Math* logits);
    bool headRows(std::span<const int> rows, Pass& pass, std::vector<double>& logits);
    void finishLogits(std::span<double> logits) const;

    ModelConfig m_config;
    TransformerKey m_key;
    Precision m_precision;
    Weights m_weights;
    int m_threads;
    std::shared_ptr<HostLogits<Math>> m_logits; // of the newest pass
    LayerRunner<Stored> m_layers;               // refers to the members above
};

/// One pass. False when numbers are not finite; `pass.error` says where if it searched for that.
template <typename Stored>
bool TorchTransformer<Stored>::run(const ForwardRequest& request,
                                   Pass& pass,
                                   ForwardResult& result,
                                   Math* logits) {
    readInput(request, pass);
    runLayers(request, pass);
    if (pass.error)
        return false;
    const bool isFinite =
        isFiniteRow(pass.stream.const_data_ptr<Stored>(),
                    toSize(request.layout.rowCount()) * toSize(m_config.hiddenSize));
    return isFinite && runHead(request, pass, result, logits);
}

/// What went in was not finite, and nothing ran that would have shown it.
template <typename Stored>
Error TorchTransformer<Stored>::inputError(const ForwardRequest& request, const Pass& pass) const {
    const std::size_t width = toSize(m_config.hiddenSize);
    const Stored* stream = pass.stream.const_data_ptr<Stored>();
    int row = 0;
    while (row + 1 < pass.rowCount() && isFiniteRow(stream + toSize(row) * width, width))
        ++row;
    return nonFiniteError("the rows that enter the layers",
                          embeddingTensor(m_config).weightName(),
                          request.layout.position(row));
}

template <typename Stored>
void TorchTransformer<Stored>::readInput(const ForwardRequest& request, Pass& pass) const {
    const std::size_t width = toSize(m_config.hiddenSize);
    Stored* stream = pass.stream.mutable_data_ptr<Stored>();
    if (request.firstLayer > 0) {
        for (const HiddenPiece& piece : request.hidden)
            stream = std::copy_n(piece.from->storageOf<HostHidden<Stored>>(m_key).row(piece.first),
                                 toSize(piece.count) * width,
                                 stream);
        return;
    }
    const Stored* embedding = m_weights.embedding.const_data_ptr<Stored>();
    const std::size_t stride = toSize(m_weights.embedding.size(1));
    for (const TokenId id : request.tokens)
        stream = std::copy_n(embedding + toSize(id) * stride, width, stream);
    if (m_config.embeddingScale != 1.0)
        pass.stream.mul_(m_config.embeddingScale);
}

template <typename Stored>
void TorchTransformer<Stored>::runLayers(const ForwardRequest& request, Pass& pass) {
    auto handOut = request.handOuts.begin();
    for (int layer = request.firstLayer; layer < request.layersEnd() && !pass.error; ++layer) {
        switch (request.plan.attention[toSize(layer)]) {
        case SublayerAction::Run:
            m_layers.runAttention(pass, layer);
            break;
        case SublayerAction::Skip:
            break;
        }
        switch (request.plan.mlp[toSize(layer)]) {
        case SublayerAction::Run:
            m_layers.runMlp(pass, layer);
            break;
        case SublayerAction::Skip:
            break;
        }
        if (pass.isSearching || handOut == request.handOuts.end() || handOut->layer != layer)
            continue;
        auto& states = handOut++->to->storageFor<HostHidden<Stored>>(m_key, m_config.hiddenSize);
        for (int row = 0; row < pass.rowCount(); ++row)
            states.append(pass.stream.const_data_ptr<Stored>() +
                          toSize(row) * toSize(m_config.hiddenSize));
    }
}

template <typename Stored>
bool TorchTransformer<Stored>::runHead(const ForwardRequest& request,
                                       Pass& pass,
                                       ForwardResult& result,
                                       Math* kept) {
    const HeadRows wanted(request.logitRows, request.summaryRows);
    const std::size_t vocab = toSize(m_config.vocabSize);
    std::size_t missing = request.logitRows.size() * vocab; // they are the first
    result.summaries.resize(request.summaryRows.size());
    std::vector<double> logits; // [rows at once, vocab]
    std::size_t first = 0;
    while (first < wanted.rows.size()) {
        const std::size_t count = std::min(wanted.rows.size() - first, toSize(kLogitRowsAtOnce));
        logits.clear();
        if (!headRows(std::span(wanted.rows).subspan(first, count), pass, logits))
            return false;
        const std::size_t taken = std::min(logits.size(), missing);
        kept = std::transform(logits.begin(),
                              logits.begin() + static_cast<std::ptrdiff_t>(taken),
                              kept,
                              [](double logit) { return static_cast<Math>(logit); });
        missing -= taken;
        for (std::size_t i = 0; i < wanted.summaryPlaces.size(); ++i) {
            const std::size_t place = toSize(wanted.summaryPlaces[i]);
            if (place >= first && place < first + count)
                result.summaries[i] =
                    summarise(std::span(logits).subspan((place - first) * vocab, vocab));
        }
        first += count;
    }
    return true;
}

/// Final norm and head of some rows; appends their logits. False when one is not finite.
template <typename Stored>
bool TorchTransformer<Stored>::headRows(std::span<const int> rows,
                                        Pass& pass,
                                        std::vector<double>& logits) {
    const std::int64_t count = static_cast<std::int64_t>(rows.size());
    const std::int64_t width = m_config.hiddenSize;
    at::Tensor in = at::zeros({paddedRows(count), paddedColumns(width)}, pass.stream.options());
    const Stored* stream = pass.stream.const_data_ptr<Stored>();
    Stored* to = in.mutable_data_ptr<Stored>();
    for (const int row : rows) {
        std::copy_n(stream + row * width, width, to);
        to += in.size(1);
    }
    m_layers.normalise(in, m_weights.finalNorm, count, in);
    const at::Tensor out = applyLinear({m_weights.head, {}}, in); // [padded, vocab]
    const std::size_t vocab = toSize(m_config.vocabSize);
    const Stored* numbers = out.const_data_ptr<Stored>();
    for (const int row : rows) {
        if (!isFiniteRow(numbers, vocab)) {
            const bool isNorm = !isFiniteRow(in.const_data_ptr<Stored>(), toSize(in.numel()));
            const std::string_view head =
                m_config.tiedHead ? "model.embed_tokens.weight" : "lm_head.weight";
            pass.error = nonFiniteError(
                "the output head", isNorm ? "model.norm.weight" : head, pass.layout.position(row));
            return false;
        }
        logits.insert(logits.end(), numbers, numbers + vocab);
        finishLogits(std::span(logits).last(vocab));
        numbers += vocab;
    }
    return true;
}

/// What the network does to logits behind the head.
template <typename Stored>
void TorchTransformer<Stored>::finishLogits(std::span<double> logits) const {
    if (m_config.logitScale != 1.0)
        for (double& logit : logits)
            logit = static_cast<Math>(logit) * static_cast<Math>(m_config.logitScale);
    if (m_config.logitSoftCap > 0.0)
        for (double& logit : logits)
            logit = softCapped(static_cast<Math>(logit), static_cast<Math>(m_config.logitSoftCap));
}

template <typename Stored>
Result<std::unique_ptr<Transformer>>
make(const ModelConfig& config, const WeightSource& source, const TransformerOptions& options) {
    return guarded([&]() -> Result<std::unique_ptr<Transformer>> {
        const int threads = chooseThreads(options.threads);
        at::set_num_threads(threads);
        ENGINE_TRY(Weights weights, readWeights(config, source, options));
        return std::unique_ptr<Transformer>(std::make_unique<TorchTransformer<Stored>>(
            config, options, std::move(weights), threads));
    });
}

/// What the libraries of products read once, at their first one; a user's own values hold.
/// On processors with AMX, oneDNN fails to make some products of our shapes ("could not create a
/// primitive"). On those of Intel, MKL's sums hang on the number of rows unless it is kept to one
/// order (its "conditional numerical reproducibility", strict); on others they do not.
bool keepToOneOrder() {
    setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
    if (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2"))
        setenv("MKL_CBWR", __builtin_cpu_supports("avx512f") ? "AVX512,STRICT" : "AVX2,STRICT", 0);
    return true;
}

} // namespace

Result<std::unique_ptr<Transformer>> makeTorchTransformer(const ModelConfig& config,
                                                          const WeightSource& source,
                                                          const TransformerOptions& options) {
    ENGINE_TRY_DO(config.validate());
    [[maybe_unused]] static const bool isKept = keepToOneOrder();
    switch (options.precision) {
    case Precision::F32:
        return make<float>(config, source, options);
    case Precision::F64:
        return make<double>(config, source, options);
    case Precision::BF16:
        return make<c10::BFloat16>(config, source, options);
    }
    return Error{ErrorCode::Unsupported, "The torch backend does not know this precision.", ""};
}

} // namespace backend_torch
