// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/empty_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

EmptyPage::EmptyPage(const Theme& theme,
                     QWidget* outline,
                     const QString& title,
                     const QString& sentence,
                     QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_outline(outline)
    , m_title(plainLabel(this, true))
    , m_sentence(plainLabel(this, true))
    , m_row(new QHBoxLayout) {
    m_title->setText(title);
    m_title->setAlignment(Qt::AlignHCenter);
    m_sentence->setProperty("tone", "muted");
    m_sentence->setText(sentence);
    m_sentence->setAlignment(Qt::AlignHCenter);
    m_row->addStretch(1);
    m_row->addStretch(1);
    auto* middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addWidget(m_sentence, 100);
    middle->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->addStretch(1);
    column->addWidget(m_outline, 0, Qt::AlignHCenter);
    column->addWidget(m_title);
    column->addLayout(middle);
    column->addLayout(m_row);
    column->addStretch(2);
    connect(&theme, &Theme::changed, this, &EmptyPage::restyle);
    restyle();
}

QPushButton* EmptyPage::addButton(const QString& text, IconName icon) {
    auto* button = new QPushButton(text, this);
    if (m_buttons.empty())
        button->setProperty("kind", QStringLiteral("primary"));
    m_row->insertWidget(m_row->count() - 1, button);
    m_buttons.push_back({button, icon});
    restyle();
    return button;
}

void EmptyPage::restyle() {
    const int side = m_theme.scaled(24);
    layout()->setSpacing(m_theme.scaled(12));
    layout()->setContentsMargins(side, side, side, side);
    m_title->setFont(m_theme.font(TextRole::Title));
    m_sentence->setFont(m_theme.font(TextRole::Interface));
    m_sentence->setMaximumWidth(m_theme.scaled(520));
    const Colours& colours = m_theme.colours();
    for (const Button& one : m_buttons)
        one.button->setIcon(makeIcon(one.icon,
                                     one.button == &mainButton() ? colours.onAccent : colours.text,
                                     colours.disabled));
    m_outline->updateGeometry();
    update();
}

void EmptyPage::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), m_theme.colours().panel);
}

} // namespace ui
