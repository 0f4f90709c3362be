// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/history/history_painting.h"

#include "ui/language/tr.h"
#include "ui/plots/drawing/markers.h"
#include "ui/views/layer_map/grid/grid_geometry.h"
#include "ui/views/matchness/search_figures.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kTallestRow = 8.0;    // pixels
constexpr double kTallestBlock = 60.0; // of few layers
constexpr int kMarkerSize = 5;         // pixels at 100 %
constexpr double kPitchWithMarkers = 12.0;

QString scoreText(const HistoryColumn& column) {
    return column.score ? QString::number(*column.score, 'f', 3) : QStringLiteral("–");
}

/// Kinds without a look of their own have the name that their decoder gave them.
QString kindName(const std::string& kind) {
    const TrialLook look = trialLook(kind);
    return look == TrialLook::Other ? QString::fromStdString(kind) : trialSign(look).name;
}

/// The middle of a column's text, which stays within the columns.
double textCentre(const ColumnScale& scale, double textWidth, int index) {
    const double half = std::min(textWidth, scale.width) / 2.0;
    return std::clamp(scale.centre(index), scale.left + half, scale.left + scale.width - half);
}

/// Columns whose texts, all of one width, fit beside each other; the current one comes first.
std::vector<int>
shownTexts(const ColumnScale& scale, double textWidth, std::optional<int> current) {
    std::vector<int> shown;
    if (current)
        shown.push_back(*current);
    double next = -1e9;
    for (int i = 0; i < scale.count; ++i) {
        const double centre = textCentre(scale, textWidth, i);
        const bool isFree =
            centre >= next &&
            (!current || std::abs(centre - textCentre(scale, textWidth, *current)) >= textWidth);
        if (!isFree)
            continue;
        shown.push_back(i);
        next = centre + textWidth;
    }
    return shown;
}

} // namespace

int ColumnScale::edge(int index) const {
    return static_cast<int>(std::lround(left + index * pitch()));
}

int ColumnScale::columnAt(double x) const {
    if (count == 0)
        return 0;
    return std::clamp(static_cast<int>(std::floor((x - left) / pitch())), 0, count - 1);
}

int HistoryGeometry::rowEdge(int layer) const {
    return static_cast<int>(std::lround(layer * rowHeight));
}

HistoryGeometry
HistoryGeometry::make(const Theme& theme, const QRect& area, int columns, int layers) {
    HistoryGeometry made;
    made.area = area;
    const int names = rowNamesWidth(theme, false);
    made.scale = {static_cast<double>(area.left() + names),
                  static_cast<double>(std::max(area.width() - names, 1)),
                  columns};
    made.lineHeight = theme.scaled(18);
    made.isWide = made.scale.pitch() >= theme.scaled(60);
    const int gap = theme.scaled(6);
    const int below = (made.isWide ? 1 : 2) * made.lineHeight + gap;
    const int room = std::max(2, area.height() - made.lineHeight - below - gap - 4) / 2;
    made.rowHeight = static_cast<double>(room) / std::max(layers, 1);
    made.rowHeight =
        std::min(made.rowHeight, std::max(kTallestRow, kTallestBlock / std::max(layers, 1)));
    made.blockHeight = static_cast<int>(made.rowHeight * std::max(layers, 1));
    made.stepsTop = area.top();
    made.attentionTop = area.top() + made.lineHeight + 2;
    made.mlpTop = made.attentionTop + made.blockHeight + gap;
    made.markersTop = made.blocksBottom() + gap;
    made.scoresTop = made.markersTop + (made.isWide ? 0 : made.lineHeight - theme.scaled(2));
    return made;
}

void paintColumnGaps(QPainter& painter, const HistoryGeometry& geometry, const Colours& colours) {
    if (geometry.scale.pitch() < kPitchWithGaps)
        return;
    const int gap = geometry.scale.pitch() >= 16.0 ? 2 : 1;
    for (int i = 1; i <= geometry.scale.count; ++i)
        for (const int top : {geometry.attentionTop, geometry.mlpTop})
            painter.fillRect(
                geometry.scale.edge(i) - gap, top, gap, geometry.blockHeight, colours.panel);
}

void paintCellsAsRectangles(QPainter& painter,
                            const HistoryGeometry& geometry,
                            const std::vector<HistoryColumn>& columns,
                            const Colours& colours) {
    const double pitch = geometry.scale.pitch();
    const double width = pitch >= kPitchWithGaps ? pitch - 1.0 : pitch;
    const double height =
        std::max(geometry.hasRowGaps() ? geometry.rowHeight - 1 : geometry.rowHeight, 1.0);
    const double lowest = geometry.blockHeight - height; // where layers outnumber the lines
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double left = geometry.scale.left + static_cast<double>(i) * pitch;
        const auto paintBlock = [&](int top, const std::vector<int>& layers, const QColor& fill) {
            painter.fillRect(QRectF(left, top, width, geometry.blockHeight), colours.keptInHistory);
            for (const int layer : layers)
                painter.fillRect(
                    QRectF(left, top + std::min(layer * geometry.rowHeight, lowest), width, height),
                    fill);
        };
        paintBlock(geometry.attentionTop, columns[i].skipped.attention, colours.attention);
        paintBlock(geometry.mlpTop, columns[i].skipped.mlp, colours.mlp);
    }
}

