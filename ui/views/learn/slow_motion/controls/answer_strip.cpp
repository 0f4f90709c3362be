// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/controls/answer_strip.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

AnswerStrip::AnswerStrip(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Tokens of the answer"));
    setToolTip(tr("Click a token to see the round that wrote it."));
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void AnswerStrip::show(std::vector<Token> tokens, int round) {
    m_tokens = std::move(tokens);
    m_round = round;
    QString written;
    for (const Token& token : m_tokens)
        if (token.round == round)
            written += token.text;
    setAccessibleDescription(tr("this round wrote: %1").arg(written));
    update();
}

QSize AnswerStrip::sizeHint() const { return {m_theme.scaled(300), m_theme.scaled(26)}; }

QSize AnswerStrip::minimumSizeHint() const { return {m_theme.scaled(80), m_theme.scaled(26)}; }

int AnswerStrip::widthOf(std::size_t token) const {
    return QFontMetrics(m_theme.font(TextRole::Figure)).horizontalAdvance(m_tokens[token].text) +
           m_theme.scaled(4);
}

std::vector<int> AnswerStrip::places() const {
    std::vector<int> places = {0};
    int from = 0;
    int to = 0;
    for (std::size_t i = 0; i < m_tokens.size(); ++i) {
        const int end = places.back() + widthOf(i);
        if (m_tokens[i].round == m_round) {
            from = to == 0 ? places.back() : from;
            to = end;
        }
        places.push_back(end);
    }
    const int margin = m_theme.scaled(12);
    const int room = width() - 2 * margin;
    const int shift =
        std::clamp((from + to) / 2 - room / 2, 0, std::max(0, places.back() - room)) - margin;
    for (int& place : places)
        place -= shift;
    return places;
}

void AnswerStrip::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.panel);
    painter.setFont(m_theme.font(TextRole::Figure));
    const std::vector<int> at = places();
    const QRect line = rect().adjusted(0, m_theme.scaled(3), 0, -m_theme.scaled(3));
    for (std::size_t i = 0; i < m_tokens.size(); ++i) {
        if (at[i + 1] < 0 || at[i] > width())
            continue;
        const QRect place(at[i], line.top(), at[i + 1] - at[i], line.height());
        const bool isHere = m_tokens[i].round == m_round;
        if (isHere) {
            painter.fillRect(place, colours.selection);
            painter.fillRect(place.left(), place.bottom() - 1, place.width(), 2, colours.accent);
        }
        painter.setPen(isHere ? colours.text : colours.muted);
        painter.drawText(place, Qt::AlignCenter, m_tokens[i].text);
    }
    painter.fillRect(0, height() - 1, width(), 1, colours.border);
    if (hasFocus()) {
        painter.setPen(QPen(colours.focus, m_theme.scaled(2)));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void AnswerStrip::mousePressEvent(QMouseEvent* event) {
    const std::vector<int> at = places();
    for (std::size_t i = 0; i < m_tokens.size(); ++i)
        if (event->pos().x() >= at[i] && event->pos().x() < at[i + 1])
            emit roundAsked(m_tokens[i].round);
}

void AnswerStrip::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        emit besideAsked(event->key() == Qt::Key_Left ? -1 : 1);
    else
        QWidget::keyPressEvent(event);
}

} // namespace ui
