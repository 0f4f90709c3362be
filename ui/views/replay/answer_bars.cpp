// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/replay/answer_bars.h"

#include "ui/language/tr.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

AnswerBars::AnswerBars(const Theme& theme, Playback& playback, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_playback(playback) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QString AnswerBars::titleOf(const RecordedAnswer& answer, int place) {
    const QString question = QString::fromStdString(answer.question).simplified();
    return question.isEmpty()
               ? tr("Answer %1").arg(place)
               : QStringLiteral("%1 %2").arg(QString::number(place), question.left(200));
}

QSize AnswerBars::sizeHint() const { return {m_theme.scaled(400), m_theme.scaled(36)}; }

QSize AnswerBars::minimumSizeHint() const { return {m_theme.scaled(80), m_theme.scaled(36)}; }

double AnswerBars::xOf(double seconds) const {
    const double room = width() - 2.0 * inset();
    const double length = m_playback.length();
    return inset() + (length > 0.0 ? room * std::clamp(seconds / length, 0.0, 1.0) : 0.0);
}

void AnswerBars::refresh() {
    const int x = static_cast<int>(std::lround(xOf(m_playback.position())));
    if (x == m_paintedX && m_playback.length() == m_paintedLength)
        return;
    m_paintedX = x;
    m_paintedLength = m_playback.length();
    update();
}

/// Each one uses the room up to the next answer; the answer being played is highlighted.
void AnswerBars::paintTitles(QPainter& painter, double position) const {
    const Colours& colours = m_theme.colours();
    const auto& answers = m_playback.answers();
    const int gap = m_theme.scaled(8);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool isLast = i + 1 == answers.size();
        const bool isCurrent =
            position >= answers[i].begin && (isLast || position < answers[i + 1].begin);
        const int left = static_cast<int>(xOf(answers[i].begin));
        const int right = isLast ? width() : static_cast<int>(xOf(answers[i + 1].begin)) - gap;
        QFont font = m_theme.font(TextRole::Small);
        font.setWeight(isCurrent ? QFont::DemiBold : QFont::Normal);
        painter.setFont(font);
        painter.setPen(isCurrent ? colours.text : colours.muted);
        const QRect words(left, 0, std::max(right - left, 0), height() / 2);
        const QFontMetrics metrics(font);
        painter.drawText(words,
                         Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(titleOf(answers[i], static_cast<int>(i) + 1),
                                            Qt::ElideRight,
                                            words.width()));
    }
}

void AnswerBars::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double position = m_playback.position();
    const double now = xOf(position);
    const double middle = height() * 0.72;
    const double thick = m_theme.scaled(6);
    painter.setPen(QPen(colours.border, 1));
    painter.drawLine(QPointF(xOf(0.0), middle), QPointF(xOf(m_playback.length()), middle));
    painter.setPen(Qt::NoPen);
    for (const RecordedAnswer& answer : m_playback.answers()) {
        const double left = xOf(answer.begin);
        const double right = std::max(xOf(answer.end), left + 2.0);
        painter.fillRect(QRectF(left, middle - thick / 2, right - left, thick),
                         colours.controlBorder);
        if (now > left)
            painter.fillRect(QRectF(left, middle - thick / 2, std::min(now, right) - left, thick),
                             colours.accent);
    }
    paintTitles(painter, position);
    const double radius = m_theme.scaled(6);
    painter.setPen(QPen(colours.accent, 2));
    painter.setBrush(colours.panel);
    painter.drawEllipse(QPointF(now, middle), radius, radius);
}

void AnswerBars::mousePressEvent(QMouseEvent* event) { seek(event->position().x()); }

void AnswerBars::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton)
        seek(event->position().x());
}

void AnswerBars::seek(double x) {
    const double room = std::max(width() - 2.0 * inset(), 1.0);
    m_playback.seek((x - inset()) / room * m_playback.length());
    emit sought();
}

} // namespace ui
