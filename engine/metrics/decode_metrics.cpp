// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics/decode_metrics.h"

#include <algorithm>

namespace engine {

namespace {

std::optional<double> ratio(double numerator, double denominator) {
    if (denominator <= 0.0)
        return std::nullopt;
    return numerator / denominator;
}

} // namespace

void DecodeMetrics::add(const DecodeStep& step, double stepMs) {
    if (step.isPlain()) {
        addBaseline(step, stepMs);
        ++plainRounds;
        plainMs += std::max(0.0, stepMs - step.search.searchMs);
        plainLayers += step.draftLayers + step.verifyLayers;
        return;
    }
    searchMs += step.search.searchMs;
    ++rounds;
    tokens += static_cast<std::int64_t>(step.tokens.size());
    accepted += static_cast<std::int64_t>(step.path.size());
    draftSteps += step.draft.draftSteps();
    draftedNodes += step.draft.size();
    verifiedRows += step.verifiedRows;
    draftLayers += step.draftLayers;
    verifyLayers += step.verifyLayers;
    draftMs += step.draftMs;
    verifyMs += step.verifyMs;
    otherMs += std::max(0.0, stepMs - step.draftMs - step.verifyMs - step.search.searchMs);
}

void DecodeMetrics::addBaseline(const DecodeStep& step, double stepMs) {
    searchMs += step.search.searchMs;
    baselineTokens += static_cast<std::int64_t>(step.tokens.size());
    baselineMs += std::max(0.0, stepMs - step.search.searchMs);
    baselineLayers += step.draftLayers + step.verifyLayers;
}

void DecodeMetrics::add(const DecodeMetrics& other) {
    rounds += other.rounds;
    tokens += other.tokens;
    accepted += other.accepted;
    draftSteps += other.draftSteps;
    draftedNodes += other.draftedNodes;
    verifiedRows += other.verifiedRows;
    draftLayers += other.draftLayers;
    verifyLayers += other.verifyLayers;
    draftMs += other.draftMs;
    verifyMs += other.verifyMs;
    searchMs += other.searchMs;
    otherMs += other.otherMs;
    plainRounds += other.plainRounds;
    plainMs += other.plainMs;
    plainLayers += other.plainLayers;
    baselineTokens += other.baselineTokens;
    baselineMs += other.baselineMs;
    baselineLayers += other.baselineLayers;
}

std::optional<double> DecodeMetrics::tokensPerRound() const {
    if (rounds == 0)
        return std::nullopt;
    return ratio(static_cast<double>(ownTokens()), static_cast<double>(ownRounds()));
}

std::optional<double> DecodeMetrics::acceptance() const {
    return ratio(static_cast<double>(accepted), static_cast<double>(draftSteps));
}

std::optional<double> DecodeMetrics::tokensPerLayer() const {
    if (rounds == 0)
        return std::nullopt;
    return ratio(static_cast<double>(ownTokens()), draftLayers + verifyLayers + plainLayers);
}

std::optional<double> DecodeMetrics::msPerToken() const {
    if (rounds == 0)
        return std::nullopt;
    return ratio(ownMs() + searchMs, static_cast<double>(ownTokens()));
}

std::optional<double> DecodeMetrics::baselineMsPerToken() const {
    return ratio(baselineMs, static_cast<double>(baselineTokens));
}

std::optional<double> DecodeMetrics::speedup() const {
    const auto own = msPerToken();
    const auto baseline = baselineMsPerToken();
    if (!own || !baseline)
        return std::nullopt;
    return ratio(*baseline, *own);
}

double expectedSpeedup(const SpeedFactors& factors) {
    const double drafted = factors.tokensPerRound - 1.0; // tokens beyond the bonus
    double draftSteps = 0.0;
    if (drafted > 0.0) {
        if (factors.acceptance <= 0.0)
            return 0.0;
        draftSteps = drafted / factors.acceptance;
    }
    return factors.tokensPerRound /
           (draftSteps * factors.draftCost + factors.verifyCost + factors.otherCost);
}

} // namespace engine
