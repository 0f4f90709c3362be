// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/sides/time_lanes.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

using namespace engine;

namespace {

constexpr int kLaneHeight = 34; ///< pixels at 100 %
constexpr int kCaptionHeight = 24;
constexpr int kNameWidth = 96;
constexpr int kEndWidth = 150;

bool isOfDraft(TokenOrigin origin) {
    return origin == TokenOrigin::Draft || origin == TokenOrigin::Sibling;
}

int digitsOf(double ms) { return ms < 1e4 ? 2 : 1; }

QString secondsText(double ms) { return TimeLanes::tr("%1 s").arg(ms / 1e3, 0, 'f', digitsOf(ms)); }

/// Rounded as secondsText() does it.
double readMs(double ms) { return QString::number(ms / 1e3, 'f', digitsOf(ms)).toDouble() * 1e3; }

/// 1, 2 or 5 times a power of ten: at most eight of them in the whole.
double tickOf(double whole) {
    const double least = whole / 8.0;
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (power * factor >= least)
            return power * factor;
    return power * 10.0;
}

} // namespace

TimeLanes::TimeLanes(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setAccessibleName(tr("When each token was written"));
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize TimeLanes::sizeHint() const {
    return {m_theme.scaled(300), m_theme.scaled(kCaptionHeight + 2 * kLaneHeight + 22)};
}

/// The tokens of a round come together, at its end; they are drawn side by side within it.
TimeLanes::Lane TimeLanes::laneOf(const QString& name, const SideAnswer& answer) {
    Lane lane{.name = name, .endMs = answer.decodeMs};
    for (const SideRound& round : answer.rounds) {
        for (int i = 0; i < round.tokens; ++i) {
            const auto index = static_cast<std::size_t>(round.firstToken + i);
            const double part = static_cast<double>(i + 1) / round.tokens;
            lane.strokes.push_back({round.beginMs + part * (round.endMs - round.beginMs),
                                    isOfDraft(answer.tokens[index].fact.origin)});
        }
        if (!round.isPlain)
            lane.rounds.push_back(round);
    }
    return lane;
}

void TimeLanes::show(std::array<QString, 2> names,
                     const SideAnswer& left,
                     const SideAnswer& right) {
    m_areWhole = left.isWhole() && right.isWhole();
    m_lanes = {laneOf(names[0], left), laneOf(names[1], right)};
    setAccessibleDescription(
        tr("%1 %2, %3 %4").arg(names[0], endText(m_lanes[0]), names[1], endText(m_lanes[1])));
    update();
}

void TimeLanes::paintLane(QPainter& painter,
                          const Lane& lane,
                          const QRectF& room,
                          double msWide) const {
    const Colours& colours = m_theme.colours();
    const auto xOf = [&](double ms) { return room.left() + ms / msWide * room.width(); };
    painter.setPen(colours.text);
    painter.setFont(m_theme.font(TextRole::Small));
    const QRectF name(
        m_theme.scaled(14), room.top(), m_theme.scaled(kNameWidth - 20), room.height());
    painter.drawText(name,
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(
                         lane.name, Qt::ElideRight, static_cast<int>(name.width())));
    const double bar = m_theme.scaled(6);
    const double strokes = room.height() - bar - m_theme.scaled(4);
    for (const Stroke& stroke : lane.strokes) {
        painter.setPen(QPen(stroke.isAccepted ? colours.acceptedLine : colours.text, 1.0));
        const double x = std::round(xOf(stroke.ms)) + 0.5;
        painter.drawLine(QPointF(x, room.top()), QPointF(x, room.top() + strokes));
    }
    for (const SideRound& round : lane.rounds) {
        const double begin = xOf(round.beginMs);
        const double width = std::max(1.0, xOf(round.endMs) - begin - 1.0);
        painter.fillRect(QRectF(begin, room.top() + strokes + 1.0, width, bar), colours.draftTime);
    }
    if (lane.strokes.empty())
        return;
    painter.setPen(colours.text);
    painter.setFont(m_theme.font(TextRole::Figure));
    painter.drawText(QRectF(xOf(lane.endMs) + m_theme.scaled(6),
                            room.top(),
                            width() - xOf(lane.endMs) - m_theme.scaled(6),
                            strokes),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     endText(lane));
}

/// The difference is that of the times as they are read.
QString TimeLanes::endText(const Lane& lane) const {
    const QString end = secondsText(lane.endMs);
    const double last = std::max(m_lanes[0].endMs, m_lanes[1].endMs);
    const double sooner = readMs(last) - readMs(lane.endMs);
    return m_areWhole && sooner > 0.0 ? tr("%1, %2 sooner").arg(end, secondsText(sooner)) : end;
}

void TimeLanes::paintAxis(QPainter& painter, const QRectF& room, double msWide) const {
    const Colours& colours = m_theme.colours();
    const double tick = tickOf(msWide);
    painter.setFont(m_theme.font(TextRole::AxisFigure));
    const int digits = tick < 10.0 ? 3 : tick < 100.0 ? 2 : tick < 1e3 ? 1 : 0;
    double written = 0.0; ///< right edge of the newest number
    for (int i = 0; i * tick <= msWide * 1.0001; ++i) {
        const double x = std::round(room.left() + i * tick / msWide * room.width()) + 0.5;
        painter.setPen(colours.grid);
        painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()));
        painter.setPen(colours.muted);
        QString text = QString::number(i * tick / 1e3, 'f', digits);
        if (i == 0)
            text = tr("0 seconds");
        const double wide = painter.fontMetrics().horizontalAdvance(text) + 2.0;
        const double left = i == 0 ? x : x - wide / 2.0;
        if (left < written)
            continue;
        written = left + wide + m_theme.scaled(4);
        painter.drawText(QRectF(left, room.bottom() + m_theme.scaled(2), wide, m_theme.scaled(18)),
                         Qt::AlignCenter,
                         text);
    }
}

