// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backend_registry.h"
#include "plugins/backend_torch/torch_transformer.h"

ENGINE_BACKEND_MODULE("torch", &backend_torch::makeTorchTransformer);
