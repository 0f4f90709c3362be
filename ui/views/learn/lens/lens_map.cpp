// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/lens_map.h"

#include "ui/shell/figure_text.h"
#include "ui/views/layer_map/grid/cell_painter.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kLeastCell = 7; // pixels; narrower ones scroll

/// Paints cells by their heat, and the two texts in front.
class LensDelegate : public QStyledItemDelegate {
public:
    LensDelegate(const Theme& theme, const LensModel& model, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_theme(theme)
        , m_model(model) {}

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        painter->save();
        if (const auto place = m_model.placeOf(index))
            paintHeat(*painter, option, *place);
        else
            paintText(*painter, option, index);
        painter->restore();
    }

private:
    void paintText(QPainter& painter,
                   const QStyleOptionViewItem& option,
                   const QModelIndex& index) const {
        const bool isToken = index.column() == LensModel::TokenColumn;
        const auto* view = qobject_cast<const LensMap*>(option.widget);
        const auto current = view == nullptr ? std::nullopt : view->current();
        const bool isCurrent = current && current->token == index.row() / 2;
        const Colours& colours = m_theme.colours();
        painter.fillRect(option.rect, isCurrent ? colours.selection : colours.panel);
        painter.setPen(isCurrent ? colours.accent : isToken ? colours.text : colours.muted);
        painter.setFont(m_theme.font(isToken ? TextRole::Code : TextRole::AxisFigure));
        const QRect room = option.rect.adjusted(m_theme.scaled(6), 0, -m_theme.scaled(4), 0);
        const QString text = index.data(Qt::DisplayRole).toString();
        painter.drawText(room,
                         Qt::AlignVCenter | (isToken ? Qt::AlignLeft : Qt::AlignRight),
                         painter.fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
    }

    /// The gap between two tokens is at their border, so that the lines of one belong together.
    void
    paintHeat(QPainter& painter, const QStyleOptionViewItem& option, const LensPlace& place) const {
        const Colours& colours = m_theme.colours();
        const QRect& rect = option.rect;
        painter.fillRect(rect, colours.panel);
        const bool isUpper = !isBehindMlp(place.depth);
        const QRect cell =
            rect.adjusted(0, isUpper ? 2 : 0, rect.width() > kLeastCell ? -1 : 0, -1);
        const std::size_t step = heatStep(m_model.heatOf(place));
        painter.fillRect(cell, colours.heat[step]);
        if (m_model.isHatched(place))
            paintHatch(painter,
                       cell,
                       isUpper ? Sublayer::Attention : Sublayer::Mlp,
                       step >= 4 ? colours.onHeat[step] : colours.muted);
        if (m_model.cell(place).isInTheLead() && cell.width() >= 5) {
            const int size = m_theme.scaled(3);
            const QPoint centre = cell.center();
            painter.fillRect(
                centre.x() - size / 2, centre.y() - size / 2, size, size, colours.onHeat[step]);
        }
        if (m_model.isExit(place))
            paintExit(painter, cell);
        paintFinalLine(painter, rect, place);
        if (option.state & QStyle::State_Selected) {
            painter.setPen(QPen(colours.accent, 2));
            painter.drawRect(rect.adjusted(1, 1, -1, -1));
        }
    }

    /// A bar at the right edge in the colour of what is skipped behind it.
    void paintExit(QPainter& painter, const QRect& cell) const {
        const int width = m_theme.scaled(4);
        painter.fillRect(cell.right() - width + 1,
                         cell.top(),
                         width,
                         cell.height(),
                         m_theme.colours().attention);
    }

    /// Where a cell is final and its neighbour at the left or above is not, or the other way round
    /// above.
    void paintFinalLine(QPainter& painter, const QRect& rect, const LensPlace& place) const {
        const Colours& colours = m_theme.colours();
        const bool isFinal = m_model.isFinalAt(place);
        const int before = std::max(place.depth - 2, 0);
        const bool isFirst = place.depth == 0;
        if (isFinal && !isFirst && !m_model.isFinalAt({place.token, before}))
            painter.fillRect(rect.left() - 1, rect.top(), 2, rect.height(), colours.text);
        if (isFirst)
            return;
        const LensPlace above = isBehindMlp(place.depth)
                                    ? LensPlace{place.token, place.depth - 1}
                                    : LensPlace{place.token - 1, place.depth + 1};
        if (isFinal != m_model.isFinalAt(above))
            painter.fillRect(rect.left() - 1, rect.top(), rect.width() + 1, 2, colours.text);
        const bool isLast = place.token + 1 == m_model.tokenCount() && isBehindMlp(place.depth);
        if (isLast && isFinal)
            painter.fillRect(rect.left() - 1, rect.bottom() - 1, rect.width() + 1, 2, colours.text);
    }

    const Theme& m_theme;
    const LensModel& m_model;
};

/// Numbers without the margins of usual headers, which leave no room for them, on no ground of
/// their own, which would cover the number before.
class LensHeader : public QHeaderView {
public:
    LensHeader(const Theme& theme, QWidget* parent)
        : QHeaderView(Qt::Horizontal, parent)
        , m_theme(theme) {}

