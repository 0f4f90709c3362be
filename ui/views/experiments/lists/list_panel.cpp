// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/list_panel.h"

#include "ui/views/experiments/lists/row_delegates.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QResizeEvent>
#include <QVBoxLayout>

namespace ui {

namespace {

/// Rows may need a second line when the list gets narrower; by itself a QListView lays them out
/// anew only when it gets higher or lower.
class RowList : public QListView {
protected:
    void resizeEvent(QResizeEvent* event) override {
        QListView::resizeEvent(event);
        if (event->size().width() != event->oldSize().width())
            scheduleDelayedItemsLayout();
    }
};

} // namespace

ListPanel::ListPanel(const Theme& theme,
                     const QString& accessibleName,
                     QAbstractItemModel* model,
                     SectionRowDelegate* delegate,
                     QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_column(new QVBoxLayout(this))
    , m_head(new QHBoxLayout)
    , m_note(plainLabel(this, true))
    , m_list(new RowList) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    m_note->setProperty("tone", "muted");
    delegate->setParent(m_list);
    model->setParent(this);
    m_list->setModel(model);
    m_list->setItemDelegate(delegate);
    m_list->setAccessibleName(accessibleName);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    m_column->addLayout(m_head);
    m_column->addWidget(m_note);
    m_column->addWidget(m_list, 1);
    connect(m_list->selectionModel(),
            &QItemSelectionModel::currentChanged,
            this,
            [this](const QModelIndex& index, const QModelIndex& previous) {
                if (previous.isValid()) // else only the focus came
                    take(index);
            });
    connect(m_list, &QListView::clicked, this, &ListPanel::take); // also the one that is marked
    connect(m_list, &QListView::activated, this, &ListPanel::take);
    connect(&theme, &Theme::changed, this, &ListPanel::restyle);
}

void ListPanel::take(const QModelIndex& index) {
    if (!m_isMarking && index.isValid())
        choose(index);
}

void ListPanel::mark(const QModelIndex& index) {
    m_isMarking = true;
    if (!index.isValid())
        m_list->clearSelection();
    m_list->setCurrentIndex(index);
    m_isMarking = false;
}

void ListPanel::setNote(const QString& sentence) {
    m_note->setText(sentence);
    m_note->setVisible(!sentence.isEmpty());
}

void ListPanel::restyle() {
    const int gap = m_theme.scaled(8);
    m_head->setContentsMargins(gap, gap, gap, m_theme.scaled(4));
    m_head->setSpacing(gap);
    m_note->setContentsMargins(m_theme.scaled(12), gap, m_theme.scaled(12), gap);
    m_list->setMinimumHeight(m_theme.scaled(24)); // on a low screen the note comes first
    m_list->doItemsLayout();
}

QSize ListPanel::minimumSizeHint() const {
    return {m_theme.scaled(220), QWidget::minimumSizeHint().height()};
}

} // namespace ui
