// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/model/cache/attention_weights.h"
#include "engine/model/expert_choice.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/model/plain/plain_draft.h"
#include "engine/model/transformer.h"

#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <type_traits>

namespace engine {

namespace {

using namespace plain;

template <typename Real> class PlainTransformer final : public Transformer {
public:
    /// `embedding` is that of the model that this one drafts for; null = its own.
    PlainTransformer(ModelConfig config,
                     Weights<Real> weights,
                     int contextLength,
                     const Linear<Real>* embedding = nullptr)
        : m_config(std::move(config))
        , m_weights(std::move(weights))
        , m_embedding(embedding != nullptr ? embedding : &m_weights.embedding)
        , m_logits(std::make_shared<HostLogits<Real>>(m_config.headSize())) {
        for (const LayerRope rope : {LayerRope::Model, LayerRope::Window, LayerRope::None})
            m_frequencies[static_cast<std::size_t>(rope)] =
                rotaryFrequencies(m_config, rope, contextLength);
    }

    const ModelConfig& config() const override { return m_config; }

    Precision precision() const override {
        return std::is_same_v<Real, double> ? Precision::F64 : Precision::F32;
    }

    std::size_t weightBytes() const override { return m_weights.byteSize(); }

    bool tellsAttention() const override { return true; }

    bool leavesTokensOut() const override { return true; }

    Result<KvCache> makeCache(Position capacity) const override {
        ENGINE_TRY(auto storage, HostKvStorage::make(kvShape(capacity)));
        return KvCache(std::move(storage));
    }

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override;

    Result<std::unique_ptr<Transformer>>
    makeDraftNetwork(const ModelConfig& config, const WeightSource& source) const override {
        ENGINE_TRY_DO(config.validate());
        ENGINE_TRY(auto weights, readWeights<Real>(config, source, {}));
        return std::unique_ptr<Transformer>(
            std::make_unique<PlainTransformer>(config, std::move(weights), 0, m_embedding));
    }

    Result<void> readHeadRow(TokenId token, std::span<float> out) const override {
        copyRow(m_weights.outputHead(), token, out);
        return {};
    }

private:
    KvShape kvShape(Position capacity) const {
        const KvType type = std::is_same_v<Real, double> ? KvType::F64 : KvType::F32;
        return {m_config.layerCount, m_config.kvHeadCount, m_config.headDim, capacity, type};
    }

    /// How one kind of layer turns the rows of a pass.
    struct Angles {
        std::size_t half = 0;             // pairs that are turned
        std::vector<Real> cosines, sines; // [rows, half]
    };

    /// What one pass works on.
    struct Pass {
        const ForwardRequest& request;
        HostKvStorage& storage;
        Real* logits;                       // [logitRows, vocab]
        std::vector<Real> stream = {};      // [rows, hidden], the residual stream
        std::array<Angles, 3> angles = {};  // by LayerRope
        std::vector<double> influence = {}; // [2 * layers] if wanted
        std::vector<double> attention = {}; // [heads, keys] if wanted
        std::optional<Error> error = {};    // the first place where numbers stopped being finite
    };

    /// A buffer of a sublayer and the tensor it was made with, in the order of computation.
    struct Stage {
        std::span<const Real> values;
        const std::string& tensor;
    };

    void readInput(Pass& pass) const;
    void prepareAngles(Pass& pass) const;
    void rotateRow(const Pass& pass, int layer, std::size_t row, Real* head) const;
    void normaliseHeads(std::span<const Real> weight, std::size_t width, std::span<Real> in) const;
    void runAttention(Pass& pass, int layer) const;
    void
    storeKeysAndValues(Pass& pass, int layer, std::span<Real> keys, std::span<Real> values) const;
    void
    attendRow(Pass& pass, int layer, int row, std::span<Real> query, std::span<Real> out) const;
    void tellAttention(Pass& pass, int layer, std::span<const Real> queries) const;
    void runMlp(Pass& pass, int layer) const;
    void runExperts(Pass& pass, int layer, std::span<const Real> in) const;
    void finishBranch(int layer, std::span<const Real> postNorm, std::vector<Real>& out) const;
    void runHead(Pass& pass, ForwardResult& result) const;
    std::vector<Real> normalise(std::span<const Real> stream, std::span<const Real> weight) const;
    std::vector<Real> apply(const Linear<Real>& linear, std::span<const Real> in) const;
    void addToStream(Pass& pass, std::span<const Stage> stages, std::string_view where) const;
    void measureInfluence(Pass& pass, std::span<const Real> out, std::size_t sublayer) const;

    const LayerWeights<Real>& weightsOf(int layer) const {
        return m_weights.layers[toSize(m_config.storedLayer(layer))];
    }

    ModelConfig m_config;
    TransformerKey m_key;
    Weights<Real> m_weights;
    const Linear<Real>* m_embedding;
    std::shared_ptr<HostLogits<Real>> m_logits;       // of the newest pass
    std::array<std::vector<double>, 3> m_frequencies; // by LayerRope, radians per position
};

template <typename Real>
Result<void> PlainTransformer<Real>::forwardInto(const ForwardRequest& request,
                                                 KvCache& cache,
                                                 ForwardResult& result) {
    checkForwardRequest(m_config, m_key, request, cache);
    Pass pass{request,
              hostStorage(cache, kvShape(cache.capacity())),
              m_logits->begin(request.logitRows.size())};
    result.clear();
    result.logits.show(m_logits, static_cast<int>(request.logitRows.size()));
    pass.influence = std::move(result.influence);
    if (request.wantsInfluence)
        pass.influence.assign(2 * toSize(m_config.layerCount), 0.0);
    readInput(pass);
    prepareAngles(pass);
    auto handOut = request.handOuts.begin();
    for (int layer = request.firstLayer; layer < request.layersEnd() && !pass.error; ++layer) {
        if (request.plan.runsAttention(layer))
            runAttention(pass, layer);
        if (request.plan.runsMlp(layer))
            runMlp(pass, layer);
        if (handOut != request.handOuts.end() && handOut->layer == layer) {
            auto& states = handOut++->to->storageFor<HostHidden<Real>>(m_key, m_config.hiddenSize);
            for (int row = 0; row < request.layout.rowCount(); ++row)
                states.append(pass.stream.data() + toSize(row) * toSize(m_config.hiddenSize));
        }
    }
    if (!pass.error)
        runHead(pass, result);
    if (pass.error)
        return *std::move(pass.error);
    result.influence = std::move(pass.influence);
    result.attention = std::move(pass.attention);
    return {};
}

template <typename Real> void PlainTransformer<Real>::readInput(Pass& pass) const {
    if (m_config.isDraft()) {
        pass.stream = draftInput(m_weights, *m_embedding, pass.request, m_config.normEpsilon);
        return;
    }
    const std::size_t width = toSize(m_config.hiddenSize);
    if (pass.request.firstLayer > 0) {
        for (const HiddenPiece& piece : pass.request.hidden) {
            const Real* from = piece.from->storageOf<HostHidden<Real>>(m_key).row(piece.first);
            pass.stream.insert(pass.stream.end(), from, from + toSize(piece.count) * width);
        }
        return;
    }
    pass.stream.reserve(pass.request.tokens.size() * width);
    for (const TokenId id : pass.request.tokens) {
        const Real* row = m_embedding->weight.data() + toSize(id) * width;
        pass.stream.insert(pass.stream.end(), row, row + width);
    }
    if (m_config.embeddingScale != 1.0)
        for (Real& value : pass.stream)
            value *= static_cast<Real>(m_config.embeddingScale);
}

template <typename Real> void PlainTransformer<Real>::prepareAngles(Pass& pass) const {
    const double sharpened = m_config.ropeScaling.attentionFactor;
    for (std::size_t rope = 0; rope < m_frequencies.size(); ++rope) {
        Angles& angles = pass.angles[rope];
        angles.half = m_frequencies[rope].size();
        for (int row = 0; row < pass.request.layout.rowCount(); ++row)
            for (const double frequency : m_frequencies[rope]) {
                const double angle = frequency * pass.request.layout.position(row);
                angles.cosines.push_back(static_cast<Real>(sharpened * std::cos(angle)));
                angles.sines.push_back(static_cast<Real>(sharpened * std::sin(angle)));
            }
    }
}

/// Turns one head of a row as its layer does.
template <typename Real>
void PlainTransformer<Real>::rotateRow(const Pass& pass,
                                       int layer,
                                       std::size_t row,
                                       Real* head) const {
    const Angles& angles = pass.angles[static_cast<std::size_t>(m_config.ropeOf(layer))];
    rotate(head,
           std::span(angles.cosines).subspan(row * angles.half, angles.half),
           std::span(angles.sines).subspan(row * angles.half, angles.half));
}

/// Norms of queries or keys before they are turned. Shapes: weight [headDim] or [width], in [rows,
/// width].
template <typename Real>
void PlainTransformer<Real>::normaliseHeads(std::span<const Real> weight,
                                            std::size_t width,
                                            std::span<Real> in) const {
    if (weight.empty())
        return;
    ENGINE_CHECK(width % weight.size() == 0, "a norm of {} in {}", weight.size(), width);
    for (std::size_t at = 0; at < in.size(); at += weight.size())
        rmsNorm<Real>(in.subspan(at, weight.size()), weight, m_config.normEpsilon, in.data() + at);
}

template <typename Real> void PlainTransformer<Real>::runAttention(Pass& pass, int layer) const {
    const LayerWeights<Real>& weights = weightsOf(layer);
    const std::vector<Real> in = normalise(pass.stream, weights.attentionNorm);
    const std::size_t width = toSize(m_config.headCount * m_config.headDim);
    std::vector<Real> queries = apply(weights.query, in); // [rows, heads, headDim]
    std::vector<Real> keys = apply(weights.key, in);      // [rows, kvHeads, headDim]
    std::vector<Real> values = apply(weights.value, in);  // [rows, kvHeads, headDim]
    normaliseHeads(weights.queryNorm, width, queries);
    normaliseHeads(weights.keyNorm, toSize(m_config.kvHeadCount * m_config.headDim), keys);
    storeKeysAndValues(pass, layer, keys, values);
    std::vector<Real> context(queries.size()); // [rows, heads, headDim]
    for (int row = 0; row < pass.request.layout.rowCount(); ++row)
        attendRow(pass,
                  layer,
                  row,
                  std::span(queries).subspan(toSize(row) * width, width),
                  std::span(context).subspan(toSize(row) * width, width));
    tellAttention(pass, layer, queries);
    std::vector<Real> out = apply(weights.output, context);
    finishBranch(layer, weights.attentionPostNorm, out);
    const Stage stages[] = {{queries, weights.query.name},
                            {keys, weights.key.name},
                            {values, weights.value.name},
                            {context, weights.value.name},
                            {out, weights.output.name}};
    measureInfluence(pass, out, toSize(layer));
    addToStream(pass, stages, fmt::format("layer {}'s attention", layer));
}

template <typename Real>
void PlainTransformer<Real>::storeKeysAndValues(Pass& pass,
                                                int layer,
                                                std::span<Real> keys,
                                                std::span<Real> values) const {
    const std::size_t dim = toSize(m_config.headDim);
    const std::size_t heads = toSize(m_config.kvHeadCount);
    const std::size_t capacity = toSize(pass.storage.capacity());
    Real* keyPlane = reinterpret_cast<Real*>(pass.storage.keys(layer));
    Real* valuePlane = reinterpret_cast<Real*>(pass.storage.values(layer));
    for (std::size_t row = 0; row < toSize(pass.request.layout.rowCount()); ++row)
        for (std::size_t head = 0; head < heads; ++head) {
            const std::size_t from = (row * heads + head) * dim;
            const std::size_t slot = toSize(pass.request.layout.firstSlot()) + row;
            const std::size_t to = (head * capacity + slot) * dim;
            rotateRow(pass, layer, row, keys.data() + from);
            std::copy_n(keys.data() + from, dim, keyPlane + to);
            std::copy_n(values.data() + from, dim, valuePlane + to);
        }
}

/// One row's attention over exactly its own keys, by position. Shapes: query, out [heads, headDim].
template <typename Real>
void PlainTransformer<Real>::attendRow(
    Pass& pass, int layer, int row, std::span<Real> query, std::span<Real> out) const {
    const std::size_t dim = toSize(m_config.headDim);
    const std::size_t planeRow = toSize(pass.storage.capacity()) * dim;
    const std::size_t groupSize = toSize(m_config.headCount / m_config.kvHeadCount);
    const int window = m_config.layerWindows[toSize(layer)];
    const Real scale = m_config.attentionScale > 0.0 ? static_cast<Real>(m_config.attentionScale)
                                                     : Real(1) / std::sqrt(static_cast<Real>(dim));
    const Real cap = static_cast<Real>(m_config.attentionSoftCap);
    std::vector<std::size_t> slots;
    pass.request.layout.forEachKey(
        row, window, [&slots](Position slot) { slots.push_back(toSize(slot)); });
    std::vector<Real> scores(slots.size());
    for (std::size_t head = 0; head < toSize(m_config.headCount); ++head) {
        Real* headQuery = query.data() + head * dim;
        rotateRow(pass, layer, toSize(row), headQuery);
        const std::size_t plane = head / groupSize * planeRow;
        const Real* keys = reinterpret_cast<const Real*>(pass.storage.keys(layer)) + plane;
        const Real* values = reinterpret_cast<const Real*>(pass.storage.values(layer)) + plane;
        for (std::size_t i = 0; i < slots.size(); ++i)
            scores[i] = dot(headQuery, keys + slots[i] * dim, dim) * scale;
        if (cap > Real(0))
            for (Real& score : scores)
                score = softCap(score, cap);
        const Real highest = *std::max_element(scores.begin(), scores.end());
        Real total = 0;
        for (Real& score : scores)
            total += score = std::exp(score - highest);
        Real* headOut = out.data() + head * dim;
        for (std::size_t i = 0; i < slots.size(); ++i)
            for (std::size_t d = 0; d < dim; ++d)
                headOut[d] += scores[i] * values[slots[i] * dim + d];
        for (std::size_t d = 0; d < dim; ++d)
            headOut[d] /= total;
    }
}

/// Notes the weights of attention if they are wanted here. Shapes: queries [rows, heads, headDim],
/// turned.
template <typename Real>
void PlainTransformer<Real>::tellAttention(Pass& pass,
                                           int layer,
                                           std::span<const Real> queries) const {
    const auto& place = pass.request.attention;
    if (!place || place->layer != layer)
        return;
    const std::size_t width = toSize(m_config.headCount * m_config.headDim);
    const auto row = queries.subspan(toSize(place->row) * width, width);
    std::vector<double> scaled(row.begin(), row.end());
    for (double& number : scaled)
        number *= m_config.scoreScale();
    pass.attention = attentionWeights(m_config, pass.storage, pass.request.layout, *place, scaled);
}

template <typename Real> void PlainTransformer<Real>::runMlp(Pass& pass, int layer) const {
    const LayerWeights<Real>& weights = weightsOf(layer);
    const std::vector<Real> in = normalise(pass.stream, weights.mlpNorm);
    if (m_config.hasExperts(layer))
        return runExperts(pass, layer, in);
    const GatedMlp<Real>& mlp = weights.mlps.front();
    const std::vector<Real> gate = apply(mlp.gate, in); // [rows, mlp]
    const std::vector<Real> up = apply(mlp.up, in);     // [rows, mlp]
    const std::vector<Real> inner = activate<Real>(m_config.activation, gate, up);
    std::vector<Real> out = apply(mlp.down, inner);
    finishBranch(layer, weights.mlpPostNorm, out);
    const Stage stages[] = {
        {gate, mlp.gate.name}, {up, mlp.up.name}, {inner, mlp.up.name}, {out, mlp.down.name}};
    measureInfluence(pass, out, toSize(m_config.layerCount + layer));
    addToStream(pass, stages, fmt::format("layer {}'s MLP", layer));
}

/// The sum of the chosen experts' outputs, each times its weight, in the order of the experts.
template <typename Real>
void PlainTransformer<Real>::runExperts(Pass& pass, int layer, std::span<const Real> in) const {
    const LayerWeights<Real>& weights = weightsOf(layer);
    const std::size_t width = toSize(m_config.hiddenSize);
    const std::size_t count = toSize(m_config.experts.count);
    const std::vector<Real> logits = apply(weights.router, in); // [rows, experts]
    std::vector<Real> out(in.size());
    for (std::size_t row = 0; row < toSize(pass.request.layout.rowCount()); ++row)
        for (const auto& [expert, weight] :
             chooseExperts<Real>(std::span(logits).subspan(row * count, count), m_config.experts)) {
            const GatedMlp<Real>& mlp = weights.mlps[toSize(expert)];
            const std::span<const Real> rowIn = in.subspan(row * width, width);
            const std::vector<Real> found = apply(
                mlp.down,
                activate<Real>(m_config.activation, apply(mlp.gate, rowIn), apply(mlp.up, rowIn)));
            for (std::size_t i = 0; i < width; ++i)
                out[row * width + i] += weight * found[i];
        }
    finishBranch(layer, weights.mlpPostNorm, out);
    const Stage stages[] = {{logits, weights.router.name}, {out, weights.mlps.front().down.name}};
    measureInfluence(pass, out, toSize(m_config.layerCount + layer));
    addToStream(pass, stages, fmt::format("layer {}'s MLP", layer));
}

/// What a branch does behind its last linear layer, before it is added to the stream.
template <typename Real>
void PlainTransformer<Real>::finishBranch(int layer,
                                          std::span<const Real> postNorm,
                                          std::vector<Real>& out) const {
    normaliseHeads(postNorm, toSize(m_config.hiddenSize), out);
    const double scale = m_config.residualScaleOf(layer);
    if (scale != 1.0)
        for (Real& value : out)
            value *= static_cast<Real>(scale);
}

/// Notes what a sublayer's output is to the stream that it is about to be added to.
template <typename Real>
void PlainTransformer<Real>::measureInfluence(Pass& pass,
                                              std::span<const Real> out,
                                              std::size_t sublayer) const {
    if (!pass.request.wantsInfluence)
        return;
    const std::size_t width = toSize(m_config.hiddenSize);
    for (std::size_t at = 0; at < out.size(); at += width)
        pass.influence[sublayer] += influenceOf<Real>(
            out.subspan(at, width), std::span<const Real>(pass.stream).subspan(at, width));
}

/// Adds a sublayer's output (its last stage) to the stream; notes the first stage that is not
/// finite.
template <typename Real>
void PlainTransformer<Real>::addToStream(Pass& pass,
                                         std::span<const Stage> stages,
                                         std::string_view where) const {
    const std::span<const Real> out = stages.back().values;
    for (std::size_t i = 0; i < out.size(); ++i)
        pass.stream[i] += out[i];
    if (allFinite<Real>(pass.stream))
        return;
    const std::size_t rows = toSize(pass.request.layout.rowCount());
    for (const Stage& stage : stages) {
        const std::size_t width = stage.values.size() / rows;
        for (std::size_t i = 0; i < stage.values.size(); ++i)
            if (!std::isfinite(stage.values[i])) {
                pass.error = nonFiniteError(
                    where, stage.tensor, pass.request.layout.position(static_cast<int>(i / width)));
                return;
            }
    }
    pass.error = nonFiniteError(where, stages.back().tensor, pass.request.layout.position(0));
}

template <typename Real>
void PlainTransformer<Real>::runHead(Pass& pass, ForwardResult& result) const {
    const std::size_t width = toSize(m_config.hiddenSize);
    const HeadRows wanted(pass.request.logitRows, pass.request.summaryRows);
    std::vector<Real> rows; // [wanted.rows, hidden]
    for (const int row : wanted.rows)
        std::copy_n(pass.stream.data() + toSize(row) * width, width, std::back_inserter(rows));
    std::vector<Real> logits = apply(m_weights.outputHead(), normalise(rows, m_weights.finalNorm));
    const std::size_t vocab = toSize(m_config.headSize());
    for (Real& logit : logits) {
        if (m_config.logitScale != 1.0)
            logit *= static_cast<Real>(m_config.logitScale);
        if (m_config.logitSoftCap > 0.0)
            logit = softCap(logit, static_cast<Real>(m_config.logitSoftCap));
    }
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (!std::isfinite(logits[i])) {
            const int row = wanted.rows[i / vocab];
            pass.error = nonFiniteError(
                "the output head", m_weights.outputHead().name, pass.request.layout.position(row));
            return;
        }
    leaveTokensOut(std::span(logits), vocab, pass.request.headSpans);
    std::vector<double> wide(vocab);
    for (const int place : wanted.summaryPlaces) {
        std::copy_n(logits.data() + toSize(place) * vocab, vocab, wide.begin());
        result.summaries.push_back(summarise(wide));
    }
    std::copy_n(logits.data(), pass.request.logitRows.size() * vocab, pass.logits);
}

template <typename Real>
std::vector<Real> PlainTransformer<Real>::normalise(std::span<const Real> stream,
                                                    std::span<const Real> weight) const {
    if (weight.empty()) // no norm stands there
        return {stream.begin(), stream.end()};
    std::vector<Real> out(stream.size());
    for (std::size_t at = 0; at < stream.size(); at += weight.size())
        rmsNorm(stream.subspan(at, weight.size()), weight, m_config.normEpsilon, out.data() + at);
    return out;
}

template <typename Real>
std::vector<Real> PlainTransformer<Real>::apply(const Linear<Real>& linear,
                                                std::span<const Real> in) const {
    std::vector<Real> out(in.size() / linear.inputs * (linear.weight.size() / linear.inputs));
    multiply<Real>(linear.weight, linear.bias, in, linear.inputs, out);
    return out;
}

template <typename Real>
Result<std::unique_ptr<Transformer>>
makeIn(const ModelConfig& config, const WeightSource& source, const TransformerOptions& options) {
    ENGINE_TRY(auto weights, readWeights<Real>(config, source, options));
    return std::unique_ptr<Transformer>(
        std::make_unique<PlainTransformer<Real>>(config, std::move(weights), options.cacheSlots));
}

} // namespace

Result<std::unique_ptr<Transformer>> makePlainTransformer(const ModelConfig& config,
                                                          const WeightSource& source,
                                                          const TransformerOptions& options) {
    ENGINE_TRY_DO(config.validate());
    if (options.precision == Precision::F32)
        return makeIn<float>(config, source, options);
    if (options.precision == Precision::F64)
        return makeIn<double>(config, source, options);
    return Error{
        ErrorCode::Unsupported,
        fmt::format("The plain backend does not compute in {}.", precisionName(options.precision)),
        "It offers float32 and float64."};
}

} // namespace engine
