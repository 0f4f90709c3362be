// SPDX-License-Identifier: GPL-3.0-only
#include "ui/present/way_out.h"

#include <algorithm>

namespace ui {

WayOut::WayOut(const Theme& theme, QWidget* window)
    : QPushButton(tr("End the presentation (Esc)"), window)
    , m_theme(theme) {
    setProperty("kind", "primary");
    setAccessibleName(tr("End the presentation"));
    setFocusPolicy(Qt::NoFocus);
    connect(this, &QPushButton::clicked, this, &WayOut::asked);
    hide();
}

void WayOut::start() {
    m_ticksLeft = kTicks;
    place();
}

void WayOut::follow(QPoint pointer) {
    const bool isAtEdge = parentWidget()->rect().contains(pointer) &&
                          pointer.y() < (isVisible() ? geometry().bottom() : m_theme.scaled(6));
    m_ticksLeft = isAtEdge ? std::max(m_ticksLeft, 1) : std::max(0, m_ticksLeft - 1);
    if (m_ticksLeft == 0 && !isAtEdge)
        hide();
    else
        place();
}

void WayOut::place() {
    ensurePolished();
    resize(sizeHint());
    move((parentWidget()->width() - width()) / 2, m_theme.scaled(4));
    show();
    raise();
}

} // namespace ui
