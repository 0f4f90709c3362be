// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QFontMetrics>
#include <QString>

namespace ui {

/// The text with each digit replaced by the widest one: texts that differ only in digits take at
/// most this room, so measuring one of them is enough.
QString textRoom(QString text, const QFontMetrics& metrics);

} // namespace ui
