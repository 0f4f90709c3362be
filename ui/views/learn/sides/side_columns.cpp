// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/sides/side_columns.h"

#include "ui/origin/origin_paint.h"
#include "ui/shell/figure_text.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kSideInset = 14; ///< pixels at 100 %
constexpr int kGutter = 73;
constexpr int kHeightOfLine = 24;

TokenMark markOf(const EmittedToken& token, int round) {
    TokenMark mark;
    mark.end = 1;
    mark.origin = token.fact.origin;
    mark.rank = token.fact.rank;
    mark.draftProbability = token.fact.draftProbability;
    mark.targetProbability = token.fact.targetProbability;
    mark.step = round;
    mark.id = token.id;
    return mark;
}

} // namespace

SideColumns::SideColumns(const Theme& theme, QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_theme(theme) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Both answers, token by token"));
    connect(&theme, &Theme::changed, this, &SideColumns::restyle);
    restyle();
}

void SideColumns::restyle() {
    verticalScrollBar()->setSingleStep(lineHeight());
    for (Column& column : m_columns)
        for (Piece& piece : column)
            piece.width =
                QFontMetricsF(m_theme.font(TextRole::Conversation)).horizontalAdvance(piece.text);
    layOut();
}

int SideColumns::gutterWidth() const { return m_theme.scaled(kGutter); }

int SideColumns::columnWidth() const { return (viewport()->width() - gutterWidth()) / 2; }

int SideColumns::lineHeight() const { return m_theme.scaled(kHeightOfLine); }

int SideColumns::count() const {
    return static_cast<int>(std::max(m_columns[0].size(), m_columns[1].size()));
}

/// Adds what came since the last time; an answer that is shorter is another one.
void SideColumns::extend(Column& column, const SideAnswer& answer) const {
    const QFontMetricsF metrics(m_theme.font(TextRole::Conversation));
    if (answer.tokens.size() < column.size())
        column.clear();
    std::size_t round = 0;
    for (std::size_t i = column.size(); i < answer.tokens.size(); ++i) {
        while (round + 1 < answer.rounds.size() &&
               static_cast<int>(i) >= answer.rounds[round + 1].firstToken)
            ++round;
        Piece piece{.token = answer.tokens[i], .text = {}, .round = static_cast<int>(round)};
        QString text = QString::fromStdString(piece.token.text);
        piece.endsLine = text.contains(QLatin1Char('\n'));
        text.replace(QLatin1Char('\t'), QStringLiteral("    "));
        piece.text = text.remove(QLatin1Char('\n')).remove(QLatin1Char('\r'));
        // A token without letters, such as a line's end, can be seen and pointed at, too.
        if (piece.text.isEmpty())
            piece.text = piece.endsLine ? QStringLiteral("\u21B5") : QStringLiteral("\u00B7");
        piece.width = metrics.horizontalAdvance(piece.text);
        column.push_back(std::move(piece));
    }
}

void SideColumns::show(const SideAnswer& left,
                       const SideAnswer& right,
                       const SideComparison& comparison) {
    const QScrollBar& bar = *verticalScrollBar();
    const bool followsEnd = bar.value() >= bar.maximum() - lineHeight();
    extend(m_columns[0], left);
    extend(m_columns[1], right);
    m_equal = comparison.equal;
    m_difference = comparison.difference ? comparison.difference->position : -1;
    if (m_token >= count())
        m_token = -1;
    layOut();
    if (followsEnd && !comparison.isOver)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    viewport()->update();
}

void SideColumns::setShowsOrigin(bool isShown) {
    m_showsOrigin = isShown;
    viewport()->update();
}

/// A line ends where either side has no more room, or a line's end; so its tokens have the same
/// numbers on both.
void SideColumns::layOut() {
    m_lines.clear();
    const double room = columnWidth() - 2.0 * m_theme.scaled(kSideInset);
    Line line;
    std::array<double, 2> used = {0.0, 0.0};
    const auto finish = [&](int end) {
        line.end = end;
        line.isEqual = m_difference < 0 || end <= m_difference;
        m_lines.push_back(line);
        line = {end, end};
        used = {0.0, 0.0};
    };
    for (int i = 0; i < count(); ++i) {
        bool fits = true;
        bool endsLine = false;
        std::array<double, 2> wanted = used;
        for (std::size_t side = 0; side < 2; ++side)
            if (i < static_cast<int>(m_columns[side].size())) {
                const Piece& piece = m_columns[side][static_cast<std::size_t>(i)];
                wanted[side] += piece.width;
                fits = fits && wanted[side] <= room;
                endsLine = endsLine || piece.endsLine;
            }
        if (!fits && i > line.first) {
            finish(i);
            for (std::size_t side = 0; side < 2; ++side)
                if (i < static_cast<int>(m_columns[side].size()))
                    used[side] = m_columns[side][static_cast<std::size_t>(i)].width;
        } else {
            used = wanted;
        }
        if (endsLine)
            finish(i + 1);
    }
    if (line.first < count())
        finish(count());
    const int height = static_cast<int>(m_lines.size()) * lineHeight() + 2 * m_theme.scaled(10);
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
}

