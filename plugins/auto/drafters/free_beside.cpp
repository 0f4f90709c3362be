// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/drafters/free_beside.h"

#include <vector>

namespace automatic {

using namespace engine;

namespace {

constexpr int kNowhere = -2;

} // namespace

void FreeBeside::addTo(DraftTree& tree) const {
    const DraftTree& free = m_terms.free->tree;
    std::vector<double> paths;
    std::vector<int> places; // in `tree`; kNowhere = left out
    for (int index = 0; index < free.size(); ++index) {
        const DraftNode& node = free.node(index);
        const auto parent = static_cast<std::size_t>(node.parent);
        const bool isFirst = node.parent < 0;
        paths.push_back(node.probability * (isFirst ? 1.0 : paths[parent]));
        const int below = isFirst ? -1 : places[parent];
        places.push_back(below == kNowhere ? kNowhere : place(tree, node, below, paths.back()));
    }
}

int FreeBeside::place(DraftTree& tree, const DraftNode& node, int parent, double path) const {
    for (const int child : tree.children(parent))
        if (tree.node(child).token == node.token)
            return child;
    if (tree.size() >= m_terms.maxNodes || path * m_besideChain < m_terms.rate * rowCost(tree))
        return kNowhere;
    return tree.add(node.token, parent, node.probability);
}

/// Of one row more: behind an exit a part of it falls to the pass before the verification.
double FreeBeside::rowCost(const DraftTree& tree) const {
    const StepCosts& costs = *m_terms.costs;
    const int rows = tree.size() + 1;
    const int early = rows - tree.draftSteps(); // of that pass
    return m_shares.last * (costs.relativeCost(early + 1) - costs.relativeCost(early)) +
           costs.relativeResumedCost(m_shares.verify, rows + 1) -
           costs.relativeResumedCost(m_shares.verify, rows);
}

} // namespace automatic
