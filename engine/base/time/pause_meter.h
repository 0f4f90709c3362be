// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>

namespace engine {

/// Leaves the pauses of a whole process (SIGSTOP) out of a clock. A thread beats; when the process
/// was let go on since its last beat, the time between is a pause. Until that is known, the clock
/// stands still kMostAhead behind the newest beat, and from there it goes on: each pause counts as
/// up to kMostAhead. Thread: beat() from one, the rest from any.
class PauseMeter {
public:
    using Duration = std::chrono::steady_clock::duration;
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::milliseconds kBetweenBeats{50};
    static constexpr std::chrono::milliseconds kMostAhead{250};

    void beat(Time now, bool isLetGoOn);

    /// There are no more beats, and the clock goes on without them.
    void end();

    /// This time without all pauses before it.
    Time without(Time now) const;

    /// The meter of this process, whose beats are those of the program.
    static PauseMeter& ofProcess();

private:
    std::atomic<Duration::rep> m_newest = 0; // beat; 0 = none
    std::atomic<Duration::rep> m_pauses = 0; // their sum
};

} // namespace engine
