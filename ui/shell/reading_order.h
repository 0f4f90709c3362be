// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <vector>

class QWidget;

namespace ui {

/// The widgets in `root` that the Tab key reaches, in the order in which they are read: row by row
/// from left to right, and each container as a whole. Qt's own order is that in which widgets were
/// created, which puts rows that are made anew behind everything else. The widget that has the
/// focus is always among them.
std::vector<QWidget*> inReadingOrder(QWidget& root);

/// Moves the focus to the next widget in this order (or the previous one), and scrolls to it.
/// Returns false if there is none.
bool moveFocus(QWidget& root, bool isForward);

} // namespace ui
