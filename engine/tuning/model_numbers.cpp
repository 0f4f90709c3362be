// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model_numbers.h"

#include "engine/loading/drafts/draft_adapter_writer.h"
#include "engine/loading/network/network_tensors.h"

#include <algorithm>

namespace engine {

namespace {

/// The name in adapter files; null for a tensor that a draft network does not have.
const char* adapterNameOf(TensorRole role) {
    switch (role) {
    case TensorRole::AttentionNorm:
        return "layer.0.norm.attn";
    case TensorRole::Query:
        return "layer.0.attn.q";
    case TensorRole::Key:
        return "layer.0.attn.k";
    case TensorRole::Value:
        return "layer.0.attn.v";
    case TensorRole::Output:
        return "layer.0.attn.o";
    case TensorRole::MlpNorm:
        return "layer.0.norm.mlp";
    case TensorRole::Gate:
        return "layer.0.mlp.gate";
    case TensorRole::Up:
        return "layer.0.mlp.up";
    case TensorRole::Down:
        return "layer.0.mlp.down";
    default:
        return nullptr;
    }
}

/// Whether the layer computes what a layer of a LLaMA computes, but for biases.
bool isPlainLayer(const ModelConfig& model, int layer) {
    return model.normPlace == NormPlace::Before && model.headNorm == HeadNorm::None &&
           model.activation == Activation::Silu && !model.hasExperts(layer) &&
           model.ropeOf(layer) == LayerRope::Model && model.rotatedWidth() == model.headDim;
}

Result<std::vector<float>> readSpec(const WeightSource& weights, const TensorSpec& tensor) {
    return readTensor(weights, tensor.weightName(), tensor.shape());
}

} // namespace

Result<DraftSizes> draftSizesFor(const ModelConfig& model, int layers, int window) {
    DraftSizes sizes;
    sizes.hiddenSize = model.hiddenSize;
    sizes.headCount = model.headCount;
    sizes.kvHeadCount = model.kvHeadCount;
    sizes.headDim = model.headDim;
    sizes.mlpSize = model.mlpSize > 0 ? model.mlpSize : model.experts.size * model.experts.used;
    sizes.layerCount = layers;
    sizes.window = window;
    sizes.normEpsilon = model.normEpsilon;
    sizes.ropeTheta = model.ropeTheta;
    if (sizes.mlpSize <= 0)
        return Error{ErrorCode::Unsupported,
                     "The model does not say how wide its MLP is, so no draft layer can be made "
                     "like it.",
                     "Choose another model."};
    ENGINE_TRY_DO(checkAdapterBytes(sizes));
    return sizes;
}

std::int64_t trainedWeights(const DraftSizes& sizes) {
    std::int64_t sum = 0;
    for (const auto& [name, tensor] : adapterTensors(sizes))
        sum += static_cast<std::int64_t>(tensor.count());
    return sum;
}

Result<TrainerModel>
readTrainerModel(const ModelConfig& model, const WeightSource& weights, bool wantsLastLayer) {
    TrainerModel numbers;
    numbers.vocabSize = model.vocabSize;
    numbers.normEpsilon = model.normEpsilon;
    numbers.logitScale = model.logitScale;
    numbers.logitSoftCap = model.logitSoftCap;
    ENGINE_TRY(numbers.embedding, readSpec(weights, embeddingTensor(model)));
    if (!model.tiedHead) {
        ENGINE_TRY(numbers.head, readSpec(weights, headTensor(model)));
    }
    ENGINE_TRY(numbers.finalNorm, readSpec(weights, finalNormTensor(model)));
    const int last = model.layerCount - 1;
    if (!wantsLastLayer || !isPlainLayer(model, last))
        return numbers;
    for (const TensorSpec& tensor : layerTensors(model, last))
        if (const char* name = adapterNameOf(tensor.role); name != nullptr) {
            ENGINE_TRY(numbers.lastLayer[name], readSpec(weights, tensor));
        }
    return numbers;
}

Result<ModelNumbers> readModelNumbers(const ModelConfig& model, const WeightSource& weights) {
    ModelNumbers numbers;
    numbers.config = model;
    Result<void> read;
    const auto take = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
        if (!read)
            return;
        auto values = readTensor(weights, name, shape);
        if (values)
            numbers.tensors[name] = std::move(values).value();
        else
            read = values.error();
    };
    forEachTensor(model, [&](const TensorSpec& tensor) {
        take(tensor.weightName(), tensor.shape());
        if (tensor.hasBias)
            take(tensor.biasName(), {static_cast<std::uint64_t>(tensor.outputs)});
    });
    ENGINE_TRY_DO(read);
    return numbers;
}

std::int64_t trainedWeights(const ModelTrainerPlan& plan, const ModelConfig& model) {
    std::int64_t sum = plan.recipe == TuningRecipe::Space && !plan.isFull ? model.hiddenSize : 0;
    forEachTensor(model, [&](const TensorSpec& tensor) {
        const bool isOfLayer =
            tensor.role != TensorRole::Embedding && tensor.role != TensorRole::Head;
        const std::int64_t outputs = tensor.outputs;
        if (plan.isFull)
            sum += outputs * std::max(1, tensor.inputs) + (tensor.hasBias ? outputs : 0);
        else if (isOfLayer && !tensor.isNorm())
            sum += plan.rank * (outputs + tensor.inputs);
    });
    return sum;
}

} // namespace engine
