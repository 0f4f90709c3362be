// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.h"

#include "app/exit_codes.h"

#include <unistd.h>

#include <csignal>
#include <pthread.h>

namespace app {

namespace {

sigset_t watchedSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR2); // ends the watcher itself
    return signals;
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

void InterruptWatcher::wait() {
    const sigset_t signals = watchedSignals();
    for (int signal = 0; sigwait(&signals, &signal) == 0;) {
        if (signal == SIGUSR2)
            return;
        m_signal = signal;
        const std::lock_guard lock(m_mutex);
        if (!m_work || !m_work->request_stop())
            _exit(signal == SIGTERM ? kTerminated : kCancelled);
    }
}

} // namespace app
