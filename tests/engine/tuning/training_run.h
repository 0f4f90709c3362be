// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/training/draft_training.h"
#include "tests/engine/tuning/fake_trainer.h"
#include "tests/engine/tuning/tuning_rows.h"
#include "tests/support/temporary_folder.h"

#include <functional>
#include <string>
#include <vector>

/// A training of a few texts, with a trainer of its own for each start of it.
class TrainingRun {
public:
    static constexpr int kTexts = 10;
    static constexpr int kStepsOfEpoch = 5; ///< two texts of 6 rows fit into a step of 16

    /// Training texts have their place as the first token.
    explicit TrainingRun(int trainingTexts = kTexts, int validationTexts = 2)
        : m_rows(tuning_rows::storeOf(m_folder.path(), texts(trainingTexts, validationTexts))) {
        plan.profile = "test";
        plan.epochs = 4;
        plan.stepRows = 16;
        plan.rate = 0.01;
        plan.validationSteps = 5;
        plan.validationRows = 1000;
        watch.evaluated = [this](const engine::Evaluation& evaluation, bool isBest) {
            evaluated.push_back(evaluation.step);
            if (isBest)
                bestWeights = trainer->result();
            if (onEvaluated)
                onEvaluated(evaluation.step);
        };
        watch.noted = [this](const std::string& sentence) { notes.push_back(sentence); };
    }

    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    engine::TuningPlan plan;
    engine::TrainingWatch watch;
    double checkpointMinutes = 1e9;
    double secondsBefore = 0.0;
    double clockMs = 0.0;
    double stepMs = 1000.0; ///< that a step takes

    std::function<void(FakeTrainer&)> prepares; ///< each new trainer
    std::function<void(std::int64_t step)> onEvaluated;

    // What there was to see, of all starts together.
    std::vector<std::int64_t> evaluated; ///< steps
    std::vector<std::string> notes;
    engine::NamedArrays bestWeights;
    std::unique_ptr<FakeTrainer> trainer; ///< the newest one

    std::filesystem::path folder() const { return m_folder.path(); }

    engine::CheckpointOwner owner() const { return {"a plan", m_rows.hash()}; }

    /// Begins, or goes on from what is in the folder.
    engine::Result<engine::TrainingResult> start(const std::stop_token& stop = {}) {
        trainer = std::make_unique<FakeTrainer>();
        trainer->stepping = [this] { clockMs += stepMs; };
        if (prepares)
            prepares(*trainer);
        engine::CheckpointFiles checkpoints(folder(), owner());
        return engine::trainDrafts({.rows = m_rows,
                                    .trainer = *trainer,
                                    .plan = plan,
                                    .checkpoints = checkpoints,
                                    .checkpointMinutes = checkpointMinutes,
                                    .secondsBefore = secondsBefore,
                                    .nowMs = [this] { return clockMs; },
                                    .watch = watch,
                                    .stop = stop});
    }

    /// The same, which must succeed. Fails by exception.
    engine::TrainingResult finish() {
        auto result = start();
        ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
        return std::move(result).value();
    }

    /// The terms of each step that the newest trainer has made.
    std::vector<double> rates() const {
        std::vector<double> found;
        for (const FakeTrainer::Step& step : trainer->steps)
            found.push_back(step.terms.rate);
        return found;
    }

private:
    static std::vector<tuning_rows::StoredText> texts(int training, int validation) {
        std::vector<tuning_rows::StoredText> made;
        for (int i = 0; i < training + validation; ++i) {
            engine::AnswerRows rows = tuning_rows::someRows(6, 2, static_cast<unsigned>(i));
            rows.tokens.front() = static_cast<engine::TokenId>(i);
            made.push_back(
                {std::move(rows),
                 i < training ? engine::RowSplit::Training : engine::RowSplit::Validation,
                 i % 2 == 0 ? "even" : "odd"});
        }
        return made;
    }

    test_support::TemporaryFolder m_folder;
    engine::RowStore m_rows;
};
