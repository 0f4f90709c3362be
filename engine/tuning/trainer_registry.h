// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace engine {

/// See MakeTrainer.
using TrainerMaker =
    std::function<Result<std::unique_ptr<Trainer>>(const TrainerPlan&, const TrainerModel&)>;

/// See MakeModelTrainer.
using ModelTrainerMaker =
    std::function<Result<std::unique_ptr<Trainer>>(const ModelTrainerPlan&, ModelNumbers)>;

/// Opens the module that trains, libtrainer_torch.so in the folder of modules, and finds its maker
/// by `extern "C" void swiftStudioGiveTrainerMaker(engine::MakeTrainer*)`. Errors: Unsupported if
/// there is none, because the program was built without LibTorch, and for one that cannot be
/// opened.
Result<TrainerMaker> findTrainer(const std::filesystem::path& moduleFolder);

/// The same for recipes that change the model, by swiftStudioGiveModelTrainerMaker.
Result<ModelTrainerMaker> findModelTrainer(const std::filesystem::path& moduleFolder);

} // namespace engine
