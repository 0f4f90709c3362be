// SPDX-License-Identifier: Apache-2.0
#include "engine/lens/lens_token.h"

#include "engine/base/to_size.h"

#include <algorithm>

namespace engine {

int LensToken::finalDepth() const {
    int depth = static_cast<int>(cells.size());
    while (depth > 0 && cells[toSize(depth - 1)].isInTheLead())
        --depth;
    return depth == static_cast<int>(cells.size()) ? -1 : depth;
}

LensCell lensCell(const HeadSummary& summary, TokenId token, std::span<const double> logits) {
    LensCell cell;
    for (int place = 0; place < std::min(LensCell::kTop, summary.count); ++place) {
        cell.ids.push_back(summary.ids[toSize(place)]);
        cell.probabilities.push_back(summary.probability(place));
    }
    cell.rank = summary.rankOf(token);
    if (cell.rank >= 0) {
        cell.probability = summary.probability(cell.rank);
        return cell;
    }
    const double own = logits[toSize(token)];
    cell.rank = 0;
    for (std::size_t id = 0; id < logits.size(); ++id)
        if (logits[id] > own || (logits[id] == own && id < toSize(token)))
            ++cell.rank;
    cell.probability = summary.probabilityOf(own);
    return cell;
}

} // namespace engine
