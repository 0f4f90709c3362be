// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/figures_run.h"
#include "ui/views/speed/speed_view.h"

namespace support {

/// A view of this size on the screen, and the run that it shows.
struct ShownSpeed {
    ViewStage stage;
    ui::SpeedView view{stage.context()};

    explicit ShownSpeed(const QSize& size = {452, 260}) {
        view.resize(size);
        view.show();
    }
};

/// c = .91, 148 of 251 accepted, M = 1.60: the mock-ups' model on which skipping does not pay.
inline engine::Statistics losingTotals() {
    engine::Statistics statistics;
    statistics.total.rounds = 247;
    statistics.total.tokens = 247 + 148;
    statistics.total.accepted = 148;
    statistics.total.draftSteps = 251;
    statistics.total.draftMs = 251 * 0.91 * kPlainStepMs;
    statistics.total.verifyMs = 247 * kPlainStepMs;
    return statistics;
}

/// A set, plain steps, and an answer with it.
inline void sayPlannedAnswer(ViewStage& stage) {
    stage.say(paperPlan());
    sayBaseline(stage);
    sayAnswer(stage);
}

} // namespace support
