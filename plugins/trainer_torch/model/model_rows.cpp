// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/model/model_rows.h"

#include <ATen/ops/full.h>

#include <algorithm>
#include <limits>
#include <set>

namespace trainer_torch {

using namespace engine;

namespace {

at::Tensor seenRows(const RowPlan& plan, int window) {
    const int count = plan.count();
    at::Tensor made = at::full({count, count}, -std::numeric_limits<float>::infinity(), at::kFloat);
    auto* value = made.mutable_data_ptr<float>();
    for (int row = 0; row < count; ++row)
        for (int other = 0; other < count; ++other, ++value)
            if (plan.sees(row, other, window))
                *value = 0.0F;
    return made;
}

} // namespace

RowMaker::RowMaker(const ModelConfig& config, TokenId maskToken, at::ScalarType type)
    : m_config(config)
    , m_maskToken(maskToken)
    , m_type(type) {
    for (int layer = 0; layer < config.layerCount; ++layer)
        if (const LayerRope rope = config.ropeOf(layer);
            rope != LayerRope::None && !m_frequencies.contains(rope))
            m_frequencies.emplace(rope, rotaryFrequencies(config, rope));
}

ModelRows RowMaker::make(const RowPlan& plan) const {
    ModelRows made;
    const std::vector<std::int64_t> tokens(plan.tokens().begin(), plan.tokens().end());
    made.tokens = wholeNumbers(tokens);
    if (m_maskToken != kNoToken &&
        std::ranges::find(plan.tokens(), m_maskToken) != plan.tokens().end())
        made.isMask = made.tokens.eq(static_cast<std::int64_t>(m_maskToken)).unsqueeze(1);
    const std::set<int> windows(m_config.layerWindows.begin(), m_config.layerWindows.end());
    for (const int window : windows)
        made.seen.emplace(window, seenRows(plan, window).to(m_type));
    for (const auto& [rope, frequencies] : m_frequencies)
        made.angles.emplace(rope, rotaryAngles(frequencies, plan.positions(), m_type));
    return made;
}

} // namespace trainer_torch
