// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QLocalServer>
#include <QLockFile>
#include <QObject>
#include <QString>

namespace ui {

/// What a start of the program asks for. A plain value.
struct StartRequest {
    QString modelPath; ///< absolute; empty = none named
    QString backend;   ///< that runs it; empty = the engine's choice
    QString decoder;   ///< of the next answers; empty = as it is
    QString message;   ///< sent in a new chat once a model is ready; empty = none

    bool operator==(const StartRequest&) const = default;
};

/// One user has one window on the same settings: a further start hands what it asks for over to it.
/// A QLocalServer, because Qt's own keeps the socket from other users. Thread: UI.
class SingleInstance : public QObject {
    Q_OBJECT

public:
    enum class Outcome {
        First, ///< this is the window; further starts come by asked()
        HandedOver,
        NoAnswer, ///< a window is open and does not answer
    };

    /// `settingsPath` names the window; its folder exists.
    explicit SingleInstance(const QString& settingsPath, QObject* parent = nullptr);

    /// Becomes the first, or waits at most some seconds for the first to take the request.
    Outcome begin(const StartRequest& request);

signals:
    /// Another start of the program.
    void asked(const ui::StartRequest& request);

private:
    void serve();
    void answer(QLocalSocket* socket);
    bool handOver(const StartRequest& request) const;

    QString m_socketPath;
    QLockFile m_lock; ///< tells who is first, and whether that one still lives
    QLocalServer m_server;
};

} // namespace ui
