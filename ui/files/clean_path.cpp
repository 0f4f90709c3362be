// SPDX-License-Identifier: GPL-3.0-only
#include "ui/files/clean_path.h"

#include <QDir>
#include <QFileInfo>

namespace ui {

QString cleanPath(const QString& path) {
    if (path.isEmpty())
        return {}; // not the folder that the program runs in
    const QString absolute = QDir().absoluteFilePath(path); // QFileInfo's would drop every ".."
    const QString clean = QDir::cleanPath(absolute);
    if (clean == absolute)
        return clean; // nothing that the disk would have to tell
    const QString real = QFileInfo(absolute).canonicalFilePath(); // empty for a file that is gone
    if (real == QFileInfo(clean).canonicalFilePath())
        return clean;
    return real.isEmpty() ? absolute : real;
}

} // namespace ui
