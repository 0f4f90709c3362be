// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <array>
#include <span>
#include <vector>

namespace engine {

/// The best tokens of one row and its normaliser: all that greedy decoding needs of a row's
/// logits. A plain value.
struct HeadSummary {
    static constexpr int kMost = 10;

    std::array<TokenId, kMost> ids{};   ///< [count] best first; of equal logits the lower id first
    std::array<double, kMost> logits{}; ///< [count] exact in whatever type the backend computes
    int count = 0;                      ///< min(kMost, tokens that are not forbidden)
    double logSumExp = 0.0;             ///< over the whole vocabulary, natural logarithm

    TokenId best() const { return ids[0]; }

    /// Leaves a token out, as if its logit were -infinity; never the only one. A probability that
    /// it had without being among the best stays in `logSumExp`.
    void remove(TokenId token);

    /// Place of a token among `ids`, 0 = best; -1 when it is not among them.
    int rankOf(TokenId token) const;

    /// At temperature 1, of the token at this place among `ids`.
    double probability(int rank) const {
        return probabilityOf(logits[static_cast<std::size_t>(rank)]);
    }

    /// At temperature 1, of any token of the row by its logit.
    double probabilityOf(double logit) const;
};

/// The best tokens alone, from full logits; `logSumExp` stays 0. Shapes: logits [vocab], finite or
/// -infinity (a token that is forbidden and never among the best), one at least finite.
HeadSummary bestTokens(std::span<const double> logits);

/// The same with the normaliser.
HeadSummary summarise(std::span<const double> logits);

/// The rows that a head without fused summaries has to compute, each once.
struct HeadRows {
    HeadRows(std::span<const int> logitRows, std::span<const int> summaryRows);

    std::vector<int> rows;          ///< logitRows, then those of summaryRows that are not there
    std::vector<int> summaryPlaces; ///< [summaryRows] their places in `rows`
};

} // namespace engine
