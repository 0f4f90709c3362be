// SPDX-License-Identifier: Apache-2.0
#include "plugins/clasp/sublayer_costs.h"

#include <algorithm>

namespace clasp {

using namespace engine;

namespace {

/// Weight of a new measurement beside the earlier ones.
constexpr double kNewPart = 0.5;

/// Together the inner sublayers never cost more than this part of a pass: the rest is the first
/// and last layer and the head.
constexpr double kMostPart = 0.98;

/// A draft pass never costs less.
constexpr double kLeastCost = 0.02;

enum class Kept { All, Attentions, Mlps };

LayerPlan planOf(Kept kept, int layerCount) {
    LayerPlan plan = LayerPlan::full(layerCount);
    for (std::size_t layer = 0; kept != Kept::All && layer < plan.attention.size(); ++layer) {
        const bool isInner = layer > 0 && layer + 1 < plan.attention.size();
        if (!isInner || kept == Kept::Mlps)
            plan.attention[layer] = SublayerAction::Skip;
        if (!isInner || kept == Kept::Attentions)
            plan.mlp[layer] = SublayerAction::Skip;
    }
    return plan;
}

/// Milliseconds of a pass of one row; the head runs only with all layers.
Result<double> timePass(Target& target, Kept kept) {
    if (target.stop().stop_requested())
        return Error{ErrorCode::Cancelled, "Measuring the sublayers was cancelled.", ""};
    const LayerPlan plan = planOf(kept, target.transformer().config().layerCount);
    const TokenId token = target.pending();
    const int row = 0;
    const AttentionLayout layout = AttentionLayout::chain(target.length(), 1);
    const double startMs = target.nowMs();
    ENGINE_TRY_DO(target.transformer().forward(
        {.plan = plan,
         .layout = layout,
         .tokens = std::span(&token, 1),
         .summaryRows = kept == Kept::All ? std::span(&row, 1) : std::span<const int>()},
        target.cache()));
    return target.nowMs() - startMs;
}

} // namespace

Result<void> SublayerCosts::measure(Target& target) {
    ENGINE_TRY(const double all, timePass(target, Kept::All));
    ENGINE_TRY(double attentions, timePass(target, Kept::Attentions));
    ENGINE_TRY(double mlps, timePass(target, Kept::Mlps));
    if (all <= 0.0 || attentions <= 0.0 || mlps <= 0.0)
        return {}; // the clock stood still
    const double most = kMostPart * all;
    if (attentions + mlps > most) { // a thread may have lost its core
        const double part = most / (attentions + mlps);
        attentions *= part;
        mlps *= part;
    }
    const double inner = target.transformer().config().layerCount - 2;
    const double part = m_attention > 0.0 ? kNewPart : 1.0;
    m_attention += part * (attentions / all / inner - m_attention);
    m_mlp += part * (mlps / all / inner - m_mlp);
    return {};
}

double SublayerCosts::draftCost(const LayerPlan& plan) const {
    double cost = 1.0;
    for (int layer = 0; layer < plan.layerCount(); ++layer) {
        cost -= plan.runsAttention(layer) ? 0.0 : m_attention;
        cost -= plan.runsMlp(layer) ? 0.0 : m_mlp;
    }
    return std::max(cost, kLeastCost);
}

} // namespace clasp
