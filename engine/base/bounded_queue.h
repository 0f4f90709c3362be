// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace engine {

/// Passes plain values from one thread to another, in order. Nothing that was pushed is lost: the
/// writer of a full queue waits. close() wakes both sides for good. Thread: any.
template <typename T> class BoundedQueue {
public:
    explicit BoundedQueue(std::size_t capacity)
        : m_capacity(std::max<std::size_t>(capacity, 1)) {}

    /// Waits while the queue is full. Returns false once it is closed: the value was not taken.
    bool push(T value) {
        std::unique_lock lock(m_mutex);
        m_hasRoom.wait(lock, [this] { return m_isClosed || m_values.size() < m_capacity; });
        return append(std::move(value));
    }

    /// As push(), but a full queue refuses the value instead of letting the writer wait.
    bool tryPush(T value) {
        const std::scoped_lock lock(m_mutex);
        return m_values.size() < m_capacity && append(std::move(value));
    }

    /// As push(), but first removes a waiting value for which `isOlder(waiting)` holds. This is for
    /// pictures, of which only the newest is worth showing. The new one goes to the end, after
    /// everything that it already shows.
    template <typename IsOlder> bool pushReplacing(T value, IsOlder isOlder) {
        std::unique_lock lock(m_mutex);
        const auto older = std::find_if(m_values.begin(), m_values.end(), isOlder);
        if (older != m_values.end())
            m_values.erase(older);
        m_hasRoom.wait(lock, [this] { return m_isClosed || m_values.size() < m_capacity; });
        return append(std::move(value));
    }

    /// Takes everything in the queue at once, without waiting. Works on a closed queue too.
    std::vector<T> takeAll() {
        std::vector<T> taken;
        {
            const std::scoped_lock lock(m_mutex);
            taken.assign(std::make_move_iterator(m_values.begin()),
                         std::make_move_iterator(m_values.end()));
            m_values.clear();
        }
        m_hasRoom.notify_all();
        return taken;
    }

    /// Waits until something can be taken. Returns false if the queue is closed and empty.
    bool waitForContent() {
        std::unique_lock lock(m_mutex);
        m_hasContent.wait(lock, [this] { return m_isClosed || !m_values.empty(); });
        return !m_values.empty();
    }

    /// The same for a limited time.
    bool waitForContent(std::chrono::milliseconds timeout) {
        std::unique_lock lock(m_mutex);
        m_hasContent.wait_for(lock, timeout, [this] { return m_isClosed || !m_values.empty(); });
        return !m_values.empty();
    }

    /// From here on nothing can be pushed; waiting values can still be taken.
    void close() {
        {
            const std::scoped_lock lock(m_mutex);
            m_isClosed = true;
        }
        m_hasRoom.notify_all();
        m_hasContent.notify_all();
    }

    bool isClosed() const {
        const std::scoped_lock lock(m_mutex);
        return m_isClosed;
    }

private:
    /// Call it with m_mutex held and room for one more.
    bool append(T value) {
        if (m_isClosed)
            return false;
        m_values.push_back(std::move(value));
        m_hasContent.notify_all();
        return true;
    }

    const std::size_t m_capacity;
    mutable std::mutex m_mutex;
    std::condition_variable m_hasRoom;
    std::condition_variable m_hasContent;
    std::deque<T> m_values;  // guarded by m_mutex
    bool m_isClosed = false; // guarded by m_mutex
};

} // namespace engine
