// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/mode_bar.h"

#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

ModeBar::ModeBar(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_column(new QVBoxLayout(this))
    , m_settings{makeButton(tr("Settings")), IconName::Settings} {
    setAccessibleName(tr("Workspaces"));
    m_column->setSpacing(0);
    m_column->addStretch();
    m_column->addWidget(m_settings.button);
    connect(m_settings.button, &QToolButton::clicked, this, &ModeBar::settingsAsked);
    connect(&theme, &Theme::changed, this, &ModeBar::restyle);
    restyle();
}

QToolButton* ModeBar::makeButton(const QString& title) {
    auto* button = new QToolButton(this);
    button->setText(title);
    button->setAccessibleName(title);
    button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    button->setFocusPolicy(Qt::TabFocus);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    return button;
}

void ModeBar::addMode(const QString& title, IconName icon) {
    const int index = static_cast<int>(m_modes.size());
    QToolButton* button = makeButton(title);
    button->setCheckable(true);
    m_modes.push_back({button, icon});
    m_column->insertWidget(index, button);
    connect(button, &QToolButton::clicked, this, [this, index] {
        setCurrent(index);
        emit chosen(index);
    });
    restyle();
}

void ModeBar::setCurrent(int index) {
    m_current = index;
    restyle();
}

/// In the letters of the current one, which are the widest.
int ModeBar::widestName() const {
    QFont letters = font();
    letters.setPixelSize(m_theme.scaled(11));
    letters.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(letters);
    int widest = metrics.horizontalAdvance(m_settings.button->text());
    for (const Mode& mode : m_modes)
        widest = std::max(widest, metrics.horizontalAdvance(mode.button->text()));
    return widest;
}

void ModeBar::restyle() {
    const Colours& colours = m_theme.colours();
    setFixedWidth(std::max(m_theme.scaled(80), widestName() + m_theme.scaled(20)));
    m_column->setContentsMargins(0, m_theme.scaled(8), 1, m_theme.scaled(8));
    const auto style = [&](const Mode& mode, bool isCurrent) {
        mode.button->setChecked(isCurrent);
        mode.button->setIcon(
            makeIcon(mode.icon, isCurrent ? colours.accent : colours.muted, colours.disabled));
        mode.button->setIconSize(QSize(m_theme.scaled(20), m_theme.scaled(20)));
        mode.button->setFixedHeight(m_theme.scaled(56));
        mode.button->setStyleSheet(
            QStringLiteral("QToolButton { border: 0; border-radius: 0; border-left: 3px solid %1; "
                           "padding-right: 3px; font-size: %2px; font-weight: %3; color: %4; "
                           "background: %5; } QToolButton:focus { border: 2px solid %6; }")
                .arg(isCurrent ? colours.accent.name() : QStringLiteral("transparent"))
                .arg(m_theme.scaled(11))
                .arg(isCurrent ? 600 : 400)
                .arg((isCurrent ? colours.accent : colours.muted).name(),
                     isCurrent ? colours.selection.name() : QStringLiteral("transparent"),
                     colours.focus.name()));
    };
    for (std::size_t i = 0; i < m_modes.size(); ++i)
        style(m_modes[i], static_cast<int>(i) == m_current);
    style(m_settings, false);
    update();
}

void ModeBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().window);
    painter.fillRect(QRect(width() - 1, 0, 1, height()), m_theme.colours().border);
}

} // namespace ui
