// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cache/attention_layout.h"

#include "engine/base/result.h"

#include <algorithm>

namespace engine {

AttentionLayout AttentionLayout::chain(Position cachedLength, int rowCount) {
    ENGINE_CHECK(cachedLength >= 0 && rowCount >= 0,
                 "a chain of {} rows behind {} cached tokens",
                 rowCount,
                 cachedLength);
    AttentionLayout layout;
    layout.m_firstSlot = cachedLength;
    for (int row = 0; row < rowCount; ++row) {
        const Position position = cachedLength + row;
        layout.m_positions.push_back(position);
        layout.m_prefixLengths.push_back(position);
        layout.m_paths.push_back({position, position});
        layout.m_pathEnds.push_back(layout.m_paths.size());
    }
    return layout;
}

AttentionLayout AttentionLayout::tree(Position prefixLength,
                                      std::span<const int> parents,
                                      int firstNode,
                                      Position firstSlot) {
    const int nodeCount = static_cast<int>(parents.size());
    ENGINE_CHECK(prefixLength >= 0 && firstSlot >= prefixLength && firstNode >= 0 &&
                     firstNode <= nodeCount,
                 "a tree of {} nodes from node {} at slot {} over a prefix of {}",
                 nodeCount,
                 firstNode,
                 firstSlot,
                 prefixLength);
    AttentionLayout layout;
    layout.m_firstSlot = firstSlot + firstNode;
    std::vector<int> path; // node indices from leaf to root
    for (int node = firstNode; node < nodeCount; ++node) {
        path.clear();
        for (int at = node; at >= 0; at = parents[static_cast<std::size_t>(at)]) {
            const int parent = parents[static_cast<std::size_t>(at)];
            ENGINE_CHECK(parent < at && parent >= -1, "node {} has parent {}", at, parent);
            path.push_back(at);
        }
        const Position depth = static_cast<Position>(path.size()) - 1;
        layout.m_positions.push_back(prefixLength + depth);
        layout.m_prefixLengths.push_back(prefixLength);
        for (Position step = 0; step <= depth; ++step)
            layout.m_paths.push_back(
                {firstSlot + path[static_cast<std::size_t>(depth - step)], prefixLength + step});
        layout.m_pathEnds.push_back(layout.m_paths.size());
    }
    return layout;
}

AttentionLayout AttentionLayout::beside(Position firstPosition, int rowCount, Position firstSlot) {
    ENGINE_CHECK(firstPosition >= 0 && rowCount >= 0 && firstSlot >= firstPosition + rowCount - 1,
                 "{} rows from position {} on, stored from slot {} on",
                 rowCount,
                 firstPosition,
                 firstSlot);
    AttentionLayout layout;
    layout.m_firstSlot = firstSlot;
    for (int row = 0; row < rowCount; ++row) {
        const Position position = firstPosition + row;
        layout.m_positions.push_back(position);
        layout.m_prefixLengths.push_back(position);
        layout.m_paths.push_back({firstSlot + row, position});
        layout.m_pathEnds.push_back(layout.m_paths.size());
    }
    return layout;
}

std::span<const VisibleSlot> AttentionLayout::path(int row) const {
    const auto index = static_cast<std::size_t>(row);
    const std::size_t begin = index == 0 ? 0 : m_pathEnds[index - 1];
    return std::span(m_paths).subspan(begin, m_pathEnds[index] - begin);
}

} // namespace engine
