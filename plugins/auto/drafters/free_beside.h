// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_terms.h"
#include "plugins/auto/chain_promise.h"

namespace automatic {

/// Adds the nodes of a free draft that pay beside a chain that cost passes: whatever the chain
/// already holds is no further row, what departs from it counts only where the chain is wrong.
/// A guest of one draft: what it is made from must outlive it.
class FreeBeside {
public:
    /// `acceptance`: of a token of the chain.
    FreeBeside(const engine::DraftTerms& terms, const PassShares& shares, double acceptance)
        : m_terms(terms)
        , m_shares(shares)
        , m_besideChain(1.0 - acceptance) {}

    void addTo(engine::DraftTree& tree) const;

private:
    int
    place(engine::DraftTree& tree, const engine::DraftNode& node, int parent, double path) const;
    double rowCost(const engine::DraftTree& tree) const;

    const engine::DraftTerms& m_terms;
    const PassShares& m_shares;
    double m_besideChain;
};

} // namespace automatic
