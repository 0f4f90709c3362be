// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/memory_roof.h"

#include <functional>
#include <vector>

namespace app {

/// A time and the memory bandwidth measured around it.
struct TimedSample {
    double ms = 0.0;
    double roofGbps = 0.0; ///< mean of the readings before and after
};

/// Reads the roof between all samples.
class RoofSampler {
public:
    explicit RoofSampler(engine::MemoryRoof& roof)
        : m_roof(roof) {
        m_roof.readGbps(); // the first reading includes the threads' waking up
        read();
    }

    /// `work` returns its milliseconds. Errors: those of `work`.
    engine::Result<TimedSample> take(const std::function<engine::Result<double>()>& work) {
        const double before = m_readings.back();
        ENGINE_TRY(const double ms, work());
        read();
        return TimedSample{ms, (before + m_readings.back()) / 2.0};
    }

    /// All readings so far, 1e9 bytes a second.
    const std::vector<double>& readings() const { return m_readings; }

private:
    void read() { m_readings.push_back(m_roof.readGbps()); }

    engine::MemoryRoof& m_roof;
    std::vector<double> m_readings;
};

} // namespace app
