// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"

#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QKeyEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kHead = 22;     ///< pixels at 100 %, with the numbers of the columns
constexpr int kManyRows = 24; ///< more have smaller cells
constexpr int kMostHigh = 64; ///< rows that are drawn; more would not be readable
constexpr int kRoomForWords = 160;

} // namespace

WalkMask::WalkMask(const Theme& theme, QWidget* parent)
    : ScenePicture(theme, tr("Rows of the pass"), parent) {
    setFocusPolicy(Qt::StrongFocus);
}

bool WalkMask::takesPart(RoundStop stop) const {
    return stop == RoundStop::Linearise || stop == RoundStop::Search;
}

QString WalkMask::subtitle() const {
    const RoundWalk& walk = scene().walk;
    if (scene().current() == RoundStop::Search)
        return tr("what the candidate predicts of the text that is there");
    if (walk.shape.rowCount() == 1)
        return tr("only the newest token");
    if (scene().shown(RoundStop::Linearise) <= 0.0)
        return tr("the tree is not a list yet");
    if (m_chosen >= 0 && m_chosen < walk.shape.rowCount())
        return rowSentence(walk, m_chosen);
    return tr("a mark: this row may see that one");
}

int WalkMask::cellSide() const {
    return theme().scaled(scene().walk.shape.rowCount() > kManyRows ? 11 : 15);
}

int WalkMask::shownRows() const { return std::min(scene().walk.shape.rowCount(), kMostHigh); }

QSize WalkMask::tickSize() const { return {theme().scaled(64), theme().scaled(36)}; }

int WalkMask::bodyHeight() const {
    const int mask = theme().scaled(kHead + 6) + shownRows() * cellSide();
    if (scene().walk.trials.empty())
        return mask;
    const int inLine = std::max(1, (width() - theme().scaled(24)) / tickSize().width());
    const auto ticks = static_cast<int>(scene().walk.trials.back().ticks.size());
    return std::max(mask,
                    ((ticks + inLine - 1) / inLine) * tickSize().height() + theme().scaled(16));
}

void WalkMask::paintBody(QPainter& painter, const QRect& body) {
    if (scene().current() == RoundStop::Search)
        paintTrial(painter, body);
    else
        paintMask(painter, body);
}

void WalkMask::paintMask(QPainter& painter, const QRect& body) {
    const Colours& colours = theme().colours();
    const int rows =
        scene().walk.shape.rowCount() == 1 ? 1 : scene().shownOf(RoundStop::Linearise, shownRows());
    const int side = cellSide();
    const int left = body.left() + labelWidth();
    painter.setFont(theme().font(TextRole::AxisFigure));
    painter.setPen(colours.muted);
    const int step = shownRows() > kManyRows ? 5 : 2;
    if (rows > 0)
        for (int column = 0; column < shownRows(); column += step)
            painter.drawText(
                QRect(left + column * side - side, body.top(), 3 * side, theme().scaled(kHead)),
                Qt::AlignCenter,
                QString::number(column));
    for (int row = 0; row < rows; ++row)
        paintRow(painter, body, row);
    const int right = left + shownRows() * side + theme().scaled(20);
    const int room = body.right() - theme().scaled(12) - right;
    if (rows == 0 || room < theme().scaled(kRoomForWords))
        return;
    painter.setFont(theme().font(TextRole::Small));
    painter.setPen(colours.muted);
    QString words = tr("Each row is one token of the pass. It sees all of the text before, and of "
                       "the guesses only those that it follows. So guesses that exclude each other "
                       "can share one pass.");
    if (scene().walk.shape.rowCount() > kMostHigh)
        words += QLatin1Char(' ') + tr("The first %1 rows are shown.").arg(kMostHigh);
    painter.drawText(QRect(right, body.top() + theme().scaled(kHead), room, body.height()),
                     Qt::AlignTop | Qt::TextWordWrap,
                     words);
}

