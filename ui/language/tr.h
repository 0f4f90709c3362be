// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QCoreApplication>

namespace ui {

/// A text of the window in the window's language, for code outside of a QObject, which has a tr()
/// of its own. `meaning` tells apart two uses of one English text, such as "Right".
inline QString tr(const char* english, const char* meaning = nullptr) {
    return QCoreApplication::translate("ui", english, meaning);
}

} // namespace ui
