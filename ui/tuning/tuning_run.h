// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_event.h"

#include <QStringList>

namespace ui {

enum class TuningPhase {
    Preparing, ///< the process reads prompts, model or what it had stored
    Writing,   ///< the model writes prompts itself
    Collecting,
    Training,
    Over,
};

struct LossPoint {
    qint64 step = 0;
    double loss = 0.0;
    std::optional<double> drafting = {}; ///< as in TuningStep

    bool operator==(const LossPoint&) const = default;
};

/// All that the events of a training have told so far. A plain value.
struct TuningRun {
    TuningPhase phase = TuningPhase::Preparing;
    std::optional<TuningStarted> facts;
    std::optional<TuningPrices> prices;           ///< newest
    std::optional<TuningSelfPrompts> selfPrompts; ///< newest
    std::optional<TuningCollected> collected;     ///< newest
    qint64 earlierPrompts = 0;                    ///< answered before the newest process
    std::optional<TuningStep> step;               ///< newest
    std::vector<LossPoint> losses;                ///< by step
    std::vector<TuningEvaluation> evaluations;    ///< by step
    std::optional<TuningBest> kept;               ///< newest; none once there is a result
    QStringList notes;
    std::optional<TuningDone> done;
    std::optional<TuningError> error;

    /// What is told of a step that was told before takes the place of that and of all behind it: a
    /// training that goes on begins at its newest checkpoint.
    void apply(const TuningEvent& event);

    /// The evaluation whose state is kept; null before the first one.
    const TuningEvaluation* best() const;

    /// Null before the first one.
    const TuningEvaluation* newest() const {
        return evaluations.empty() ? nullptr : &evaluations.back();
    }

    /// How much of the answers is there, from 0 to 1: by tokens, or by time where that decides.
    double collectedPart() const;

    /// Of the minutes for all of it, the part in which answers are collected.
    static constexpr double kCollectShare = 0.35;

    /// The share of tokens that each exit says, in the end that of the state that was kept; empty
    /// for a model without exits.
    std::vector<double> exits() const;

    /// Steps of the whole training; 0 = not known yet.
    qint64 plannedSteps() const { return step ? step->steps : 0; }
};

} // namespace ui
