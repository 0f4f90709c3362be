// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_event.h"

#include <vector>

namespace engine {

/// How the rows of a round's verifying pass hang together: row 0 is the root, row 1 + i is node i
/// of the draft, and the rows beside the draft follow. Whatever numbers a recording holds, the
/// parents form a tree. A plain value.
struct RoundShape {
    int nodeCount = 0; ///< of the draft
    int sideCount = 0;
    std::vector<int> parents;  ///< [rows] a lower row; -1 for the root
    std::vector<int> depths;   ///< [rows] distance from the root
    std::vector<bool> isSpine; ///< [rows] a first choice, as are all rows that it hangs on
    std::vector<int> path;     ///< accepted rows, in order, without the root

    int rowCount() const { return static_cast<int>(parents.size()); }

    bool isSide(int row) const { return row > nodeCount; }

    /// The rows that a row sees: from the root to itself.
    std::vector<int> lineOf(int row) const;

    /// The row of the draft that a row hangs on, following rows beside it; 0 = the root, and the
    /// row itself if it is one.
    int draftRowOf(int row) const;

    bool isAccepted(int row) const;
};

RoundShape shapeOf(const StepFinished& step);

} // namespace engine
