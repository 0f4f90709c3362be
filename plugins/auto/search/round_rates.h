// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace automatic {

/// A histogram of what rounds without draft passes give (with free drafts, or plainly), weighted by
/// their time. It tells how much time a drafter of a given rate would save. Older rounds count
/// less. A plain value.
class RoundRates {
public:
    /// Adds a round that took `cost` plain steps and was expected to give `rate` tokens for the
    /// time of a plain step without draft passes.
    void add(double rate, double cost);

    /// The share of the time that a drafter of this rate saves if it is used where it is better.
    double savedShare(double rate) const;

private:
    static constexpr int kBins = 24;
    static constexpr double kBinWidth = 0.125; // from a rate of 1 on; the last bin is open

    std::array<double, kBins> m_costs = {};
    double m_all = 0.0;
};

} // namespace automatic
