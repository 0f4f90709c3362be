// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics/equation_six.h"

namespace engine {

std::optional<EquationSix>
EquationSix::of(const DecodeMetrics& sums, double draftCost, double measured) {
    const auto tokensPerRound = sums.tokensPerRound();
    const auto acceptance = sums.acceptance();
    if (!tokensPerRound || !acceptance || measured <= 0.0)
        return std::nullopt;
    const double expected = expectedSpeedup(
        {.tokensPerRound = *tokensPerRound, .acceptance = *acceptance, .draftCost = draftCost});
    return EquationSix{draftCost, expected, expected / measured - 1.0};
}

bool hasDraftPasses(const DecodeMetrics& sums) {
    return sums.draftSteps > 0 && sums.draftLayers > 0.0;
}

std::optional<double>
draftRatio(const DecodeMetrics& sums, double layers, std::optional<int> lockedLayers) {
    if (!lockedLayers || layers <= *lockedLayers || !hasDraftPasses(sums))
        return std::nullopt;
    const double run = sums.draftLayers / static_cast<double>(sums.draftSteps);
    if (run < *lockedLayers)
        return std::nullopt;
    return (layers - run) / (layers - *lockedLayers);
}

std::optional<double> draftCost(const DecodeMetrics& sums, double plainMs) {
    if (sums.draftSteps == 0 || plainMs <= 0.0)
        return std::nullopt;
    return sums.draftMs / static_cast<double>(sums.draftSteps) / plainMs;
}

} // namespace engine