void paintMarkers(QPainter& painter,
                  const HistoryGeometry& geometry,
                  const std::vector<HistoryColumn>& columns,
                  const Theme& theme) {
    const Colours& colours = theme.colours();
    const double middle = geometry.markersTop + geometry.lineHeight / 2.0;
    const QFontMetrics metrics(theme.font(TextRole::Figure));
    const double aside = metrics.horizontalAdvance(QStringLiteral("0.000")) / 2.0 + 9.0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string& kind = columns[i].kind;
        if (kind.empty())
            continue;
        const TrialSign sign = trialSign(trialLook(kind));
        const QColor colour = colours.*sign.colour;
        const double x =
            geometry.scale.centre(static_cast<int>(i)) - (geometry.isWide ? aside : 0.0);
        if (geometry.scale.pitch() >= kPitchWithMarkers) {
            drawMarker(painter, sign.marker, {x, middle}, theme.scaled(kMarkerSize), colour);
            continue;
        }
        // A dot, whose height and colour show the kind where there is no room for a shape.
        const double width = std::clamp(geometry.scale.pitch() - 1.0, 2.0, 5.0);
        const double height = kind == "bayesian" || kind == "manual" ? 7.0 : 3.0;
        painter.fillRect(QRectF(x - width / 2.0, middle - height / 2.0, width, height), colour);
    }
}

void paintHistoryNames(QPainter& painter,
                       const HistoryGeometry& geometry,
                       int layerCount,
                       const Theme& theme) {
    const int left = geometry.area.left();
    const int width = static_cast<int>(geometry.scale.left) - left;
    const int line = geometry.lineHeight;
    const auto say = [&](int top, TextRole role, const QColor& colour, const QString& text) {
        painter.setFont(theme.font(role));
        painter.setPen(colour);
        painter.drawText(QRect(left, top, width, line), Qt::AlignVCenter | Qt::AlignLeft, text);
    };
    const Colours& colours = theme.colours();
    say(geometry.stepsTop, TextRole::Small, colours.muted, tr("Search step"));
    say(geometry.scoresTop, TextRole::Small, colours.muted, tr("Matchness"));
    for (const bool isAttention : {true, false}) {
        const int blockTop = isAttention ? geometry.attentionTop : geometry.mlpTop;
        const int top = blockTop + std::max(0, geometry.blockHeight - 2 * line) / 2;
        say(top, TextRole::Interface, colours.text, isAttention ? tr("Attention") : tr("MLP"));
        if (geometry.blockHeight >= 2 * line && layerCount > 0)
            say(top + line, TextRole::Small, colours.muted, tr("layers 0–%1").arg(layerCount - 1));
    }
}

void paintHistoryTexts(QPainter& painter,
                       const HistoryGeometry& geometry,
                       const std::vector<HistoryColumn>& columns,
                       std::optional<int> current,
                       const Theme& theme) {
    const Colours& colours = theme.colours();
    const QFont font = theme.font(TextRole::Figure);
    QFont bold = font;
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(bold);
    const QString longest = columns.empty() ? QString() : QString::number(columns.back().step);
    const int stepWidth = metrics.horizontalAdvance(longest) + theme.scaled(10);
    const int scoreWidth = metrics.horizontalAdvance(QStringLiteral("0.000")) + theme.scaled(10);
    const auto say = [&](int index, int top, int width, const QString& text) {
        const bool isCurrent = index == current;
        painter.setFont(isCurrent ? bold : font);
        painter.setPen(isCurrent ? colours.accent : colours.muted);
        const double centre = textCentre(geometry.scale, width, index);
        painter.drawText(
            QRectF(centre - width / 2.0, top, width, geometry.lineHeight), Qt::AlignCenter, text);
    };
    const auto column = [&](int index) -> const HistoryColumn& {
        return columns[static_cast<std::size_t>(index)];
    };
    for (const int index : shownTexts(geometry.scale, stepWidth, current))
        say(index, geometry.stepsTop, stepWidth, QString::number(column(index).step));
    for (const int index : shownTexts(geometry.scale, scoreWidth, current))
        say(index, geometry.scoresTop, scoreWidth, scoreText(column(index)));
}

void paintCurrentColumn(QPainter& painter,
                        const HistoryGeometry& geometry,
                        std::optional<int> current,
                        const Colours& colours) {
    if (!current || *current >= geometry.scale.count)
        return;
    const int least = 6;
    int left = geometry.scale.edge(*current) - 2;
    int width = geometry.scale.edge(*current + 1) - left + (geometry.scale.pitch() < 16 ? 1 : 0);
    if (width < least) {
        left -= (least - width) / 2;
        width = least;
    }
    const int top = geometry.attentionTop - 2;
    const int height = geometry.blocksBottom() + 2 - top;
    painter.fillRect(left, top, width, 2, colours.accent);
    painter.fillRect(left, top + height - 2, width, 2, colours.accent);
    painter.fillRect(left, top, 2, height, colours.accent);
    painter.fillRect(left + width - 2, top, 2, height, colours.accent);
}

QString columnWords(const HistoryColumn& column) {
    const QString score = column.score
                              ? tr("matchness %1, %2").arg(scoreText(column), kindName(column.kind))
                              : tr("not measured");
    const QString sizes = tr("%1 attention and %2 MLP skipped")
                              .arg(column.skipped.attention.size())
                              .arg(column.skipped.mlp.size());
    return QStringLiteral("%1 · %2").arg(score, sizes);
}

} // namespace ui
