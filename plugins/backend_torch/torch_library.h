// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <memory>

namespace backend_torch {

// How the module, which only describes the backend, finds the library that computes with LibTorch:
// libtorch_transformer.so in the same folder.

inline constexpr const char* kLibraryKind = "torch";
inline constexpr const char* kLibraryName = "transformer";
inline constexpr const char* kGiveTransformerMaker = "swiftStudioGiveTorchTransformerMaker";

using MakeTransformer = engine::Result<std::unique_ptr<engine::Transformer>> (*)(
    const engine::ModelConfig&, const engine::WeightSource&, const engine::TransformerOptions&);

/// The one function that the library exports besides its build id: gives makeTorchTransformer().
using GiveTransformerMaker = void (*)(MakeTransformer* maker);

} // namespace backend_torch
