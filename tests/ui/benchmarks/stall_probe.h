// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QCoreApplication>
#include <QEvent>
#include <QObject>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace support {

using Clock = std::chrono::steady_clock;

inline double millisecondsBetween(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

/// Asks the event loop from another thread, again and again, how long it takes to answer.
class StallProbe : public QObject {
public:
    static constexpr int kPeriodMs = 2;

    void start() {
        m_stallsMs.clear();
        m_thread = std::jthread([this](std::stop_token stop) {
            while (!stop.stop_requested()) {
                if (!m_isWaiting.exchange(true)) {
                    m_askedAt = Clock::now();
                    QCoreApplication::postEvent(this, new QEvent(QEvent::User));
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(kPeriodMs));
            }
        });
    }

    /// Milliseconds until the loop answered, each question.
    std::vector<double> stop() {
        m_thread.request_stop();
        m_thread.join();
        return std::exchange(m_stallsMs, {});
    }

protected:
    bool event(QEvent* event) override {
        if (event->type() != QEvent::User)
            return QObject::event(event);
        m_stallsMs.push_back(millisecondsBetween(m_askedAt, Clock::now()));
        m_isWaiting = false;
        return true;
    }

private:
    std::jthread m_thread;
    std::atomic<bool> m_isWaiting = false;
    Clock::time_point m_askedAt; // written before, read after the exchange of m_isWaiting
    std::vector<double> m_stallsMs;
};

inline double percentile(std::vector<double> values, double part) {
    if (values.empty())
        return 0.0;
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

} // namespace support
