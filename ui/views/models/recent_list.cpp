// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/recent_list.h"

#include "ui/views/models/two_line_delegate.h"

#include <QKeyEvent>
#include <QMenu>

#include <algorithm>

namespace ui {

namespace {

constexpr int kRecentRowsShown = 5;

} // namespace

RecentList::RecentList(const Theme& theme, RecentModels& recent, QWidget* parent)
    : QListWidget(parent)
    , m_theme(theme)
    , m_recent(recent) {
    setAccessibleName(tr("Recent models"));
    setItemDelegate(new TwoLineDelegate(theme, this));
    setMouseTracking(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    connect(&recent, &RecentModels::changed, this, &RecentList::fill);
    connect(&theme, &Theme::changed, this, [this] {
        scheduleDelayedItemsLayout();
        updateGeometry();
    });
    connect(this, &QListWidget::itemClicked, this, [this](const QListWidgetItem* item) {
        if (!item->data(TwoLineDelegate::IsDimRole).toBool())
            emit opened(item->data(TwoLineDelegate::PathRole).toString());
    });
    setContextMenuPolicy(Qt::CustomContextMenu);
    connect(this, &QListWidget::customContextMenuRequested, this, &RecentList::showMenu);
    fill();
}

void RecentList::showMenu(const QPoint& position) {
    QListWidgetItem* item = itemAt(position);
    if (item == nullptr)
        return;
    setCurrentItem(item);
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction* open = menu->addAction(
        tr("&Open\tEnter"), this, [this, path = item->data(TwoLineDelegate::PathRole).toString()] {
            emit opened(path);
        });
    open->setEnabled(!item->data(TwoLineDelegate::IsDimRole).toBool());
    menu->addAction(tr("&Remove from the list\tDel"), this, &RecentList::removeCurrent);
    menu->popup(viewport()->mapToGlobal(position));
}

void RecentList::fill() {
    const int row = currentRow();
    clear();
    for (const RecentModel& model : m_recent.list()) {
        const bool isGone = RecentModels::isGone(model);
        auto* item = new QListWidgetItem(model.name, this);
        item->setData(TwoLineDelegate::PathRole, model.path);
        item->setData(TwoLineDelegate::SecondLineRole,
                      isGone ? tr("missing: %1").arg(model.path) : model.path);
        item->setData(TwoLineDelegate::IsDimRole, isGone);
        item->setData(TwoLineDelegate::IsAlarmRole, isGone);
        item->setData(Qt::AccessibleTextRole,
                      isGone ? tr("%1, missing; Delete removes it from the list").arg(model.name)
                             : model.name);
        item->setToolTip(model.path.toHtmlEscaped());
    }
    setCurrentRow(std::min(row, count() - 1));
    updateGeometry();
}

void RecentList::removeCurrent() {
    if (const QListWidgetItem* item = currentItem())
        m_recent.remove(item->data(TwoLineDelegate::PathRole).toString());
}

QSize RecentList::sizeHint() const {
    const int rows = std::clamp(count(), 1, kRecentRowsShown);
    return {m_theme.scaled(200), rows * m_theme.scaled(40) + 2};
}

void RecentList::keyPressEvent(QKeyEvent* event) {
    const QListWidgetItem* item = currentItem();
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (event->key() == Qt::Key_Delete)
        removeCurrent();
    else if (isEnter && item != nullptr && !item->data(TwoLineDelegate::IsDimRole).toBool())
        emit opened(item->data(TwoLineDelegate::PathRole).toString());
    else
        QListWidget::keyPressEvent(event);
}

} // namespace ui
