// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/nodes/node_machine.h"

#include <mutex>
#include <utility>
#include <vector>

namespace support {

/// So many nodes with so many processors each, all of them cores.
inline std::vector<engine::MemoryNode> equalNodes(int nodes, int processors) {
    std::vector<engine::MemoryNode> made;
    for (int number = 0; number < nodes; ++number) {
        engine::MemoryNode node{number, {}, processors};
        for (int i = 0; i < processors; ++i)
            node.processors.push_back(number * processors + i);
        made.push_back(std::move(node));
    }
    return made;
}

/// A machine with several memory nodes that does nothing but write down what it is asked for. It
/// refuses with an error of the system, if it is given one.
class SimulatedNodes final : public engine::NodeMachine {
public:
    struct Placed {
        std::span<const std::byte> pages;
        int node;
    };

    explicit SimulatedNodes(std::vector<engine::MemoryNode> nodes, int error = 0)
        : NodeMachine(std::move(nodes))
        , m_error(error) {}

    /// The processors that threads were bound to, in the order of the calls.
    std::vector<std::vector<int>> bound() const {
        const std::scoped_lock lock(m_mutex);
        return m_bound;
    }

    std::vector<Placed> placed() const {
        const std::scoped_lock lock(m_mutex);
        return m_placed;
    }

    /// Bytes that were placed on a node.
    std::size_t bytesOn(int node) const {
        std::size_t bytes = 0;
        for (const Placed& each : placed())
            bytes += each.node == node ? each.pages.size() : 0;
        return bytes;
    }

protected:
    int bind(const std::vector<int>& processors) override {
        const std::scoped_lock lock(m_mutex);
        m_bound.push_back(processors);
        return m_error;
    }

    int place(std::span<std::byte> pages, int node) override {
        const std::scoped_lock lock(m_mutex);
        m_placed.push_back({pages, node});
        return m_error;
    }

private:
    int m_error;
    mutable std::mutex m_mutex;
    std::vector<std::vector<int>> m_bound;
    std::vector<Placed> m_placed;
};

} // namespace support
