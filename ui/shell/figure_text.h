// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

class QSpinBox;

namespace engine {
struct Error;
}

namespace ui {

/// What is wrong and what helps.
QString errorText(const engine::Error& error);

/// Why a command was not taken, where no recording is shown.
QString busyText();

/// "2.10": with two decimals.
QString decimalText(double value);

/// A share as the literature writes it: ".97", "1.00"; a value above 1 as usual, "1.36".
QString shareText(double share);

/// A factor: "1.33×".
QString factorText(double factor);

/// The same text, in which no line breaks within a figure such as ".97".
QString unbrokenFigures(QString text);

/// The same text for a menu or a button, where a single ampersand would mark a key.
QString menuText(QString text);

/// "1,024"; in a language other than English "1 024". Decimals have a point in every language, as
/// in papers, tables and exported files.
QString numberText(qint64 number);

/// "1 token", "1,024 tokens": `one` for exactly 1, else `many` with the number for its %1.
QString countText(qint64 count, const QString& one, const QString& many);

/// Writes " token" or " tokens" behind the number in the box.
void showTokenUnit(QSpinBox& box);

/// "04:36.4" with one decimal, "04:36" with none; hours only where there are some.
QString clockText(double seconds, int decimals);

} // namespace ui
