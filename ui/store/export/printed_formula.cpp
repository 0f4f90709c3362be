// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/export/printed_formula.h"

#include "ui/math/formula.h"

#include <QAbstractTextDocumentLayout>
#include <QPaintDevice>
#include <QTextDocument>
#include <QTextFrame>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kPointsOfInch = 72.0;
constexpr double kUsualDpi = 96.0; ///< of a document without a device

std::optional<MathPicture> printedPicture(const QTextDocument& document,
                                          const QTextFormat& format) {
    const QPaintDevice* device = document.documentLayout()->paintDevice();
    const double dpi = device != nullptr ? device->logicalDpiY() : kUsualDpi;
    QFont font = document.defaultFont();
    font.setPixelSize(
        std::max(1, static_cast<int>(std::lround(font.pointSizeF() * dpi / kPointsOfInch))));
    auto drawn =
        drawnFormula(formulaSource(format.property(PrintedFormula::kSource).toString()), font);
    return drawn ? std::optional(std::move(drawn->picture)) : std::nullopt;
}

/// Between the margins.
double roomOf(const QTextDocument& document) {
    const QTextFrameFormat page = document.rootFrame()->frameFormat();
    return document.textWidth() - page.leftMargin() - page.rightMargin();
}

} // namespace

/// The baseline lies in the middle: that is where the layout puts an object's middle.
QSizeF PrintedFormula::intrinsicSize(QTextDocument* document, int, const QTextFormat& format) {
    const auto picture = printedPicture(*document, format);
    if (!picture)
        return {};
    const double room = roomOf(*document);
    const double scale = room > 0.0 ? std::min(1.0, room / picture->width) : 1.0;
    return {picture->width * scale, 2.0 * std::max(picture->ascent, picture->descent) * scale};
}

void PrintedFormula::drawObject(QPainter* painter,
                                const QRectF& rect,
                                QTextDocument* document,
                                int,
                                const QTextFormat& format) {
    const auto picture = printedPicture(*document, format);
    if (picture)
        picture->paint(*painter,
                       {rect.left(), rect.center().y()},
                       Qt::black,
                       std::min(1.0, rect.width() / picture->width));
}

} // namespace ui
