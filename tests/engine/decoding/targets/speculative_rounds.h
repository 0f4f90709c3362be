// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/target.h"
#include "tests/support/lossless/token_law.h"
#include "tests/support/value_of.h"

#include <memory>

namespace rounds {

using support::Decisions;
using support::TabularTransformer;
using support::Tokens;
using support::valueOf;

/// How rounds draft and verify.
struct Settings {
    engine::SamplingOptions sampling = {.temperature = 1.0};
    engine::DraftTerms draft = {.maxNodes = 16, .rule = engine::VerifyRule::Rejection};
    double epsilon = 0.0; ///< of the early stop
    int maxSteps = 2;
};

inline engine::Target makeTarget(TabularTransformer& model, const Settings& settings) {
    return valueOf(engine::Target::make(model, settings.sampling, 64, settings.draft.maxNodes + 1));
}

inline void begin(engine::Target& target, const Tokens& prompt, int maxTokens = 60) {
    const auto begun = target.begin({prompt, maxTokens}, {});
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
}

inline engine::Draft
draft(engine::SelfDrafter& drafter, engine::Target& target, const Settings& settings) {
    auto& model = dynamic_cast<TabularTransformer&>(target.transformer());
    const engine::ConfidenceStopRule stopRule(settings.epsilon, settings.maxSteps);
    engine::DraftTerms terms = settings.draft;
    terms.stopRule = &stopRule;
    drafter.use(model.skippingPlan(), 1);
    return valueOf(drafter.draft(target, terms));
}

/// The engine's own rounds, their decisions made from outside.
inline support::Round realRounds(TabularTransformer& model, const Settings& settings) {
    const auto target = std::make_shared<engine::Target>(makeTarget(model, settings));
    return [target, settings](const Tokens& prompt, Decisions& decisions) {
        begin(*target, prompt);
        engine::SelfDrafter drafter(&decisions);
        return valueOf(target->verify(draft(drafter, *target, settings),
                                      {.rule = settings.draft.rule, .draws = &decisions}))
            .tokens;
    };
}

/// `count` tokens by the engine's own rounds under its own random numbers. The answer ends there
/// or soon after, so that some rounds have little room.
inline Tokens realSample(TabularTransformer& model, const Settings& settings, int count) {
    engine::Target target = makeTarget(model, settings);
    engine::SelfDrafter drafter;
    begin(target, {1, 0}, count + static_cast<int>(settings.sampling.seed % 3));
    while (static_cast<int>(target.output().size()) < count)
        valueOf(target.verify(draft(drafter, target, settings), settings.draft.rule));
    const auto output = target.output().first(static_cast<std::size_t>(count));
    return {output.begin(), output.end()};
}

/// `count` tokens by rounds whose decisions are random.
inline Tokens sampleOf(const support::Round& round,
                       std::uint64_t seed,
                       int count,
                       const Tokens& prompt = {1, 0}) {
    support::RandomDecisions decisions(seed);
    Tokens whole = prompt;
    while (whole.size() < prompt.size() + static_cast<std::size_t>(count)) {
        const Tokens emitted = round(whole, decisions);
        whole.insert(whole.end(), emitted.begin(), emitted.end());
    }
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(prompt.size());
    return {first, first + count};
}

} // namespace rounds
