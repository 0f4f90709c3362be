// SPDX-License-Identifier: Apache-2.0
#include "engine/model/weight_share.h"

#include "engine/base/result.h"
#include "engine/model/transformer.h"

namespace engine {

SublayerWeights sublayerWeights(const ModelConfig& config, int layer) {
    const double hidden = config.hiddenSize;
    const ExpertChoice& experts = config.experts;
    const double mlp = config.hasExperts(layer)
                           ? hidden * (experts.count + 3.0 * experts.used * experts.size)
                           : 3.0 * hidden * config.mlpSize;
    return {.attention = hidden * config.headDim * 2.0 * (config.headCount + config.kvHeadCount),
            .mlp = mlp};
}

double weightShare(const LayerPlan& plan, const ModelConfig& config, double headPart) {
    ENGINE_CHECK(plan.layerCount() == config.layerCount,
                 "a plan of {} layers for a model of {}",
                 plan.layerCount(),
                 config.layerCount);
    const double head = static_cast<double>(config.hiddenSize) * config.vocabSize;
    double read = headPart * head;
    double all = head;
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const auto [attention, mlp] = sublayerWeights(config, layer);
        all += attention + mlp;
        if (layer <= plan.exitAfterLayer)
            read +=
                (plan.runsAttention(layer) ? attention : 0.0) + (plan.runsMlp(layer) ? mlp : 0.0);
    }
    return read / all;
}

double weightShare(const LayerPlan& plan, const Transformer& transformer, double headPart) {
    const double share = weightShare(plan, transformer.config(), headPart);
    return plan.weights == WeightSet::Copy ? share * transformer.copyShare() : share;
}

} // namespace engine
