// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/training_loss.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/draft_losses.h"
#include "plugins/trainer_torch/network/row_math.h"

#include <ATen/TensorOperators.h>

namespace trainer_torch {

using namespace engine;

std::vector<double> rowWeights(const TrainerPlan& plan, std::span<const std::int64_t> totals) {
    std::vector<double> weights;
    double sum = 0.0;
    double weight = 1.0;
    for (int depth = 0; depth < plan.unroll; ++depth, weight *= plan.depthDecay) {
        weights.push_back(weight);
        sum += weight;
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = totals[i] > 0 ? weights[i] / sum / static_cast<double>(totals[i]) : 0.0;
    return weights;
}

PackLoss packLoss(const DraftBlock& block,
                  const TensorMap& weights,
                  const PackTensors& pack,
                  std::span<const double> rowWeights,
                  const StepTerms& terms,
                  double epsilon) {
    const BlockWeights prepared = block.prepare(weights);
    const std::vector<at::Tensor> streams = block.unroll(prepared, pack);
    PackLoss loss;
    for (std::size_t depth = 0; depth < streams.size(); ++depth) {
        const DepthLosses found = depthLosses(
            block.logits(prepared, streams[depth]), streams[depth], pack.depths[depth], epsilon);
        addTo(loss.likelihood, found.likelihood * rowWeights[depth]);
        addTo(loss.overlap, found.overlap * rowWeights[depth]);
        addTo(loss.stream, found.stream * rowWeights[depth]);
    }
    loss.total = loss.likelihood * (1.0 - terms.overlap);
    if (terms.overlap > 0.0)
        loss.total = loss.total + loss.overlap * terms.overlap;
    if (terms.streamLoss > 0.0)
        loss.total = loss.total + loss.stream * terms.streamLoss;
    return loss;
}

} // namespace trainer_torch
