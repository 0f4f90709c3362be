// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/history/history_columns.h"

#include "ui/views/layer_map/history/history_painting.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace ui {

std::vector<HistoryColumn> historyColumns(const SearchLog& search) {
    std::vector<HistoryColumn> columns;
    columns.reserve(search.bestSets().size());
    for (const BestSet& set : search.bestSets()) {
        HistoryColumn column{set.place, std::nullopt, {}, set.change.plan.skipped};
        if (set.trial) {
            column.score = set.trial->score;
            column.kind = set.trial->trialKind;
        }
        // What a later re-score says belongs to the present, not to the place in the history.
        const auto place = static_cast<std::size_t>(std::max(set.place, 0));
        if (place > 0 && place <= search.trials().size() && search.trials()[place - 1].isBest) {
            column.score = search.trials()[place - 1].score;
            column.kind = search.trials()[place - 1].kind;
        }
        columns.push_back(std::move(column));
    }
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
    const HistoryGeometry geometry = geometryOf(rect());
    paintCells(painter, geometry);
    paintMarkers(painter, geometry, m_columns, m_theme);
    paintHistoryNames(painter, geometry, m_layerCount, m_theme);
    ++m_renderCount;
}

void HistoryColumns::paintCells(QPainter& painter, const HistoryGeometry& geometry) const {
    if (m_image.isNull())
        return;
    const int count = geometry.scale.count;
    const auto paintStrip = [&](int first, int columns) {
        const int left = geometry.scale.edge(first);
        const int width = geometry.scale.edge(first + columns) - left;
        const QRect attention(left, geometry.attentionTop, width, geometry.blockHeight);
        const QRect mlp(left, geometry.mlpTop, width, geometry.blockHeight);
        painter.drawImage(attention, m_image, QRect(first, 0, columns, m_layerCount));
        painter.drawImage(mlp, m_image, QRect(first, m_layerCount, columns, m_layerCount));
    };
    if (geometry.scale.pitch() < kPitchWithGaps)
        paintStrip(0, count);
    else
        for (int column = 0; column < count; ++column)
            paintStrip(column, 1);
    paintCellGaps(painter, geometry, m_layerCount, m_theme.colours());
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
    QToolTip::showText(
        help->globalPos(), columnWords(m_columns[static_cast<std::size_t>(index)]), this);
    return true;
}

} // namespace ui
