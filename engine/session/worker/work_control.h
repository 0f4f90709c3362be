// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace engine {

/// Stops work across threads by command numbers: a stop affects all work whose command was sent
/// before it, running or waiting, and nothing that was sent later. Thread: any.
class WorkControl {
public:
    /// Work that has begun; it ends with this object.
    class Work {
    public:
        Work(WorkControl& control, std::uint64_t number, std::stop_token token)
            : m_control(control)
            , m_number(number)
            , m_token(std::move(token)) {}

        ~Work() { m_control.end(m_number); }

        Work(const Work&) = delete;
        Work& operator=(const Work&) = delete;

        const std::stop_token& token() const { return m_token; }

    private:
        WorkControl& m_control;
        const std::uint64_t m_number;
        const std::stop_token m_token;
    };

    /// Begins the load of command `number`.
    std::unique_ptr<Work> beginLoad(std::uint64_t number) { return begin(number, std::nullopt); }

    /// Begins the prompt of command `number` in this conversation.
    std::unique_ptr<Work> beginPrompt(std::uint64_t number, std::uint64_t conversation) {
        return begin(number, conversation);
    }

    /// Stops all loads whose command has a lower number.
    void stopLoads(std::uint64_t number) {
        const std::scoped_lock lock(m_mutex);
        m_loadsBelow = std::max(m_loadsBelow, number);
        stopRunning();
    }

    /// Stops all prompts whose command has a lower number; with a conversation, only those in it.
    void stopPrompts(std::uint64_t number, std::optional<std::uint64_t> conversation = {}) {
        const std::scoped_lock lock(m_mutex);
        std::uint64_t& below = conversation ? m_promptsOfBelow[*conversation] : m_promptsBelow;
        below = std::max(below, number);
        stopRunning();
    }

    /// Stops everything, now and from now on.
    void close() {
        const std::scoped_lock lock(m_mutex);
        m_isClosed = true;
        stopRunning();
    }

private:
    struct Running {
        std::optional<std::uint64_t> conversation; // none: a load
        std::stop_source source;
    };

    std::unique_ptr<Work> begin(std::uint64_t number, std::optional<std::uint64_t> conversation) {
        const std::scoped_lock lock(m_mutex);
        const auto begun = m_running.insert_or_assign(number, Running{conversation, {}}).first;
        stopRunning();
        return std::make_unique<Work>(*this, number, begun->second.source.get_token());
    }

    void end(std::uint64_t number) {
        const std::scoped_lock lock(m_mutex);
        m_running.erase(number);
    }

    void stopRunning() {
        for (auto& [number, running] : m_running)
            if (m_isClosed || number < stopBelow(running.conversation))
                running.source.request_stop();
    }

    std::uint64_t stopBelow(std::optional<std::uint64_t> conversation) const {
        if (!conversation)
            return m_loadsBelow;
        const auto own = m_promptsOfBelow.find(*conversation);
        return std::max(m_promptsBelow, own == m_promptsOfBelow.end() ? 0 : own->second);
    }

    std::mutex m_mutex; // guards all below
    std::uint64_t m_loadsBelow = 0;
    std::uint64_t m_promptsBelow = 0;
    std::map<std::uint64_t, std::uint64_t> m_promptsOfBelow; // by conversation
    std::map<std::uint64_t, Running> m_running;              // by command number
    bool m_isClosed = false;
};

} // namespace engine
