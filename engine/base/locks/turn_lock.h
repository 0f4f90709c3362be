// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/locks/file_lock.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <utility>

namespace engine {

/// Lets processes on one machine take turns, for example a chat and an experiment that decode on
/// the same cores: each does a step while the others wait. Of two that always want the next turn,
/// each has every second one: who waits next holds a second file, FILE.next, until it has FILE, and
/// whoever wants FILE needs FILE.next first. So the one that has just ended its turn cannot have
/// another one before it. Of more than two, the next one is any of those that wait.
///
/// The files are empty and stay. A process that dies ends its turn, or its place in the queue.
/// Waiting polls four thousand times a second, so a turn should last longer than a millisecond.
/// Thread: one for each TurnLock; never that of the window, because it waits.
class TurnLock {
public:
    /// Makes the two files if needed. Errors: Io.
    static Result<TurnLock> open(const std::filesystem::path& path);

    /// A turn: it ends with this object. The TurnLock outlives it and is not moved meanwhile.
    class Turn {
    public:
        Turn(FileLock& lock, double waitedMs)
            : m_lock(&lock)
            , m_waitedMs(waitedMs) {}

        Turn(Turn&& other) noexcept
            : m_lock(std::exchange(other.m_lock, nullptr))
            , m_waitedMs(other.m_waitedMs) {}

        Turn& operator=(Turn&&) = delete;
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        ~Turn() {
            if (m_lock != nullptr)
                m_lock->unlock();
        }

        /// Milliseconds that were spent on waiting for it; not part of any measured time.
        double waitedMs() const { return m_waitedMs; }

    private:
        FileLock* m_lock;
        double m_waitedMs;
    };

    /// Waits for the next turn; none if it was stopped meanwhile. Errors: Io.
    Result<std::optional<Turn>> take(const std::stop_token& stop = {});

private:
    TurnLock(FileLock turn, FileLock next)
        : m_turn(std::move(turn))
        , m_next(std::move(next)) {}

    FileLock m_turn;
    FileLock m_next;
};

} // namespace engine
