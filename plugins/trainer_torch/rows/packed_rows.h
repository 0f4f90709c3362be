// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <span>
#include <vector>

namespace trainer_torch {

/// Slots that are computed together: a bound on memory, and enough of them for matrix products to
/// be as fast as they get.
inline constexpr int kRowsPerPack = 512;

/// What decides how texts are cut into packs.
struct PackTerms {
    int depths = 1; ///< tokens of a draft at most
    int layers = 1; ///< of the draft network
    int window = 0; ///< keys that a row sees, itself included; 0 = all
    int rows = kRowsPerPack;
};

/// A slot of a text, as a row of a pack. Slots of one piece of a text are consecutive rows.
struct PackedSlot {
    int text;     ///< index among the texts
    int slot;     ///< of the text, which is also its position
    int firstRow; ///< of the pack, where its piece begins
};

/// A draft that begins behind a slot: its token of depth 1 is what this slot says.
struct PackedChain {
    int row;    ///< of the pack, that of the slot
    int length; ///< tokens of the draft, at least 1
};

/// Pieces of texts that are computed together. A row sees rows of its own piece alone.
struct Pack {
    std::vector<PackedSlot> rows;
    std::vector<PackedChain> chains; ///< longest first: those that reach a depth are the first ones

    /// Chains that have a token of this depth, 1 = first.
    int chainCount(int depth) const;

    const PackedSlot& slotOf(const PackedChain& chain) const {
        return rows[static_cast<std::size_t>(chain.row)];
    }
};

/// Cuts texts into packs. A chain begins behind each slot t whose next-but-one token, t + 2,
/// belongs to an answer, and goes on as long as the answer does. A piece of a text holds all slots
/// that its chains can see, so cutting changes nothing but the order of sums. Slots that no chain
/// sees are left out. The same texts give the same packs.
std::vector<Pack> packRows(std::span<const engine::TrainingText> texts, const PackTerms& terms);

/// Chains of all packs that have a token of each depth. Shapes: [depths].
std::vector<std::int64_t> chainTotals(std::span<const Pack> packs, int depths);

} // namespace trainer_torch
