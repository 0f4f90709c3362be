// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/prompt_files.h"

#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

namespace ui {

QStringList promptPathsOf(const QStringList& paths) {
    const QStringList names = QString::fromLatin1(kPromptFileNames).split(u' ');
    QStringList found;
    for (const QString& path : paths) {
        const QFileInfo info(path);
        const bool isFolder = info.isDir() && !QFileInfo::exists(path + "/config.json");
        if (isFolder || names.contains(QStringLiteral("*.") + info.suffix().toLower()))
            found << path;
    }
    return found;
}

QStringList promptPathsOf(const QMimeData& dragged) {
    QStringList paths;
    for (const QUrl& url : dragged.urls())
        if (url.isLocalFile())
            paths << url.toLocalFile();
    return promptPathsOf(paths);
}

} // namespace ui
