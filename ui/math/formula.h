// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_picture.h"

#include <QFont>
#include <QString>
#include <QStringView>

#include <cstdint>
#include <optional>

namespace ui {

/// A formula as it was written: its LaTeX, and whether it stands on a line of its own.
struct FormulaSource {
    QString latex;
    bool isDisplay = false;
};

/// Takes the marks off: "$...$", "\(...\)", "$$...$$", "\[...\]".
FormulaSource formulaSource(QStringView written);

/// The picture of a formula in a text of this font; nothing where it must be shown as its source
/// (see parseMath), or where there is nothing to see. The newest ones are kept. Thread: UI.
std::optional<MathPicture> formulaPicture(const FormulaSource& source, const QFont& font);

/// How many pictures formulaPicture() has laid out; the others were kept. Thread: UI.
std::int64_t formulaLayoutCount();

/// A formula for a file: its picture, and the formula in words.
struct DrawnFormula {
    MathPicture picture;
    QString spoken;
};

/// The same picture, made anew; nothing where formulaPicture() gives nothing. Thread: any.
std::optional<DrawnFormula> drawnFormula(const FormulaSource& source, const QFont& font);

/// The formula in words, for a screen reader: "fraction a over b end fraction". The source where it
/// cannot be read. Thread: UI.
QString spokenFormula(const FormulaSource& source);

} // namespace ui
