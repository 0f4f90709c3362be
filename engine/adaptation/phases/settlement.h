// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace engine {

/// Acceptance over stretches of at least 256 drafted tokens. They are counted in draft passes, so
/// that the same run gives the same stretches on every machine.
class AcceptanceWatch {
public:
    static constexpr int kStretch = 256; // drafted tokens

    /// The acceptance of a stretch, when this round completes one.
    std::optional<double> add(int accepted, int draftSteps) {
        m_accepted += accepted;
        m_drafted += draftSteps;
        if (m_drafted < kStretch)
            return std::nullopt;
        const double acceptance = static_cast<double>(m_accepted) / m_drafted;
        clear();
        return acceptance;
    }

    /// Begins a new stretch.
    void clear() { m_accepted = m_drafted = 0; }

private:
    int m_accepted = 0;
    int m_drafted = 0;
};

/// The last phase: the search is over, and its best set drafts. It ends when acceptance falls, as
/// other text may need another set.
class Settlement {
public:
    void begin() { *this = Settlement(); }

    /// The mean acceptance of the stretches so far (of the first one its own), if this stretch lies
    /// below it by `drop` or more, which ends the phase. A drop of 0 never ends it.
    std::optional<double> fallenFrom(double acceptance, double drop) {
        if (drop <= 0.0)
            return std::nullopt;
        const double mean = m_stretches == 0 ? acceptance : m_sum / m_stretches;
        if (mean - acceptance >= drop)
            return mean;
        m_sum += acceptance;
        ++m_stretches;
        return std::nullopt;
    }

private:
    double m_sum = 0.0; // of the acceptance of stretches
    int m_stretches = 0;
};

} // namespace engine
