// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/drafts/draft_adapter.h"
#include "plugins/trainer_torch/network/frozen_model.h"
#include "plugins/trainer_torch/rows/packed_rows.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace trainer_torch {

/// Shapes: returns [values] int64.
at::Tensor wholeNumbers(std::span<const std::int64_t> values);

/// Cosines and sines of the rotary angles of some rows. Shapes: both [rows, 1, headDim / 2].
struct Angles {
    at::Tensor cosines;
    at::Tensor sines;
};

/// The angles are computed in float64 whatever the type, as in decoding. Shapes: frequencies
/// [headDim / 2], in radians a position.
Angles rotaryAngles(std::span<const double> frequencies,
                    std::span<const int> positions,
                    at::ScalarType type);

/// The rows of one depth: one for each chain that reaches it. That of depth k of a chain begun
/// behind slot t stands at position t + k - 1.
struct DepthTensors {
    at::Tensor embedding; ///< [rows, hidden] of the tokens that are read; not there at depth 1
    Angles angles;
    at::Tensor mask;         ///< [rows, slots] 0 where a row sees the slot, otherwise -infinity
    at::Tensor teacherRows;  ///< [rows, kTeacherTokens] rows of the head; 0 where there is none
    at::Tensor teacherParts; ///< [rows, kTeacherTokens] probabilities; 0 where the head has no row
    at::Tensor streams;      ///< [rows, hidden] of the model behind the next row
    std::vector<engine::TokenId> following; ///< [rows] the token of the text that is to be drafted
};

/// A pack as numbers.
struct PackTensors {
    at::Tensor streams;   ///< [slots, hidden] of the model
    at::Tensor embedding; ///< [slots, hidden] of the tokens behind them
    Angles angles;        ///< of the slots
    at::Tensor mask;      ///< [slots, slots] as of a depth; only for several layers
    at::Tensor chainRows; ///< [rows of depth 1] their slots in the pack
    std::vector<DepthTensors> depths;
};

/// Makes packs into numbers. What it is made from must outlive it.
class PackReader {
public:
    PackReader(const engine::DraftSizes& sizes, const FrozenModel& frozen)
        : m_sizes(sizes)
        , m_frozen(frozen) {}

    /// `texts` are those that the pack was made of; at most so many depths. Depths that no chain
    /// reaches are left out.
    PackTensors
    read(const Pack& pack, std::span<const engine::TrainingText> texts, int depths) const;

private:
    DepthTensors
    readDepth(const Pack& pack, std::span<const engine::TrainingText> texts, int depth) const;
    Angles anglesOf(std::span<const int> positions) const;
    at::Tensor embeddingOf(std::span<const std::int64_t> tokens) const;
    at::Tensor inType(const at::Tensor& values) const;

    const engine::DraftSizes& m_sizes;
    const FrozenModel& m_frozen;
};

} // namespace trainer_torch
