// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/nodes/node_pages.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <numeric>

namespace engine {

namespace {

/// What each node reads, and what it has so far.
struct NodeShares {
    std::vector<double> wanted;
    std::vector<double> given;

    /// The node with least of its share.
    std::size_t neediest() const {
        std::size_t found = 0;
        for (std::size_t node = 1; node < wanted.size(); ++node)
            if (given[node] * wanted[found] < given[found] * wanted[node])
                found = node;
        return found;
    }
};

std::vector<NodeBytes> cutPages(std::span<const NodeBytes> reads,
                                std::size_t bytes,
                                std::size_t pageBytes,
                                std::size_t nodes) {
    const std::size_t pages = (bytes + pageBytes - 1) / pageBytes;
    std::vector<std::size_t> read(pages * nodes); // [pages, nodes] bytes
    NodeShares shares{std::vector<double>(nodes), std::vector<double>(nodes)};
    for (const NodeBytes& each : reads) {
        const std::size_t node = toSize(each.node);
        for (std::size_t at = each.first; at < each.end;) {
            const std::size_t page = at / pageBytes;
            const std::size_t next = std::min(each.end, (page + 1) * pageBytes);
            read[page * nodes + node] += next - at;
            at = next;
        }
        shares.wanted[node] += static_cast<double>(each.end - each.first);
    }
    std::vector<NodeBytes> ranges;
    for (std::size_t page = 0; page < pages; ++page) {
        const std::span<const std::size_t> own = std::span(read).subspan(page * nodes, nodes);
        const auto most = std::max_element(own.begin(), own.end());
        const std::size_t sum = std::accumulate(own.begin(), own.end(), std::size_t{0});
        if (sum == 0)
            continue;
        const std::size_t node =
            4 * *most >= 3 * sum ? toSize(most - own.begin()) : shares.neediest();
        shares.given[node] += static_cast<double>(sum);
        const NodeBytes range{
            page * pageBytes, std::min((page + 1) * pageBytes, bytes), static_cast<int>(node)};
        if (!ranges.empty() && ranges.back().end == range.first && ranges.back().node == range.node)
            ranges.back().end = range.end;
        else
            ranges.push_back(range);
    }
    return ranges;
}

} // namespace

std::vector<NodeBytes> pagesByNode(std::span<const NodeBytes> reads,
                                   std::size_t bytes,
                                   std::size_t pageBytes,
                                   int nodeCount,
                                   std::size_t mostRanges) {
    while (true) {
        auto ranges = cutPages(reads, bytes, pageBytes, toSize(nodeCount));
        if (ranges.size() <= mostRanges || pageBytes >= bytes)
            return ranges;
        pageBytes *= 2;
    }
}

} // namespace engine
