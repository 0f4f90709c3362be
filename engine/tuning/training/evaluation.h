// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/rows/row_store.h"
#include "engine/tuning/trainer.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// Share of drafts whose token of that depth is the model's own, given that all before it were; 0
/// where none was tried. [kDepths]
std::array<double, kDepths> acceptanceOf(const DraftHits& hits);

/// Share of tokens that the exit behind each layer says. [layers - 1], or empty where there are no
/// exits.
std::vector<double> exitShares(const DraftHits& hits);

/// Tokens that a round with drafts of `depth` tokens gives, the bonus included.
double tokensPerRound(const DraftHits& hits, int depth = 3);

/// What drafts of a state were worth. A plain value.
struct Evaluation {
    std::int64_t step = 0; ///< steps before it
    std::int64_t rows = 0; ///< of answers
    DraftHits all;
    std::map<std::string, DraftHits> byTask;

    double tokensPerRound() const { return engine::tokensPerRound(all); }
};

/// The texts of a split that an evaluation reads: in an order by the seed, until they have so many
/// rows; one at least, if there is one.
std::vector<TextPlace>
textsToEvaluate(const RowStore& rows, RowSplit split, int mostRows, std::uint64_t seed);

/// Drafts behind all rows of answers of these texts. Errors: those of reading and of the trainer;
/// Cancelled between two texts.
Result<Evaluation> evaluateDrafts(Trainer& trainer,
                                  const RowStore& rows,
                                  std::span<const TextPlace> texts,
                                  const std::stop_token& stop);

} // namespace engine
