// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/model_list.h"

#include "ui/views/models/library/two_line_delegate.h"

#include <QKeyEvent>
#include <QMenu>

#include <algorithm>

namespace ui {

ModelList::ModelList(const Theme& theme, int rowsShown, QWidget* parent)
    : QListWidget(parent)
    , m_theme(theme)
    , m_rowsShown(rowsShown) {
    setItemDelegate(new TwoLineDelegate(theme, this));
    setMouseTracking(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    setContextMenuPolicy(Qt::CustomContextMenu);
    connect(&theme, &Theme::changed, this, [this] {
        scheduleDelayedItemsLayout();
        updateGeometry();
    });
    connect(this, &QListWidget::itemClicked, this, &ModelList::open);
    connect(this, &QListWidget::customContextMenuRequested, this, &ModelList::showMenu);
}

bool ModelList::canOpen(const QListWidgetItem& item) const {
    return !item.data(TwoLineDelegate::IsHeadRole).toBool() &&
           !item.data(TwoLineDelegate::IsDimRole).toBool();
}

QString ModelList::removeText(const QListWidgetItem&) const {
    return tr("&Remove from the list\tDel");
}

void ModelList::open(const QListWidgetItem* item) {
    if (item != nullptr && canOpen(*item))
        emit opened(item->data(TwoLineDelegate::PathRole).toString());
}

void ModelList::showMenu(const QPoint& position) {
    QListWidgetItem* item = itemAt(position);
    if (item == nullptr)
        return;
    setCurrentItem(item);
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!item->data(TwoLineDelegate::IsHeadRole).toBool())
        menu->addAction(tr("&Open\tEnter"),
                        this,
                        [this, path = item->data(TwoLineDelegate::PathRole).toString()] {
                            emit opened(path);
                        })
            ->setEnabled(canOpen(*item));
    menu->addAction(removeText(*item), this, &ModelList::removeCurrent);
    menu->popup(viewport()->mapToGlobal(position));
}

QSize ModelList::sizeHint() const {
    const int rows = std::clamp(count(), 1, m_rowsShown);
    return {m_theme.scaled(200), rows * m_theme.scaled(40) + 2};
}

void ModelList::keyPressEvent(QKeyEvent* event) {
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (event->key() == Qt::Key_Delete)
        removeCurrent();
    else if (isEnter && currentItem() != nullptr && canOpen(*currentItem()))
        open(currentItem());
    else
        QListWidget::keyPressEvent(event);
}

} // namespace ui
