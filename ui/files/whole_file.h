// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QString>

namespace ui {

/// Writes the whole file to the disk, or leaves an old one as it was. Returns an empty text, or the
/// system's description of the failure. Blocks until the disk is done. Thread: any.
QString saveWhole(const QByteArray& content, const QString& path);

} // namespace ui
