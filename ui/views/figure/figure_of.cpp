// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/figure/figure_of.h"

#include <QPainter>
#include <QPicture>

namespace ui {

FigureTable figureOf(const PlotTable& table) {
    FigureTable figure{table.header, {}};
    figure.rows.reserve(table.rows.size());
    for (const std::vector<QVariant>& row : table.rows) {
        QStringList cells;
        for (const QVariant& cell : row)
            cells << cellText(cell);
        figure.rows.push_back(std::move(cells));
    }
    return figure;
}

void drawFigureOf(PictureSource& source, QPainter& painter, const QSize& size) {
    // The plot needs a painter of its own kind: record its lines and texts, then play them.
    QPicture picture;
    source.drawPicture(picture, size);
    painter.drawPicture(0, 0, picture);
}

} // namespace ui
