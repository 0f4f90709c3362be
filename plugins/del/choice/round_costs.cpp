// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/choice/round_costs.h"

#include "engine/base/result.h"
#include "engine/model/weight_share.h"

#include <algorithm>

namespace del {

using namespace engine;

namespace {

/// The head is taken to be no cheaper than this part of what its weights say, and no dearer than
/// that factor: passes that were held up must not make a layer cost nothing.
constexpr double kLeastOfHead = 0.1;
constexpr double kMostOfHead = 10.0;

/// A measurement weighs so much beside the next one.
constexpr double kLineMemory = 0.97;

/// No number of rows is taken to cost less than this part of the mean.
constexpr double kLeastOfMean = 0.05;

} // namespace

void RowLine::record(int rows, double ms) {
    const double x = rows;
    m_weight = kLineMemory * m_weight + 1.0;
    m_rows = kLineMemory * m_rows + x;
    m_ms = kLineMemory * m_ms + ms;
    m_rowsSquared = kLineMemory * m_rowsSquared + x * x;
    m_rowsMs = kLineMemory * m_rowsMs + x * ms;
}

double RowLine::at(int rows) const {
    if (!isMeasured())
        return 0.0;
    const double meanRows = m_rows / m_weight;
    const double meanMs = m_ms / m_weight;
    const double variance = m_rowsSquared / m_weight - meanRows * meanRows;
    const double guess =
        meanMs * StepCosts::kFirstGuess / (1.0 + StepCosts::kFirstGuess * (meanRows - 1.0));
    const double covariance = m_rowsMs / m_weight - meanRows * meanMs;
    // Passes that hardly differ in rows do not show what a row costs.
    const double slope = variance > 0.25 ? std::max(covariance / variance, 0.0) : guess;
    return std::max(meanMs + slope * (rows - meanRows), kLeastOfMean * meanMs);
}

RoundCosts::RoundCosts(const ModelConfig& config)
    : m_layerCount(config.layerCount) {
    const auto [attention, mlp] = sublayerWeights(config);
    m_headByWeights = static_cast<double>(config.hiddenSize) * config.vocabSize / (attention + mlp);
}

double RoundCosts::plainMs() const { return m_passes.oneRowMs() > 0.0 ? m_passes.oneRowMs() : 1.0; }

/// kappa, the head in layers of one row: measured where both the head alone and full passes were.
double RoundCosts::headLayers() const {
    const double measured = m_heads.at(1);
    if (!m_heads.isMeasured() || m_passes.oneRowMs() <= 0.0)
        return m_headByWeights;
    const double layerMs = std::max(plainMs() - measured, 0.0) / m_layerCount;
    const double least = kLeastOfHead * m_headByWeights;
    const double most = kMostOfHead * m_headByWeights;
    return layerMs > measured / most ? std::max(measured / layerMs, least) : most;
}

/// Of the cost of a full pass of one row.
double RoundCosts::shareOf(double layers, bool hasHead) const {
    const double head = headLayers();
    return (layers + (hasHead ? head : 0.0)) / (m_layerCount + head);
}

void RoundCosts::recordHead(int rows, double ms) {
    if (ms > 0.0)
        m_heads.record(rows, ms);
}

void RoundCosts::recordDraft(const ExitOffer& draft, double ms) {
    if (draft.steps < 1 || ms <= 0.0)
        return;
    const int passes = draft.steps + 1;
    const double share = shareOf(draft.exit, true) * draft.steps + shareOf(draft.exit, false);
    m_passes.recordDraft(share / passes, ms / passes);
}

void RoundCosts::recordVerify(int exit, int rows, double ms) {
    if (ms > 0.0)
        m_passes.record(rows, ms / shareOf(m_layerCount - exit, true));
}

double RoundCosts::headMs(int rows) const {
    if (m_heads.isMeasured())
        return m_heads.at(rows);
    const double one = plainMs() * (1.0 - shareOf(m_layerCount, false));
    return one * (1.0 + StepCosts::kFirstGuess * (rows - 1));
}

double RoundCosts::draftMs(int exit) const {
    return plainMs() * m_passes.relativeDraftCost(shareOf(exit, true));
}

double RoundCosts::verifyMs(int exit, int rows) const {
    const double early = exit > 0 ? m_passes.relativeDraftCost(shareOf(exit, false)) : 0.0;
    return plainMs() * (early + m_passes.relativeCost(rows) * shareOf(m_layerCount - exit, true));
}

double RoundCosts::roundMs(int exit, int steps) const {
    return steps == 0 ? plainMs() : steps * draftMs(exit) + verifyMs(exit, steps + 1);
}

double tokensPerMs(double alpha, const ExitOffer& round, const RoundCosts& costs, double besideMs) {
    return expectedTokens(alpha, round.steps) / (costs.roundMs(round.exit, round.steps) + besideMs);
}

} // namespace del
