// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/history/history_columns.h"

#include "ui/theme/tip_text.h"
#include "ui/views/layer_map/history/history_painting.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace ui {

namespace {

/// How the set was found. A trial that proposes a start set once more measures it alone.
std::string kindOf(const BestSet& set) {
    const std::string& reason = set.change.reason;
    const bool isFound = reason == "better" || reason == "larger r" || reason == "manual";
    return isFound ? set.kind : "start";
}

} // namespace

std::vector<HistoryColumn> historyColumns(const SearchLog& search) {
    std::vector<HistoryColumn> columns;
    columns.reserve(search.bestSets().size());
    for (const BestSet& set : search.bestSets())
        columns.push_back({set.place,
                           set.trial ? std::optional(set.trial->score) : std::nullopt,
                           kindOf(set),
                           leftOutBy(set.change.plan)});
    return columns;
}

HistoryColumns::HistoryColumns(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setAccessibleName(tr("History of best sets"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setCursor(Qt::PointingHandCursor);
    connect(&theme, &Theme::changed, this, [this] {
        redrawAll();
        updateGeometry();
        update();
    });
}

QSize HistoryColumns::sizeHint() const {
    return {m_theme.scaled(720), m_theme.scaled(60) + 2 * std::clamp(m_layerCount * 3, 60, 180)};
}

QSize HistoryColumns::minimumSizeHint() const { return {m_theme.scaled(240), m_theme.scaled(120)}; }

void HistoryColumns::setColumns(std::vector<HistoryColumn> columns, int layerCount) {
    if (columns == m_columns && layerCount == m_layerCount)
        return;
    const auto known = std::min(m_columns.size(), columns.size());
    const bool isContinued =
        layerCount == m_layerCount && known == m_columns.size() &&
        std::equal(m_columns.begin(), m_columns.end(), columns.begin(), [](auto& a, auto& b) {
            return a.skipped == b.skipped;
        });
    m_columns = std::move(columns);
    m_layerCount = layerCount;
    if (isContinued && !m_image.isNull())
        for (std::size_t i = known; i < m_columns.size(); ++i)
            drawColumn(i);
    else
        redrawAll();
    m_picture = {};
    update();
}

void HistoryColumns::setCurrent(std::optional<int> index) {
    if (m_current == index)
        return;
    m_current = index;
    update();
}

void HistoryColumns::redrawAll() {
    m_image = {};
    m_picture = {};
    for (std::size_t i = 0; i < m_columns.size(); ++i)
        drawColumn(i);
}

void HistoryColumns::drawColumn(std::size_t index) {
    const int rows = 2 * m_layerCount;
    const int column = static_cast<int>(index);
    if (rows == 0)
        return;
    if (column >= m_image.width()) {
        const QImage before = m_image;
        m_image = QImage(std::max(32, 2 * before.width()), rows, QImage::Format_RGB32);
        m_image.fill(m_theme.colours().keptInHistory);
        QPainter painter(&m_image);
        painter.drawImage(0, 0, before);
    }
    const Colours& colours = m_theme.colours();
    for (const int layer : m_columns[index].skipped.attention)
        if (layer >= 0 && layer < m_layerCount)
            m_image.setPixelColor(column, layer, colours.attention);
    for (const int layer : m_columns[index].skipped.mlp)
        if (layer >= 0 && layer < m_layerCount)
            m_image.setPixelColor(column, m_layerCount + layer, colours.mlp);
    ++m_drawnColumns;
}

HistoryGeometry HistoryColumns::geometryOf(const QRect& area) const {
    return HistoryGeometry::make(m_theme, area, static_cast<int>(m_columns.size()), m_layerCount);
}

void HistoryColumns::render() {
    const double ratio = devicePixelRatioF();
    const QSize wanted = (QSizeF(size()) * ratio).toSize();
    if (m_picture.size() == wanted)
        return;
    m_picture = QPixmap(wanted);
    m_picture.setDevicePixelRatio(ratio);
    m_picture.fill(m_theme.colours().panel);
    QPainter painter(&m_picture);
    ++m_renderCount;
    if (m_columns.empty()) {
        paintSkeleton(painter);
        return;
    }
    const HistoryGeometry geometry = geometryOf(rect());
    paintCells(painter, geometry);
    paintMarkers(painter, geometry, m_columns, m_theme);
    paintHistoryNames(painter, geometry, m_layerCount, m_theme);
}

/// The image with rows as high as on the screen, attention above MLP, with separating lines. Where
/// layers outnumber the lines, several share one, and it has a colour if any of them is skipped.
QImage HistoryColumns::stretched(const HistoryGeometry& geometry) const {
    QImage tall(m_image.width(), 2 * geometry.blockHeight, m_image.format());
    const QRgb kept = m_theme.colours().keptInHistory.rgb();
    tall.fill(kept);
    const int gap = geometry.hasRowGaps() ? 1 : 0;
    for (int row = 0; row < 2 * m_layerCount; ++row) {
        const int layer = row % m_layerCount;
        const int top = row < m_layerCount ? 0 : geometry.blockHeight;
        const int first = std::min(geometry.rowEdge(layer), std::max(geometry.blockHeight - 1, 0));
        const int end = std::max(geometry.rowEdge(layer + 1) - gap, first + 1);
        const auto* cells = reinterpret_cast<const QRgb*>(m_image.constScanLine(row));
        for (int y = first; y < std::min(end, geometry.blockHeight); ++y) {
            auto* line = reinterpret_cast<QRgb*>(tall.scanLine(top + y));
            std::transform(
                cells, cells + m_image.width(), line, line, [kept](QRgb cell, QRgb other) {
                    return cell == kept ? other : cell;
                });
        }
    }
    return tall;
}

void HistoryColumns::paintCells(QPainter& painter, const HistoryGeometry& geometry) const {
    if (m_image.isNull())
        return;
    const int count = geometry.scale.count;
    const int height = geometry.blockHeight;
    const QImage tall = stretched(geometry);
    const auto paintStrip = [&](int first, int columns) {
        const int left = geometry.scale.edge(first);
        const int width = geometry.scale.edge(first + columns) - left;
        painter.drawImage(QRect(left, geometry.attentionTop, width, height),
                          tall,
                          QRect(first, 0, columns, height));
        painter.drawImage(QRect(left, geometry.mlpTop, width, height),
                          tall,
                          QRect(first, height, columns, height));
    };
    if (geometry.scale.pitch() < kPitchWithGaps)
        paintStrip(0, count);
    else
        for (int column = 0; column < count; ++column)
            paintStrip(column, 1);
    paintColumnGaps(painter, geometry, m_theme.colours());
}

void HistoryColumns::paintSkeleton(QPainter& painter) const {
    constexpr int kColumns = 16;
    constexpr int kLayers = 30;
    const HistoryGeometry geometry = HistoryGeometry::make(m_theme, rect(), kColumns, kLayers);
    for (const int top : {geometry.attentionTop, geometry.mlpTop})
        painter.fillRect(static_cast<int>(geometry.scale.left),
                         top,
                         static_cast<int>(geometry.scale.width),
                         geometry.blockHeight,
                         m_theme.colours().keptInHistory);
    paintColumnGaps(painter, geometry, m_theme.colours());
    paintHistoryNames(painter, geometry, 0, m_theme);
}

void HistoryColumns::paintEvent(QPaintEvent*) {
    render();
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_picture);
    const HistoryGeometry geometry = geometryOf(rect());
    paintHistoryTexts(painter, geometry, m_columns, m_current, m_theme);
    paintCurrentColumn(painter, geometry, m_current, m_theme.colours());
}

void HistoryColumns::paintFigure(QPainter& painter, const QRect& area) const {
    const HistoryGeometry geometry = geometryOf(area);
    paintHistoryNames(painter, geometry, m_layerCount, m_theme);
    paintCellsAsRectangles(painter, geometry, m_columns, m_theme.colours());
    paintMarkers(painter, geometry, m_columns, m_theme);
    paintHistoryTexts(painter, geometry, m_columns, m_current, m_theme);
}

void HistoryColumns::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && !m_columns.empty())
        emit columnChosen(geometryOf(rect()).scale.columnAt(event->position().x()));
}

void HistoryColumns::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) && !m_columns.empty())
        emit columnChosen(geometryOf(rect()).scale.columnAt(event->position().x()));
}

bool HistoryColumns::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || m_columns.empty())
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const HistoryGeometry geometry = geometryOf(rect());
    if (help->pos().x() < geometry.scale.left) {
        QToolTip::hideText();
        return true;
    }
    const int index = geometry.scale.columnAt(help->pos().x());
    const HistoryColumn& column = m_columns[static_cast<std::size_t>(index)];
    const QString words =
        tr("Search step %1 · %2").arg(QString::number(column.step), columnWords(column));
    QToolTip::showText(help->globalPos(), tipOf(words), this);
    return true;
}

} // namespace ui
