// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QLocalServer>
#include <QLockFile>
#include <QObject>
#include <QString>
#include <QStringList>

namespace ui {

/// The requests of a program start. A plain value.
struct StartRequest {
    QString modelPath; ///< absolute; empty = none named
    QString backend;   ///< that runs it; empty = the engine's choice
    QString decoder;   ///< of the next answers; empty = as it is
    QString message;   ///< sent in a new chat once a model is ready; empty = none
    /// The lesson model made from the named model; if none is named, from the one in use
    /// or, while another one is being loaded, from that.
    bool isPlanted = false;
    QStringList files = {}; ///< absolute paths, for Studio::openFiles()

    bool operator==(const StartRequest&) const = default;
};

/// A user has one window per settings file: a further start passes its requests to it. This is a
/// QLocalServer, because that keeps the socket from other users. Thread: UI.
class SingleInstance : public QObject {
    Q_OBJECT

public:
    enum class Outcome {
        First, ///< this is the window; further starts come by asked()
        HandedOver,
        NoAnswer, ///< a window is open but does not respond
    };

    /// `settingsPath` names the window; its folder exists.
    explicit SingleInstance(const QString& settingsPath, QObject* parent = nullptr);

    /// Becomes the first instance, or waits at most some seconds for the first to accept the
    /// request.
    Outcome begin(const StartRequest& request);

signals:
    /// Another start of the program.
    void asked(const ui::StartRequest& request);

private:
    void serve();
    void answer(QLocalSocket* socket);
    bool handOver(const StartRequest& request) const;

    QString m_socketPath;
    QLockFile m_lock; ///< shows who is first, and whether that process is alive
    QLocalServer m_server;
};

} // namespace ui
