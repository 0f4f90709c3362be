// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/model_trainer.h"
#include "plugins/trainer_torch/torch_trainer.h"

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveTrainerMaker(engine::MakeTrainer* maker) {
    *maker = &trainer_torch::makeTorchTrainer;
}

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveModelTrainerMaker(engine::MakeModelTrainer* maker) {
    *maker = &trainer_torch::makeModelTrainer;
}
