// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/menu_corner.h"

#include "ui/icons/icons.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QPushButton>
#include <QStyleOptionMenuItem>

namespace ui {

MenuCorner::MenuCorner(const Theme& theme, QWidget* chooser, QMenuBar& menus)
    : m_theme(theme)
    , m_menus(menus)
    , m_row(new QHBoxLayout(this))
    , m_search(new QPushButton(this)) {
    m_search->setProperty("form", "small");
    m_search->setAccessibleName(tr("Search or run a command"));
    m_search->setToolTip(tr("Search chats, commands, decoders and settings (Ctrl+K)"));
    connect(m_search, &QPushButton::clicked, this, &MenuCorner::searchAsked);
    m_row->addWidget(chooser);
    m_row->addWidget(m_search);
    restyle();
    menus.installEventFilter(this);
    // The menu bar has its new font once all have been told.
    connect(&theme, &Theme::changed, this, &MenuCorner::restyle, Qt::QueuedConnection);
}

void MenuCorner::restyle() {
    m_row->setContentsMargins(0, 2, m_theme.scaled(8), 2);
    m_row->setSpacing(m_theme.scaled(8));
    m_search->setIcon(
        makeIcon(IconName::Search, m_theme.colours().muted, m_theme.colours().disabled));
    fit();
}

/// The bar lays itself out after this, with the width that the corner asks for by then.
bool MenuCorner::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize)
        fit();
    return QWidget::eventFilter(watched, event);
}

void MenuCorner::fit() {
    const QString before = m_search->text();
    const QString words = m_search->accessibleName();
    m_search->setText(words);
    if (menusWidth() + m_row->sizeHint().width() > m_menus.width())
        m_search->setText({});
    if (m_search->text() == before || !isVisible())
        return;
    // A menu bar looks at the width of its corner only when this appears.
    hide();
    show();
}

int MenuCorner::menusWidth() const {
    const QStyle* style = m_menus.style();
    int width = 2 * m_theme.scaled(8); // of the bar's ends
    for (const QAction* action : m_menus.actions()) {
        QStyleOptionMenuItem option;
        option.initFrom(&m_menus);
        option.text = action->text();
        option.menuItemType = QStyleOptionMenuItem::Normal;
        const QSize words = option.fontMetrics.size(Qt::TextShowMnemonic, option.text);
        width += style->sizeFromContents(QStyle::CT_MenuBarItem, &option, words, &m_menus).width() +
                 style->pixelMetric(QStyle::PM_MenuBarItemSpacing, &option, &m_menus);
    }
    return width;
}

} // namespace ui
