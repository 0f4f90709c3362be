// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/model/transformer.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace engine {

/// Slots that decoders which draft reserve behind the context.
inline constexpr int kScratchSlots = 1025;

/// What running a model takes, in bytes, told from its sizes before any weight is read. The
/// program itself and its libraries come on top (about 15 MB, with LibTorch 150), and while a load
/// runs a few MB that are read at once. A plain value.
struct MemoryNeed {
    std::uint64_t weightBytes = 0;  ///< as the backends hold them: widened to the precision
    std::uint64_t cacheBytes = 0;   ///< keys and values of a whole context
    std::uint64_t scratchBytes = 0; ///< keys and values behind it: draft trees, scored windows
    std::uint64_t passBytes = 0;    ///< activations and logits of the largest passes

    std::uint64_t totalBytes() const { return weightBytes + cacheBytes + scratchBytes + passBytes; }
};

/// What loading would make of a model, told before any weight is read. A plain value.
struct LoadForecast {
    MemoryNeed memory;
    std::string arithmeticName; ///< as Transformer::arithmeticName()
    std::string kvTypeName;     ///< as Transformer::kvTypeName()
    std::string instructionSet; ///< as Transformer::instructionSet()
    /// Sentence: why the weights need clearly more memory than their file; empty if they do not.
    std::string wideningNote = {};
    /// Beside `memory`, once a decoder makes a copy of the weights to draft with
    /// (Transformer::makeCopyPiece); 0: there can be none.
    std::uint64_t copyBytes = 0;
    /// Memory of the GPUs that it would take, all of it; 0: it is the computer's.
    std::uint64_t deviceBytes = 0;
    int memoryNodes = 1; ///< as Transformer::memoryNodes()
};

/// Weights that need this much more memory than their file are worth a sentence. Scales widened to
/// float32, as those of Q4_K, are not.
inline constexpr double kClearlyWider = 1.5;

/// Bytes of all tensors in the file.
std::uint64_t storedBytes(const WeightSource& weights);

/// "The weights take 2.4 times the memory that they take in the file, because {reason}."; empty
/// below kClearlyWider times.
std::string wideningNote(std::uint64_t heldBytes, std::uint64_t fileBytes, std::string_view reason);

/// Of a backend that widens all weights to the precision. The slots of cache and scratch are
/// reserved at once, but take memory only as they are written.
MemoryNeed memoryNeed(const ModelConfig& config, Precision precision, int contextLength);

/// Of a backend that computes in float32 with packed weights of this size and keys of this type, as
/// the cpu backend does.
MemoryNeed
memoryNeed(const ModelConfig& config, std::uint64_t weightBytes, KvType kvType, int contextLength);

/// Refuses weights that leave no memory for the keys and values of a context; 0 tokens = not known.
/// `what`: "the packed weights". Errors: NoMemory.
Result<void> checkLoad(const MemoryNeed& need, int contextLength, std::string_view what);

/// The forecast of a backend that widens all weights to the precision of the options.
Result<LoadForecast> widenedForecast(const ModelConfig& config,
                                     const WeightSource& weights,
                                     const TransformerOptions& options,
                                     int contextLength);

} // namespace engine
