// SPDX-License-Identifier: Apache-2.0
#include "engine/model/weight_share.h"

#include "engine/base/result.h"

namespace engine {

double weightShare(const LayerPlan& plan, const ModelConfig& config) {
    ENGINE_CHECK(plan.layerCount() == config.layerCount,
                 "a plan of {} layers for a model of {}",
                 plan.layerCount(),
                 config.layerCount);
    const double hidden = config.hiddenSize;
    const double attention =
        hidden * config.headDim * 2.0 * (config.headCount + config.kvHeadCount);
    const double mlp = 3.0 * hidden * config.mlpSize;
    const double head = hidden * config.vocabSize;
    double read = head;
    for (int layer = 0; layer <= plan.exitAfterLayer; ++layer)
        read += (plan.runsAttention(layer) ? attention : 0.0) + (plan.runsMlp(layer) ? mlp : 0.0);
    return read / (head + config.layerCount * (attention + mlp));
}

} // namespace engine
