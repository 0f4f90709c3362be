// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/decoding/round/draft_end.h"
#include "engine/sampling/sampler.h"

#include <memory>
#include <span>
#include <vector>

namespace engine {

/// One drafted token.
struct DraftNode {
    TokenId token = kNoToken;
    int parent = -1;          ///< a lower node index; -1 = hangs on the root, the pending token
    int rank = 0;             ///< among its parent's children in draft order; 0 = first choice
    double probability = 0.0; ///< the draft's own at temperature 1

    bool operator==(const DraftNode&) const = default;
};

/// Drafted tokens and their parents; a chain is a tree with one branch. The root, the newest
/// emitted token, is no node. A plain value.
class DraftTree {
public:
    int size() const { return static_cast<int>(m_nodes.size()); }

    const DraftNode& node(int index) const { return m_nodes[static_cast<std::size_t>(index)]; }

    std::span<const DraftNode> nodes() const { return m_nodes; }

    /// Adds a node; its parent must be there already and its rank is the number of its siblings
    /// so far. Returns its index.
    int add(TokenId token, int parent, double probability);

    /// The children of a node (-1: of the root), in draft order.
    std::vector<int> children(int parent) const;

    /// Distance from the root; 1 for a node that hangs on it.
    int depth(int index) const;

    /// Draft passes that this tree cost: the D of acceptance.
    int draftSteps() const { return static_cast<int>(m_confidences.size()); }

    /// For each draft pass the probability of its first choice at temperature 1.
    std::span<const double> confidences() const { return m_confidences; }

    void addConfidence(double confidence) { m_confidences.push_back(confidence); }

    /// What the children of a node (-1: of the root) were drawn from, without replacement and in
    /// order; null where they were not drawn. Recursive rejection needs it.
    const Distribution* drawnFrom(int parent) const;

    void setDrawnFrom(int parent, Distribution distribution);

    /// Why nothing more was drafted.
    const DraftEnd& end() const { return m_end; }

    void setEnd(const DraftEnd& end) { m_end = end; }

    /// Parents for AttentionLayout::tree: the root is node 0, so all indices are one higher.
    std::vector<int> layoutParents() const;

private:
    struct Source {
        int parent;
        std::shared_ptr<const Distribution> distribution; // shared: copies of a tree are cheap
    };

    std::vector<DraftNode> m_nodes;
    std::vector<double> m_confidences;
    std::vector<Source> m_sources;
    DraftEnd m_end;
};

/// The choices of one draft pass: where the spine goes on, and its siblings.
struct DraftLevel {
    struct Choice {
        TokenId token = kNoToken;
        double probability = 0.0;
    };

    std::vector<Choice> choices; ///< first choice first
    Distribution drawnFrom = {}; ///< empty unless the choices were drawn
};

/// A caterpillar: the first choices form the spine, the others hang beside it as leaves. Ordered
/// spine first, then siblings by depth; at most `maxNodes` nodes, the deepest siblings go first.
/// Source: arXiv 2410.06916 section 4.2; swift.md 3.3.
DraftTree makeCaterpillar(std::span<const DraftLevel> levels, int maxNodes);

} // namespace engine