    QSize sizeHint() const override { return {0, m_theme.scaled(22)}; }

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        painter->save();
        painter->setPen(m_theme.colours().muted);
        painter->setFont(m_theme.font(TextRole::AxisFigure));
        const QString text = model()->headerData(section, Qt::Horizontal).toString();
        const bool isToken = section == LensModel::TokenColumn;
        const QRect room = isToken ? rect.adjusted(m_theme.scaled(6), 0, 0, 0) : rect;
        painter->drawText(room,
                          Qt::AlignVCenter | Qt::TextDontClip |
                              (isToken ? Qt::AlignLeft : Qt::AlignHCenter),
                          text);
        painter->restore();
    }

private:
    const Theme& m_theme;
};

} // namespace

LensLegend::LensLegend(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    show(LensColouring::Probability);
}

void LensLegend::show(LensColouring colouring) {
    m_steps = {0, 1, 2, 3, 4, 5, 6};
    m_highEnd = tr("1   ▪ written token leads   ┃ final from here on");
    switch (colouring) {
    case LensColouring::Probability:
        m_lowEnd = QStringLiteral("0");
        setAccessibleName(
            tr("The more a colour stands out, the more probable. A dot marks where the "
               "written token leads, the line where it leads for good."));
        break;
    case LensColouring::Rank:
        m_lowEnd = tr("rank %1").arg(numberText(kWorstRank));
        setAccessibleName(
            tr("The more a colour stands out, the nearer the rank is to 1. A dot marks where the "
               "written token leads, the line where it leads for good."));
        break;
    case LensColouring::Lead:
        m_steps = {heatStep(kLeadHeat)};
        m_lowEnd.clear();
        m_highEnd = tr("▪ written token leads   ┃ final from here on");
        setAccessibleName(tr("A colour and a dot mark where the written token leads, the line "
                             "where it leads for good."));
        break;
    }
    updateGeometry();
    update();
}

int LensLegend::lowWidth() const {
    return QFontMetrics(m_theme.font(TextRole::Tiny)).horizontalAdvance(m_lowEnd) +
           m_theme.scaled(6);
}

QSize LensLegend::sizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Tiny));
    return {minimumSizeHint().width() + metrics.horizontalAdvance(m_highEnd) + m_theme.scaled(28),
            m_theme.scaled(18)};
}

QSize LensLegend::minimumSizeHint() const {
    return {lowWidth() + static_cast<int>(m_steps.size()) * side(), m_theme.scaled(18)};
}

void LensLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colours& colours = m_theme.colours();
    painter.setFont(m_theme.font(TextRole::Tiny));
    painter.setPen(colours.muted);
    const int top = (height() - side()) / 2;
    int x = lowWidth();
    painter.drawText(QRect(0, 0, x - 2, height()), Qt::AlignRight | Qt::AlignVCenter, m_lowEnd);
    for (const std::size_t step : m_steps) {
        painter.fillRect(x, top, side() - 1, side(), colours.heat[step]);
        x += side();
    }
    painter.drawText(
        QRect(x + 2, 0, width() - x, height()), Qt::AlignLeft | Qt::AlignVCenter, m_highEnd);
}

