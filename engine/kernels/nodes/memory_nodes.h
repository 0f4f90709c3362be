// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace engine {

/// A part of the memory, and the processors that read it faster than others do: a socket of
/// several, for example. A plain value.
struct MemoryNode {
    int number = 0;
    std::vector<int> processors; ///< that this process may run on, at least one
    int cores = 0;               ///< physical ones among them
};

/// The nodes over which computing can be spread, in the order of their numbers: those whose memory
/// this process may take, each with the `allowed` processors that are nearest to it. Empty where
/// there are not two of them, and where the system's files below `root` are missing or do not tell
/// of all processors.
std::vector<MemoryNode> readMemoryNodes(const std::vector<int>& allowed,
                                        const std::filesystem::path& root = "/");

} // namespace engine
