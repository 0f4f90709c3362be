// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/library/recent_list.h"

#include "ui/theme/tip_text.h"
#include "ui/views/models/library/two_line_delegate.h"

#include <algorithm>

namespace ui {

namespace {

constexpr int kRecentRowsShown = 5;

} // namespace

RecentList::RecentList(const Theme& theme, RecentModels& recent, QWidget* parent)
    : ModelList(theme, kRecentRowsShown, parent)
    , m_recent(recent) {
    setAccessibleName(tr("Recent models"));
    connect(&recent, &RecentModels::changed, this, &RecentList::fill);
    fill();
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
        item->setToolTip(tipOf(model.path));
    }
    setCurrentRow(std::min(row, count() - 1));
    updateGeometry();
}

void RecentList::showEvent(QShowEvent* event) {
    fill();
    ModelList::showEvent(event);
}

void RecentList::removeCurrent() {
    if (const QListWidgetItem* item = currentItem())
        m_recent.remove(item->data(TwoLineDelegate::PathRole).toString());
}

} // namespace ui
