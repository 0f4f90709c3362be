// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace engine {

/// Bytes [first, end) of a memory, and the node they belong to. A plain value.
struct NodeBytes {
    std::size_t first = 0;
    std::size_t end = 0;
    int node = 0;

    bool operator==(const NodeBytes&) const = default;
};

/// So many ranges at most: the system keeps a list of them, and gives a program room for 65,530 of
/// all kinds.
inline constexpr std::size_t kMostNodeRanges = 8192;

/// Cuts a memory of `bytes` into whole pages by the node that reads them. A page of which no node
/// reads three quarters goes to the one that has least of its share so far, so that small matrices
/// are spread evenly. Pages that nobody reads are left out. Several pages stay together where the
/// ranges would be too many. The reads may come in any order; nodes are numbered from 0.
std::vector<NodeBytes> pagesByNode(std::span<const NodeBytes> reads,
                                   std::size_t bytes,
                                   std::size_t pageBytes,
                                   int nodeCount,
                                   std::size_t mostRanges = kMostNodeRanges);

} // namespace engine
