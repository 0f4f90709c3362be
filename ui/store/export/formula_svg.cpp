// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/formula.h"
#include "ui/store/export/chat_page.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kEm = 100; ///< pixels of the font that a formula is laid out in

QString svgNumber(double value) { return QString::number(std::round(value * 10.0) / 10.0); }

QString svgPoint(double x, double y) { return svgNumber(x) + u' ' + svgNumber(y); }

/// What the attribute "d" says of an outline.
QString svgOutline(const QPainterPath& path) {
    QString data;
    for (int i = 0; i < path.elementCount(); ++i) {
        const QPainterPath::Element& element = path.elementAt(i);
        switch (element.type) {
        case QPainterPath::MoveToElement:
            data += (i > 0 ? QStringLiteral("ZM") : QStringLiteral("M"));
            break;
        case QPainterPath::LineToElement:
            data += u'L';
            break;
        case QPainterPath::CurveToElement:
            data += u'C';
            break;
        case QPainterPath::CurveToDataElement:
            data += u' ';
            break;
        }
        data += svgPoint(element.x, element.y);
    }
    return path.isEmpty() ? data : data + u'Z';
}

QString svgRule(const QRectF& rule) {
    const double thick = std::max(2.0, rule.height());
    return QStringLiteral("M%1h%2v%3h-%2Z")
        .arg(svgPoint(rule.left(), rule.top()), svgNumber(rule.width()), svgNumber(thick));
}

QString ems(double pixels) { return QString::number(pixels / kEm, 'f', 3) + QStringLiteral("em"); }

} // namespace

QString formulaSvg(const QString& written) {
    QFont font(QStringLiteral("Inter"));
    font.setPixelSize(kEm);
    const FormulaSource source = formulaSource(written);
    const auto drawn = drawnFormula(source, font);
    if (!drawn)
        return {};
    const MathPicture& picture = drawn->picture;
    QString signs;
    for (const MathPicture::Glyphs& each : picture.glyphs) {
        QPainterPath outline;
        outline.addText(each.at, each.font, each.text);
        signs += svgOutline(outline);
    }
    for (const QRectF& rule : picture.rules)
        signs += svgRule(rule);
    QString paths = QStringLiteral("<path d=\"%1\"/>").arg(signs);
    for (const QPainterPath& path : picture.paths)
        paths += QStringLiteral("<path fill-rule=\"%1\" d=\"%2\"/>")
                     .arg(path.fillRule() == Qt::OddEvenFill ? QStringLiteral("evenodd")
                                                             : QStringLiteral("nonzero"),
                          svgOutline(path));
    // Ink may touch the edges.
    constexpr double kAir = 0.04 * kEm;
    const QRectF box(
        -kAir, -picture.ascent - kAir, picture.width + 2.0 * kAir, picture.height() + 2.0 * kAir);
    return QStringLiteral("<svg class=\"%1\" role=\"img\" aria-label=\"")
               .arg(source.isDisplay ? QStringLiteral("display") : QStringLiteral("formula")) +
           escapedText(drawn->spoken) +
           QStringLiteral("\" viewBox=\"%1 %2\" style=\"width:%3;vertical-align:-%4\"><title>")
               .arg(svgPoint(box.left(), box.top()),
                    svgPoint(box.width(), box.height()),
                    ems(box.width()),
                    ems(picture.descent + kAir)) +
           escapedText(written) + QStringLiteral("</title>") + paths + QStringLiteral("</svg>");
}

} // namespace ui
