// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace engine {

/// The kinds of work that can be stopped.
enum class WorkKind : std::uint8_t { Load, Prompt };

/// Stops work across threads by command numbers: a stop affects all work whose command was sent
/// before it, running or waiting, and nothing that was sent later. Thread: any.
class WorkControl {
public:
    /// Starts the work of command `number`; the token is valid until the next begin().
    std::stop_token begin(WorkKind kind, std::uint64_t number) {
        const std::scoped_lock lock(m_mutex);
        m_kind = kind;
        m_number = number;
        m_source = std::stop_source();
        if (m_isClosed || number < stopBelow(kind))
            m_source.request_stop();
        return m_source.get_token();
    }

    /// Stops all work of this kind whose command has a lower number.
    void stopBefore(WorkKind kind, std::uint64_t number) {
        const std::scoped_lock lock(m_mutex);
        if (number > stopBelow(kind))
            stopBelow(kind) = number;
        if (m_kind == kind && m_number < number)
            m_source.request_stop();
    }

    /// Stops everything, now and from now on.
    void close() {
        const std::scoped_lock lock(m_mutex);
        m_isClosed = true;
        m_source.request_stop();
    }

private:
    std::uint64_t& stopBelow(WorkKind kind) {
        return m_stopBelow.at(static_cast<std::size_t>(kind));
    }

    std::mutex m_mutex; // guards all below
    std::array<std::uint64_t, 2> m_stopBelow{};
    std::stop_source m_source;
    WorkKind m_kind = WorkKind::Load;
    std::uint64_t m_number = 0;
    bool m_isClosed = false;
};

} // namespace engine