LensMap::LensMap(const Theme& theme, LensModel& model, QWidget* parent)
    : QTableView(parent)
    , m_theme(theme)
    , m_model(model) {
    setHorizontalHeader(new LensHeader(theme, this));
    setModel(&model);
    setItemDelegate(new LensDelegate(theme, model, this));
    setAccessibleName(tr("Lens: tokens of the answer and layers of the model"));
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setMinimumSectionSize(1);
    horizontalHeader()->setMinimumSectionSize(1);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    connect(&model, &QAbstractItemModel::modelReset, this, [this] {
        joinLines(0);
        layOut();
    });
    connect(&model, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex&, int first) {
        joinLines(first);
    });
    connect(&theme, &Theme::changed, this, &LensMap::restyle);
    restyle();
}

void LensMap::restyle() {
    setGround(*this, m_theme.colours().panel);
    verticalHeader()->setDefaultSectionSize(m_theme.scaled(12));
    layOut();
    viewport()->update();
}

/// Texts of a token, and its embedding, stand beside both lines.
void LensMap::joinLines(int firstRow) {
    for (int row = firstRow; row < m_model.rowCount(); row += 2)
        for (const int column :
             {LensModel::TokenColumn, LensModel::FinalColumn, LensModel::EmbeddingColumn})
            setSpan(row, column, 2, 1);
}

/// All layers in the width there is, as long as their cells can be told apart.
void LensMap::layOut() {
    if (m_model.layerCount() == 0)
        return;
    const int text = std::min(m_theme.scaled(112), viewport()->width() / 4);
    const int room = viewport()->width() - text - m_theme.scaled(44);
    const int columns = m_model.layerCount() + 1;
    const int cell = std::max(kLeastCell, room / columns);
    setColumnWidth(LensModel::TokenColumn, text);
    setColumnWidth(LensModel::FinalColumn, m_theme.scaled(44));
    for (int column = LensModel::EmbeddingColumn; column < m_model.columnCount(); ++column)
        setColumnWidth(column, std::min(cell, m_theme.scaled(34)));
    const QFontMetrics metrics(m_theme.font(TextRole::AxisFigure));
    const int number = metrics.horizontalAdvance(QStringLiteral("00")) + m_theme.scaled(6);
    const int width = columnWidth(LensModel::FirstLayerColumn);
    m_model.setNumberStep(width >= number ? 1 : 5 * ((number / width + 4) / 5));
    emit columnsMoved();
}

std::vector<int> LensMap::layerEdges() const {
    std::vector<int> edges;
    for (int layer = 0; layer < m_model.layerCount(); ++layer)
        edges.push_back(columnViewportPosition(LensModel::FirstLayerColumn + layer));
    if (!edges.empty())
        edges.push_back(edges.back() + columnWidth(m_model.columnCount() - 1));
    return edges;
}

std::optional<LensPlace> LensMap::current() const { return m_model.placeOf(currentIndex()); }

void LensMap::setCurrent(const LensPlace& place) { setCurrentIndex(m_model.indexOf(place)); }

void LensMap::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    layOut();
}

void LensMap::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QTableView::currentChanged(current, previous);
    viewport()->update(); // the token's text is marked as well
    emit currentMoved();
}

/// The texts in front are no cells.
QModelIndex LensMap::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
    if (m_model.rowCount() == 0)
        return {};
    if (!current())
        return m_model.index(0, m_model.columnCount() - 1);
    if (action == MoveHome)
        return m_model.index(currentIndex().row(), LensModel::EmbeddingColumn);
    const QModelIndex next = QTableView::moveCursor(action, modifiers);
    return m_model.placeOf(next) ? next : currentIndex();
}

} // namespace ui
