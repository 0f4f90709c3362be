// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace backend_torch {

/// Cosines and sines of the rotary angles of the positions seen so far. The angles are computed in
/// float64 whatever the precision: at position 8000 a float32 angle is off by 1e-4 and more.
template <typename Math> class RotaryTable {
public:
    /// `frequencies` [pairs], radians per position; cosines and sines are multiplied by `factor`.
    RotaryTable(std::vector<double> frequencies, double factor)
        : m_frequencies(std::move(frequencies))
        , m_factor(factor) {}

    /// Makes the rows of positions [0, end) available.
    void extendTo(engine::Position end) {
        for (; m_end < end; ++m_end)
            for (const double frequency : m_frequencies) {
                m_cosines.push_back(static_cast<Math>(m_factor * std::cos(frequency * m_end)));
                m_sines.push_back(static_cast<Math>(m_factor * std::sin(frequency * m_end)));
            }
    }

    std::size_t width() const { return m_frequencies.size(); }

    /// [pairs]; valid until the table is extended.
    const Math* cosines(engine::Position position) const {
        return m_cosines.data() + static_cast<std::size_t>(position) * width();
    }

    const Math* sines(engine::Position position) const {
        return m_sines.data() + static_cast<std::size_t>(position) * width();
    }

private:
    std::vector<double> m_frequencies;
    double m_factor;
    engine::Position m_end = 0;
    std::vector<Math> m_cosines; // [positions, pairs]
    std::vector<Math> m_sines;   // likewise
};

} // namespace backend_torch
