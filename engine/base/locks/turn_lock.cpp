// SPDX-License-Identifier: Apache-2.0
#include "engine/base/locks/turn_lock.h"

#include "engine/base/forward_clock.h"

#include <chrono>
#include <thread>

namespace engine {

namespace {

constexpr std::chrono::microseconds kBetweenPolls(250);

/// Whether it was locked; not if it was stopped. A blocking flock could not be stopped.
Result<bool> waitFor(FileLock& lock, const std::stop_token& stop) {
    for (;;) {
        ENGINE_TRY(const bool isLocked, lock.tryLock());
        if (isLocked)
            return true;
        if (stop.stop_requested())
            return false;
        std::this_thread::sleep_for(kBetweenPolls);
    }
}

} // namespace

Result<TurnLock> TurnLock::open(const std::filesystem::path& path) {
    ENGINE_TRY(FileLock turn, FileLock::open(path));
    ENGINE_TRY(FileLock next, FileLock::open(path.string() + ".next"));
    return TurnLock(std::move(turn), std::move(next));
}

Result<std::optional<TurnLock::Turn>> TurnLock::take(const std::stop_token& stop) {
    const auto start = ForwardClock::now();
    ENGINE_TRY(const bool isNext, waitFor(m_next, stop));
    if (!isNext)
        return std::optional<Turn>();
    const auto isTaken = waitFor(m_turn, stop);
    m_next.unlock();
    if (!isTaken)
        return isTaken.error();
    if (!isTaken.value())
        return std::optional<Turn>();
    const std::chrono::duration<double, std::milli> waited = ForwardClock::now() - start;
    return std::optional<Turn>(std::in_place, m_turn, waited.count());
}

} // namespace engine
