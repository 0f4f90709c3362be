// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <QStringView>

namespace ui {

/// False for characters that would steer the layout instead of showing something: controls,
/// direction overrides and isolates, line separators, objects. Model output must not use them.
bool isShowable(char16_t unit);

/// A text of the same length, in which characters that cannot be shown are U+FFFD and line ends are
/// spaces; tabs stay.
QString showableText(QStringView text);

/// What "&lt;" or "&#8364;" means; the text itself if it is not a known entity.
QString decodedEntity(QStringView entity);

} // namespace ui
