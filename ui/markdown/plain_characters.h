// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <QStringView>

namespace ui {

/// False for characters that would steer the layout instead of showing something: controls,
/// direction overrides and isolates, line separators, objects. Model output must not use them.
bool isShowable(char16_t unit);

/// Of the same length; what is not showable is U+FFFD, a line end a space, a tab stays.
QString showableText(QStringView text);

/// What "&lt;" or "&#8364;" stands for; the text itself when it is no known entity.
QString decodedEntity(QStringView entity);

} // namespace ui