/// What the marks mean.
void TimeLanes::paintCaption(QPainter& painter) const {
    const Colours& colours = m_theme.colours();
    painter.fillRect(0, 0, width(), 1, colours.border);
    painter.setFont(m_theme.font(TextRole::Tiny));
    const int height = m_theme.scaled(kCaptionHeight);
    int x = m_theme.scaled(14);
    const auto write = [&](const QString& text) {
        painter.setPen(colours.muted);
        const int wide = painter.fontMetrics().horizontalAdvance(text);
        painter.drawText(QRect(x, 0, wide + 2, height), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += wide + m_theme.scaled(16);
    };
    const auto mark = [&](const QColor& colour, int wide, int high) {
        painter.fillRect(x, (height - high) / 2, wide, high, colour);
        x += wide + m_theme.scaled(6);
    };
    write(tr("Time of each side's own steps"));
    mark(colours.text, m_theme.scaled(1), m_theme.scaled(12));
    write(tr("written by a full pass"));
    mark(colours.acceptedLine, m_theme.scaled(1), m_theme.scaled(12));
    write(tr("accepted draft token"));
    mark(colours.draftTime, m_theme.scaled(14), m_theme.scaled(6));
    write(tr("one round"));
}

void TimeLanes::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    const double msWide = std::max({m_lanes[0].endMs, m_lanes[1].endMs, 1.0});
    const double lane = m_theme.scaled(kLaneHeight);
    paintCaption(painter);
    const double top = m_theme.scaled(kCaptionHeight);
    const QRectF room(m_theme.scaled(kNameWidth),
                      top,
                      std::max(40, width() - m_theme.scaled(kNameWidth + kEndWidth)),
                      2.0 * lane);
    paintAxis(painter, room, msWide);
    for (std::size_t i = 0; i < 2; ++i)
        paintLane(painter,
                  m_lanes[i],
                  QRectF(room.left(),
                         top + static_cast<double>(i) * lane,
                         room.width(),
                         lane - m_theme.scaled(6)),
                  msWide);
}

} // namespace ui
