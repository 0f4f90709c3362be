// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/read_roof.h"

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
    explicit RoofSampler(engine::ReadRoof& roof)
        : m_roof(roof) {}

    /// `work` returns its milliseconds. Errors: those of `work` and of the roof.
    engine::Result<TimedSample> take(const std::function<engine::Result<double>()>& work) {
        if (m_readings.empty()) {
            ENGINE_TRY_DO(m_roof.readGbps()); // the first one includes the threads' waking up
            ENGINE_TRY_DO(read());
        }
        const double before = m_readings.back();
        ENGINE_TRY(const double ms, work());
        ENGINE_TRY_DO(read());
        return TimedSample{ms, (before + m_readings.back()) / 2.0};
    }

    /// All readings so far, 1e9 bytes a second.
    const std::vector<double>& readings() const { return m_readings; }

private:
    engine::Result<void> read() {
        ENGINE_TRY(const double gbps, m_roof.readGbps());
        m_readings.push_back(gbps);
        return {};
    }

    engine::ReadRoof& m_roof;
    std::vector<double> m_readings;
};

} // namespace app
