// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/nodes/node_threads.h"

#include "engine/base/to_size.h"
#include "engine/kernels/processor_share.h"

namespace engine {

std::vector<int> spreadThreads(std::span<const MemoryNode> nodes, int threads) {
    std::vector<int> counts(nodes.size());
    // Free cores come first, then free processors; among equal nodes the one with fewest threads.
    const auto rank = [&](std::size_t node) {
        const int count = counts[node];
        const bool hasCore = count < nodes[node].cores;
        const bool hasProcessor = count < static_cast<int>(nodes[node].processors.size());
        return std::pair(hasCore ? 0 : hasProcessor ? 1 : 2, count);
    };
    for (int thread = 0; thread < threads && !nodes.empty(); ++thread) {
        std::size_t best = 0;
        for (std::size_t node = 1; node < nodes.size(); ++node)
            if (rank(node) < rank(best))
                best = node;
        ++counts[best];
    }
    return counts;
}

NodeThreads::NodeThreads(NodeMachine& machine, int threads)
    : m_machine(&machine)
    , m_threads(threads) {
    const std::vector<MemoryNode>& nodes = machine.nodes();
    const std::vector<int> counts = spreadThreads(nodes, threads);
    int first = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (counts[i] == 0)
            continue;
        m_nodes.push_back({nodes[i].number, nodes[i].processors, first, first + counts[i]});
        first += counts[i];
    }
    if (m_nodes.size() < 2)
        m_nodes.clear();
}

int NodeThreads::nodeOf(int thread) const {
    int node = 0;
    while (node + 1 < nodeCount() && thread >= m_nodes[toSize(node)].endThread)
        ++node;
    return node;
}

std::pair<std::size_t, std::size_t> NodeThreads::partOf(int node, std::size_t count) const {
    if (!areSpread())
        return {0, count};
    const Node& own = m_nodes[toSize(node)];
    const std::size_t threads = toSize(m_threads);
    return {count * toSize(own.firstThread) / threads, count * toSize(own.endThread) / threads};
}

int NodeThreads::ownerAt(int thread, int step) const {
    if (!areSpread())
        return (thread + step) % m_threads;
    const Node& own = m_nodes[toSize(nodeOf(thread))];
    const int count = own.endThread - own.firstThread;
    if (step < count)
        return own.firstThread + (thread - own.firstThread + step) % count;
    return (own.endThread + step - count) % m_threads;
}

void NodeThreads::bind(int thread) const {
    if (areSpread())
        m_machine->bindThread(m_nodes[toSize(nodeOf(thread))].processors);
}

void NodeThreads::place(std::span<std::byte> memory,
                        std::span<const NodeBytes> reads,
                        std::size_t pageBytes) const {
    if (!areSpread())
        return;
    for (const auto& [first, end, node] : pagesByNode(reads, memory.size(), pageBytes, nodeCount()))
        m_machine->placePages(memory.subspan(first, end - first), m_nodes[toSize(node)].number);
}

CallerOnNode::CallerOnNode(const NodeThreads& threads)
    : m_threads(threads) {
    if (!threads.areSpread())
        return;
    m_before = allowedProcessors();
    threads.bind(0);
}

CallerOnNode::~CallerOnNode() {
    if (!m_before.empty())
        m_threads.machine().bindThread(m_before);
}

} // namespace engine
