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
    int parent = -1;          ///< a lower index; -1 = the root, which is the pending token
    int rank = 0;             ///< its place among its siblings in draft order; 0 = first choice
    double probability = 0.0; ///< the draft's probability of it at temperature 1

    bool operator==(const DraftNode&) const = default;
};

/// Drafted tokens and their parents; a chain is a tree with one branch. The root is the newest
/// emitted token and is not itself a node. A plain value.
class DraftTree {
public:
    int size() const { return static_cast<int>(m_nodes.size()); }

    const DraftNode& node(int index) const { return m_nodes[static_cast<std::size_t>(index)]; }

    std::span<const DraftNode> nodes() const { return m_nodes; }

    /// Adds a node and returns its index. Its parent must have been added before; its rank is the
    /// number of siblings that were added before it.
    int add(TokenId token, int parent, double probability);

    /// The indices of a node's children (-1: the root's), in draft order.
    std::vector<int> children(int parent) const;

    /// Distance from the root; 1 for the root's own children.
    int depth(int index) const;

    /// The number of draft passes that made this tree: acceptance divides by it.
    int draftSteps() const { return static_cast<int>(m_confidences.size()); }

    /// For each draft pass, the probability at temperature 1 of its first choice; behind an early
    /// exit, that of its most probable token.
    std::span<const double> confidences() const { return m_confidences; }

    void addConfidence(double confidence) { m_confidences.push_back(confidence); }

    /// The distribution from which a node's children (-1: the root's) were drawn, in order and
    /// without replacement; null if they were not drawn. Recursive rejection needs it.
    const Distribution* drawnFrom(int parent) const;

    void setDrawnFrom(int parent, Distribution distribution);

    /// Why the draft ended here.
    const DraftEnd& end() const { return m_end; }

    void setEnd(const DraftEnd& end) { m_end = end; }

    /// The parents as AttentionLayout::tree takes them: there the root is node 0, so every index is
    /// one higher.
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

/// The choices of one draft pass: the token that continues the spine, and its siblings.
struct DraftLevel {
    struct Choice {
        TokenId token = kNoToken;
        double probability = 0.0;
    };

    std::vector<Choice> choices; ///< first choice first
    Distribution drawnFrom = {}; ///< empty unless the choices were drawn
};

/// Makes a caterpillar tree: the first choices form the spine, and all other choices are leaves
/// beside it. The spine's nodes come first, then the siblings by depth. A tree of more than
/// `maxNodes` nodes loses its deepest siblings first. Source: arXiv 2410.06916 section 4.2.
DraftTree makeCaterpillar(std::span<const DraftLevel> levels, int maxNodes);

} // namespace engine
