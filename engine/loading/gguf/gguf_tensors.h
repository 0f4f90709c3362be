// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/network/mapped_weights.h"

#include <vector>

namespace engine {

/// The file's tensors under Hugging Face names: fused ones cut, experts apart, and rows of q and k
/// that the converter interleaved in half-split order. Tensors without such a name keep theirs.
/// Errors: CorruptFile when rows do not divide into heads, parts or experts.
Result<std::vector<MappedTensor>> mapGgufTensors(const GgufFile& file, const ModelConfig& config);

} // namespace engine