void WalkMask::paintRow(QPainter& painter, const QRect& body, int row) {
    const Colours& colours = theme().colours();
    const RoundWalk& walk = scene().walk;
    const int side = cellSide();
    const int top = body.top() + theme().scaled(kHead) + row * side;
    const int left = body.left() + labelWidth();
    const bool isChosen = row == m_chosen;
    if (isChosen)
        painter.fillRect(QRect(body.left(), top, left + shownRows() * side - body.left(), side),
                         colours.selection);
    const QColor mark = isChosen ? colours.accent
                        : scene().isKept(row) && row > 0 && scene().shown(RoundStop::Accept) > 0.0
                            ? colours.acceptedLine
                        : walk.shape.isSide(row) ? colours.controlBorder
                                                 : colours.muted;
    QFont font = theme().font(TextRole::AxisFigure);
    font.setStrikeOut(scene().isGone(row));
    painter.setFont(font);
    painter.setPen(isChosen              ? colours.accent
                   : scene().isGone(row) ? colours.rejectedText
                                         : colours.text);
    const int number = theme().scaled(26);
    const QRect name(
        body.left() + theme().scaled(12), top, labelWidth() - number - theme().scaled(14), side);
    QString text = rowText(walk, row);
    if (row == 0 && text.isEmpty())
        text = tr("the prompt");
    painter.drawText(name,
                     Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, name.width()));
    painter.setFont(theme().font(TextRole::AxisFigure));
    painter.setPen(colours.muted);
    painter.drawText(QRect(left - number - theme().scaled(4), top, number, side),
                     Qt::AlignVCenter | Qt::AlignRight,
                     QString::number(row));
    const std::vector<int> line = walk.shape.lineOf(row);
    const int gap = theme().scaled(1);
    for (int column = 0; column < shownRows(); ++column) {
        const QRect cell(left + column * side, top, side - gap, side - gap);
        if (std::ranges::find(line, column) != line.end()) {
            painter.fillRect(cell, mark);
        } else {
            painter.setPen(colours.grid);
            painter.drawRect(cell.adjusted(0, 0, -1, -1));
        }
    }
    if (isChosen && hasFocus()) {
        painter.setPen(QPen(colours.focus, theme().scaled(2)));
        painter.drawRect(
            QRect(body.left() + 1, top, left + shownRows() * side - body.left() - 2, side));
    }
}

void WalkMask::paintTrial(QPainter& painter, const QRect& body) {
    const Colours& colours = theme().colours();
    const TrialFinished& trial = scene().walk.trials.back();
    const auto ticks = static_cast<int>(trial.ticks.size());
    const QSize tick = tickSize();
    const int inLine = std::max(1, (body.width() - theme().scaled(24)) / tick.width());
    const int shown = scene().shownOf(RoundStop::Search, ticks);
    for (int i = 0; i < shown; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const QRect place(body.left() + theme().scaled(12) + i % inLine * tick.width(),
                          body.top() + theme().scaled(8) + i / inLine * tick.height(),
                          tick.width() - theme().scaled(4),
                          tick.height() - theme().scaled(6));
        const bool isRight = trial.ticks[at] != 0;
        const QString text = at < trial.window.size()
                                 ? visibleTokenText(QString::fromStdString(trial.window[at]))
                                 : QString::number(i + 1);
        paintBox(painter,
                 {.place = place,
                  .text = text,
                  .note = isRight ? QStringLiteral("\u2713") : QStringLiteral("\u2717"),
                  .ground = isRight ? colours.accepted : colours.rejected,
                  .line = isRight ? colours.acceptedLine : colours.rejectedText,
                  .ink = isRight ? colours.text : colours.rejectedText});
    }
}

void WalkMask::chooseRow(int row) {
    if (!hasScene())
        return;
    m_chosen = row >= 0 && row < shownRows() ? row : -1;
    setAccessibleDescription(subtitle());
    update();
}

void WalkMask::mousePressEvent(QMouseEvent* event) {
    if (!hasScene() || scene().current() == RoundStop::Search)
        return;
    const int y = event->pos().y() - bodyRect().top() - theme().scaled(kHead);
    chooseRow(y < 0 ? -1 : y / cellSide());
}

void WalkMask::keyPressEvent(QKeyEvent* event) {
    const bool isKey = event->key() == Qt::Key_Up || event->key() == Qt::Key_Down;
    if (!isKey || !hasScene()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const int next = m_chosen + (event->key() == Qt::Key_Down ? 1 : -1);
    chooseRow(std::clamp(next, 0, shownRows() - 1));
}

void WalkMask::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    if (m_chosen < 0)
        chooseRow(0);
    update();
}

void WalkMask::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

} // namespace ui
