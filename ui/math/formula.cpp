// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/formula.h"

#include "ui/math/layout/math_layout.h"
#include "ui/math/math_speech.h"
#include "ui/math/reading/math_parser.h"

namespace ui {

FormulaSource formulaSource(QStringView written) {
    const bool hasTwo = written.startsWith(u"$$") || written.startsWith(u'\\');
    const qsizetype marks = hasTwo ? 2 : 1;
    FormulaSource source;
    source.isDisplay = written.startsWith(u"$$") || written.startsWith(u"\\[");
    if (written.size() > 2 * marks)
        source.latex = written.mid(marks, written.size() - 2 * marks).toString();
    source.latex.replace(QChar(QChar::LineSeparator), u'\n');
    return source;
}

std::optional<MathPicture> formulaPicture(const FormulaSource& source, const QFont& font) {
    const auto node = parseMath(source.latex);
    if (!node)
        return std::nullopt;
    const MathLevel level = source.isDisplay ? MathLevel::Display : MathLevel::Inline;
    MathPicture picture = MathLayout(font).layOut(*node, level);
    picture.width += picture.slant;
    picture.slant = 0.0;
    if (picture.width <= 0.0) // of empty parts, or of negative spaces alone
        return std::nullopt;
    return picture;
}

QString spokenFormula(const FormulaSource& source) {
    const auto node = parseMath(source.latex);
    return node ? spokenMath(*node) : source.latex;
}

} // namespace ui
