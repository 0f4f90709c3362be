// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"

#include <cstdint>
#include <optional>

namespace engine {

/// Totals over the rounds of a decoder, and the figures of the literature that are computed from
/// them.
///
/// A plain round has no draft and no other rows: the full model alone writes one token, as in
/// vanilla decoding. All plain rounds form the baseline of the same run. Plain rounds that the
/// decoder chose itself, because no draft seemed worthwhile, are also its own rounds and count in
/// M, tokens per layer and the speedup; those made only as a baseline do not. A decoder that has
/// never drafted has none of these figures. A plain value. M and acceptance are counted as in arXiv
/// 2410.06916.
struct DecodeMetrics {
    std::int64_t rounds = 0;     ///< that drafted and verified; reading the prompt does not count
    std::int64_t tokens = 0;     ///< emitted by these rounds
    std::int64_t accepted = 0;   ///< m summed: nodes on the accepted paths, siblings included
    std::int64_t draftSteps = 0; ///< D summed: draft passes; siblings cost no pass
    std::int64_t draftedNodes = 0;
    std::int64_t verifiedRows = 0;
    double draftLayers = 0.0;  ///< layers that drafting read, see DecodeStep::draftLayers
    double verifyLayers = 0.0; ///< that verifying read
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;        ///< of all rounds, baseline ones too, and at the ends of answers
    double otherMs = 0.0;         ///< other time of the rounds
    std::int64_t plainRounds = 0; ///< chosen by the decoder itself, one token each
    double plainMs = 0.0;
    double plainLayers = 0.0;        ///< that they read
    std::int64_t baselineTokens = 0; ///< of all plain rounds
    double baselineMs = 0.0;
    double baselineLayers = 0.0; ///< that these tokens took

    bool operator==(const DecodeMetrics&) const = default;

    /// Adds a round of the decoder's own that took `stepMs` altogether.
    void add(const DecodeStep& step, double stepMs);

    /// Adds a plain round made as a baseline.
    void addBaseline(const DecodeStep& step, double stepMs);

    /// Adds the sums of other rounds.
    void add(const DecodeMetrics& other);

    /// Adds the time of a search between or after the rounds.
    void addSearch(double ms) { searchMs += ms; }

    /// The decoder's own rounds, including its plain ones, and their tokens.
    std::int64_t ownRounds() const { return rounds + plainRounds; }

    std::int64_t ownTokens() const { return tokens + plainRounds; }

    /// The time of these rounds, without the search.
    double ownMs() const { return draftMs + verifyMs + otherMs + plainMs; }

    /// The tokens of all rounds, including baseline rounds.
    std::int64_t allTokens() const { return tokens + baselineTokens; }

    /// The time of all rounds, including the search.
    double allMs() const { return draftMs + verifyMs + otherMs + baselineMs + searchMs; }

    /// M: tokens emitted per own round.
    std::optional<double> tokensPerRound() const;

    /// Alpha as the paper counts it: accepted nodes over draft steps.
    std::optional<double> acceptance() const;

    /// Tokens of its own rounds per layer read in drafting and verifying. Exits are chosen by this
    /// figure, because time is proportional to layers. A layer counts once per pass, however many
    /// rows it processes. Source: arXiv 2504.05598 (eTPL).
    std::optional<double> tokensPerLayer() const;

    /// Milliseconds for a token of its own rounds, the search included.
    std::optional<double> msPerToken() const;

    /// Milliseconds for a token of the baseline rounds.
    std::optional<double> baselineMsPerToken() const;

    /// The speedup over the baseline of the same run; none until both are measured.
    std::optional<double> speedup() const;
};

/// The factors of the expected speedup; costs in units of one vanilla step.
struct SpeedFactors {
    double tokensPerRound = 1.0; ///< M, at least 1
    double acceptance = 1.0;     ///< alpha, accepted over draft steps
    double draftCost = 0.0;      ///< c, one draft step
    double verifyCost = 1.0;     ///< v, the verification of a round
    double otherCost = 0.0;      ///< o, everything else that a round does
};

/// M / ((M - 1) c / alpha + v + o); with v = 1 and o = 0 equation 6 of arXiv 2410.06916. 0 if
/// acceptance is 0 although M is above 1.
double expectedSpeedup(const SpeedFactors& factors);

} // namespace engine
