// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_torch/torch_library.h"

#include "engine/base/run_time_module.h"
#include "plugins/backend_torch/torch_transformer.h"

ENGINE_MODULE_BUILD_ID;

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveTorchTransformerMaker(backend_torch::MakeTransformer* maker) {
    *maker = &backend_torch::makeTorchTransformer;
}
