// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/rounds/round_shape.h"

#include <algorithm>

namespace engine {

namespace {

void addRow(RoundShape& shape, int parent, bool isFirstChoice) {
    const auto above = static_cast<std::size_t>(parent);
    shape.isSpine.push_back(isFirstChoice && shape.isSpine[above]);
    shape.depths.push_back(shape.depths[above] + 1);
    shape.parents.push_back(parent);
}

/// A parent as events count it, as a row; only an earlier row can be one.
int rowOfParent(int parent, int row) { return parent >= 0 && parent < row - 1 ? parent + 1 : 0; }

} // namespace

std::vector<int> RoundShape::lineOf(int row) const {
    std::vector<int> line;
    for (; row >= 0; row = parents[static_cast<std::size_t>(row)])
        line.push_back(row);
    std::ranges::reverse(line);
    return line;
}

int RoundShape::draftRowOf(int row) const {
    while (isSide(row))
        row = parents[static_cast<std::size_t>(row)];
    return row;
}

bool RoundShape::isAccepted(int row) const {
    return row == 0 || std::ranges::find(path, row) != path.end();
}

RoundShape shapeOf(const StepFinished& step) {
    RoundShape shape;
    shape.nodeCount = static_cast<int>(step.draft.size());
    shape.sideCount = static_cast<int>(step.sides.size());
    shape.parents = {-1};
    shape.depths = {0};
    shape.isSpine = {true};
    for (const DraftNode& node : step.draft)
        addRow(shape, rowOfParent(node.parent, shape.rowCount()), node.rank == 0);
    for (const SideRow& side : step.sides)
        addRow(shape, rowOfParent(side.parent, shape.rowCount()), false);
    for (const int node : step.path)
        if (node >= 0 && node < shape.nodeCount)
            shape.path.push_back(node + 1);
    return shape;
}

} // namespace engine
