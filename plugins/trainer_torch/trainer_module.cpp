// SPDX-License-Identifier: Apache-2.0
#include "engine/base/run_time_module.h"
#include "plugins/trainer_torch/recipes/model_trainer.h"
#include "plugins/trainer_torch/torch_trainer.h"

ENGINE_MODULE_BUILD_ID;

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveTrainerMaker(engine::MakeTrainer* maker) {
    *maker = &trainer_torch::makeTorchTrainer;
}

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveModelTrainerMaker(engine::MakeModelTrainer* maker) {
    *maker = &trainer_torch::makeModelTrainer;
}
