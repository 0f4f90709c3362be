// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QString>

namespace ui {

/// Writes the whole file and has it on the disk, or leaves an old one as it was. Comes back: empty,
/// or what the system says of the failure. Blocks until the disk is done. Thread: any.
QString saveWhole(const QByteArray& content, const QString& path);

} // namespace ui
