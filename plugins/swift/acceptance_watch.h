// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace swift {

/// Acceptance over stretches of at least 256 drafted tokens. Counted in draft passes, so that the
/// same run gives the same stretches on every machine. Source: swift.md 2.4.
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

} // namespace swift
