// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/search/round_rates.h"

#include <algorithm>

namespace automatic {

namespace {

constexpr double kMemory = 0.998; // of the round before: some 500 rounds count

} // namespace

void RoundRates::add(double rate, double cost) {
    for (double& known : m_costs)
        known *= kMemory;
    const int bin = std::clamp(static_cast<int>((rate - 1.0) / kBinWidth), 0, kBins - 1);
    m_costs[static_cast<std::size_t>(bin)] += cost;
    m_all = kMemory * m_all + cost;
}

double RoundRates::savedShare(double rate) const {
    if (m_all <= 0.0)
        return std::max(1.0 - 1.0 / rate, 0.0);
    double saved = 0.0;
    for (int bin = 0; bin < kBins; ++bin) {
        const double own = 1.0 + kBinWidth * bin;
        saved += m_costs[static_cast<std::size_t>(bin)] * std::max(1.0 - own / rate, 0.0);
    }
    return saved / m_all;
}

} // namespace automatic