int SideColumns::lineOf(int token) const {
    const auto found = std::ranges::find_if(
        m_lines, [token](const Line& line) { return token >= line.first && token < line.end; });
    return found == m_lines.end() ? -1 : static_cast<int>(found - m_lines.begin());
}

/// In the viewport; empty for a token that this side does not have.
QRectF SideColumns::boxOf(int side, int token) const {
    const Column& column = m_columns[static_cast<std::size_t>(side)];
    const int line = lineOf(token);
    if (line < 0 || token >= static_cast<int>(column.size()))
        return {};
    double x = m_theme.scaled(kSideInset) + side * (columnWidth() + gutterWidth());
    for (int i = m_lines[static_cast<std::size_t>(line)].first; i < token; ++i)
        x += column[static_cast<std::size_t>(i)].width;
    const int top = m_theme.scaled(10) + line * lineHeight() - verticalScrollBar()->value();
    return {x, top * 1.0, column[static_cast<std::size_t>(token)].width, lineHeight() - 3.0};
}

void SideColumns::paintSide(QPainter& painter, int side, const Line& line, int top) const {
    const Colours& colours = m_theme.colours();
    const Column& column = m_columns[static_cast<std::size_t>(side)];
    const QFontMetricsF metrics(m_theme.font(TextRole::Conversation));
    const double drop = originDrop(m_theme);
    const double textTop = top + (lineHeight() - metrics.height() - drop) / 2.0;
    double x = m_theme.scaled(kSideInset) + side * (columnWidth() + gutterWidth());
    painter.save();
    painter.setClipRect(QRectF(side * (columnWidth() + gutterWidth()) * 1.0,
                               top,
                               columnWidth() - m_theme.scaled(2),
                               lineHeight()));
    for (int i = line.first; i < std::min(line.end, static_cast<int>(column.size())); ++i) {
        const Piece& piece = column[static_cast<std::size_t>(i)];
        const TokenMark mark = markOf(piece.token, piece.round);
        const QRectF box(x, textTop, piece.width, metrics.height() + drop);
        if (m_showsOrigin)
            paintOriginGround(painter, m_theme, mark, box);
        const bool isBehind = m_difference >= 0 && i >= m_difference;
        if (i == m_difference)
            painter.fillRect(box, colours.errorGround);
        const bool isSign = piece.text == QStringLiteral("\u21B5");
        painter.setPen(isSign || (isBehind && i > m_difference) ? colours.muted : colours.text);
        painter.drawText(QPointF(x, textTop + metrics.ascent()), piece.text);
        if (m_showsOrigin)
            paintOriginLine(painter, m_theme, mark, box);
        if (i == m_difference || i == m_token) {
            painter.setPen(QPen(i == m_token ? colours.accent : colours.errorLine, 2.0));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(box.adjusted(-1.0, -1.0, 1.0, 1.0));
        }
        x += piece.width;
    }
    painter.restore();
}

/// "20–41 =": the tokens of the line, from 1; nothing is said while one side has not come so far.
void SideColumns::paintGutter(QPainter& painter, const Line& line, int top) const {
    const Colours& colours = m_theme.colours();
    const QRect room(columnWidth(), top, gutterWidth() - m_theme.scaled(6), lineHeight());
    const bool isKnown = !line.isEqual || line.end <= m_equal;
    const QString sign = !isKnown       ? QStringLiteral("\u2026")
                         : line.isEqual ? QStringLiteral("=")
                                        : QStringLiteral("\u2260");
    QFont font = m_theme.font(TextRole::AxisFigure);
    painter.setFont(font);
    painter.setPen(line.isEqual ? (isKnown ? colours.success : colours.muted) : colours.error);
    const int signWidth = m_theme.scaled(14);
    painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter, sign);
    painter.setPen(colours.muted);
    const QString range = line.end - line.first == 1
                              ? QString::number(line.end)
                              : QStringLiteral("%1\u2013%2").arg(line.first + 1).arg(line.end);
    painter.drawText(room.adjusted(0, 0, -signWidth, 0), Qt::AlignRight | Qt::AlignVCenter, range);
}

