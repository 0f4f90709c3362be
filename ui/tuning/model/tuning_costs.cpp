// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/model/tuning_costs.h"

namespace ui {

namespace {

/// A row has what the model computed for a token, in 16 bits, and its best tokens.
constexpr qint64 kBytesOfBestTokens = 92;

/// Rows of prompts are kept, too: about as many as of answers.
constexpr qint64 kRowsOverAnswers = 2;

constexpr int kDraftEpochs = 3;
constexpr int kModelEpochs = 2;

/// A state has weights, two moments, their average and the best average as float32. Three states
/// are kept, and a fourth is written before it takes the place of one.
constexpr qint64 kStateBytesPerWeight = 20;
constexpr qint64 kTrainingStates = 4;

// Of a copy of the model: what is trained is copied before it is written, all but the best average.
constexpr qint64 kFrozenBytesPerWeight = 4;
constexpr qint64 kTrainedBytesPerWeight = kStateBytesPerWeight + 16;
constexpr qint64 kPassBytes = qint64(800) << 20;

/// The new model has as many bits for a weight as its model, but 16 at least.
constexpr qint64 kResultBytesPerWeight = 2;
constexpr qint64 kFloat32Bytes = 4;

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
    const qint64 rows = kRowsOverAnswers * tokens;
    if (choice.model.hiddenSize > 0)
        costs.diskBytes = rows * (2 * qint64(choice.model.hiddenSize) + kBytesOfBestTokens);
    const qint64 trained = choice.changesModel()
                               ? (choice.isFull ? weights : choice.model.loraWeights)
                           : run.facts ? run.facts->trainedWeights
                                       : choice.model.draftWeights;
    costs.diskBytes += trained * kStateBytesPerWeight * kTrainingStates;
    const double answering = run.collected ? run.collected->tokensPerSecond : 0.0;
    const double learning = run.step ? run.step->tokensPerSecond : 0.0;
    costs.isMeasured = answering > 0.0 && learning > 0.0;
    if (choice.length == TuningLength::Minutes)
        costs.seconds = 60.0 * choice.minutes;
    if (choice.changesModel() && weights > 0) {
        costs.memoryBytes = (choice.isFull ? 0 : weights * kFrozenBytesPerWeight) +
                            trained * kTrainedBytesPerWeight + kPassBytes;
        costs.resultBytes =
            weights * (choice.model.isFloat32 ? kFloat32Bytes : kResultBytesPerWeight);
        costs.diskBytes += costs.resultBytes;
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
