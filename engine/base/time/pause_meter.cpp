// SPDX-License-Identifier: Apache-2.0
#include "engine/base/time/pause_meter.h"

#include <algorithm>

namespace engine {

// The sum is stored before the beat and read behind it: whoever sees a beat sees all pauses before
// it.

void PauseMeter::beat(Time now, bool isLetGoOn) {
    const Duration::rep time = now.time_since_epoch().count();
    const Duration::rep before = m_newest;
    if (isLetGoOn && before != 0)
        m_pauses += std::max<Duration::rep>(0, time - before - Duration(kMostAhead).count());
    m_newest = time;
}

void PauseMeter::end() { m_newest = 0; }

PauseMeter::Time PauseMeter::without(Time now) const {
    const Duration::rep newest = m_newest;
    const Duration::rep latest = newest + Duration(kMostAhead).count();
    Duration::rep time = now.time_since_epoch().count();
    if (newest != 0)
        time = std::min(time, latest);
    return Time(Duration(time - m_pauses));
}

PauseMeter& PauseMeter::ofProcess() {
    static PauseMeter meter;
    return meter;
}

} // namespace engine
