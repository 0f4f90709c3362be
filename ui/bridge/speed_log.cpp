// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/speed_log.h"

#include <algorithm>
#include <numeric>
#include <ranges>

namespace ui {

using namespace engine;

bool SpeedLog::apply(const EngineEvent& event) {
    if (const auto* step = event.as<StepFinished>()) {
        addStep(*step, event.time);
        return true;
    }
    if (const auto* statistics = event.as<Statistics>()) {
        m_total = statistics->total;
        return true;
    }
    if (event.as<DecoderChosen>() != nullptr) {
        m_total = {};
        return true;
    }
    if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr) {
        *this = SpeedLog();
        return true;
    }
    return false;
}

void SpeedLog::addStep(const StepFinished& step, double time) {
    SpeedPoint point{.time = time,
                     .tokens = static_cast<int>(step.tokens.size()),
                     .isBaseline = step.isBaseline,
                     .isPlain = step.isPlain(),
                     .draftSteps = static_cast<int>(step.confidences.size()),
                     .accepted = static_cast<int>(step.path.size()),
                     .verifiedRows = step.verifiedRows,
                     .draftMs = step.draftMs,
                     .verifyMs = step.verifyMs,
                     .searchMs = step.searchMs,
                     .otherMs = step.otherMs};
    if (point.isPlain) {
        m_baselineMs.push_back(point.verifyMs + point.otherMs);
        if (m_baselineMs.size() > kBaselineStepsKept)
            m_baselineMs.pop_front();
    }
    m_points.push_back(point);
    if (m_points.size() > kPointsKept) {
        m_points.pop_front();
        ++m_dropped;
    }
    m_total = step.total;
}

std::optional<double> SpeedLog::baselineMs() const {
    if (m_baselineMs.size() < kBaselineStepsNeeded)
        return std::nullopt;
    return std::accumulate(m_baselineMs.begin(), m_baselineMs.end(), 0.0) /
           static_cast<double>(m_baselineMs.size());
}

TimeShares SpeedLog::sharesOfLast(double seconds) const {
    TimeShares shares;
    double decodedMs = 0.0;
    for (const SpeedPoint& point : m_points | std::views::reverse) {
        if (decodedMs > seconds * 1e3)
            break;
        decodedMs += point.totalMs();
        if (point.isBaseline)
            continue;
        ++shares.steps;
        shares.drafting += point.isPlain ? 0 : 1;
        shares.tokens += point.tokens;
        shares.draftMs += point.draftMs;
        shares.verifyMs += point.verifyMs;
        shares.searchMs += point.searchMs;
        shares.otherMs += point.otherMs;
    }
    return shares;
}

TimeShares SpeedLog::sharesOfAll() const {
    if (m_total.rounds == 0)
        return {};
    return {.steps = m_total.ownRounds(),
            .drafting = m_total.rounds,
            .tokens = m_total.ownTokens(),
            .draftMs = m_total.draftMs,
            .verifyMs = m_total.verifyMs + m_total.plainMs,
            .searchMs = m_total.searchMs,
            .otherMs = m_total.otherMs};
}

std::optional<double> SpeedLog::wholeSpeedup() const {
    const auto baseline = baselineMs();
    const auto drafted = m_total.msPerToken();
    if (!baseline || !drafted || *drafted <= 0.0)
        return std::nullopt;
    return *baseline / *drafted;
}

std::optional<SpeedFactors> SpeedLog::measuredFactors() const {
    const auto baseline = baselineMs();
    const auto tokens = m_total.tokensPerRound();
    const auto acceptance = m_total.acceptance();
    if (!baseline || !tokens || !acceptance || m_total.draftSteps == 0 || *baseline <= 0.0)
        return std::nullopt;
    const double rounds = static_cast<double>(m_total.ownRounds());
    return SpeedFactors{.tokensPerRound = *tokens,
                        .acceptance = *acceptance,
                        .draftCost =
                            m_total.draftMs / static_cast<double>(m_total.draftSteps) / *baseline,
                        .verifyCost = (m_total.verifyMs + m_total.plainMs) / rounds / *baseline,
                        .otherCost = m_total.otherMs / rounds / *baseline};
}

} // namespace ui
