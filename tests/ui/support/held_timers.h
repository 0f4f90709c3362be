// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QCoreApplication>
#include <QEvent>
#include <QTimer>

namespace support {

/// Keeps the timers of one interval from running out while it lives, but for those that a test
/// lets: on a busy machine that interval may lie between any two lines.
class HeldTimers : public QObject {
public:
    explicit HeldTimers(int intervalMs)
        : m_intervalMs(intervalMs) {
        qApp->installEventFilter(this);
    }

    /// The next one that is due may run out.
    void letOne() { ++m_allowed; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        const auto* timer = qobject_cast<QTimer*>(watched);
        if (event->type() != QEvent::Timer || !timer || timer->interval() != m_intervalMs)
            return false;
        if (m_allowed == 0)
            return true;
        --m_allowed;
        return false;
    }

private:
    int m_intervalMs;
    int m_allowed = 0;
};

} // namespace support
