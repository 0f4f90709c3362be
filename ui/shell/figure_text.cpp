// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/figure_text.h"

#include <QLocale>

namespace ui {

QString shareText(double share) {
    const QString text = QString::number(share, 'f', 2);
    return text.startsWith(QLatin1String("0.")) ? text.mid(1) : text;
}

QString factorText(double factor) { return QString::number(factor, 'f', 2) + u'\u00D7'; }

QString countText(qint64 count, const QString& one, const QString& many) {
    return count == 1 ? one : many.arg(QLocale().toString(count));
}

} // namespace ui
