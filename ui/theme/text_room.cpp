// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/text_room.h"

namespace ui {

QString textRoom(QString text, const QFontMetrics& metrics) {
    const bool isFour = metrics.horizontalAdvance(u'4') > metrics.horizontalAdvance(u'0');
    const QChar widest = isFour ? u'4' : u'0'; // of the fonts of the window
    for (QChar& letter : text)
        if (letter.isDigit())
            letter = widest;
    return text;
}

} // namespace ui
