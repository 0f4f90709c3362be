// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace trainer_torch {

// A window into the trainer for tests, which may not see LibTorch themselves: a module of its own
// that computes with the trainer's code, in float64 where that is wanted. No program opens it.

inline constexpr const char* kChecksKind = "trainerchecks";
inline constexpr const char* kChecksName = "torch";
inline constexpr const char* kGiveTrainerChecks = "swiftStudioGiveTrainerChecks";

using WideArrays = std::map<std::string, std::vector<double>, std::less<>>;

/// A draft network: `weights` by the names of adapter files.
struct CheckedNetwork {
    const engine::TrainerPlan& plan;
    const engine::TrainerModel& model;
    const WideArrays& weights;
};

/// The losses of one step, as a trainer computes them, and how `total` changes with each weight.
struct CheckedLoss {
    double likelihood = 0.0;
    double overlap = 0.0;
    double stream = 0.0;
    double total = 0.0;
    WideArrays gradients;
};

/// What is drafted at one depth.
struct DepthLogits {
    std::vector<int> behind;    ///< [rows] behind which slot of the text each draft begins
    std::vector<double> logits; ///< [rows, headIds]
};

/// A model that a recipe trains: `trained` takes the place of what LoRA or full training begins
/// with.
struct CheckedModel {
    const engine::ModelTrainerPlan& plan;
    const engine::ModelNumbers& model;
    const WideArrays& trained;
    bool keepsLayers = true; ///< for gradients; otherwise layers are computed twice
};

/// The losses of a step of a recipe, and how `total` changes with each trained number.
struct CheckedRecipeLoss {
    double likelihood = 0.0;
    double drafting = 0.0;
    double total = 0.0;
    WideArrays gradients;
};

/// They fail by exception.
struct TrainerChecks {
    /// In float64; gradients only if they are wanted.
    CheckedLoss (*loss)(const CheckedNetwork& network,
                        std::span<const engine::TrainingText> texts,
                        const engine::StepTerms& terms,
                        bool hasGradients);

    /// Of kDepths depths, in float64 or float32.
    std::vector<DepthLogits> (*logits)(const CheckedNetwork& network,
                                       const engine::TrainingText& text,
                                       bool isWide);

    /// What training begins with.
    WideArrays (*trainedStart)(const engine::ModelTrainerPlan& plan,
                               const engine::ModelNumbers& model);

    /// In float64; gradients only if they are wanted.
    CheckedRecipeLoss (*recipeLoss)(const CheckedModel& model,
                                    std::span<const engine::TrainingText> texts,
                                    std::int64_t step,
                                    bool hasGradients);

    /// Behind the first `layers` layers, in float64 or float32. Shapes: [tokens, vocab].
    std::vector<double> (*modelLogits)(const CheckedModel& model,
                                       std::span<const engine::TokenId> tokens,
                                       int layers,
                                       bool isWide);
};

using GiveTrainerChecks = void (*)(TrainerChecks* checks);

} // namespace trainer_torch
