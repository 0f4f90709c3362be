// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/network/family_table.h"
#include "engine/loading/weight_source.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// A tensor as the network names it, and the rows of a stored one that it stands for.
struct MappedTensor {
    std::string name;
    const TensorInfo* stored = nullptr;
    /// Of a matrix: empty when it is the whole tensor as it is stored.
    std::vector<std::uint64_t> shape = {};
    std::uint64_t firstRow = 0;
    /// Rows of a head that the file interleaves, to be read in half-split order; 0: as stored.
    std::uint64_t headRows = 0;
    float offset = 0.0F; ///< is added to every number
};

/// Stored tensors seen through the network's names and shapes. `stored` goes on living with what is
/// returned. Errors: CorruptFile, with `where` in front, when two tensors get one name.
Result<std::unique_ptr<WeightSource>> mapWeights(std::shared_ptr<const WeightSource> stored,
                                                 std::vector<MappedTensor> tensors,
                                                 const std::string& where);

/// Cuts a stored tensor whose rows belong to several of the network's: `parts` in their order, each
/// with its rows; `suffix` is ".weight" or ".bias". Errors: CorruptFile when it has other rows.
struct RowPart {
    std::string name; ///< without the suffix
    std::uint64_t rows = 0;
};

Result<void> cutRows(const TensorInfo& stored,
                     const std::vector<RowPart>& parts,
                     std::string_view suffix,
                     std::vector<MappedTensor>& into);

/// The parts of q, k and v, or of gate and up, where a layer stores them as one tensor. `layer` is
/// "model.layers.7.".
std::vector<RowPart> fusedAttentionParts(const ModelConfig& config, std::string_view layer);
std::vector<RowPart> fusedMlpParts(const ModelConfig& config, std::string_view layer);

/// The tensors of a Hugging Face checkpoint under the network's names; the source itself where
/// these are what is stored.
Result<std::unique_ptr<WeightSource>> mapCheckpoint(std::unique_ptr<WeightSource> source,
                                                    const ModelConfig& config);

} // namespace engine
