// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/grid/layer_grid.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace ui {

namespace {

class CellDelegate : public QStyledItemDelegate {
public:
    CellDelegate(const Theme& theme, const LayerMapModel& model, const LayerGrid& grid)
        : m_theme(theme)
        , m_model(model)
        , m_grid(grid) {}

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        CellLook look = m_model.look(LayerMapModel::cellAt(index));
        look.isCurrent = m_grid.current() == LayerMapModel::cellAt(index);
        const int gap = look.isDraftLayer ? draftLayerGap(m_theme) : 0;
        paintCell(*painter, option.rect.adjusted(gap, 0, 0, 0), look, m_theme.colours());
    }

private:
    const Theme& m_theme;
    const LayerMapModel& m_model;
    const LayerGrid& m_grid;
};

} // namespace

LayerGrid::LayerGrid(const Theme& theme, LayerMapModel& model, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_model(model)
    , m_table(this) {
    m_table.setModel(&model);
    auto* delegate = new CellDelegate(theme, model, *this);
    delegate->setParent(this);
    m_table.setItemDelegate(delegate);
    m_table.setAccessibleName(tr("Layer map"));
    m_table.setAccessibleDescription(
        tr("Which attention and MLP sublayers a draft skips. Space toggles the current one."));
    m_table.setShowGrid(false);
    m_table.setFrameShape(QFrame::NoFrame);
    m_table.setSelectionMode(QAbstractItemView::SingleSelection);
    m_table.setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table.setTabKeyNavigation(false);
    m_table.setMouseTracking(true);
    m_table.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table.setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    for (QHeaderView* header : {m_table.horizontalHeader(), m_table.verticalHeader()}) {
        header->hide();
        header->setMinimumSectionSize(1);
        header->setSectionResizeMode(QHeaderView::Fixed);
    }
    m_table.installEventFilter(this);
    m_table.viewport()->installEventFilter(this);
    setFocusProxy(&m_table);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);

    connect(&m_table, &QTableView::entered, this, [this](const QModelIndex& index) {
        setHovered(LayerMapModel::cellAt(index));
    });
    connect(&m_table, &QTableView::clicked, this, [this](const QModelIndex& index) {
        setHovered(LayerMapModel::cellAt(index)); // the pointer is there, whatever moved below it
        emit chosen(LayerMapModel::cellAt(index));
    });
    connect(&m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        emit flipRequested(LayerMapModel::cellAt(index));
    });
    connect(m_table.selectionModel(),
            &QItemSelectionModel::currentChanged,
            this,
            &LayerGrid::noteCurrent);
    connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, &LayerGrid::keepPlace);
    connect(&model, &QAbstractItemModel::modelReset, this, &LayerGrid::onReset);
    connect(&model, &QAbstractItemModel::dataChanged, this, qOverload<>(&QWidget::update));
    connect(&theme, &Theme::changed, this, &LayerGrid::arrange);
}

std::optional<Cell> LayerGrid::current() const {
    if (m_hovered)
        return m_hovered;
    const QModelIndex index = m_table.currentIndex();
    if (!index.isValid() || !m_table.hasFocus() || !m_isByKeyboard)
        return m_pinned;
    return LayerMapModel::cellAt(index);
}

void LayerGrid::setPinned(std::optional<Cell> cell) {
    m_pinned = cell;
    noteCurrent();
}

QSize LayerGrid::sizeHint() const {
    return {m_theme.scaled(720), GridGeometry::greatestHeight(m_theme, isMini())};
}

QSize LayerGrid::minimumSizeHint() const {
    return {m_theme.scaled(120), GridGeometry::leastHeight(m_theme)};
}

void LayerGrid::setHovered(std::optional<Cell> cell) {
    m_hovered = cell;
    noteCurrent();
}

void LayerGrid::noteCurrent() {
    const std::optional<Cell> now = current();
    if (now == m_shownCurrent)
        return;
    for (const std::optional<Cell>& cell : {m_shownCurrent, now})
        if (cell && cell->layer < m_model.state().columnCount())
            m_table.update(m_model.indexOf(*cell));
    m_shownCurrent = now;
    update(m_geometry.numbers.adjusted(-m_theme.scaled(24), 0, m_theme.scaled(24), 0));
    emit currentChanged();
}

void LayerGrid::keepPlace() {
    const QModelIndex index = m_table.currentIndex();
    m_placeBefore = index.isValid() ? std::optional(LayerMapModel::cellAt(index)) : std::nullopt;
    m_layersBefore = m_model.state().layerCount;
}

/// Of the same model the keyboard stays where it was, though the draft layer comes or goes.
void LayerGrid::onReset() {
    m_hovered.reset();
    arrange();
    const LayerMapState& state = m_model.state();
    if (m_placeBefore && state.layerCount == m_layersBefore &&
        m_placeBefore->layer < state.columnCount())
        m_table.setCurrentIndex(m_model.indexOf(*m_placeBefore));
}

void LayerGrid::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void LayerGrid::arrange() {
    const bool wasMini = m_geometry.isMini;
    const LayerMapState& state = m_model.state();
    m_geometry = GridGeometry::make(
        m_theme, rect(), state.layerCount, state.columnCount() > state.layerCount);
    for (int column = 0; column < m_geometry.columnCount(); ++column)
        m_table.setColumnWidth(column, m_geometry.cell({Sublayer::Attention, column}).width());
    for (int row = 0; row < m_model.rowCount(); ++row)
        m_table.setRowHeight(row, m_geometry.rowHeight);
    m_table.setGeometry(m_geometry.cells);
    if (wasMini != m_geometry.isMini) {
        updateGeometry();
        emit formChanged();
    }
    noteCurrent();
    update();
}

void LayerGrid::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const auto cell = current();
    paintGridLabels(
        painter, m_geometry, m_model, m_theme, cell ? std::optional(cell->layer) : std::nullopt);
}

bool LayerGrid::handleKey(int key) {
    const QModelIndex index = m_table.currentIndex();
    if (!index.isValid())
        return false;
    if (key == Qt::Key_Space)
        emit flipRequested(LayerMapModel::cellAt(index));
    else if (key == Qt::Key_Return || key == Qt::Key_Enter)
        emit chosen(LayerMapModel::cellAt(index));
    else
        return false;
    return true;
}

/// Focus by the keyboard shows its cell; focus from opening a window does not.
void LayerGrid::noteFocus(const QFocusEvent& event) {
    const bool isByTab =
        event.reason() == Qt::TabFocusReason || event.reason() == Qt::BacktabFocusReason;
    m_isByKeyboard = event.gotFocus() && isByTab;
    if (event.gotFocus() && !m_table.currentIndex().isValid())
        m_table.setCurrentIndex(m_model.index(0, 0));
    // The filter comes before the focus has moved.
    QMetaObject::invokeMethod(this, &LayerGrid::noteCurrent, Qt::QueuedConnection);
}

bool LayerGrid::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_table.viewport() && event->type() == QEvent::Leave)
        setHovered(std::nullopt);
    if (watched != &m_table)
        return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::KeyPress) {
        // The keyboard is used, so the cell below a resting pointer no longer counts.
        m_isByKeyboard = true;
        setHovered(std::nullopt);
        return handleKey(static_cast<QKeyEvent*>(event)->key());
    }
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        noteFocus(*static_cast<QFocusEvent*>(event));
    return QWidget::eventFilter(watched, event);
}

} // namespace ui
