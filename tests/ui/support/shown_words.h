// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/widgets/live_label.h"

#include <QLabel>
#include <QStringList>
#include <QTextDocument>
#include <QTextDocumentFragment>

namespace support {

/// All words on a widget that can be seen once it is shown itself, a label a line.
inline QString shownWords(const QWidget& widget) {
    QStringList words;
    for (const QLabel* label : widget.findChildren<QLabel*>())
        if (label->isVisibleTo(&widget))
            words << label->text();
    for (const ui::LiveLabel* label : widget.findChildren<ui::LiveLabel*>())
        if (label->isVisibleTo(&widget))
            words << label->text();
    return words.join(QLatin1Char('\n'));
}

/// The words of a tool tip as Qt shows it.
inline QString shownTip(const QString& tip) {
    return Qt::mightBeRichText(tip) ? QTextDocumentFragment::fromHtml(tip).toPlainText() : tip;
}

} // namespace support
