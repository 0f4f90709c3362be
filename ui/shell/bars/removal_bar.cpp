// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/removal_bar.h"

#include "ui/icons/icons.h"
#include "ui/theme/tip_text.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace ui {

RemovalBar::RemovalBar(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_text(plainLabel(this))
    , m_undo(new QPushButton(tr("Undo"), this))
    , m_close(new QToolButton(this)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("raised"));
    m_text->setProperty("tone", QStringLiteral("small"));
    m_undo->setProperty("kind", QStringLiteral("link"));
    m_undo->setProperty("form", QStringLiteral("small"));
    m_undo->setAccessibleName(tr("Undo"));
    m_close->setAccessibleName(tr("Close this message"));
    auto* const line = new QHBoxLayout(this);
    line->setContentsMargins(12, 4, 4, 4);
    line->setSpacing(4);
    line->addWidget(m_text, 1);
    line->addWidget(m_undo);
    line->addWidget(m_close);
    connect(m_undo, &QPushButton::clicked, this, &RemovalBar::undo);
    connect(m_close, &QToolButton::clicked, this, [this] {
        m_removals.clear();
        showNewest();
    });
    connect(&theme, &Theme::changed, this, &RemovalBar::restyle);
    restyle();
    hide();
}

void RemovalBar::add(Removal removal) {
    m_removals.append(std::move(removal));
    showNewest();
}

void RemovalBar::undo() {
    if (m_removals.isEmpty())
        return;
    m_removals.takeLast().undo();
    showNewest();
    emit undone();
}

bool RemovalBar::takesUndoKey(QEvent& event) {
    const bool isKey = event.type() == QEvent::KeyPress || event.type() == QEvent::ShortcutOverride;
    if (!isKey || isEmpty() || !static_cast<QKeyEvent&>(event).matches(QKeySequence::Undo))
        return false;
    event.accept();
    if (event.type() == QEvent::KeyPress)
        undo();
    return true;
}

void RemovalBar::showNewest() {
    setVisible(!m_removals.isEmpty());
    if (m_removals.isEmpty())
        return;
    const Removal& newest = m_removals.last();
    m_text->setText(newest.text);
    setTip(*m_text, newest.full);
    m_text->setAccessibleName(newest.full);
    m_undo->setAccessibleName(newest.undoName);
    setTip(*m_undo, newest.undoName);
}

void RemovalBar::restyle() {
    m_close->setIcon(
        makeIcon(IconName::Close, m_theme.colours().muted, m_theme.colours().disabled));
}

} // namespace ui
