// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

class QWidget;

namespace ui {

/// A tool tip that shows the text as it is, whatever it contains, and breaks its lines. Qt guesses
/// from a text whether it is HTML, so text that is only escaped is sometimes shown with `&quot;`.
QString tipOf(const QString& text);

/// Screen readers read the tool tip of a widget without a description, so it gets the text itself.
void setTip(QWidget& widget, const QString& text);

} // namespace ui
