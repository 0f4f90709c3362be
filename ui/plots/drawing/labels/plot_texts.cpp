// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/plot_ticks.h"
#include "ui/plots/drawing/plot_layers.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kTickGap = 7.0;   ///< pixels between an axis and its texts
constexpr double kTextGap = 8.0;   ///< pixels between two texts of an axis
constexpr double kNameInset = 3.0; ///< pixels between the top and the names of phases
constexpr int kVeilAlpha = 205;

void drawVeil(QPainter& painter, QPointF baseline, double width, QColor ground) {
    const QFontMetricsF metrics(painter.font());
    ground.setAlpha(kVeilAlpha);
    painter.fillRect(
        QRectF(baseline.x() - 2.0, baseline.y() - metrics.ascent(), width + 4.0, metrics.height()),
        ground);
}

} // namespace

void drawOnVeil(QPainter& painter, QPointF baseline, const QString& text, QColor ground) {
    drawVeil(painter, baseline, QFontMetricsF(painter.font()).horizontalAdvance(text), ground);
    painter.drawText(baseline, text);
}

void TextLayer::draw(QCPPainter* painter) {
    state().figures.setFont(state().theme.font(TextRole::AxisFigure));
    state().words.setFont(state().theme.font(TextRole::Tiny));
    drawAxisTexts(*painter);
    drawNewestSquares(*painter);
    const QFontMetricsF words(state().theme.font(TextRole::Tiny));
    LabelRoom labelRoom = roomForLabels(words.height());
    drawBandNames(*painter, labelRoom);
    drawLabels(*painter, std::move(labelRoom));
    drawLabelsBeside(*painter);
}

/// A file must contain text; on the screen its picture is enough.
void TextLayer::write(QPainter& painter,
                      TextCache& texts,
                      QPointF baseline,
                      const QString& text) const {
    if (state().isExport)
        painter.drawText(baseline, text);
    else
        texts.draw(painter, baseline, text);
}

void TextLayer::drawAxisTexts(QPainter& painter) const {
    const QRect room = frame();
    const QFont figures = state().theme.font(TextRole::AxisFigure);
    const QFontMetricsF metrics(figures);
    TextCache& texts = state().figures;
    painter.setFont(figures);
    painter.setPen(state().colours().muted);
    for (const double tick : state().yTicks) {
        const QString text = tickText(state().yAxis, state().yTicks, tick);
        const double y = yPixel(tick) + metrics.capHeight() / 2.0;
        write(painter,
              texts,
              QPointF(room.left() - kTickGap - texts.width(text), std::round(y)),
              text);
    }

    const double baseline = room.bottom() + kTickGap + metrics.ascent();
    const QFont words = state().theme.font(TextRole::Tiny);
    const double titleWidth = state().words.width(state().xAxis.title);
    const double right = room.right() + 1.0;
    const double free = state().xAxis.title.isEmpty() ? right : right - titleWidth - kTextGap;
    double taken = 0.0; // up to here there is text
    for (const double tick : state().xTicks) {
        const QString text = tickText(state().xAxis, state().xTicks, tick);
        const double width = texts.width(text);
        // The outermost texts stay inside the axis, as nothing beside it belongs to the plot.
        const double x = std::clamp(xPixel(tick) - width / 2.0,
                                    static_cast<double>(room.left()),
                                    std::max<double>(room.left(), right - width));
        if (x < taken || x + width > free)
            continue;
        write(painter, texts, QPointF(std::round(x), baseline), text);
        taken = x + width + kTextGap;
    }
    painter.setFont(words);
    write(painter, state().words, QPointF(right - titleWidth, baseline), state().xAxis.title);
}

void TextLayer::drawNewestSquares(QPainter& painter) const {
    const QCPRange shown = mParentPlot->xAxis->range();
    for (const auto& series : state().series) {
        if (!series->isShown || !series->form.isNewestMarked || series->points.isEmpty())
            continue;
        const PlotPoint newest = series->points.newest();
        if (shown.contains(newest.x) && std::isfinite(newest.y))
            drawSquare(painter, newest, state().colours().*series->form.colour);
    }
}

/// Of the markers only those that a text at the top or above a reference line could cover.
LabelRoom TextLayer::roomForLabels(double lineHeight) const {
    const QRect room = frame();
    LabelRoom labelRoom{QRectF(room), {}, {}};
    labelRoom.markerRadius = state().theme.scaled(kMarkerSize) + 1.0; // of the largest, a diamond
    double lowest = room.top() + kNameInset + lineHeight;
    for (const ReferenceLine& line : state().references) {
        labelRoom.linesY.push_back(yPixel(line.value));
        if (line.side != LabelSide::Beside)
            lowest = std::max(lowest, labelRoom.linesY.back() + labelRoom.gap + lineHeight);
    }
    const double least = mParentPlot->yAxis->pixelToCoord(lowest + labelRoom.markerRadius);
    const QCPRange shown = mParentPlot->xAxis->range();
    const PlotRange range{shown.lower, shown.upper};
    for (const auto& series : state().series) {
        if (!series->isShown || series->form.marker == Marker::None)
            continue;
        const int level = series->points.levelFor(range, kMostMarkers);
        for (const PlotPoint& point : series->points.pointsIn(range, level))
            if (range.contains(point.x) && point.y >= least)
                labelRoom.markers.emplace_back(xPixel(point.x), yPixel(point.y));
    }
    return labelRoom;
}

