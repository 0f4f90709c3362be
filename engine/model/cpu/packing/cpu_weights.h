// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/huge_memory.h"
#include "engine/kernels/tiles/packing/tile_packing.h"
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/layer_weights.h"

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace engine::cpu {

/// A packed linear layer: weight [outputs, inputs], bias [outputs] or empty.
struct Linear {
    std::string name; ///< of the weight tensor
    TileMatrix matrix;
    std::vector<float> bias;
};

using GatedMlp = GatedMlpOf<Linear>;
using LayerWeights = LayerWeightsOf<std::vector<float>, Linear>;

/// All weights of a network, packed into one memory in the order in which a pass reads them.
///
/// The two layers of a pair of a lesson model have weights of their own, though they are equal.
/// Otherwise the second one would find them in the processor's caches, and a pass would cost less
/// than in a model that really has so many layers.
struct Weights {
    HugeMemory memory;
    HugeMemory copies;                // of a lesson model: what the second layer of each pair reads
    Linear embedding;                 // [vocab, hidden]; the head too when tied
    std::vector<LayerWeights> layers; ///< [layers]
    std::vector<float> finalNorm;     // [hidden]
    Linear head;                      // rows 0 when tied
    Linear draftInput;                // of a network that drafts; else rows 0
    std::vector<float> streamNorm;    // likewise [hidden]
    std::vector<float> tokenNorm;     // likewise [hidden]
    std::string fileState;            // see WeightSource: of what they were packed from
    std::jthread keeper;              // writes `memory` to the packed cache, if anything does

    const Linear& outputHead() const { return head.matrix.rows == 0 ? embedding : head; }

    /// Packed weights and everything beside them, bytes.
    std::size_t byteSize() const;

    /// Packed weights that a pass of one row reads, the head included, bytes; of experts as many as
    /// the network uses. Norms, biases and the embedding's row do not count.
    double bytesRead(const ModelConfig& config) const;

    /// The format that most of the memory has.
    TileFormat mainFormat() const;
};

/// What Auto means for this model: F32 when all matrices so widened are small enough to stay in
/// the processor's caches, where narrower ones would be no faster; else File.
WeightForm chosenForm(const WeightSource& source, WeightForm wanted);

/// See LoadForecast::wideningNote, for weights that take so many bytes.
std::string wideningNoteOf(const WeightSource& source, WeightForm wanted, std::uint64_t heldBytes);

/// What was asked for, else float32 beside float32 weights and half precision beside others.
KvType chosenKvType(const Weights& weights, std::optional<KvType> wanted);

/// Finds every tensor that the config calls for and says what it becomes, norms and biases apart
/// without reading any: `memory` and the matrices' data stay empty. Errors: NotFound, CorruptFile,
/// Unsupported, Numeric name the tensor.
Result<Weights>
outlineWeights(const ModelConfig& config, const WeightSource& source, WeightForm form);

/// So many as were asked for; for 0 one for each processor.
int threadCount(int wanted);

/// Reads and packs every tensor that the config calls for, on `threads` of the options, or reads
/// them from the packed cache. Errors: NotFound, CorruptFile, Numeric
/// name the tensor; NoMemory before anything is packed, with both
/// numbers, `cacheSlots` of the options counted in; Cancelled.
Result<Weights>
packWeights(const ModelConfig& config, const WeightSource& source, const Options& options);

} // namespace engine::cpu
