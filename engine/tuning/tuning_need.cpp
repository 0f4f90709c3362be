// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuning_need.h"

#include "engine/tuning/model_numbers.h"

namespace engine {

namespace {

/// Weights, two moments, their average and the best average as float32; for a checkpoint, all but
/// the best are copied.
constexpr double kTrainedBytes = 20.0 + 16.0;

constexpr double kFrozenBytes = 4.0;

/// Two checkpoints at least: that of the start, without a best average, and that of the end.
constexpr double kCheckpointBytes = 16.0 + 20.0;

/// Of a weight of a new model.
constexpr double kResultBytes = 2.0;

/// Of a number of a row's stream.
constexpr double kStreamBytes = 2.0;

double weightsOf(const ModelConfig& model) {
    return static_cast<double>(trainedWeights(ModelTrainerPlan{.isFull = true}, model));
}

double memoryFor(const TuningPlan& plan, const ModelConfig& model, double trained) {
    double frozen = 0.0;
    if (!plan.changesModel())
        frozen = static_cast<double>(model.vocabSize) * model.hiddenSize; // the embedding
    else if (!plan.isFull)
        frozen = weightsOf(model);
    return trained * kTrainedBytes + frozen * kFrozenBytes;
}

/// How many answers fit into a given time is not known.
double diskForRows(const TuningPlan& plan, const ModelConfig& model) {
    const double row = sizeof(TokenId) + sizeof(TeacherRow) + kStreamBytes * model.hiddenSize;
    return plan.minutes > 0.0 ? 0.0 : row * static_cast<double>(plan.answerTokens);
}

} // namespace

Result<void> checkTuningFits(const TuningPlan& plan,
                             const ModelConfig& model,
                             std::int64_t trained,
                             const FreeBytes& left) {
    const auto weights = static_cast<double>(trained);
    const double memory = trained > 0 ? memoryFor(plan, model, weights) : 0.0;
    double disk = diskForRows(plan, model) + weights * kCheckpointBytes;
    if (plan.changesModel() && trained > 0)
        disk += weightsOf(model) * kResultBytes;
    if (memory > left.memory)
        return Error{ErrorCode::NoMemory,
                     fmt::format("There is not enough memory for the training: at least {:.1f} GB "
                                 "are needed, {:.1f} GB are free.",
                                 memory / 1e9,
                                 left.memory / 1e9),
                     plan.isFull ? "Leave out --set full=on, or choose a smaller model."
                                 : "Close other programs, or choose a smaller model."};
    if (disk > left.disk)
        return Error{ErrorCode::Io,
                     fmt::format("There is not enough room on the disk for the training: at least "
                                 "{:.1f} GB are needed, {:.1f} GB are free.",
                                 disk / 1e9,
                                 left.disk / 1e9),
                     "Name a place on another disk with --out, or give fewer --answer-tokens."};
    return {};
}

} // namespace engine
