// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/prompt_files.h"

#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

namespace ui {

QStringList promptPathsOf(const QMimeData& dragged) {
    const QStringList names = QString::fromLatin1(kPromptFileNames).split(u' ');
    QStringList paths;
    for (const QUrl& url : dragged.urls()) {
        const QFileInfo info(url.toLocalFile());
        const bool isFolder = info.isDir() && !QFileInfo::exists(info.filePath() + "/config.json");
        if (isFolder || names.contains(QStringLiteral("*.") + info.suffix().toLower()))
            paths << info.filePath();
    }
    return paths;
}

} // namespace ui
