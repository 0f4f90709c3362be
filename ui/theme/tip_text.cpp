// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/tip_text.h"

#include <QTextDocument>
#include <QWidget>

namespace ui {

QString tipOf(const QString& text) {
    return text.isEmpty() ? QString() : Qt::convertFromPlainText(text, Qt::WhiteSpaceNormal);
}

void setTip(QWidget& widget, const QString& text) {
    widget.setToolTip(tipOf(text));
    widget.setAccessibleDescription(text);
}

} // namespace ui
