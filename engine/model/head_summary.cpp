// SPDX-License-Identifier: Apache-2.0
#include "engine/model/head_summary.h"

#include "engine/base/result.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

int HeadSummary::rankOf(TokenId token) const {
    const auto end = ids.begin() + count;
    const auto at = std::find(ids.begin(), end, token);
    return at == end ? -1 : static_cast<int>(at - ids.begin());
}

void HeadSummary::remove(TokenId token) {
    const int rank = rankOf(token);
    if (rank < 0)
        return;
    ENGINE_CHECK(count > 1, "token {} is the only one of a summary", token);
    const double lost = probability(rank);
    const auto place = static_cast<std::ptrdiff_t>(rank);
    std::copy(ids.begin() + place + 1, ids.begin() + count, ids.begin() + place);
    std::copy(logits.begin() + place + 1, logits.begin() + count, logits.begin() + place);
    --count;
    double best = 0.0; // what the others among the best have for certain, whatever was lost
    for (int other = 0; other < count; ++other)
        best += std::exp(logits[static_cast<std::size_t>(other)] - logits.front());
    const double least = logits.front() + std::log(best);
    logSumExp = lost < 1.0 ? std::max(logSumExp + std::log1p(-lost), least) : least;
}

double HeadSummary::probabilityOf(double logit) const {
    return std::min(std::exp(logit - logSumExp), 1.0); // rounding could carry a sure token above 1
}

HeadSummary bestTokens(std::span<const double> logits) {
    ENGINE_CHECK(!logits.empty(), "a summary of no logits");
    HeadSummary summary;
    int& count = summary.count;
    for (std::size_t id = 0; id < logits.size(); ++id) {
        const double logit = logits[id];
        if (count == HeadSummary::kMost && !(logit > summary.logits.back()))
            continue;
        if (logit == -std::numeric_limits<double>::infinity())
            continue;
        int place = count < HeadSummary::kMost ? count++ : count - 1;
        for (; place > 0 && logit > summary.logits[static_cast<std::size_t>(place) - 1]; --place) {
            const auto to = static_cast<std::size_t>(place);
            summary.logits[to] = summary.logits[to - 1];
            summary.ids[to] = summary.ids[to - 1];
        }
        summary.logits[static_cast<std::size_t>(place)] = logit;
        summary.ids[static_cast<std::size_t>(place)] = static_cast<TokenId>(id);
    }
    return summary;
}

HeadSummary summarise(std::span<const double> logits) {
    HeadSummary summary = bestTokens(logits);
    const double highest = summary.logits.front();
    double total = 0.0;
    for (const double logit : logits)
        total += std::exp(logit - highest);
    summary.logSumExp = highest + std::log(total);
    return summary;
}

HeadRows::HeadRows(std::span<const int> logitRows, std::span<const int> summaryRows)
    : rows(logitRows.begin(), logitRows.end()) {
    for (const int row : summaryRows) {
        const auto at = std::find(rows.begin(), rows.end(), row);
        summaryPlaces.push_back(static_cast<int>(at - rows.begin()));
        if (at == rows.end())
            rows.push_back(row);
    }
}

} // namespace engine
