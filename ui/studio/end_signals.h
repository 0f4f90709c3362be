// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>

class QSocketNotifier;

namespace ui {

/// Turns the signals by which a system or a terminal ends a program (SIGTERM, SIGINT, SIGHUP) into
/// one of Qt's. A second one of them ends the program at once. One object at a time. Thread: UI.
class EndSignals : public QObject {
    Q_OBJECT

public:
    explicit EndSignals(QObject* parent = nullptr);

    /// The signals do again what they do by default.
    ~EndSignals() override;

signals:
    void endAsked();
};

} // namespace ui
