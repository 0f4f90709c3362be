// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/nodes/node_machine.h"
#include "engine/kernels/nodes/node_pages.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// How many of the threads belong on each node: as many on each as far as there are free cores,
/// then as far as there are second processors of cores. Shapes: result [nodes].
std::vector<int> spreadThreads(std::span<const MemoryNode> nodes, int threads);

/// How the threads of a pool are spread over a machine's nodes. The threads of a node follow one
/// another, and so do the parts of a task with which they begin. On a machine with one node, and
/// for a single thread, there is nothing to spread: nobody is bound and nothing is placed.
class NodeThreads {
public:
    /// The machine must outlive this.
    NodeThreads(NodeMachine& machine, int threads);

    NodeMachine& machine() const { return *m_machine; }

    int threads() const { return m_threads; }

    bool areSpread() const { return !m_nodes.empty(); }

    /// Nodes that have threads; they are numbered from 0 here.
    int nodeCount() const { return areSpread() ? static_cast<int>(m_nodes.size()) : 1; }

    int nodeOf(int thread) const;

    /// The part [first, second) of so many things, shared evenly by the threads in their order,
    /// that falls to a node.
    std::pair<std::size_t, std::size_t> partOf(int node, std::size_t count) const;

    /// From whose share a thread takes parts: in step 0 from its own, then from those of its node,
    /// at last from the others', each once in threads() steps.
    int ownerAt(int thread, int step) const;

    /// The calling thread is this one, and stays on its node.
    void bind(int thread) const;

    /// Places memory that nobody has touched yet by who reads it.
    void place(std::span<std::byte> memory,
               std::span<const NodeBytes> reads,
               std::size_t pageBytes) const;

private:
    struct Node {
        int number;
        std::vector<int> processors;
        int firstThread;
        int endThread;
    };

    NodeMachine* m_machine;
    int m_threads;
    std::vector<Node> m_nodes; // empty, or at least two
};

/// While it lives, the calling thread stays on the node of thread 0, which it is. Afterwards it may
/// run where it could before, as any thread may that it starts then.
class CallerOnNode {
public:
    explicit CallerOnNode(const NodeThreads& threads);
    ~CallerOnNode();

    CallerOnNode(const CallerOnNode&) = delete;
    CallerOnNode& operator=(const CallerOnNode&) = delete;

private:
    const NodeThreads& m_threads;
    std::vector<int> m_before; // empty: nothing was changed
};

} // namespace engine
