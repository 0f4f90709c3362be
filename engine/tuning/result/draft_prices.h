// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/draft_model.h"

#include <array>
#include <functional>
#include <optional>
#include <stop_token>

namespace engine {

/// What drafting costs, in plain steps: passes of the whole model over one row. A plain value.
struct DraftPrices {
    /// Tokens in a row that a draft of these prices has, at most.
    static constexpr int kMostDrafted = 3;

    double plainMs = 0.0;                    ///< a plain step
    double draft = 0.0;                      ///< c: a pass of the network that drafts
    std::array<double, kMostDrafted> rows{}; ///< v: a pass of the whole model over 2, 3 and 4 rows
    int rounds = 0;                          ///< that were measured

    /// What a round costs that drafts so many tokens and verifies them: g c + v(g + 1). So many
    /// tokens must it write to be as fast as plain steps. `drafted`: 1 to kMostDrafted.
    double round(int drafted) const;
};

/// From where on drafting is faster than plain steps.
struct BreakEven {
    double acceptance = 0.0; ///< the same at every depth
    int drafted = 0;         ///< tokens of the draft that pays first
};

/// Where E = 1 + a + a^2 + ... is the price of a round, for the length of drafts at which this
/// happens first; none if no acceptance is enough.
std::optional<BreakEven> breakEvenOf(const DraftPrices& prices);

/// Whether no pass came out cheaper than one of fewer rows, which only other work on the computer
/// can have done.
bool areCredible(const DraftPrices& prices);

/// Measures the prices as decoding pays them: kMostDrafted passes of the draft network and one of
/// the whole model in turn, so that neither finds its weights where the other has just been.
/// Thirty rounds for each number of rows, or as many as go into three seconds, five at least. The
/// least of each time counts, as other work on the computer can only add to it. `nowMs` is
/// a clock. Errors: NoMemory for the caches, those of a pass; Unsupported if the prices are not
/// credible; Cancelled.
Result<DraftPrices> measurePrices(Transformer& model,
                                  DraftModel& draft,
                                  const std::function<double()>& nowMs,
                                  const std::stop_token& stop);

/// An adapter of these sizes with arbitrary weights: what passes of it cost does not depend on
/// them.
DraftAdapter adapterToMeasure(const DraftSizes& sizes, int headTokens);

} // namespace engine
