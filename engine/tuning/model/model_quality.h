// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"
#include "engine/tuning/rows/row_store.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace engine {

/// Tokens of held-out texts that a model's quality is measured on, as far as there are so many.
inline constexpr int kQualityTokens = 2000;

/// What a tuned model must keep: its perplexity rises by no more than 3 %, and nine of ten of its
/// most probable tokens are those of the untouched model.
inline constexpr double kMostPerplexity = 1.03;
inline constexpr double kLeastAgreement = 0.90;

/// Of a model that is broken.
inline constexpr double kHighestPerplexity = 1e9;

/// What a model says of some texts. A plain value.
struct TextReading {
    double surprise = 0.0;     ///< of all tokens of answers, in nats
    std::vector<TokenId> best; ///< the most probable token behind each row before such a token

    /// At most kHighestPerplexity, also of logits that are no numbers: JSON has no place for
    /// others.
    double perplexity() const;
};

/// Which texts a model is read on. A plain value.
struct QualityTexts {
    RowSplit split = RowSplit::Validation;
    std::uint64_t seed = 0; ///< of their order
    int tokens = kQualityTokens;
};

/// Reads texts of a split with the full model, each from its first kept row on, in the order of
/// textsToEvaluate(), until so many tokens of answers have been read or there are no more;
/// `forbidden` (kNoToken: none) counts as impossible, as in decoding. Errors: those of passes and
/// of reading; Cancelled.
Result<TextReading> readTexts(Transformer& transformer,
                              const RowStore& rows,
                              const QualityTexts& texts,
                              TokenId forbidden,
                              const std::stop_token& stop);

/// A tuned model beside the untouched one. A plain value.
struct ModelQuality {
    std::int64_t tokens = 0;
    double perplexityBefore = 0.0;
    double perplexityAfter = 0.0;
    double agreement = 0.0;
    bool isHeldOut = true;

    bool isKept() const;

    /// Why not, as a sentence; empty if it is.
    std::string failing() const;
};

/// Of two readings of the same texts; others are a bug (ENGINE_CHECK).
ModelQuality compareReadings(const TextReading& before, const TextReading& after, bool isHeldOut);

} // namespace engine
