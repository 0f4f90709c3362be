// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"

#include <memory>

namespace engine {

/// The network that a GGUF file's metadata and tensor list describe. Source:
/// llama.cpp's list of keys (gguf-py, constants.py).
/// Errors: Unsupported architecture, scaling or layout by name; CorruptFile names the key.
Result<ModelConfig> readGgufModelConfig(const GgufFile& file);

/// The file's tensors under Hugging Face names; of architecture llama the rows of q and k, which
/// its converter interleaved, in half-split order again. Tensors without such a name keep theirs.
/// Errors: as readGgufModelConfig; CorruptFile when q or k do not divide into the heads.
Result<std::unique_ptr<WeightSource>> openGgufWeights(std::shared_ptr<const GgufFile> file);

} // namespace engine
