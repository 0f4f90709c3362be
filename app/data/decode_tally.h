// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/decode_metrics.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace app {

/// Totals over the steps of answers: the engine's own metrics, and the figures of plain steps. A
/// plain value.
struct DecodeTally {
    engine::DecodeMetrics metrics;
    long steps = 0;
    double plainMs = 0.0; ///< passes of plain steps

    long tokens() const { return static_cast<long>(metrics.tokens + metrics.baselineTokens); }

    void add(const engine::DecodeStep& step) {
        ++steps;
        plainMs += step.isPlain() ? step.verifyMs : 0.0;
        metrics.add(step, step.draftMs + step.verifyMs + step.search.searchMs);
    }

    void add(const engine::SearchReport& report) { metrics.addSearch(report.searchMs); }

    void add(const DecodeTally& other) {
        steps += other.steps;
        plainMs += other.plainMs;
        metrics.add(other.metrics);
    }

    double verifyMs() const { return metrics.verifyMs + plainMs; }

    /// M: average tokens per round; 1 if nothing was drafted.
    double tokensPerRound() const { return metrics.tokensPerRound().value_or(1.0); }

    /// Accepted tokens per draft step; 0 if nothing was drafted.
    double acceptance() const { return metrics.acceptance().value_or(0.0); }

    /// For all steps, including plain ones; 0 before the first. See DecodeMetrics::tokensPerLayer.
    double tokensPerLayer() const {
        const double layers = metrics.draftLayers + metrics.verifyLayers + metrics.baselineLayers;
        return layers > 0.0 ? static_cast<double>(tokens()) / layers : 0.0;
    }

    /// The fields common to all commands' JSON; acceptance is null without drafts.
    nlohmann::ordered_json json() const {
        nlohmann::ordered_json share; // null
        if (metrics.draftSteps > 0)
            share = acceptance();
        return {{"M", tokensPerRound()},
                {"acceptance", std::move(share)},
                {"tokens_per_layer", tokensPerLayer()},
                {"draft_steps", metrics.draftSteps},
                {"accepted", metrics.accepted},
                {"draft_ms", metrics.draftMs},
                {"verify_ms", verifyMs()},
                {"search_ms", metrics.searchMs}};
    }
};

} // namespace app
