// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/drafts/draft_adapter.h"

#include "engine/loading/network/network_tensors.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace engine {

std::uint64_t AdapterTensor::count() const {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape)
        count *= size;
    return count;
}

std::map<std::string, AdapterTensor> adapterTensors(const DraftSizes& sizes) {
    const auto width = static_cast<std::uint64_t>(sizes.hiddenSize);
    const auto inner = static_cast<std::uint64_t>(sizes.mlpSize);
    const auto dim = static_cast<std::uint64_t>(sizes.headDim);
    const std::uint64_t queries = dim * static_cast<std::uint64_t>(sizes.headCount);
    const std::uint64_t keys = dim * static_cast<std::uint64_t>(sizes.kvHeadCount);
    std::map<std::string, AdapterTensor> tensors = {
        {"draft.input.weight", {"in.weight", {width, 2 * width}}},
        {"draft.stream_norm.weight", {"norm.stream", {width}}},
        {"draft.token_norm.weight", {"norm.token", {width}}},
        {"model.norm.weight", {"norm.out", {width}}}};
    for (int layer = 0; layer < sizes.layerCount; ++layer) {
        const auto add = [&](std::string_view network,
                             std::string_view adapter,
                             std::vector<std::uint64_t> shape) {
            tensors[fmt::format("model.layers.{}.{}.weight", layer, network)] = {
                fmt::format("layer.{}.{}", layer, adapter), std::move(shape)};
        };
        add("input_layernorm", "norm.attn", {width});
        add("self_attn.q_proj", "attn.q", {queries, width});
        add("self_attn.k_proj", "attn.k", {keys, width});
        add("self_attn.v_proj", "attn.v", {keys, width});
        add("self_attn.o_proj", "attn.o", {width, queries});
        add("post_attention_layernorm", "norm.mlp", {width});
        add("mlp.gate_proj", "mlp.gate", {inner, width});
        add("mlp.up_proj", "mlp.up", {inner, width});
        add("mlp.down_proj", "mlp.down", {width, inner});
    }
    return tensors;
}

Result<void>
checkFits(const DraftAdapter& adapter, const ModelConfig& model, const std::string& fingerprint) {
    const auto refused = [&](std::string_view why) {
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The draft adapter {} {}.", adapter.name, why),
                     "Choose the adapter that was trained for this model, or go on without one."};
    };
    const auto& known = adapter.fingerprints;
    if (std::find(known.begin(), known.end(), fingerprint) == known.end())
        return refused(fmt::format("was trained for the model {}, but this one is {}",
                                   fmt::join(known, " or "),
                                   fingerprint));
    if (adapter.sizes.hiddenSize != model.hiddenSize)
        return refused(fmt::format(
            "is {} numbers wide, but the model {}", adapter.sizes.hiddenSize, model.hiddenSize));
    if (adapter.headIds.back() >= model.vocabSize)
        return refused(fmt::format("drafts token {}, but the model's vocabulary has {}",
                                   adapter.headIds.back(),
                                   model.vocabSize));
    return {};
}

/// What the adapter does not say is done as a LLaMA does it, behind the head as the model does it.
ModelConfig draftConfig(const DraftAdapter& adapter, const ModelConfig& model) {
    const DraftSizes& sizes = adapter.sizes;
    ModelConfig config;
    config.architecture = "draft";
    config.layerCount = sizes.layerCount;
    config.hiddenSize = sizes.hiddenSize;
    config.mlpSize = sizes.mlpSize;
    config.headCount = sizes.headCount;
    config.kvHeadCount = sizes.kvHeadCount;
    config.headDim = sizes.headDim;
    config.vocabSize = model.vocabSize;
    config.contextLength = model.contextLength;
    config.normEpsilon = sizes.normEpsilon;
    config.ropeTheta = sizes.ropeTheta;
    config.layerWindows.assign(static_cast<std::size_t>(sizes.layerCount), sizes.window);
    config.logitScale = model.logitScale;
    config.logitSoftCap = model.logitSoftCap;
    config.draftHeadSize = static_cast<int>(adapter.headIds.size());
    return config;
}

} // namespace engine
