// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

namespace space {

/// The largest k that can be set.
inline constexpr int kMostMasks = 8;

/// How often the candidate of each place was accepted when all before it were, the newest rounds
/// counting most. What a place has shown fades from round to round, tried or not, so one that was
/// given up is tried again some day. A plain value.
class PlaceRates {
public:
    /// `tried` candidates of a round were looked at, the first `accepted` of them accepted.
    void learn(int tried, int accepted);

    /// Of place 1, 2, ..., from 0 to 1; a half before anything is known.
    double rate(int place) const;

    /// That all candidates up to this place are accepted; 1 for place 0.
    double reach(int place) const;

private:
    struct Count {
        double accepted = 0.0;
        double tried = 0.0;
    };

    std::array<Count, kMostMasks> m_counts;
};

/// What a round can hold.
struct RoundLimits {
    int masks = 0;           ///< k
    int candidates = 0;      ///< that there are
    int room = 1;            ///< tokens that the answer still takes, at least 1
    double leastReach = 0.0; ///< what is looked at less often is left out; 0 = nothing is
};

/// What a round runs.
struct RoundShape {
    int candidates = 0;
    std::vector<int> masks; ///< [candidates + 1] of each group
};

/// Leaves out candidates that are reached too seldom, groups that are used too seldom, and masks
/// whose candidates could not be emitted any more. It knows places, not tokens: what is drafted
/// must not depend on what was drawn and then dropped.
RoundShape planRound(const PlaceRates& rates, const RoundLimits& limits);

} // namespace space
