// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/weight_source.h"

#include <filesystem>
#include <memory>

namespace engine {

/// Opens one safetensors file and checks every rule of the format, so that afterwards each
/// tensor's bytes are known to lie in the file. Types that cannot be computed with are listed
/// and can be read raw. Source: the format section of the huggingface/safetensors README.
/// Errors: NotFound, Io, CorruptFile with the byte offset.
Result<std::unique_ptr<WeightSource>> openSafetensors(const std::filesystem::path& path);

/// Opens the shards that a model.safetensors.index.json names; they must lie in its folder.
/// Errors: as openSafetensors; CorruptFile when index and shards disagree.
Result<std::unique_ptr<WeightSource>> openSafetensorsIndex(const std::filesystem::path& indexPath);

} // namespace engine
