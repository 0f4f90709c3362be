// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/limits/tune_limits.h"

#include "engine/tuning/model_numbers.h"

#include <algorithm>
#include <cmath>

namespace app {

using namespace engine;

namespace {

constexpr double kMegabyte = 1e6;
constexpr double kGigabyte = 1e9;
constexpr double kNumberBytes = 4.0; // float32

/// The program with LibTorch, before it has anything to train.
constexpr double kProgramBytes = 150e6;

/// Weights, two moments, their average and the best average; for a state that is written, all but
/// the best are copied.
constexpr double kHeldBytes = 20.0 + 16.0;

/// Three states are kept, and a fourth is written before it takes the place of one.
constexpr double kStatesBytes = 4 * 20.0;

/// Rows of prompts are kept, too: about as many as of answers.
constexpr double kRowsOverAnswers = 2.0;

constexpr double kStreamBytes = 2.0; // float16

// A pass with its gradients, of a pack of a text's slots.
constexpr double kPackSlots = 512.0;
constexpr double kNumbersOfHidden = 12.0; ///< of a slot and layer, in units of the stream's width
constexpr double kNumbersOfMlp = 6.0;     ///< likewise of the MLP's
constexpr double kCopiesOfScores = 2.0;
constexpr double kCopiesOfLogits = 3.0;

/// Of a copy of the model: layers that would take more are computed a second time, and logits come
/// in pieces of so many rows.
constexpr double kKeptLayersBytes = 600e6;
constexpr double kLogitRows = 256.0;

double allWeightsOf(const ModelConfig& model) {
    return static_cast<double>(trainedWeights(ModelTrainerPlan{.isFull = true}, model));
}

/// The layers of a text of the longest context that is trained on.
double layersBytes(const ModelConfig& model) {
    constexpr double kLongestText = 2048.0;
    const double numbers = kNumbersOfHidden * model.hiddenSize + kNumbersOfMlp * model.mlpSize;
    return std::min(kKeptLayersBytes, kLongestText * numbers * model.layerCount * kNumberBytes);
}

double modelPassBytes(const ModelConfig& model) {
    return layersBytes(model) + kLogitRows * model.vocabSize * kCopiesOfLogits * kNumberBytes;
}

double draftPassBytes(const TuningPlan& plan, const ModelConfig& model) {
    const double ofLayer = kNumbersOfHidden * model.hiddenSize + kNumbersOfMlp * model.mlpSize +
                           kCopiesOfScores * model.headCount * kPackSlots;
    const double ofHead = kCopiesOfLogits * std::min(plan.head, model.vocabSize);
    return kPackSlots * (plan.unroll * plan.layers * ofLayer + ofHead) * kNumberBytes;
}

/// What is read and not trained.
double frozenWeights(const TuningPlan& plan, const ModelConfig& model) {
    if (plan.changesModel())
        return plan.isFull ? 0.0 : allWeightsOf(model);
    return (model.tiedHead ? 1.0 : 2.0) * model.vocabSize * model.hiddenSize;
}

double memoryOf(const TuningPlan& plan, const ModelConfig& model, double trained) {
    return kProgramBytes + trained * kHeldBytes + frozenWeights(plan, model) * kNumberBytes +
           (plan.changesModel() ? modelPassBytes(model) : draftPassBytes(plan, model));
}

/// Of one answer token, with the prompt's rows that come with it.
double diskOfToken(const ModelConfig& model) {
    return kRowsOverAnswers *
           (sizeof(TokenId) + sizeof(TeacherRow) + kStreamBytes * model.hiddenSize);
}

/// All but the answers. A new model is written with as many bits as its model has, at most 32; the
/// adapter, and the best state beside it, are small.
double diskBesideAnswers(const TuningPlan& plan, const ModelConfig& model, double trained) {
    constexpr double kAdapters = 2.0;
    constexpr double kModelWeightBytes = 2.0;
    if (trained <= 0.0)
        return 0.0;
    return trained * kStatesBytes + (plan.changesModel() ? allWeightsOf(model) * kModelWeightBytes
                                                         : kAdapters * trained * kNumberBytes);
}

} // namespace

TuningEstimate estimateOf(const TuningPlan& plan, const ModelConfig& model, std::int64_t trained) {
    const auto weights = static_cast<double>(trained);
    return {.memory = trained > 0 ? memoryOf(plan, model, weights) : 0.0,
            .disk = diskBesideAnswers(plan, model, weights) +
                    diskOfToken(model) * static_cast<double>(plan.answerTokens)};
}

std::int64_t answersThatFit(const TuningPlan& plan,
                            const ModelConfig& model,
                            std::int64_t trained,
                            double diskBytes) {
    const double left = diskBytes - diskBesideAnswers(plan, model, static_cast<double>(trained));
    return static_cast<std::int64_t>(std::floor(left / diskOfToken(model)));
}

Result<void> checkLimits(const TuneOptions& options, const TuningEstimate& estimate) {
    if (options.memoryMb && estimate.memory > *options.memoryMb * kMegabyte)
        return Error{ErrorCode::NoMemory,
                     fmt::format("The training needs about {:.0f} MB of memory, and --memory-mb "
                                 "allows {:g}.",
                                 std::ceil(estimate.memory / kMegabyte),
                                 *options.memoryMb),
                     options.recipe == "draft"
                         ? "Allow more, or give a smaller --set head, unroll or layers."
                         : "Allow more, leave out --set full=on, or give a smaller --set rank."};
    if (options.diskGb && estimate.disk > *options.diskGb * kGigabyte)
        return Error{ErrorCode::Io,
                     fmt::format("The training needs about {:.3g} GB on the disk, and --disk-gb "
                                 "allows {:g}.",
                                 estimate.disk / kGigabyte,
                                 *options.diskGb),
                     "Allow more, or give fewer --answer-tokens."};
    return {};
}

} // namespace app
