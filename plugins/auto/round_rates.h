// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace automatic {

/// What rounds give without any draft pass (by free drafts, or plainly), as shares of the time: so
/// it is known what a drafter of a given rate would save. Older rounds count less. A plain value.
class RoundRates {
public:
    /// A round that was expected to give `rate` tokens for the time of a plain step without draft
    /// passes, and took `cost` plain steps.
    void add(double rate, double cost);

    /// The share of time that a drafter of this rate saves, used where it is the better one.
    double savedShare(double rate) const;

private:
    static constexpr int kBins = 24;
    static constexpr double kBinWidth = 0.125; // from a rate of 1 on; the last bin is open

    std::array<double, kBins> m_costs = {};
    double m_all = 0.0;
};

} // namespace automatic
