// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/program/single_instance.h"

#include <QCryptographicHash>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QStandardPaths>

namespace ui {

namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kWaitMs = 100; ///< between two tries: the first may be about to listen
constexpr qint64 kLongestRequest = 8 * 1024 * 1024;
constexpr const char* kTaken = "taken\n";

/// The user's own folder for sockets; the name is short, because a socket's path is limited.
QString socketPathFor(const QString& settingsPath) {
    const QByteArray hash = QCryptographicHash::hash(
        QFileInfo(settingsPath).absoluteFilePath().toUtf8(), QCryptographicHash::Sha256);
    return QStandardPaths::writableLocation(QStandardPaths::RuntimeLocation) +
           QStringLiteral("/swift-studio-") + QString::fromLatin1(hash.toHex().left(16));
}

QByteArray toLine(const StartRequest& request) {
    const QJsonObject object{{QStringLiteral("model"), request.modelPath},
                             {QStringLiteral("backend"), request.backend},
                             {QStringLiteral("decoder"), request.decoder},
                             {QStringLiteral("message"), request.message},
                             {QStringLiteral("planted"), request.isPlanted},
                             {QStringLiteral("files"), QJsonArray::fromStringList(request.files)}};
    return QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
}

StartRequest fromLine(const QByteArray& line) {
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    return {object[QStringLiteral("model")].toString(),
            object[QStringLiteral("backend")].toString(),
            object[QStringLiteral("decoder")].toString(),
            object[QStringLiteral("message")].toString(),
            object[QStringLiteral("planted")].toBool(),
            object[QStringLiteral("files")].toVariant().toStringList()};
}

} // namespace

SingleInstance::SingleInstance(const QString& settingsPath, QObject* parent)
    : QObject(parent)
    , m_socketPath(socketPathFor(settingsPath))
    // Not ".lock": QSettings uses that name for its own lock.
    , m_lock(settingsPath + QStringLiteral(".open")) {
    m_lock.setStaleLockTime(0); // a window may be open for days; Qt checks whether its process is
                                // alive
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, &SingleInstance::serve);
}

SingleInstance::Outcome SingleInstance::begin(const StartRequest& request) {
    for (int waitedMs = 0; waitedMs < kPatienceMs; waitedMs += kWaitMs) {
        // A folder that takes no lock file cannot store settings either, so there is nothing to
        // conflict with.
        if (m_lock.tryLock(kWaitMs) || m_lock.error() != QLockFile::LockFailedError) {
            QLocalServer::removeServer(m_socketPath); // of one that was killed
            m_server.listen(m_socketPath);
            return Outcome::First;
        }
        if (handOver(request))
            return Outcome::HandedOver;
    }
    return Outcome::NoAnswer;
}

bool SingleInstance::handOver(const StartRequest& request) const {
    QLocalSocket socket;
    socket.connectToServer(m_socketPath);
    if (!socket.waitForConnected(kWaitMs))
        return false;
    socket.write(toLine(request));
    while (!socket.canReadLine())
        if (!socket.waitForReadyRead(kPatienceMs))
            return false;
    return socket.readLine() == kTaken;
}

void SingleInstance::serve() {
    while (QLocalSocket* socket = m_server.nextPendingConnection()) {
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QLocalSocket::readyRead, this, [this, socket] { answer(socket); });
        answer(socket);
    }
}

void SingleInstance::answer(QLocalSocket* socket) {
    if (!socket->canReadLine()) {
        if (socket->bytesAvailable() > kLongestRequest)
            socket->abort();
        return;
    }
    const StartRequest request = fromLine(socket->readLine());
    socket->write(kTaken);
    socket->disconnectFromServer(); // once it is written
    emit asked(request);
}

} // namespace ui
