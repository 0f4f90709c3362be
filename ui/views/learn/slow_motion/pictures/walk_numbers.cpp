// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/pictures/walk_numbers.h"

#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QPainter>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kStopTitle = 24;  ///< pixels at 100 %
constexpr int kNumberLine = 20; ///< the same
constexpr int kAnswerGap = 14;  ///< the same, above the figures of the answer

} // namespace

WalkNumbers::WalkNumbers(const Theme& theme, QWidget* parent)
    : ScenePicture(theme, tr("This round in numbers"), parent) {}

QString WalkNumbers::subtitle() const {
    return scene().walk.plainMs > 0.0 ? tr("plain step: %1 ms").arg(scene().walk.plainMs, 0, 'f', 1)
                                      : tr("plain step: not measured");
}

QSize WalkNumbers::minimumSizeHint() const {
    return {theme().scaled(270), ScenePicture::minimumSizeHint().height()};
}

int WalkNumbers::bodyHeight() const {
    int height = kAnswerGap;
    for (const RoundStop stop : scene().walk.stops)
        height += kStopTitle + kNumberLine * static_cast<int>(stopLines(scene().walk, stop).size());
    return theme().scaled(height + kStopTitle + kNumberLine * 3 + 8);
}

void WalkNumbers::paintBody(QPainter& painter, const QRect& body) {
    const Colours& colours = theme().colours();
    const RoundWalk& walk = scene().walk;
    const int left = body.left() + theme().scaled(12);
    const int right = body.right() - theme().scaled(12);
    int y = body.top() + theme().scaled(4);
    const auto writeLine = [&](const WalkLine& line, bool isKnown, const QColor& figure) {
        const QRect room(left, y, right - left, theme().scaled(kNumberLine));
        painter.setFont(theme().font(TextRole::Figure));
        painter.setPen(isKnown ? figure : colours.disabled);
        const QString value = isKnown ? line.value : QStringLiteral("?");
        painter.drawText(room, Qt::AlignVCenter | Qt::AlignRight, value);
        const int taken = painter.fontMetrics().horizontalAdvance(value) + theme().scaled(8);
        painter.setFont(theme().font(line.isStrong ? TextRole::DockTitle : TextRole::Small));
        painter.setPen(isKnown ? (line.isStrong ? colours.text : colours.muted) : colours.disabled);
        painter.drawText(room,
                         Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(
                             line.label, Qt::ElideRight, std::max(0, room.width() - taken)));
        y += theme().scaled(kNumberLine);
    };
    for (std::size_t i = 0; i < walk.stops.size(); ++i) {
        const RoundStop stop = walk.stops[i];
        const auto number = static_cast<int>(i);
        const bool isNow = number == scene().stop;
        const bool isKnown = number < scene().stop || (isNow && scene().part >= 1.0);
        const int side = theme().scaled(16);
        const QRect disc(left, y + (theme().scaled(kStopTitle) - side) / 2, side, side);
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.setPen(number <= scene().stop ? colours.accent : colours.border);
        painter.setBrush(isNow ? colours.accent : QColor(Qt::transparent));
        painter.drawEllipse(QRectF(disc).adjusted(.5, .5, -.5, -.5));
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setFont(theme().font(TextRole::AxisFigure));
        painter.setPen(isNow                    ? colours.onAccent
                       : number <= scene().stop ? colours.accent
                                                : colours.disabled);
        painter.drawText(disc, Qt::AlignCenter, QString::number(i + 1));
        painter.setFont(theme().font(TextRole::DockTitle));
        painter.setPen(isNow                   ? colours.accent
                       : number < scene().stop ? colours.text
                                               : colours.disabled);
        painter.drawText(
            QRect(disc.right() + theme().scaled(8), y, right - left, theme().scaled(kStopTitle)),
            Qt::AlignVCenter,
            stopTitle(stop));
        y += theme().scaled(kStopTitle);
        for (const WalkLine& line : stopLines(walk, stop))
            writeLine(line, isKnown, line.isStrong ? colours.accent : colours.text);
    }
    y += theme().scaled(kAnswerGap / 2);
    painter.fillRect(left, y, right - left, 1, colours.border);
    y += theme().scaled(kAnswerGap / 2);
    const bool isWithRound = scene().shown(RoundStop::Accept) >= 1.0;
    painter.setFont(theme().font(TextRole::DockTitle));
    painter.setPen(colours.text);
    painter.drawText(QRect(left, y, right - left, theme().scaled(kStopTitle)),
                     Qt::AlignVCenter,
                     isWithRound ? tr("The answer so far, with this round")
                                 : tr("The answer before this round"));
    y += theme().scaled(kStopTitle);
    for (const WalkLine& line : answerLines(walk, isWithRound))
        writeLine(line, true, line.isStrong ? colours.accent : colours.text);
}

} // namespace ui
