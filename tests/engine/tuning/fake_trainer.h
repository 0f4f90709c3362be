// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/to_size.h"
#include "engine/tuning/trainer.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// A trainer of three numbers, which notes what it is asked for. All that it computes is a function
/// of its state, the texts and the terms.
class FakeTrainer final : public engine::Trainer {
public:
    struct Step {
        std::vector<engine::TokenId> texts; ///< the first token of each
        engine::StepTerms terms;
    };

    std::vector<Step> steps; ///< of this object, those that failed left out
    int calls = 0;           ///< of step(), by this object

    /// Whether this call has a loss that is not finite; it is given `calls` and the steps done.
    std::function<bool(int call, std::int64_t steps)> fails;

    /// Drafts of 1000 that are right after so many steps; by default what the weights happen to
    /// say.
    std::function<std::int64_t(std::int64_t steps)> score;

    /// Told of each call before it does anything.
    std::function<void()> stepping;
    std::function<void()> evaluating;

    std::int64_t stepCount() const { return m_steps; }

    engine::Result<engine::StepLosses> step(std::span<const engine::TrainingText> texts,
                                            const engine::StepTerms& terms) override {
        if (stepping)
            stepping();
        if (terms.stop.stop_requested())
            return engine::Error{engine::ErrorCode::Cancelled, "The step was stopped.", ""};
        const int call = calls++;
        if (fails && fails(call, m_steps))
            return engine::Error{engine::ErrorCode::Numeric, "The loss is not finite.", ""};
        Step noted{{}, terms};
        float sum = 0.0F;
        for (const engine::TrainingText& text : texts) {
            noted.texts.push_back(text.tokens.front());
            for (const engine::TokenId token : text.tokens)
                sum += static_cast<float>(token);
        }
        m_weights[0] = 0.9F * m_weights[0] + static_cast<float>(terms.rate) * sum;
        m_weights[1] = 0.8F * m_weights[1] + static_cast<float>(terms.overlap + 0.125);
        m_weights[2] += static_cast<float>(terms.streamLoss) * m_weights[0];
        for (std::size_t i = 0; i < m_weights.size(); ++i)
            m_average[i] = 0.75F * m_average[i] + 0.25F * m_weights[i];
        ++m_steps;
        steps.push_back(std::move(noted));
        return engine::StepLosses{.likelihood = 1.0};
    }

    engine::Result<engine::DraftHits> evaluate(const engine::TrainingText& text) override {
        if (evaluating)
            evaluating();
        const float mixed = std::abs(m_average[0] + m_average[1] + m_average[2]) * 1e3F;
        engine::DraftHits hits;
        hits.tried[0] = 1000;
        hits.hits[0] = score ? score(m_steps) : static_cast<std::int64_t>(mixed) % 997;
        hits.tried[1] = hits.hits[0];
        hits.hits[1] = text.tokens.front() % 2;
        hits.exits = {text.tokens.front(), m_steps};
        return hits;
    }

    engine::NamedArrays state() const override {
        return {{"average", m_average},
                {"steps", {static_cast<float>(m_steps)}},
                {"weights", m_weights}};
    }

    engine::Result<void> restore(const engine::NamedArrays& state) override {
        if (state.size() != 3 || !state.contains("weights"))
            return engine::Error{engine::ErrorCode::CorruptFile, "It is another state.", ""};
        m_average = state.at("average");
        m_steps = static_cast<std::int64_t>(state.at("steps").front());
        m_weights = state.at("weights");
        return {};
    }

    engine::NamedArrays result() const override { return {{"norm.out", m_average}}; }

private:
    std::vector<float> m_weights = {0.5F, 0.25F, -1.0F};
    std::vector<float> m_average = {0.5F, 0.25F, -1.0F};
    std::int64_t m_steps = 0;
};
