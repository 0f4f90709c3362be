// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/model/skip_sets/layer_plan.h"

namespace engine {

class Transformer;

/// Numbers of weights that one sublayer reads for a token: of experts only those that are chosen,
/// and their router. Norms and biases do not count.
struct SublayerWeights {
    double attention = 0.0;
    double mlp = 0.0;
};

SublayerWeights sublayerWeights(const ModelConfig& config, int layer = 0);

/// The share of the weights read for one token that a plan still reads, the output head included:
/// what a draft pass costs in vanilla steps where reading weights is what takes the time. 1 for the
/// full plan; norms, biases and the embedding row do not count. `headPart`: the part of the head's
/// rows that is read.
double weightShare(const LayerPlan& plan, const ModelConfig& config, double headPart = 1.0);

/// The same for a plan that may read the transformer's copy: then the share of the bytes.
double weightShare(const LayerPlan& plan, const Transformer& transformer, double headPart = 1.0);

} // namespace engine