void SideColumns::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Colours& colours = m_theme.colours();
    painter.fillRect(viewport()->rect(), colours.panel);
    painter.fillRect(columnWidth(), 0, gutterWidth(), viewport()->height(), colours.raised);
    for (const int x : {columnWidth(), columnWidth() + gutterWidth() - 1})
        painter.fillRect(x, 0, 1, viewport()->height(), colours.border);
    const int first = m_theme.scaled(10) - verticalScrollBar()->value();
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const int top = first + static_cast<int>(i) * lineHeight();
        if (top + lineHeight() < 0 || top > viewport()->height())
            continue;
        for (const int side : {0, 1}) {
            painter.setFont(m_theme.font(TextRole::Conversation));
            paintSide(painter, side, m_lines[i], top);
        }
        paintGutter(painter, m_lines[i], top);
    }
    if (hasFocus()) {
        painter.setPen(QPen(colours.focus, 2.0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

/// Where the end was seen, it still is: what comes below the texts makes them lower.
void SideColumns::resizeEvent(QResizeEvent* event) {
    QScrollBar& bar = *verticalScrollBar();
    const bool wasAtEnd = bar.maximum() > 0 && bar.value() == bar.maximum();
    QAbstractScrollArea::resizeEvent(event);
    layOut();
    if (wasAtEnd)
        bar.setValue(bar.maximum());
}

QString SideColumns::tokenInWords(int token) const {
    QStringList sides;
    for (const Column& column : m_columns)
        sides << (token < static_cast<int>(column.size())
                      ? visibleTokenText(QString::fromStdString(
                            column[static_cast<std::size_t>(token)].token.text))
                      : tr("nothing"));
    const auto index = static_cast<std::size_t>(token);
    const bool hasBoth = index < m_columns[0].size() && index < m_columns[1].size();
    if (hasBoth && m_columns[0][index].token.id == m_columns[1][index].token.id)
        return tr("Token %1: \u201C%2\u201D on both sides, probability %3")
            .arg(token + 1)
            .arg(sides[0], shareText(m_columns[0][index].token.fact.targetProbability));
    return tr("Token %1: \u201C%2\u201D on the left, \u201C%3\u201D on the right")
        .arg(token + 1)
        .arg(sides[0], sides[1]);
}

void SideColumns::setToken(int token) {
    m_token = token < count() ? token : -1;
    const int line = lineOf(m_token);
    if (line >= 0) {
        const int top = line * lineHeight();
        QScrollBar& bar = *verticalScrollBar();
        if (top < bar.value())
            bar.setValue(top);
        else if (top + 2 * lineHeight() > bar.value() + viewport()->height())
            bar.setValue(top + 2 * lineHeight() - viewport()->height());
    }
    setAccessibleDescription(line >= 0 ? tokenInWords(m_token) : QString());
    viewport()->update();
}

void SideColumns::choose(int token) {
    if (count() == 0)
        return;
    setToken(std::clamp(token, 0, count() - 1));
    emit tokenChosen(m_token);
}

void SideColumns::keyPressEvent(QKeyEvent* event) {
    const int line = lineOf(m_token);
    const auto lineAt = [&](int index) {
        return m_lines[static_cast<std::size_t>(
            std::clamp(index, 0, static_cast<int>(m_lines.size()) - 1))];
    };
    switch (event->key()) {
    case Qt::Key_Right:
        choose(m_token + 1);
        break;
    case Qt::Key_Left:
        choose(m_token - 1);
        break;
    case Qt::Key_Down:
    case Qt::Key_Up:
        if (m_lines.empty() || line < 0) {
            choose(0);
        } else {
            const Line to = lineAt(line + (event->key() == Qt::Key_Down ? 1 : -1));
            choose(std::min(to.first + m_token - lineAt(line).first, to.end - 1));
        }
        break;
    case Qt::Key_Home:
        choose(0);
        break;
    case Qt::Key_End:
        choose(count() - 1);
        break;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void SideColumns::mousePressEvent(QMouseEvent* event) {
    for (const int side : {0, 1})
        for (const Line& line : m_lines)
            for (int i = line.first; i < line.end; ++i)
                if (boxOf(side, i).contains(event->position())) {
                    choose(i);
                    return;
                }
}

void SideColumns::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void SideColumns::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace ui
