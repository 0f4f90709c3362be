// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <string>
#include <utility>
#include <vector>

// Events of an invented run, made by hand so that their figures can be checked by head.

namespace support {

inline engine::ModelLoaded loadedModel(int layers = 4, int context = 128) {
    engine::ModelLoaded loaded;
    loaded.path = "/models/tiny.gguf";
    loaded.model.architecture = "llama";
    loaded.model.layerCount = layers;
    loaded.model.contextLength = context;
    loaded.model.backend = "plain";
    loaded.model.precision = "float64";
    return loaded;
}

inline engine::PromptStarted promptStarted(std::uint64_t id, int promptTokens = 8) {
    engine::PromptStarted started;
    started.promptId = id;
    started.task = "chat";
    started.promptTokens = promptTokens;
    return started;
}

inline engine::EmittedToken
token(engine::TokenId id, std::string text, engine::TokenOrigin origin, double probability = 0.9) {
    engine::EmittedToken made;
    made.id = id;
    made.text = std::move(text);
    made.fact.origin = origin;
    made.fact.rank = origin == engine::TokenOrigin::Draft ? 0 : -1;
    made.fact.draftProbability = origin == engine::TokenOrigin::Draft ? probability : 0.0;
    made.fact.targetProbability = probability;
    return made;
}

/// A plain step of the full model.
inline engine::StepFinished
plainStep(std::uint64_t prompt, int step, std::string text, double stepMs) {
    engine::StepFinished finished;
    finished.promptId = prompt;
    finished.step = step;
    finished.text = text;
    finished.tokens = {token(step + 1, std::move(text), engine::TokenOrigin::Vanilla)};
    finished.isBaseline = true;
    finished.verifiedRows = 1;
    finished.verifyMs = stepMs;
    return finished;
}

/// A round that drafted a chain of `drafted` (texts) and accepted the first `accepted` of them,
/// and then the full model's own token `bonus`.
inline engine::StepFinished draftStep(std::uint64_t prompt,
                                      int step,
                                      const std::vector<std::string>& drafted,
                                      std::size_t accepted,
                                      const std::string& bonus) {
    engine::StepFinished finished;
    finished.promptId = prompt;
    finished.step = step;
    for (std::size_t i = 0; i < drafted.size(); ++i) {
        const auto id = static_cast<engine::TokenId>(100 * step) + static_cast<engine::TokenId>(i);
        finished.draft.push_back({id, static_cast<int>(i) - 1, 0, 0.9});
        finished.confidences.push_back(0.9);
        if (i < accepted) {
            finished.tokens.push_back(token(id, drafted[i], engine::TokenOrigin::Draft));
            finished.path.push_back(static_cast<int>(i));
            finished.text += drafted[i];
        }
    }
    finished.tokens.push_back(token(100 * step + 99, bonus, engine::TokenOrigin::Bonus));
    finished.text += bonus;
    finished.planId = 1;
    finished.verifiedRows = static_cast<int>(drafted.size()) + 1;
    return finished;
}

/// The sums behind a step.
inline engine::Statistics statistics(const engine::DecodeMetrics& total) {
    engine::Statistics told;
    told.contextLength = 1000;
    told.total = total;
    return told;
}

inline engine::EngineFailed failedTask(std::string task, engine::Error error) {
    engine::EngineFailed failed;
    failed.task = std::move(task);
    failed.error = std::move(error);
    return failed;
}

inline engine::PromptFinished promptFinished(std::uint64_t id) {
    engine::PromptFinished finished;
    finished.promptId = id;
    return finished;
}

inline engine::TrialFinished
trial(std::string kind, int index, double score, double best, engine::PlanOutline plan) {
    engine::TrialFinished finished;
    finished.trialKind = std::move(kind);
    finished.counts = finished.trialKind != "rescore";
    finished.index = index;
    finished.score = score;
    finished.best = best;
    finished.isBest = score >= best;
    finished.plan = std::move(plan);
    return finished;
}

} // namespace support
