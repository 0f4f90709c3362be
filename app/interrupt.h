// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace app {

/// Turns Ctrl+C (and SIGTERM) into a stop request for the current work. Without work, or after a
/// first request, the program ends at once with the signal's exit code. A thread of its own waits
/// for the signal: a handler could not call into std::stop_source. It also tells ForwardClock of
/// pauses (SIGSTOP and SIGCONT).
class InterruptWatcher {
public:
    /// Blocks the signals for all threads created later, so create it before any other thread.
    InterruptWatcher();
    ~InterruptWatcher();
    InterruptWatcher(const InterruptWatcher&) = delete;
    InterruptWatcher& operator=(const InterruptWatcher&) = delete;

    /// Starts work that Ctrl+C can stop; the token is valid until the next call.
    std::stop_token beginWork();

    /// From here on Ctrl+C ends the program.
    void endWork();

    /// Stops the current work in the same way as Ctrl+C.
    void stopWork();

    /// The signal that has stopped the work; 0 before any.
    int signal() const { return m_signal; }

private:
    void wait();

    std::mutex m_mutex;
    std::unique_ptr<std::stop_source> m_work; // guarded by m_mutex
    std::atomic<int> m_signal = 0;
    std::thread m_thread;
};

} // namespace app
