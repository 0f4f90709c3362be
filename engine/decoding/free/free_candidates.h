// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/free/lookup_drafter.h"
#include "engine/decoding/free/successor_table.h"
#include "engine/decoding/statistics/decayed_rate.h"
#include "engine/sampling/sampler.h"

#include <span>
#include <vector>

namespace engine {

/// A token that could come next, and the statistics that speak for it. A plain value.
struct FreeCandidate {
    TokenId token = kNoToken;
    double probability = 0.0;            ///< that the model takes it
    std::array<int, 2> rates = {-1, -1}; ///< of FreeStatistics: look-up, successors; -1 = none
};

/// Which of the two sources are asked.
struct FreeSources {
    bool usesLookup = true;
    bool usesSuccessors = true;
};

/// How often what the free sources propose is what the model takes, by source: a look-up by the
/// length of its match and by what the successors say of it; a successor by what it was keyed by
/// (a pair; a token whose pair is unknown; a token beside its pair), by its rank, by the
/// probability that the model gave it last time, and by what the look-up says. Some texts repeat
/// more than others: how often the best candidate of each place was right, beside how often the
/// rates promised it, shifts the odds of all candidates of this text. A plain value.
class FreeStatistics {
public:
    /// What the other source says about a candidate.
    enum class OtherSource { Silent, Differs, Agrees };

    /// What a successor was found by.
    enum class SuccessorKey { Pair, LoneToken, TokenBesidePair };

    FreeStatistics();

    static int lookupRate(int matchLength, OtherSource successors);
    static int successorRate(SuccessorKey key, int rank, double probability, OtherSource lookup);

    double probability(int rate) const;

    void add(int rate, bool isHit) { m_rates[static_cast<std::size_t>(rate)].add(isHit); }

    /// Whether the best candidate of a place was right, which promised this.
    void judge(double probability, bool isHit);

    /// Forgets what was judged: another text begins.
    void beginText() { m_text = {}; }

private:
    /// Of places of this text, the newest counting most.
    struct Judged {
        double places = 0.0;
        double promised = 0.0; ///< right ones by the rates alone
        double hits = 0.0;     ///< right ones
        double odds = 1.0;     ///< of a candidate, over those by the rates alone
    };

    std::vector<DecayedRate> m_rates;
    Judged m_text;
};

/// What is known where a token is to come.
struct FreePlace {
    std::span<const TokenId> drafted; ///< behind the newest token
    Position outputPosition = 0;      ///< of the token to come
};

/// Gathers what the free sources propose at a place. All members are guests.
struct FreeCandidateFinder {
    const LookupDrafter& lookup;
    const SuccessorTable& successors;
    const FreeStatistics& statistics;
    const SamplingOptions& sampling;
    FreeSources sources;

    /// Each token once, best first, of equals the one proposed first; their probabilities sum to 1
    /// at most. Where tokens are drawn, vanilla's own noise ranks the successors.
    std::vector<FreeCandidate> find(const FreePlace& place) const;

private:
    struct Found {
        std::vector<FreeCandidate> candidates;
        TokenId lookupToken = kNoToken;
    };

    Successors drawn(const Successors& seen, Position outputPosition) const;
    void
    addSuccessors(Found& found, const Successors& seen, FreeStatistics::SuccessorKey key) const;
};

} // namespace engine
