// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.h"

#include "app/exit_codes.h"
#include "engine/base/time/pause_meter.h"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <pthread.h>

namespace app {

namespace {

sigset_t watchedSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCONT); // behind a pause
    sigaddset(&signals, SIGUSR2); // ends the watcher itself
    return signals;
}

bool isPending(int signal) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

} // namespace

InterruptWatcher::InterruptWatcher() {
    const sigset_t signals = watchedSignals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    m_thread = std::thread([this] { wait(); });
}

InterruptWatcher::~InterruptWatcher() {
    pthread_kill(m_thread.native_handle(), SIGUSR2);
    m_thread.join();
}

std::stop_token InterruptWatcher::beginWork() {
    const std::lock_guard lock(m_mutex);
    m_work = std::make_unique<std::stop_source>();
    return m_work->get_token();
}

void InterruptWatcher::endWork() {
    const std::lock_guard lock(m_mutex);
    m_work.reset();
}

void InterruptWatcher::stopWork() {
    const std::lock_guard lock(m_mutex);
    if (m_work)
        m_work->request_stop();
}

/// Between two signals it beats, so that no clock counts a pause of the process.
void InterruptWatcher::wait() {
    constexpr timespec kUntilBeat = {
        0, std::chrono::nanoseconds(engine::PauseMeter::kBetweenBeats).count()};
    const sigset_t signals = watchedSignals();
    engine::PauseMeter& pauses = engine::PauseMeter::ofProcess();
    // A pause may come before the first wait ends.
    pauses.beat(std::chrono::steady_clock::now(), false);
    while (true) {
        const int signal = sigtimedwait(&signals, nullptr, &kUntilBeat);
        const auto now = std::chrono::steady_clock::now();
        // A pause interrupts the wait, which then ends before that signal is taken.
        pauses.beat(now, signal == SIGCONT || isPending(SIGCONT));
        if (signal == SIGUSR2) {
            pauses.end();
            return;
        }
        if (signal < 0 || signal == SIGCONT)
            continue;
        m_signal = signal;
        const std::lock_guard lock(m_mutex);
        if (!m_work || !m_work->request_stop())
            _exit(signal == SIGTERM ? kTerminated : kCancelled);
    }
}

} // namespace app
