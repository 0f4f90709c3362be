// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/text_room.h"

namespace ui {

namespace {

constexpr QChar kWidestDigit = u'4'; // of the fonts of the window

} // namespace

QString textRoom(QString text) {
    for (QChar& letter : text)
        if (letter.isDigit())
            letter = kWidestDigit;
    return text;
}

} // namespace ui
