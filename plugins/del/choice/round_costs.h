// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/step_costs.h"
#include "engine/loading/model_config.h"
#include "plugins/del/choice/exit_choice.h"

namespace del {

/// The line through measured durations of passes by their rows, the newest counting most. Where all
/// had the same rows a row more is taken to cost StepCosts::kFirstGuess of the first one.
class RowLine {
public:
    void record(int rows, double ms);

    bool isMeasured() const { return m_weight > 0.0; }

    /// Above 0 once anything was measured.
    double at(int rows) const;

private:
    double m_weight = 0.0;
    double m_rows = 0.0;        // sums, decayed, of rows,
    double m_ms = 0.0;          // milliseconds,
    double m_rowsSquared = 0.0; // and their products
    double m_rowsMs = 0.0;
};

/// What the passes of a round cost on this machine, measured while running: a layer, the head, and
/// a verify pass by its rows. Before anything was measured, passes cost as much as the weights that
/// they read; milliseconds are then units of a plain step. Thread: one.
class RoundCosts {
public:
    explicit RoundCosts(const engine::ModelConfig& config);

    /// A pass of final norm and head alone, over so many rows.
    void recordHead(int rows, double ms);

    /// A draft of `steps` tokens at an exit: so many passes with the head, and one without it that
    /// brings the last token to the exit.
    void recordDraft(const ExitOffer& draft, double ms);

    /// A verify pass of so many rows that resumed behind an exit; 0 = it ran all layers.
    void recordVerify(int exit, int rows, double ms);

    /// Plain steps that were measured: what everything else is weighed against.
    int plainSamples() const { return m_passes.samples(1); }

    /// Of one row through all layers and the head: a plain step.
    double plainMs() const;

    /// t_head of so many rows at once.
    double headMs(int rows) const;

    /// One draft pass: exit * t_layer + t_head.
    double draftMs(int exit) const;

    /// The layers of an exit for the last token of a draft, then those behind it for all rows.
    double verifyMs(int exit, int rows) const;

    /// A round without what is measured beside it. `steps` 0 is a plain step.
    double roundMs(int exit, int steps) const;

private:
    double headLayers() const;
    double shareOf(double layers, bool hasHead) const;

    engine::StepCosts m_passes; // full ones by rows, draft passes by share
    RowLine m_heads;
    int m_layerCount;
    double m_headByWeights; // kappa: the head in layers, by weights
};

/// Tokens per millisecond of drafting `steps` tokens at an exit. `besideMs`: what is measured
/// beside the round.
double tokensPerMs(double alpha, const ExitOffer& round, const RoundCosts& costs, double besideMs);

} // namespace del
