// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/model/transformer.h"

#include <cstdint>
#include <string>

namespace engine {

/// What running a model takes, in bytes, told from its sizes before any weight is read. The
/// program itself and its libraries come on top (about 15 MB, with LibTorch 150), and while a load
/// runs a few MB that are read at once. A plain value.
struct MemoryNeed {
    std::uint64_t weightBytes = 0;  ///< as the backends hold them: widened to the precision
    std::uint64_t cacheBytes = 0;   ///< keys and values of a whole context
    std::uint64_t scratchBytes = 0; ///< keys and values behind it: draft trees, scored windows
    std::uint64_t passBytes = 0;    ///< activations and logits of the largest pass

    std::uint64_t totalBytes() const { return weightBytes + cacheBytes + scratchBytes + passBytes; }
};

/// For the plain and the torch backend. The slots of cache and scratch are reserved at once, but
/// take memory only as they are written. The torch backend pads rows of weights to 8 columns, which
/// is left out here.
MemoryNeed memoryNeed(const ModelConfig& config, Precision precision, int contextLength);

/// What the cpu backend makes of a model. A plain value.
struct PackedNeed {
    MemoryNeed memory;          ///< weights as they will be packed
    std::string arithmeticName; ///< as Transformer::arithmeticName()
    KvType kvType = KvType::F16;
};

/// Of `options` precision, the form of the weights and the type of keys and values count. Errors:
/// Unsupported for a precision that the backend lacks; those of looking for the tensors that
/// `config` calls for.
Result<PackedNeed> packedNeed(const ModelConfig& config,
                              const WeightSource& source,
                              const TransformerOptions& options,
                              int contextLength);

} // namespace engine
