// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/formula.h"

#include "ui/math/layout/math_layout.h"
#include "ui/math/math_speech.h"
#include "ui/math/reading/math_parser.h"

#include <QCache>
#include <QHashFunctions>

namespace ui {

namespace {

/// What a layout depends on; its colour comes when it is painted.
struct LayoutKey {
    QString latex;
    bool isDisplay = false;
    QFont font;

    bool operator==(const LayoutKey&) const = default;
};

std::size_t qHash(const LayoutKey& key, std::size_t seed) {
    return qHashMulti(seed, key.latex, key.isDisplay, key.font);
}

/// Glyphs, rules and points of outlines that are kept.
constexpr int kMostKeptParts = 30'000;

std::int64_t madeLayouts = 0;

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

int partsOf(const std::optional<MathPicture>& picture) {
    std::size_t parts = 1;
    if (picture) {
        parts += picture->glyphs.size() + picture->rules.size();
        for (const QPainterPath& path : picture->paths)
            parts += static_cast<std::size_t>(path.elementCount());
    }
    return static_cast<int>(parts);
}

std::optional<MathPicture> pictureOf(const MathNode& node, bool isDisplay, const QFont& font) {
    const MathLevel level = isDisplay ? MathLevel::Display : MathLevel::Inline;
    MathPicture picture = MathLayout(font).layOut(node, level);
    picture.width += picture.slant;
    picture.slant = 0.0;
    if (picture.width <= 0.0) // of empty parts, or of negative spaces alone
        return std::nullopt;
    return picture;
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
    // At each piece of a streamed answer, all formulas of its last paragraph are asked for again.
    static QCache<LayoutKey, std::optional<MathPicture>> kept(kMostKeptParts);
    const LayoutKey key{source.latex, source.isDisplay, font};
    if (const std::optional<MathPicture>* known = kept.object(key))
        return *known;
    ++madeLayouts;
    auto picture = pictureOf(*node, source.isDisplay, font);
    kept.insert(key, new std::optional<MathPicture>(picture), partsOf(picture));
    return picture;
}

std::int64_t formulaLayoutCount() { return madeLayouts; }

std::optional<DrawnFormula> drawnFormula(const FormulaSource& source, const QFont& font) {
    if (source.latex.size() > kLongestFormula)
        return std::nullopt;
    const std::optional<MathNode> node = parseMath(source.latex);
    if (!node)
        return std::nullopt;
    auto picture = pictureOf(*node, source.isDisplay, font);
    if (!picture)
        return std::nullopt;
    return DrawnFormula{*std::move(picture), spokenMath(*node)};
}

QString spokenFormula(const FormulaSource& source) {
    const MathNode* node = treeOf(source.latex);
    return node != nullptr ? spokenMath(*node) : source.latex;
}

} // namespace ui