/// A name that would cover points, because the plot is too low for both, is left out.
void TextLayer::drawBandNames(QPainter& painter, LabelRoom& labelRoom) const {
    const QRect room = frame();
    const QFont font = state().theme.font(TextRole::Tiny);
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    painter.setPen(state().colours().muted);
    constexpr double kInset = 4.0;
    for (const PhaseBand& band : state().bands) {
        const double left = std::max(xPixel(band.from), static_cast<double>(room.left()));
        const double right = std::min(xPixel(band.to), room.right() + 1.0);
        for (const QString& name : {band.name, band.shortName}) {
            const double width = state().words.width(name);
            const QRectF place(left + kInset, room.top() + kNameInset, width, metrics.height());
            if (name.isEmpty() || width + kInset + 1.0 > right - left ||
                coversMarker(place, labelRoom))
                continue;
            write(painter,
                  state().words,
                  QPointF(place.left(), place.top() + metrics.ascent()),
                  name);
            labelRoom.taken.push_back(place);
            break;
        }
    }
}

std::optional<LabelWish> TextLayer::wishOf(const PlotSeries& series, double lineHeight) const {
    if (!series.isShown || series.label.text.isEmpty() || series.points.isEmpty() ||
        series.label.side == LabelSide::Beside)
        return std::nullopt;
    const QRect room = frame();
    LabelWish wish;
    wish.size = QSizeF(std::round(state().words.width(series.label.text)), lineHeight);
    wish.side = LabelSide::Right;
    wish.isBelow = series.label.isBelow;
    wish.topY = room.bottom();
    wish.bottomY = room.top();
    bool hasPoint = false;
    const QCPRange shown = mParentPlot->xAxis->range();
    const double from = mParentPlot->xAxis->pixelToCoord(room.right() - 6.0 - wish.size.width());
    const PlotRange under{from, shown.upper};
    for (const PlotPoint& point :
         series.points.pointsIn(under, series.points.levelFor(under, 500))) {
        if (!std::isfinite(point.y))
            continue;
        hasPoint = true;
        wish.topY = std::min(wish.topY, yPixel(point.y));
        wish.bottomY = std::max(wish.bottomY, yPixel(point.y));
    }
    return hasPoint ? std::optional(wish) : std::nullopt;
}

/// Each label is at the height of its line, as far as the others leave room.
void TextLayer::drawLabelsBeside(QPainter& painter) const {
    struct Label {
        double middle;
        QString text;
        QColor colour;
    };

    std::vector<Label> labels;
    for (const ReferenceLine& line : state().references)
        if (line.side == LabelSide::Beside && !line.label.isEmpty())
            labels.push_back({yPixel(line.value), line.label, state().colours().*line.colour});
    for (const auto& series : state().series) {
        if (!series->isShown || series->label.side != LabelSide::Beside ||
            series->label.text.isEmpty() || series->points.isEmpty())
            continue;
        const double newest = series->points.newest().y;
        if (std::isfinite(newest))
            labels.push_back(
                {yPixel(newest), series->label.text, state().colours().*series->form.colour});
    }
    std::ranges::sort(labels, {}, &Label::middle);
    const QRect room = frame();
    const QFont font = state().theme.font(TextRole::Tiny);
    const QFontMetricsF metrics(font);
    const double height = metrics.height();
    std::vector<double> tops;
    for (const Label& label : labels) {
        const double wanted = std::max(label.middle - height / 2.0, room.top() * 1.0);
        tops.push_back(tops.empty() ? wanted : std::max(wanted, tops.back() + height));
    }
    double lowest = room.bottom() + height / 2.0;
    for (auto top = tops.rbegin(); top != tops.rend(); ++top) {
        *top = std::min(*top, lowest - height);
        lowest = *top;
    }
    const double left = room.right() + kBesideGap;
    const double width = state().besideWidth;
    painter.setFont(font);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        painter.setPen(labels[i].colour);
        write(painter,
              state().words,
              QPointF(left, std::round(tops[i] + metrics.ascent())),
              metrics.elidedText(labels[i].text, Qt::ElideRight, width));
    }
}

void TextLayer::drawLabels(QPainter& painter, LabelRoom labelRoom) const {
    struct Text {
        QString text;
        QColor colour;
    };

    const QFont font = state().theme.font(TextRole::Tiny);
    const QFontMetrics metrics(font);
    std::vector<LabelWish> wishes;
    std::vector<Text> texts;
    for (const ReferenceLine& line : state().references) {
        if (line.side == LabelSide::Beside)
            continue;
        const double y = yPixel(line.value);
        wishes.push_back({QSizeF(std::round(state().words.width(line.label)), metrics.height()),
                          y,
                          y,
                          line.side,
                          line.isLabelBelow,
                          line.labelFrom ? xPixel(*line.labelFrom) + labelRoom.insetX : 0.0});
        texts.push_back({line.label, state().colours().*line.colour});
    }
    for (const auto& series : state().series) {
        if (const auto wish = wishOf(*series, metrics.height())) {
            wishes.push_back(*wish);
            texts.push_back({series->label.text, state().colours().*series->form.colour});
        }
    }
    const auto places = placeLabels(wishes, std::move(labelRoom));
    painter.setFont(font);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i])
            continue;
        painter.setPen(texts[i].colour);
        const QPointF baseline(places[i]->left(), std::round(places[i]->top()) + metrics.ascent());
        drawVeil(painter, baseline, state().words.width(texts[i].text), state().colours().panel);
        write(painter, state().words, baseline, texts[i].text);
    }
}

} // namespace ui
