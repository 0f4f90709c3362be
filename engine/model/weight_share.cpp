// SPDX-License-Identifier: Apache-2.0
#include "engine/model/weight_share.h"

#include "engine/base/result.h"

namespace engine {

SublayerWeights sublayerWeights(const ModelConfig& config) {
    const double hidden = config.hiddenSize;
    return {.attention = hidden * config.headDim * 2.0 * (config.headCount + config.kvHeadCount),
            .mlp = 3.0 * hidden * config.mlpSize};
}

double weightShare(const LayerPlan& plan, const ModelConfig& config) {
    ENGINE_CHECK(plan.layerCount() == config.layerCount,
                 "a plan of {} layers for a model of {}",
                 plan.layerCount(),
                 config.layerCount);
    const auto [attention, mlp] = sublayerWeights(config);
    const double head = static_cast<double>(config.hiddenSize) * config.vocabSize;
    double read = head;
    for (int layer = 0; layer <= plan.exitAfterLayer; ++layer)
        read += (plan.runsAttention(layer) ? attention : 0.0) + (plan.runsMlp(layer) ? mlp : 0.0);
    return read / (head + config.layerCount * (attention + mlp));
}

} // namespace engine
