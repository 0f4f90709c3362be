// SPDX-License-Identifier: GPL-3.0-only
#include "ui/files/whole_file.h"

#include "ui/language/tr.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ui {

bool syncToDisk(const QString& path) {
    const int file = ::open(QFile::encodeName(path).constData(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool isSynced = ::fsync(file) == 0;
    ::close(file);
    return isSynced;
}

namespace {

// QSaveFile ignores the result of its own fsync, and syncs no folder.
QString save(const QByteArray& content, const QString& path, bool isPrivate) {
    // A new file would take the place of the device, the pipe or the socket.
    if (const QFileInfo old(path); old.exists() && !old.isFile() && !old.isDir())
        return tr("it is a device or a pipe");
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return file.errorString();
    if (isPrivate && !file.setPermissions(QFile::ReadOwner | QFile::WriteOwner))
        return file.errorString();
    if (file.write(content) != content.size() || !file.flush())
        return file.errorString();
    if (::fsync(file.handle()) != 0)
        return QString::fromLocal8Bit(std::strerror(errno));
    if (!file.commit())
        return file.errorString();
    if (!syncToDisk(QFileInfo(path).absolutePath()))
        return QString::fromLocal8Bit(std::strerror(errno));
    return {};
}

} // namespace

QString saveWhole(const QByteArray& content, const QString& path) {
    return save(content, path, false);
}

QString saveWholePrivately(const QByteArray& content, const QString& path) {
    return save(content, path, true);
}

QString setAside(QString& path) {
    QString kept = path + QStringLiteral(".damaged-") +
                   QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    if (!QFile::rename(path, kept))
        kept = std::exchange(path, {});
    return QDir::toNativeSeparators(kept);
}

} // namespace ui
