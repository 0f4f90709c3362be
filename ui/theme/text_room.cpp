// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/text_room.h"

namespace ui {

QString textRoom(QString text) {
    for (QChar& letter : text)
        if (letter.isDigit())
            letter = u'0';
    return text;
}

} // namespace ui
