// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/draft_tree.h"

#include "engine/base/result.h"

#include <algorithm>

namespace engine {

int DraftTree::add(TokenId token, int parent, double probability) {
    ENGINE_CHECK(parent >= -1 && parent < size(), "node {} with parent {}", size(), parent);
    const int rank =
        static_cast<int>(std::count_if(m_nodes.begin(), m_nodes.end(), [&](const DraftNode& node) {
            return node.parent == parent;
        }));
    m_nodes.push_back({token, parent, rank, probability});
    return size() - 1;
}

std::vector<int> DraftTree::children(int parent) const {
    std::vector<int> found;
    for (int index = parent + 1; index < size(); ++index)
        if (node(index).parent == parent)
            found.push_back(index);
    return found;
}

int DraftTree::depth(int index) const {
    int depth = 0;
    for (; index >= 0; index = node(index).parent)
        ++depth;
    return depth;
}

const Distribution* DraftTree::drawnFrom(int parent) const {
    for (const Source& source : m_sources)
        if (source.parent == parent)
            return source.distribution.get();
    return nullptr;
}

void DraftTree::setDrawnFrom(int parent, Distribution distribution) {
    m_sources.push_back({parent, std::make_shared<const Distribution>(std::move(distribution))});
}

std::vector<int> DraftTree::layoutParents() const {
    std::vector<int> parents = {-1};
    for (const DraftNode& node : m_nodes)
        parents.push_back(node.parent + 1);
    return parents;
}

DraftTree makeCaterpillar(std::span<const DraftLevel> levels, int maxNodes) {
    DraftTree tree;
    int parent = -1;
    for (const DraftLevel& level : levels) {
        ENGINE_CHECK(!level.choices.empty(), "a draft level without choices");
        tree.addConfidence(level.choices.front().probability);
        if (tree.size() >= maxNodes)
            continue;
        if (!level.drawnFrom.ids.empty())
            tree.setDrawnFrom(parent, level.drawnFrom);
        parent = tree.add(level.choices.front().token, parent, level.choices.front().probability);
    }
    const int spineLength = tree.size();
    for (int depth = 0; depth < spineLength; ++depth) {
        const auto& choices = levels[static_cast<std::size_t>(depth)].choices;
        for (std::size_t rank = 1; rank < choices.size() && tree.size() < maxNodes; ++rank)
            tree.add(choices[rank].token, depth - 1, choices[rank].probability);
    }
    return tree;
}

} // namespace engine
