// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <algorithm>
#include <span>
#include <vector>

namespace engine {

/// A row of logits with the highest logit of each block: finds the highest logits of a large
/// vocabulary without visiting every one. Thread: any.
class LogitBlocks {
public:
    static constexpr std::size_t kBlock = 64;

    /// Shapes: logits [vocab], not empty, finite; borrowed, must outlive this.
    explicit LogitBlocks(std::span<const double> logits);

    double highest() const { return m_highest; }

    /// The `count`-th highest logit; -infinity when there are fewer.
    double highestAt(int count) const;

    /// Calls `visit` with the id and the logit of every token whose logit is at least `least`, in
    /// the order of ids.
    template <typename Visit> void forEachFrom(double least, Visit visit) const {
        for (std::size_t block = 0; block < m_blockHighest.size(); ++block) {
            if (m_blockHighest[block] < least)
                continue;
            const std::size_t end = std::min((block + 1) * kBlock, m_logits.size());
            for (std::size_t id = block * kBlock; id < end; ++id)
                if (m_logits[id] >= least)
                    visit(static_cast<TokenId>(id), m_logits[id]);
        }
    }

private:
    std::span<const double> m_logits;
    std::vector<double> m_blockHighest; // [blocks], the last one may be short
    double m_highest;
};

} // namespace engine
