// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/plain_table.h"

#include <QHeaderView>

namespace ui {

PlainTable::PlainTable(const Theme& theme, TextRole role, QWidget* parent)
    : QTableView(parent)
    , m_theme(theme)
    , m_role(role) {
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    setWordWrap(false);
    verticalHeader()->hide();
    horizontalHeader()->setHighlightSections(false);
    connect(&theme, &Theme::changed, this, &PlainTable::restyle);
    restyle();
}

void PlainTable::restyle() {
    setStyleSheet(QStringLiteral("QTableView::item { border: none; padding: 0 %1px; }")
                      .arg(m_theme.scaled(8)));
    verticalHeader()->setDefaultSectionSize(m_theme.scaled(24));
    ensurePolished(); // the style sheet first: it sets the font back
    setFont(m_theme.font(m_role));
}

} // namespace ui
