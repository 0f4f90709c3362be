// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"

#include <algorithm>
#include <string>

// The run that the mock-ups show, as events: its figures tie out (see the tests of the views).

namespace support {

constexpr double kVanillaTokensPerSecond = 46.8;
constexpr double kPlainStepMs = 1000.0 / kVanillaTokensPerSecond;

/// A set of r = .45 on 30 layers: 25 of the inner 56 sublayers, 14 attention and 11 MLP.
inline engine::PlanChanged paperPlan(std::uint64_t id = 1) {
    engine::PlanChanged change;
    change.planId = id;
    change.plan.layerCount = 30;
    for (int i = 0; i < 14; ++i)
        change.plan.skipped.attention.push_back(1 + 2 * i);
    for (int i = 0; i < 11; ++i)
        change.plan.skipped.mlp.push_back(2 + 2 * i);
    change.skipRatio = 0.45;
    change.reason = "better";
    return change;
}

/// Plain steps of 21.4 ms: vanilla's 46.8 tokens a second.
inline void sayBaseline(ViewStage& stage, int steps = 4) {
    for (int i = 0; i < steps; ++i) {
        engine::DecodeMetrics total = stage.store.speed().chat().sums;
        ++total.baselineTokens;
        total.baselineMs += kPlainStepMs;
        stage.say(plainStep(1, i, "x", kPlainStepMs));
        stage.say(statistics(total));
    }
}

/// 178 tokens in 37 steps at 62.2 tokens a second: 141 of 149 drafted tokens accepted, a draft pass
/// costs .63 of a plain step, verifying one plain step.
inline void sayAnswer(ViewStage& stage) {
    constexpr int kRounds = 37;
    constexpr double kStepMs = 178.0 / 62.2 * 1000.0 / kRounds;
    for (int round = 0; round < kRounds; ++round) {
        const int drafted = round == 0 ? 5 : 4;
        const int accepted = round < 8 ? drafted - 1 : drafted;
        const std::vector<std::string> texts(static_cast<std::size_t>(drafted), "t");
        engine::StepFinished step =
            draftStep(1, round, texts, static_cast<std::size_t>(accepted), "b");
        step.draftMs = drafted * 0.63 * kPlainStepMs;
        step.verifyMs = kPlainStepMs;
        step.otherMs = kStepMs - 149.0 / kRounds * 0.63 * kPlainStepMs - kPlainStepMs;
        engine::DecodeMetrics total = stage.store.speed().chat().sums;
        ++total.rounds;
        total.tokens += accepted + 1;
        total.accepted += accepted;
        total.draftSteps += drafted;
        total.draftMs += step.draftMs;
        total.verifyMs += step.verifyMs;
        total.otherMs += step.otherMs;
        stage.say(step);
        stage.say(statistics(total));
    }
}

/// A trial on a window of 32 tokens that matches `matches` of them.
inline engine::TrialFinished windowTrial(std::string kind, int index, int matches, int best) {
    engine::TrialFinished finished =
        trial(std::move(kind), index, matches / 32.0, best / 32.0, paperPlan().plan);
    finished.isBest = matches >= best;
    finished.ticks.assign(32, 1);
    for (int i = 0; i < 32; ++i)
        finished.window.push_back(std::to_string(i).insert(0, 1, 'w'));
    finished.guesses = finished.window;
    // Misses far from each other, as they fall in a text.
    for (int i = 0; i < 32 - matches; ++i) {
        const auto place = static_cast<std::size_t>((i * 13 + 2) % 32);
        finished.ticks[place] = 0;
        finished.guesses[place] = "other";
    }
    return finished;
}

/// A search of 400 trials, 384 random and 16 Bayesian, that ends at 31 / 32; at step 300 the best
/// set has 29 / 32. The Bayesian suggestions find what is better.
inline void saySearch(ViewStage& stage) {
    stage.say(engine::PhaseChanged{engine::DecoderPhase::Accumulate});
    stage.say(engine::PhaseChanged{engine::DecoderPhase::Optimise});
    int best = 15;
    unsigned noise = 7;
    for (int step = 1; step <= 400; ++step) {
        const bool isBayesian = step % 25 == 0;
        const bool isBetter = isBayesian && (step <= 300 || step % 50 == 0);
        noise = noise * 1664525u + 1013904223u;
        const int lower = best - 3 - static_cast<int>((noise >> 16) % 11);
        const int rise = step == 300 ? 29 - best : 1;
        const int matches = isBetter ? best + rise : std::max(isBayesian ? best - 2 : lower, 5);
        best = std::max(best, matches);
        engine::TrialFinished finished =
            windowTrial(isBayesian ? "bayesian" : "random", step, matches, best);
        // Each best set is like no other candidate.
        finished.plan.skipped.mlp.back() = isBetter ? 22 + step / 25 % 8 : 21;
        finished.plan.skipped.attention.back() = 26 + step / 200;
        stage.say(finished);
        if (!isBetter)
            continue;
        engine::PlanChanged change = paperPlan(static_cast<std::uint64_t>(step));
        change.plan = finished.plan;
        stage.say(change);
    }
    stage.say(engine::PhaseChanged{engine::DecoderPhase::Accelerate});
}

} // namespace support
