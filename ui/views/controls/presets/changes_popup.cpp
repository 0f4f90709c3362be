// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/presets/changes_popup.h"

#include "ui/theme/tip_text.h"

#include <QHeaderView>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kRowsShown = 12;

QTreeWidget* makeList(const Theme& theme, const std::vector<SettingDifference>& differences) {
    auto* list = new QTreeWidget;
    list->setRootIsDecorated(false);
    list->setUniformRowHeights(true);
    list->setFont(theme.font(TextRole::Small));
    list->setStyleSheet(
        QStringLiteral(
            "QTreeView::item { border: none; background: transparent; } "
            "QTreeView::item:selected, QTreeView::item:focus { background: %1; color: %2; }")
            .arg(theme.colours().selection.name(), theme.colours().text.name()));
    list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    for (const SettingDifference& difference : differences) {
        auto* item = new QTreeWidgetItem(list);
        item->setText(0, settingTitle(difference.setting).whole());
        item->setText(1, shownValue(difference.setting, difference.before));
        item->setText(2, shownValue(difference.setting, difference.now));
        for (int column : {1, 2}) {
            item->setFont(column, theme.font(TextRole::Figure));
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
            item->setToolTip(column, tipOf(item->text(column)));
        }
        item->setSizeHint(0, {0, theme.scaled(24)});
    }
    return list;
}

} // namespace

ChangesPopup::ChangesPopup(const Theme& theme,
                           const std::vector<SettingDifference>& differences,
                           const QString& presetName,
                           QWidget* parent)
    : QFrame(parent, Qt::Popup) {
    setAttribute(Qt::WA_DeleteOnClose);
    setFrameShape(QFrame::Box);
    setProperty("ground", "panel");
    setAccessibleName(tr("Changed settings"));
    QTreeWidget* list = makeList(theme, differences);
    list->setParent(this);
    list->setAccessibleName(tr("Changed settings"));
    list->setHeaderLabels({tr("Setting"), presetName, tr("Now")});
    list->header()->setStretchLastSection(false);
    list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    for (int column : {1, 2}) {
        list->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
        list->headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    const int rows = std::min(kRowsShown, static_cast<int>(differences.size()));
    list->setFixedHeight(theme.scaled(30 + 24 * rows + 4));
    auto* reset = new QPushButton(tr("Reset all"), this);
    reset->setProperty("form", "small");
    connect(reset, &QPushButton::clicked, this, [this] {
        emit resetAllWanted();
        close();
    });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 8);
    layout->addWidget(list);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(12, 0, 12, 0);
    foot->addStretch(1);
    foot->addWidget(reset);
    layout->addLayout(foot);
    setFixedWidth(theme.scaled(340));
    list->setFocus();
}

} // namespace ui
