// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"

#include <span>
#include <vector>

namespace space {

/// The masks of one round, rows beside a draft that is a chain: group 0 hangs on the pending token,
/// group g on the g-th candidate. A mask sees what its group's token sees and the masks before it
/// in its own group, nothing else; its place in the sequence is one behind what it hangs on. So the
/// first mask of a group stands where the token is that is not known yet, and says what comes
/// behind that one. A plain value. Source: arXiv 2402.11809, section 3.2 and figure 3; its equation
/// 6 would let neighbouring groups see each other, its figure and text do not.
class MaskGroups {
public:
    /// counts [candidates + 1]: the masks of each group, none for a group that is left out.
    MaskGroups(engine::TokenId maskToken, std::span<const int> counts);

    std::span<const engine::SideRow> sides() const { return m_sides; }

    int groupCount() const { return static_cast<int>(m_firstSides.size()) - 1; }

    int maskCount(int group) const;

    /// The row of the pass that holds the prediction of mask `place` (0 = the first) of a group,
    /// see Target::seenRow.
    int row(int group, int place) const;

private:
    std::vector<engine::SideRow> m_sides;
    std::vector<int> m_firstSides; // [groups + 1], the last one is the number of sides
};

} // namespace space
