// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>

class QSocketNotifier;

namespace ui {

/// Turns the signals with which a system or terminal ends a program (SIGTERM, SIGINT, SIGHUP) into
/// a Qt signal. A second signal ends the program at once. There may be one object at a time.
/// Thread: UI.
class EndSignals : public QObject {
    Q_OBJECT

public:
    explicit EndSignals(QObject* parent = nullptr);

    /// Restores the signals' default behaviour.
    ~EndSignals() override;

signals:
    void endAsked();
};

} // namespace ui
