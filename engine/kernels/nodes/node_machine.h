// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/nodes/memory_nodes.h"

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// What a system can do for a program on a machine with several memory nodes. Whatever it refuses
/// makes answers slower and changes nothing else. Thread: any.
class NodeMachine {
public:
    explicit NodeMachine(std::vector<MemoryNode> nodes)
        : m_nodes(std::move(nodes)) {}

    virtual ~NodeMachine() = default;
    NodeMachine(const NodeMachine&) = delete;
    NodeMachine& operator=(const NodeMachine&) = delete;

    /// Empty, or at least two.
    const std::vector<MemoryNode>& nodes() const { return m_nodes; }

    /// The calling thread runs on these processors alone from now on.
    void bindThread(const std::vector<int>& processors) { keepError(bind(processors)); }

    /// These pages, which nobody has touched yet, will lie on a node, or on another one once that
    /// is full. They begin where a page of the system does.
    void placePages(std::span<std::byte> pages, int node) { keepError(place(pages, node)); }

    /// The note for a user whose system has refused any of this; otherwise empty.
    std::string note() const;

protected:
    /// Both return the system's number of the error; 0 if there is none.
    virtual int bind(const std::vector<int>& processors) = 0;
    virtual int place(std::span<std::byte> pages, int node) = 0;

private:
    void keepError(int error) {
        if (error != 0)
            m_error = error;
    }

    std::vector<MemoryNode> m_nodes;
    std::atomic<int> m_error = 0; // the last one
};

/// This machine, as this process may use it. Its nodes are read once.
NodeMachine& systemMachine();

} // namespace engine
