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
/// Where a tensor lies is told by the shards alone: one that the index names and no shard holds is
/// missed when it is asked for. Errors: as openSafetensors; CorruptFile when two shards hold one
/// tensor, or the index names no shards.
Result<std::unique_ptr<WeightSource>> openSafetensorsIndex(const std::filesystem::path& indexPath);

} // namespace engine
