// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/weight_source.h"
#include "engine/model/transformer.h"

#include <string_view>

namespace backend_cuda {

/// Believes a GPU only after it has computed so many tokens (at least five) of the model itself in
/// three ways: all at once, one and the others, and four with a tree of the others behind them. The
/// streams of the last layer and the last logits must be the same bits, and some of those logits,
/// all over the vocabulary, near what float64 makes of `source`. Errors: Device names the GPU and
/// what is wrong; those of reading; those of the device. Numbers that are not finite prove nothing
/// and are left to the passes that meet them.
engine::Result<void> checkLoaded(engine::Transformer& transformer,
                                 const engine::WeightSource& source,
                                 std::string_view device,
                                 int rows);

} // namespace backend_cuda
