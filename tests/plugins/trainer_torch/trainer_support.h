// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/modules/run_time_module.h"
#include "engine/base/to_size.h"
#include "engine/tuning/trainer_registry.h"
#include "plugins/trainer_torch/checks/trainer_checks.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

/// What the tests of the trainer share. Functions fail by exception.
namespace trainer_support {

inline const trainer_torch::TrainerChecks& trainerChecks() {
    static const trainer_torch::TrainerChecks opened = [] {
        trainer_torch::TrainerChecks checks{};
        const auto found =
            engine::ModuleFolder(TEST_TRAINER_CHECKS_DIR, trainer_torch::kChecksKind)
                .open(trainer_torch::kChecksName,
                      trainer_torch::kGiveTrainerChecks,
                      [&checks](void* function) {
                          reinterpret_cast<trainer_torch::GiveTrainerChecks>(function)(&checks);
                      });
        ENGINE_CHECK(found.hasValue(), "no checks: {}", found.error().message);
        return checks;
    }();
    return opened;
}

inline engine::TrainerMaker openTrainerMaker() {
    auto found = engine::findTrainer(SWIFT_STUDIO_MODULE_DIR);
    ENGINE_CHECK(found.hasValue(), "no trainer: {}", found.error().message);
    return std::move(found).value();
}

inline std::unique_ptr<engine::Trainer> makeTrainer(const engine::TrainerPlan& plan,
                                                    const engine::TrainerModel& model) {
    auto made = openTrainerMaker()(plan, model);
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return std::move(made).value();
}

/// A text and what the spans of a TrainingText show.
struct OwnedText {
    std::vector<float> streams;
    std::vector<engine::TokenId> tokens;
    std::vector<std::uint8_t> answers;
    std::vector<engine::TeacherRow> teacher;

    engine::TrainingText shown() const { return {streams, tokens, answers, teacher}; }
};

inline std::vector<engine::TrainingText> shown(const std::vector<OwnedText>& texts) {
    std::vector<engine::TrainingText> made;
    for (const OwnedText& text : texts)
        made.push_back(text.shown());
    return made;
}

/// What a trainer drafts right in all these texts.
inline engine::DraftHits hitsOn(engine::Trainer& trainer, const std::vector<OwnedText>& texts) {
    engine::DraftHits sum;
    for (const OwnedText& text : texts) {
        const auto hits = trainer.evaluate(text.shown());
        ENGINE_CHECK(hits.hasValue(), "{}", hits.error().message);
        for (std::size_t depth = 0; depth < sum.tried.size(); ++depth) {
            sum.tried[depth] += hits.value().tried[depth];
            sum.hits[depth] += hits.value().hits[depth];
        }
        sum.exits.resize(hits.value().exits.size());
        for (std::size_t exit = 0; exit < sum.exits.size(); ++exit)
            sum.exits[exit] += hits.value().exits[exit];
    }
    return sum;
}

inline std::vector<float> normals(std::size_t count, float size, std::mt19937& random) {
    std::normal_distribution<float> normal(0.0F, size);
    std::vector<float> values(count);
    for (float& value : values)
        value = normal(random);
    return values;
}

/// A teacher who gives this token most of the probability and the following tokens the rest.
inline engine::TeacherRow teacherOf(engine::TokenId best, int vocabSize, double part) {
    engine::TeacherRow row{};
    double left = 1.0;
    for (int i = 0; i < engine::kTeacherTokens; ++i) {
        row.ids[engine::toSize(i)] = (best + i) % vocabSize;
        row.logProbabilities[engine::toSize(i)] = static_cast<float>(std::log(left * part));
        left *= 1.0 - part;
    }
    return row;
}

/// Random tokens and streams; the answer begins at row `answer`.
inline OwnedText
randomText(int rows, int answer, int hiddenSize, int vocabSize, std::mt19937& random) {
    OwnedText text;
    text.streams = normals(engine::toSize(rows) * engine::toSize(hiddenSize), 1.5F, random);
    for (int row = 0; row < rows; ++row) {
        const auto draw = [&] {
            return static_cast<engine::TokenId>(random() % static_cast<unsigned>(vocabSize));
        };
        text.tokens.push_back(draw());
        text.answers.push_back(row >= answer ? 1 : 0);
        text.teacher.push_back(teacherOf(draw(), vocabSize, 0.4));
    }
    return text;
}

/// A model of random numbers with a head of its own.
inline engine::TrainerModel randomModel(int hiddenSize, int vocabSize, std::mt19937& random) {
    const std::size_t numbers = engine::toSize(hiddenSize) * engine::toSize(vocabSize);
    engine::TrainerModel model;
    model.vocabSize = vocabSize;
    model.normEpsilon = 1e-5;
    model.embedding = normals(numbers, 1.0F, random);
    model.head = normals(numbers, 0.5F, random);
    model.finalNorm.assign(engine::toSize(hiddenSize), 1.0F);
    return model;
}

} // namespace trainer_support
