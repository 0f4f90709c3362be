// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/nodes/memory_nodes.h"

#include "engine/kernels/nodes/number_list.h"
#include "engine/kernels/processor_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace engine {

namespace {

using Numbers = std::vector<int>;

/// As many as Linux can have.
constexpr std::size_t kMostNodes = 1024;

bool holds(const Numbers& numbers, int number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// Nodes whose memory this process may take; empty if the system does not say.
Numbers allowedMemory(const std::filesystem::path& root) {
    constexpr std::string_view kName = "Mems_allowed_list:";
    std::ifstream status(root / "proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(kName))
            return numberList(std::string_view(line).substr(kName.size()));
    return {};
}

/// Those of the nodes that have memory for this process.
Numbers usableNodes(const Numbers& online, const std::filesystem::path& root) {
    const Numbers withMemory = numberListIn(root / "sys/devices/system/node/has_memory");
    const Numbers allowed = allowedMemory(root);
    Numbers usable;
    for (const int node : online)
        if ((withMemory.empty() || holds(withMemory, node)) &&
            (allowed.empty() || holds(allowed, node)))
            usable.push_back(node);
    return usable;
}

/// The usable node that is nearest to a node: itself, if it is one. `distances`: a number for each
/// node that is online.
int nearestNode(int node,
                const Numbers& online,
                const Numbers& usable,
                const std::filesystem::path& distances) {
    if (holds(usable, node))
        return node;
    std::ifstream stream(distances);
    int nearest = usable.front();
    int least = std::numeric_limits<int>::max();
    for (const int other : online) {
        int distance = 0;
        if (!(stream >> distance))
            break;
        if (distance < least && holds(usable, other)) {
            least = distance;
            nearest = other;
        }
    }
    return nearest;
}

} // namespace

std::vector<MemoryNode> readMemoryNodes(const std::vector<int>& allowed,
                                        const std::filesystem::path& root) {
    const std::filesystem::path folder = root / "sys/devices/system/node";
    const Numbers online = numberListIn(folder / "online");
    if (online.size() < 2 || online.size() > kMostNodes)
        return {};
    const Numbers usable = usableNodes(online, root);
    if (usable.size() < 2)
        return {};
    std::map<int, Numbers> processors; // by usable node
    std::set<int> untold(allowed.begin(), allowed.end());
    for (const int node : online) {
        const std::filesystem::path own = folder / fmt::format("node{}", node);
        const int nearest = nearestNode(node, online, usable, own / "distance");
        for (const int processor : numberListIn(own / "cpulist"))
            if (untold.erase(processor) > 0)
                processors[nearest].push_back(processor);
    }
    std::vector<MemoryNode> nodes;
    for (const auto& [number, own] : processors)
        nodes.push_back({number, own, readProcessorShare(own, root).cores});
    const bool areSeveral = untold.empty() && nodes.size() > 1;
    return areSeveral ? nodes : std::vector<MemoryNode>();
}

} // namespace engine
