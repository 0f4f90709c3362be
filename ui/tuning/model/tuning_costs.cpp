// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/model/tuning_costs.h"

namespace ui {

namespace {

/// A row has what the model computed for a token, in 16 bits, and its best tokens.
constexpr qint64 kBytesOfBestTokens = 92;

/// Rows of prompts are kept, too, where the model itself learns: about as many as of answers.
constexpr qint64 kRowsOverAnswers = 2;

constexpr int kDraftEpochs = 3;
constexpr int kModelEpochs = 2;

// Of a copy of the model; see plugins/trainer_torch/README.md.
constexpr qint64 kLoraBytesPerWeight = 4;
constexpr qint64 kFullBytesPerWeight = 20;
constexpr qint64 kPassBytes = qint64(800) << 20;

/// A state has weights, two moments and their average as float32; three states are kept.
constexpr qint64 kStateBytesPerWeight = 16;
constexpr qint64 kStatesKept = 3;

/// The new model has 16 bits for a weight.
constexpr qint64 kResultBytesPerWeight = 2;

// What a core of an AVX2 processor computes in a second where nothing was measured, in operations:
// answers are made for four rows at once, and learning takes three passes' work.
constexpr double kAnsweringPerCore = 36e9;
constexpr double kLearningPerCore = 20e9;
constexpr double kOperationsOfPass = 2.0;
constexpr double kOperationsOfLearning = 6.0;

double guessed(double perCore, int cores, double operations, qint64 weights) {
    return weights > 0 ? perCore * cores / (operations * static_cast<double>(weights)) : 0.0;
}

} // namespace

TuningCosts costsOf(const TuningChoice& choice, const TuningRun& run, int cores) {
    TuningCosts costs;
    const qint64 tokens = choice.answerTokens();
    const qint64 weights = choice.model.weights;
    const qint64 rows = choice.changesModel() ? kRowsOverAnswers * tokens : tokens;
    if (choice.model.hiddenSize > 0)
        costs.diskBytes = rows * (2 * qint64(choice.model.hiddenSize) + kBytesOfBestTokens);
    const double answering = run.collected ? run.collected->tokensPerSecond : 0.0;
    const double learning = run.step ? run.step->tokensPerSecond : 0.0;
    costs.isMeasured = answering > 0.0 && learning > 0.0;
    if (choice.length == TuningLength::Minutes)
        costs.seconds = 60.0 * choice.minutes;
    if (choice.changesModel() && weights > 0) {
        const qint64 trained = choice.isFull ? weights : choice.model.loraWeights;
        costs.memoryBytes =
            weights * (choice.isFull ? kFullBytesPerWeight : kLoraBytesPerWeight) + kPassBytes;
        costs.resultBytes = weights * kResultBytesPerWeight;
        costs.diskBytes += trained * kStateBytesPerWeight * kStatesKept + costs.resultBytes;
    }
    // How fast a layer beside the model learns is not guessed.
    const bool isKnown = costs.isMeasured || (choice.changesModel() && weights > 0);
    if (choice.length == TuningLength::Minutes || !isKnown)
        return costs;
    const double made =
        answering > 0.0 ? answering : guessed(kAnsweringPerCore, cores, kOperationsOfPass, weights);
    const double learnt = learning > 0.0
                              ? learning
                              : guessed(kLearningPerCore, cores, kOperationsOfLearning, weights);
    const int epochs = choice.changesModel() ? kModelEpochs : kDraftEpochs;
    costs.seconds = static_cast<double>(tokens) * (1.0 / made + epochs / learnt);
    return costs;
}

} // namespace ui
