// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/operation_list.h"

#include "engine/base/to_size.h"

namespace backend_cuda {

using namespace engine;

namespace {

/// Appends operations one behind the other.
class Lister {
public:
    Lister(const ModelConfig& config, const DeviceWeights& weights, int blocks)
        : m_config(config)
        , m_weights(weights)
        , m_blocks(blocks) {}

    void attention(int layer) {
        const DeviceLayer& weights = layerOf(layer);
        m_sublayer = m_layer = layer;
        for (const DeviceLinear& projection : weights.queryKeyValue)
            linear(projection, Input::Stream, Output::Projected).norm = weights.attentionNorm;
        Operation& turn = add(Kind::Turn);
        turn.rope = static_cast<int>(m_config.ropeOf(layer));
        turn.norm = weights.queryNorm;
        turn.keyNorm = weights.keyNorm;
        const int window = m_config.layerWindows[toSize(layer)];
        add(Kind::Attend).window = window;
        add(Kind::Join).window = window;
        close(weights.output, Input::Context, weights.attentionPostNorm);
    }

    void mlp(int layer) {
        const DeviceLayer& weights = layerOf(layer);
        m_layer = layer;
        m_sublayer = m_config.layerCount + layer;
        if (m_config.hasExperts(layer))
            return experts(weights);
        linear(weights.gateUp.front(), Input::Stream, Output::Gate).norm = weights.mlpNorm;
        close(weights.down.front(), Input::Inner, weights.mlpPostNorm);
    }

    void handOut(int index) { add(Kind::HandOut).index = index; }

    void head() {
        m_layer = m_sublayer = -1;
        linear(m_weights.outputHead(), Input::HeadRows, Output::Logits).norm = m_weights.finalNorm;
        add(Kind::HeadJoin);
    }

    Operation& add(Kind kind) {
        Operation& operation = operations.emplace_back();
        operation.kind = kind;
        operation.layer = m_layer - m_weights.span.first;
        operation.sublayer = m_sublayer;
        operation.scale =
            m_layer < 0 ? 1.0F : static_cast<float>(m_config.residualScaleOf(m_layer));
        return operation;
    }

    std::vector<Operation> operations;

private:
    const DeviceLayer& layerOf(int layer) const {
        return m_weights.layers[toSize(m_config.storedLayer(layer))];
    }

    Operation& linear(const DeviceLinear& weights, Input input, Output output) {
        Operation& operation = add(Kind::Linear);
        operation.matrix = weights.matrix;
        operation.bias = weights.bias;
        operation.firstOutput = weights.firstOutput;
        operation.input = input;
        operation.output = output;
        operation.offset = m_units % m_blocks;
        m_units = (m_units + weights.matrix.strips * weights.matrix.slabs) % m_blocks;
        return operation;
    }

    /// The last matrix of a sublayer, and the norm behind it if there is one.
    void close(const DeviceLinear& weights, Input input, const float* postNorm) {
        linear(weights, input, postNorm == nullptr ? Output::AddToStream : Output::Added);
        if (postNorm != nullptr)
            add(Kind::AddNormed).norm = postNorm;
    }

    /// Every expert runs for all rows; a row takes those that its router chose.
    void experts(const DeviceLayer& weights) {
        linear(weights.router, Input::Stream, Output::Router).norm = weights.mlpNorm;
        add(Kind::Choose);
        for (std::size_t i = 0; i < weights.gateUp.size(); ++i) {
            linear(weights.gateUp[i], Input::Stream, Output::Gate).norm = weights.mlpNorm;
            linear(weights.down[i], Input::Inner, Output::AddedExpert).index = static_cast<int>(i);
        }
        add(Kind::AddNormed).norm = weights.mlpPostNorm;
    }

    const ModelConfig& m_config;
    const DeviceWeights& m_weights;
    int m_blocks;
    int m_units = 0;
    int m_layer = -1;
    int m_sublayer = -1;
};

} // namespace

std::vector<Operation> makeOperations(const ModelConfig& config,
                                      const DeviceWeights& weights,
                                      const ForwardRequest& request,
                                      int headCount,
                                      bool goesOn,
                                      int blocks) {
    Lister list(config, weights, blocks);
    list.add(Kind::Begin);
    auto handOut = request.handOuts.begin();
    for (int layer = request.firstLayer; layer < request.layersEnd(); ++layer) {
        if (request.plan.runsAttention(layer))
            list.attention(layer);
        if (request.plan.runsMlp(layer))
            list.mlp(layer);
        if (handOut != request.handOuts.end() && handOut->layer == layer) {
            list.handOut(static_cast<int>(handOut - request.handOuts.begin()) + (goesOn ? 1 : 0));
            ++handOut;
        }
    }
    if (goesOn)
        list.handOut(0);
    if (headCount > 0)
        list.head();
    return std::move(list.operations);
}

OperationPlace placeOf(const ModelConfig& config, const Operation& operation, int tensor) {
    if (operation.kind == Kind::Linear && operation.output == Output::Logits)
        return {"the output head",
                (config.tiedHead ? embeddingTensor(config) : headTensor(config)).weightName()};
    const bool isMlp = operation.sublayer >= config.layerCount;
    const int layer = operation.sublayer % config.layerCount;
    const std::vector<TensorSpec> specs = layerTensors(config, layer);
    TensorRole role = isMlp ? TensorRole::Down : TensorRole::Output;
    if (operation.kind == Kind::Turn)
        role = tensor == 0 ? TensorRole::Query : tensor == 1 ? TensorRole::Key : TensorRole::Value;
    else if (operation.kind == Kind::Linear && operation.output == Output::Gate)
        role = tensor == 0 ? TensorRole::Gate : TensorRole::Up;
    else if (operation.kind == Kind::Choose)
        role = TensorRole::Router;
    OperationPlace place{fmt::format("layer {}'s {}", layer, isMlp ? "MLP" : "attention"), ""};
    for (const TensorSpec& spec : specs)
        if (spec.role == role && place.tensor.empty())
            place.tensor = spec.weightName();
    return place;
}

} // namespace backend_cuda
