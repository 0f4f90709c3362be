// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/network/frozen_model.h"

#include "engine/base/to_size.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace trainer_torch {

using namespace engine;

FrozenModel freeze(const TrainerPlan& plan, const TrainerModel& model, at::ScalarType type) {
    const std::size_t width = toSize(plan.sizes.hiddenSize);
    FrozenModel made;
    made.headIds = plan.headIds;
    made.headRows.assign(toSize(model.vocabSize), -1);
    made.logitScale = model.logitScale;
    made.logitSoftCap = model.logitSoftCap;
    at::Tensor embedding = at::empty({model.vocabSize, plan.sizes.hiddenSize}, at::kFloat);
    std::copy(model.embedding.begin(), model.embedding.end(), embedding.mutable_data_ptr<float>());
    const std::vector<float>& rows = model.head.empty() ? model.embedding : model.head;
    at::Tensor head = at::empty(
        {static_cast<std::int64_t>(plan.headIds.size()), plan.sizes.hiddenSize}, at::kFloat);
    auto* to = head.mutable_data_ptr<float>();
    for (std::size_t i = 0; i < plan.headIds.size(); ++i) {
        const std::size_t token = toSize(plan.headIds[i]);
        made.headRows[token] = static_cast<int>(i);
        to = std::copy_n(rows.data() + token * width, width, to);
    }
    made.embedding = embedding.to(type);
    made.head = head.to(type);
    return made;
}

} // namespace trainer_torch
