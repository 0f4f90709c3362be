// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <span>
#include <vector>

namespace engine {

/// A cache slot a row sees beyond its common prefix, and the position of the token stored there.
struct VisibleSlot {
    Position slot = 0;
    Position position = 0;
};

/// Which positions a forward pass covers and who sees whom.
///
/// Row r is stored at cache slot `firstSlot() + r` and stands at `position(r)` of the sequence. It
/// sees the cache slots [0, prefixLength(r)), where slot and position are the same, then the slots
/// of `path(r)` in order: its ancestors outside that prefix, itself last. So the keys of a row
/// always come in the order of their positions, whatever the shape, and a row of a tree sums over
/// the same keys in the same order as the same tokens in a plain sequence.
class AttentionLayout {
public:
    /// `rowCount` consecutive tokens behind `cachedLength` cached ones.
    static AttentionLayout chain(Position cachedLength, int rowCount);

    /// Tree nodes over a prefix of `prefixLength` cached tokens. `parents[i]` is a node index below
    /// i, or -1 for a node that hangs on the prefix. Only the nodes from `firstNode` on are rows of
    /// this pass; earlier ones are already in the cache. Node i lives in slot `firstSlot + i`,
    /// which may lie beyond the prefix's end (rows in between are not seen).
    static AttentionLayout
    tree(Position prefixLength, std::span<const int> parents, int firstNode, Position firstSlot);

    /// The usual tree: all nodes are rows, slots right behind the prefix.
    static AttentionLayout tree(Position prefixLength, std::span<const int> parents) {
        return tree(prefixLength, parents, 0, prefixLength);
    }

    /// Rows at the positions from `firstPosition` on, beside cached tokens that stand there
    /// already: row i sees the cache slots [0, firstPosition + i) and itself, none of its fellow
    /// rows. It is stored at slot `firstSlot + i`, at or beyond the last row's position.
    static AttentionLayout beside(Position firstPosition, int rowCount, Position firstSlot);

    int rowCount() const { return static_cast<int>(m_positions.size()); }

    Position firstSlot() const { return m_firstSlot; }

    /// One past the last slot that this pass writes.
    Position endSlot() const { return m_firstSlot + rowCount(); }

    Position position(int row) const { return m_positions[static_cast<std::size_t>(row)]; }

    Position prefixLength(int row) const { return m_prefixLengths[static_cast<std::size_t>(row)]; }

    /// Visible slots behind the prefix, by position, the row's own slot last.
    std::span<const VisibleSlot> path(int row) const;

    /// Calls `visit(slot)` for every key of the row in the order of positions; with `window` > 0
    /// only for keys at positions above `position(row) - window`. This order is the contract of
    /// exactness: all backends sum over keys in it.
    template <typename Visit> void forEachKey(int row, int window, Visit&& visit) const {
        const Position first = window > 0 ? position(row) - window + 1 : 0;
        for (Position slot = first > 0 ? first : 0; slot < prefixLength(row); ++slot)
            visit(slot);
        for (const VisibleSlot& seen : path(row))
            if (seen.position >= first)
                visit(seen.slot);
    }

private:
    Position m_firstSlot = 0;
    std::vector<Position> m_positions;     // [rows]
    std::vector<Position> m_prefixLengths; // [rows]
    std::vector<VisibleSlot> m_paths;      // the rows' paths, one behind the other
    std::vector<std::size_t> m_pathEnds;   // [rows], ends in m_paths
};

} // namespace engine
