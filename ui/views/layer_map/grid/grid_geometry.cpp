// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/grid/grid_geometry.h"

#include "ui/language/tr.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ui {

namespace {

constexpr int kFullFormFrom = 520; // pixels of width at text size 100 %
constexpr int kWidestPitch = 48;
constexpr int kSmoothPitch = 20; // from here on columns that differ by a pixel look alike
constexpr int kLeastRow = 18;

QString rowName(Sublayer kind, bool isMini) {
    if (kind == Sublayer::Mlp)
        return tr("MLP");
    return isMini ? tr("Attn") : tr("Attention");
}

/// Equal columns where a pixel of difference would be visible, otherwise the full width.
std::vector<int> columnEdges(const QRect& cells, int layerCount, int widestPitch) {
    const int width = std::min(cells.width(), layerCount * widestPitch);
    const int pitch = width / std::max(layerCount, 1);
    const bool isShared = pitch >= kSmoothPitch || pitch < kNarrowestHatchedCell - 1;
    std::vector<int> edges;
    for (int i = 0; i <= layerCount; ++i)
        edges.push_back(cells.left() +
                        (isShared ? width * i / std::max(layerCount, 1) : pitch * i));
    return edges;
}

/// Of the layer beside the model, with its gap: about as wide as the others, but never a line.
int draftColumnWidth(const Theme& theme, const QRect& cells, int layerCount) {
    constexpr int kLeastPitch = 10;
    const int pitch = cells.width() / (layerCount + 1);
    return draftLayerGap(theme) +
           std::clamp(pitch, theme.scaled(kLeastPitch), theme.scaled(kWidestPitch));
}

int numbersHeight(const Theme& theme) {
    return QFontMetrics(theme.font(TextRole::Small)).height() + theme.scaled(4);
}

} // namespace

int draftLayerGap(const Theme& theme) { return theme.scaled(6); }

int rowNamesWidth(const Theme& theme, bool isMini) {
    const QFontMetrics metrics(theme.font(isMini ? TextRole::Tiny : TextRole::Interface));
    const QFontMetrics small(theme.font(TextRole::Small));
    const int name = std::max(metrics.horizontalAdvance(rowName(Sublayer::Attention, isMini)),
                              metrics.horizontalAdvance(rowName(Sublayer::Mlp, isMini)));
    if (isMini)
        return name + theme.scaled(8);
    return std::max(name, small.horizontalAdvance(tr("%1 skipped").arg(100))) + theme.scaled(12);
}

int GridGeometry::greatestHeight(const Theme& theme, bool isMini) {
    return 2 * theme.scaled(isMini ? 40 : 36) + numbersHeight(theme);
}

int GridGeometry::leastHeight(const Theme& theme) {
    return 2 * theme.scaled(kLeastRow) + numbersHeight(theme);
}

GridGeometry
GridGeometry::make(const Theme& theme, const QRect& area, int layerCount, bool hasDraftLayer) {
    GridGeometry made;
    made.hasDraftLayer = hasDraftLayer;
    made.area = area;
    made.isMini = area.width() < theme.scaled(kFullFormFrom);
    // Where a view is too low for all, the numbers go: half of them could not be read.
    const int numbers = area.height() < leastHeight(theme) ? 0 : numbersHeight(theme);
    const int names = rowNamesWidth(theme, made.isMini);
    const int rowHeight = (area.height() - numbers) / 2;
    made.rowHeight = std::clamp(rowHeight, 1, theme.scaled(made.isMini ? 40 : 36));
    const int top = area.top() + (made.isMini ? 0 : numbers);
    made.cells = QRect(
        area.left() + names, top, std::max(area.width() - names, layerCount), 2 * made.rowHeight);
    const int beside = hasDraftLayer ? draftColumnWidth(theme, made.cells, layerCount) : 0;
    QRect layers = made.cells;
    layers.setWidth(std::max(layers.width() - beside, layerCount));
    made.edges = columnEdges(layers, layerCount, theme.scaled(kWidestPitch));
    if (hasDraftLayer)
        made.edges.push_back(made.edges.back() + beside);
    made.cells.setWidth(made.edges.back() - made.cells.left());
    made.names = QRect(area.left(), top, names, 2 * made.rowHeight);
    made.numbers = QRect(made.cells.left(),
                         made.isMini ? made.cells.bottom() + 1 : area.top(),
                         made.cells.width(),
                         numbers);
    return made;
}

QRect GridGeometry::cell(const Cell& place) const {
    const auto layer = static_cast<std::size_t>(place.layer);
    const int row = place.kind == Sublayer::Attention ? 0 : 1;
    return {
        edges[layer], cells.top() + row * rowHeight, edges[layer + 1] - edges[layer], rowHeight};
}

