// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QTextDocument>

#include <functional>
#include <memory>

namespace ui {

// What the exports as HTML and as PDF have in common. Thread: any.

/// Text as HTML; characters that HTML forbids become U+FFFD.
QString escapedText(QString text);

/// Writes a formula, given with its marks, as a part of a page; empty: its source is shown.
using FormulaWriter = std::function<QString(const QString& written)>;

/// The page of a chat. A message whose tokens are marked shows its formulas as their sources, as
/// the window does.
QString chatPage(const Chat& chat, bool hasOrigin, const FormulaWriter& writeFormula);

/// A formula for a browser, in outlines: it needs no font and no other file. Its words are for
/// screen readers, its source is its tool tip. Empty where it cannot be read.
QString formulaSvg(const QString& written);

/// The document that is printed as PDF.
std::unique_ptr<QTextDocument> printedChat(const Chat& chat, bool hasOrigin);

} // namespace ui
