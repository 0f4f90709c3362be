// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_torch/torch_library.h"

#include "plugins/backend_torch/torch_transformer.h"

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveTorchTransformerMaker(backend_torch::MakeTransformer* maker) {
    *maker = &backend_torch::makeTorchTransformer;
}
