// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QString>

namespace ui {

/// Writes the whole file to the disk, or leaves an old one as it was; devices and pipes are never
/// replaced. Returns an empty text, or the system's description of the failure. Blocks until the
/// disk is done. Thread: any.
QString saveWhole(const QByteArray& content, const QString& path);

/// The same; no other user may read it at any time.
QString saveWholePrivately(const QByteArray& content, const QString& path);

/// Renames a file that cannot be read, and tells under which name it is kept. If that fails, it has
/// its name still, and `path` is emptied: it must not be written over.
QString setAside(QString& path);

/// Waits until what was written to a file, or to the list of a folder, is on the disk. Returns
/// false and sets errno if it cannot get there. Thread: any.
bool syncToDisk(const QString& path);

} // namespace ui