std::vector<int>
shownLayerNumbers(const GridGeometry& geometry, int labelWidth, std::optional<int> current) {
    const int layers = geometry.layerCount();
    if (layers <= 0)
        return {};
    if (current && *current >= layers)
        current.reset(); // the layer beside the model has no number
    const int right = geometry.edges[static_cast<std::size_t>(layers)];
    const double pitch = static_cast<double>(right - geometry.edges.front()) / layers;
    int step = layers;
    for (const int candidate : std::array{1, 2, 5, 10, 20, 25, 50, 100})
        if (candidate * pitch >= labelWidth) {
            step = candidate;
            break;
        }
    const auto isNear = [&](int a, int b) { return std::abs(a - b) * pitch < labelWidth; };
    std::vector<int> shown;
    for (int layer = 0; layer < layers - 1; layer += step) {
        const bool isHidden =
            (layer > 0 && isNear(layer, layers - 1)) || (current && isNear(layer, *current));
        if (!isHidden)
            shown.push_back(layer);
    }
    if (!current || *current == layers - 1 || !isNear(*current, layers - 1))
        shown.push_back(layers - 1);
    if (current && *current != layers - 1)
        shown.push_back(*current);
    return shown;
}

namespace {

QString draftWord() { return tr("draft layer"); }

/// Above the layer beside the model, or below it; empty if there is none.
QRect draftWordPlace(const GridGeometry& geometry, const QFont& font) {
    if (!geometry.hasDraftLayer)
        return {};
    const int width = QFontMetrics(font).horizontalAdvance(draftWord()) + 2;
    const QRect column = geometry.cell({Sublayer::Attention, geometry.layerCount()});
    const int left = std::clamp(column.center().x() - width / 2,
                                geometry.area.left(),
                                std::max(geometry.area.left(), geometry.area.right() + 1 - width));
    return {left, geometry.numbers.top(), width, geometry.numbers.height()};
}

} // namespace

void paintGridLabels(QPainter& painter,
                     const GridGeometry& geometry,
                     const LayerMapModel& model,
                     const Theme& theme,
                     std::optional<int> current) {
    const Colours& colours = theme.colours();
    const engine::SkipSet& set = model.state().skipped;
    const auto& second = model.state().reference;
    const bool isComparison = model.state().isComparison && second;
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp}) {
        const bool isFirst = kind == Sublayer::Attention;
        QRect row(geometry.names.left(),
                  geometry.names.top() + (isFirst ? 0 : geometry.rowHeight),
                  geometry.names.width(),
                  geometry.rowHeight);
        painter.setFont(theme.font(geometry.isMini ? TextRole::Tiny : TextRole::Interface));
        painter.setPen(geometry.isMini ? colours.muted : colours.text);
        const bool hasCount =
            !geometry.isMini && geometry.rowHeight >= theme.scaled(32) && model.state().layerCount;
        const int half = row.height() / 2;
        const QRect name = hasCount ? row.adjusted(0, 0, 0, -half + 1) : row;
        painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft, rowName(kind, geometry.isMini));
        if (!hasCount)
            continue;
        painter.setFont(theme.font(TextRole::Small));
        painter.setPen(colours.muted);
        const auto countIn = [isFirst](const engine::SkipSet& skipped) {
            return (isFirst ? skipped.attention : skipped.mlp).size();
        };
        painter.drawText(row.adjusted(0, half - 1, 0, 0),
                         Qt::AlignVCenter | Qt::AlignLeft,
                         isComparison ? tr("A %1, B %2").arg(countIn(set)).arg(countIn(*second))
                                      : tr("%1 skipped").arg(countIn(set)));
    }
    if (geometry.numbers.height() == 0)
        return;
    QFont font = theme.font(geometry.isMini ? TextRole::Tiny : TextRole::Small);
    QFont bold = font;
    bold.setWeight(QFont::DemiBold);
    const int labelWidth =
        QFontMetrics(bold).horizontalAdvance(QString::number(geometry.layerCount())) +
        theme.scaled(6);
    const QRect word = draftWordPlace(geometry, bold);
    if (geometry.hasDraftLayer) {
        const bool isCurrent = current == geometry.layerCount();
        painter.setFont(isCurrent ? bold : font);
        painter.setPen(isCurrent ? colours.text : colours.muted);
        painter.drawText(word, Qt::AlignCenter, draftWord());
    }
    for (const int layer : shownLayerNumbers(geometry, labelWidth, current)) {
        const QRect column = geometry.cell({Sublayer::Attention, layer});
        const int left =
            std::clamp(column.center().x() - labelWidth / 2,
                       geometry.area.left(),
                       std::max(geometry.area.left(), geometry.area.right() + 1 - labelWidth));
        const QRect place(left, geometry.numbers.top(), labelWidth, geometry.numbers.height());
        if (place.intersects(word))
            continue;
        painter.setFont(layer == current ? bold : font);
        painter.setPen(layer == current ? colours.text : colours.muted);
        painter.drawText(place, Qt::AlignCenter, QString::number(layer));
    }
}

} // namespace ui
