// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>
#include <QTextFormat>
#include <QTextObjectInterface>

namespace ui {

/// Draws formulas in a document that is printed, in the size of its text on any device; the source
/// stands in the format of their characters. Thread: any, the document's.
class PrintedFormula : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)

public:
    static constexpr int kType = QTextFormat::UserObject + 1;
    static constexpr int kSource = QTextFormat::UserProperty + 1; ///< with its marks

    using QObject::QObject;

    QSizeF intrinsicSize(QTextDocument* document, int place, const QTextFormat& format) override;
    void drawObject(QPainter* painter,
                    const QRectF& rect,
                    QTextDocument* document,
                    int place,
                    const QTextFormat& format) override;
};

} // namespace ui
