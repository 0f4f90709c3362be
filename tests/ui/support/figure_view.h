// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"

#include <QLabel>
#include <QPainter>

namespace support {

/// A view that shows what a test tells it to: a square, a legend of fixed width, three numbers.
class FigureView : public ui::View {
public:
    explicit FigureView(const ui::ViewContext& context,
                        const QString& id = QStringLiteral("figure"),
                        QWidget* parent = nullptr)
        : View(context,
               {id, QStringLiteral("Figure"), QStringLiteral("Three numbers."), ui::Topic::Search},
               parent) {
        setFocusPolicy(Qt::TabFocus);
        resize(200, 100);
    }

    using ui::View::setBadge;
    using ui::View::setSubtitle;

    ui::FigureTable numbers{
        {QStringLiteral("Step"), QStringLiteral("Word"), QStringLiteral("x")},
        {{QStringLiteral("1"), QStringLiteral("a, b"), QStringLiteral("-0.5")},
         {QStringLiteral("2"), QStringLiteral("=1+1"), QStringLiteral("1.25")}}};

    ui::FigureTable table() const override { return numbers; }

    QWidget* makeLegend(QWidget* parent) override {
        auto* legend = new QLabel(QStringLiteral("legend"), parent);
        legend->setObjectName(QStringLiteral("legend"));
        return legend;
    }

    void drawFigure(QPainter& painter, const QSize& size) override {
        painter.fillRect(QRect(0, 0, size.width() / 2, size.height()), Qt::blue);
    }

protected:
    void refreshView(ui::Topics) override {}
};

} // namespace support
