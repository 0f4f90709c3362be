// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/choice/exit_statistics.h"

#include "engine/base/result.h"

#include <algorithm>

namespace del {

double ExitCounts::alpha() const {
    const double all = matches + mismatches;
    if (all > 0.0)
        return matches / all;
    return matches > 0.0 ? 1.0 : 0.0; // only published counting divides a match by nothing
}

ExitStatistics::ExitStatistics(int layerCount, double decay)
    : m_entries(static_cast<std::size_t>(std::max(layerCount - 1, 0)))
    , m_decay(decay) {}

const ExitStatistics::Entry& ExitStatistics::entry(int exit) const {
    ENGINE_CHECK(exit >= 1 && exit <= static_cast<int>(m_entries.size()),
                 "exit {} of a network with {}",
                 exit,
                 m_entries.size());
    return m_entries[static_cast<std::size_t>(exit) - 1];
}

void ExitStatistics::record(int exit, std::span<const ShadowToken> shadows, int counted) {
    ExitCounts sums;
    for (const ShadowToken& shadow : shadows) {
        sums.matches += shadow.agreement;
        sums.matchConfidence += shadow.agreement * shadow.confidence;
        sums.mismatchConfidence += (1.0 - shadow.agreement) * shadow.confidence;
    }
    sums.mismatches = counted - sums.matches;
    ExitCounts counts = entry(exit).counts;
    counts.matches = m_decay * counts.matches + sums.matches;
    counts.mismatches = m_decay * counts.mismatches + sums.mismatches;
    counts.matchConfidence = m_decay * counts.matchConfidence + sums.matchConfidence;
    counts.mismatchConfidence = m_decay * counts.mismatchConfidence + sums.mismatchConfidence;
    m_entries[static_cast<std::size_t>(exit) - 1] = {counts, true};
}

std::vector<int> ExitStatistics::known() const {
    std::vector<int> exits;
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        if (m_entries[i].isKnown)
            exits.push_back(static_cast<int>(i) + 1);
    return exits;
}

void ExitStatistics::clear() { std::fill(m_entries.begin(), m_entries.end(), Entry()); }

} // namespace del
