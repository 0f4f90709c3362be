// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// The form of a text, byte by byte: rules, each a graph of nodes between its start and its end. A
/// byte follows the edges whose range contains it; a call reads a text of another rule and
/// continues after the call, so rules may be nested to any depth. A plain value.
struct GrammarGraph {
    struct ByteEdge {
        std::uint8_t low; ///< the first and the last byte of its range
        std::uint8_t high;
        int to;
    };

    struct Call {
        int rule;
        int behind; ///< the node where it continues
    };

    struct Node {
        std::vector<ByteEdge> bytes = {};
        std::vector<int> free = {}; ///< nodes that can be reached without a byte
        std::vector<Call> calls = {};
        bool isEnd = false; ///< of its rule; it has no outgoing edges
    };

    struct Rule {
        std::string name; ///< for messages: where it was written
        int start = -1;
        int end = -1;
    };

    std::vector<Node> nodes;
    std::vector<Rule> rules; ///< the first is the whole text
};

} // namespace engine
