// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executor.h"

namespace app {

bool RunPause::isPaused() const {
    const std::lock_guard lock(m_mutex);
    return m_isPaused;
}

void RunPause::set(bool isPaused) {
    {
        const std::lock_guard lock(m_mutex);
        m_isPaused = isPaused;
    }
    m_changed.notify_all();
}

void RunPause::wait(const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, stop, [this] { return !m_isPaused; });
}

} // namespace app
