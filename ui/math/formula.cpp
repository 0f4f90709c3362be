// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/formula.h"

#include "ui/math/layout/math_layout.h"
#include "ui/math/math_speech.h"
#include "ui/math/reading/math_parser.h"

#include <QCache>

namespace ui {

namespace {

/// Characters of LaTeX whose trees are kept.
constexpr int kMostKept = 50'000;

/// The tree of a formula, null when it cannot be read; good until the next call. A formula is asked
/// for again and again: at each piece of an answer, each paint, each question of a screen reader.
const MathNode* treeOf(const QString& latex) {
    if (latex.size() > kLongestFormula)
        return nullptr;
    static QCache<QString, std::optional<MathNode>> kept(kMostKept);
    const std::optional<MathNode>* tree = kept.object(latex);
    if (tree == nullptr) {
        auto* made = new std::optional<MathNode>(parseMath(latex));
        kept.insert(latex, made, static_cast<int>(latex.size()) + 1);
        tree = made;
    }
    return *tree ? &**tree : nullptr;
}

} // namespace

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
    const MathNode* node = treeOf(source.latex);
    if (node == nullptr)
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
    const MathNode* node = treeOf(source.latex);
    return node != nullptr ? spokenMath(*node) : source.latex;
}

} // namespace ui
