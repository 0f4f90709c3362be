// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/layout/math_layout.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ui {

/// Matrices, cases and aligned lines: columns as wide as their widest cell, centred on the axis.
MathPicture MathLayout::table(const MathNode& node, MathLevel level) const {
    const bool isSmall = node.amount == 1.0;
    const MathLevel inner = isSmall                       ? scriptLevel(level)
                            : node.isLarge                ? level
                            : level == MathLevel::Display ? MathLevel::Inline
                                                          : level;
    const double em = m_fonts.em(inner);
    const auto columns = static_cast<std::size_t>(std::max(1, node.columns));
    const std::size_t rows = node.parts.size() / columns;
    std::vector<MathPicture> cells;
    std::vector<double> widths(columns, 0.0);
    // Every line has the height of a line of text at least.
    std::vector<double> ascents(rows, (isSmall ? 0.55 : 0.8) * em);
    std::vector<double> descents(rows, (isSmall ? 0.15 : 0.32) * em);
    for (std::size_t i = 0; i < rows * columns; ++i) {
        cells.push_back(layOut(node.parts[i], inner));
        const MathPicture& cell = cells.back();
        widths[i % columns] = std::max(widths[i % columns], cell.width + cell.slant);
        ascents[i / columns] = std::max(ascents[i / columns], cell.ascent);
        descents[i / columns] = std::max(descents[i / columns], cell.descent);
    }
    const double lineGap = (isSmall ? 0.08 : node.isLarge ? 0.35 : 0.12) * em;
    double height = rows > 1 ? lineGap * static_cast<double>(rows - 1) : 0.0;
    for (std::size_t row = 0; row < rows; ++row)
        height += ascents[row] + descents[row];
    MathPicture picture;
    double y = -height / 2.0 - m_fonts.axis(level);
    if (rows == 1)
        y = -ascents[0]; // one line keeps its baseline
    double right = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
        const double baseline = y + ascents[row];
        double x = 0.0;
        for (std::size_t column = 0; column < columns; ++column) {
            MathPicture& cell = cells[row * columns + column];
            const QChar side = node.text.size() > static_cast<qsizetype>(column)
                                   ? node.text[static_cast<qsizetype>(column)]
                                   : QChar(u'c');
            const double room = widths[column] - cell.width;
            const double shift = side == u'l' ? 0.0 : side == u'r' ? room : room / 2.0;
            picture.place(std::move(cell), {x + shift, baseline});
            x += widths[column];
            right = std::max(right, x);
            // Two columns of aligned lines belong together: "a" and "= b".
            const bool isPair = node.isTight && column % 2 == 0;
            x += isPair ? 0.0 : (isSmall ? 0.4 : node.isTight ? 2.0 : 0.9) * em;
        }
        y = baseline + descents[row] + lineGap;
    }
    picture.width = right;
    return picture;
}

} // namespace ui
