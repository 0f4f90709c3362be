// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// What a text may look like, byte by byte: rules, each a graph of nodes between its start and its
/// end. A byte leads along the edges that it lies on; a call reads what another rule allows, then
/// goes on behind the call, so rules may nest in each other without end. A plain value.
struct GrammarGraph {
    struct ByteEdge {
        std::uint8_t low; ///< the first and the last byte that lead along it
        std::uint8_t high;
        int to;
    };

    struct Call {
        int rule;
        int behind; ///< the node where it goes on
    };

    struct Node {
        std::vector<ByteEdge> bytes = {};
        std::vector<int> free = {}; ///< nodes that are reached without a byte
        std::vector<Call> calls = {};
        bool isEnd = false; ///< of its rule; nothing leads on from there
    };

    struct Rule {
        std::string name; ///< for people: where it was written
        int start = -1;
        int end = -1;
    };

    std::vector<Node> nodes;
    std::vector<Rule> rules; ///< the first is the whole text
};

} // namespace engine
