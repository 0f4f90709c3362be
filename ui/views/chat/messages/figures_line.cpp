// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/messages/figures_line.h"

#include "ui/theme/tip_text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextOption>

#include <cmath>
#include <utility>

namespace ui {

void FiguresLine::showSentence(const QString& sentence) { showText(sentence.toHtmlEscaped()); }

/// A text layout keeps its shaped letters from picture to picture, which no label with rich text
/// does.
void FiguresLine::showText(const QString& text) {
    const int before = heightForWidth(width());
    m_text = text;
    m_heights.clear();
    m_laidOutWidth = -1;
    m_link = {};
    const QFont font = m_theme.font(TextRole::Small);
    QTextDocument parsed;
    parsed.setHtml(text);
    const QTextBlock words = parsed.firstBlock();
    QList<QTextLayout::FormatRange> formats;
    for (auto at = words.begin(); !at.atEnd(); ++at) {
        const QTextFragment part = at.fragment();
        const QTextCharFormat meant = part.charFormat();
        QFont own = font;
        own.setWeight(QFont::Weight(meant.fontWeight()));
        own.setUnderline(meant.isAnchor());
        QTextLayout::FormatRange range{part.position(), part.length(), {}};
        range.format.setFont(own);
        if (meant.foreground().style() != Qt::NoBrush)
            range.format.setForeground(meant.foreground());
        if (meant.isAnchor())
            m_link = range;
        formats.push_back(range);
    }
    m_layout = std::make_unique<QTextLayout>(words.text(), font);
    m_layout->setFormats(formats);
    m_layout->setCacheEnabled(true);
    QTextOption option; // nothing is cut off, however narrow it is
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    m_layout->setTextOption(option);
    // Without a link nothing in it can have the focus.
    setFocusPolicy(hasLink() ? Qt::TabFocus : Qt::NoFocus);
    update();
    if (heightForWidth(width()) != before)
        updateGeometry();
}

void FiguresLine::layOut(int width) const {
    if (width == std::exchange(m_laidOutWidth, width))
        return;
    double y = 0.0;
    m_layout->beginLayout();
    for (QTextLine line = m_layout->createLine(); line.isValid(); line = m_layout->createLine()) {
        line.setLineWidth(width);
        line.setPosition({0.0, y});
        y += line.height();
    }
    m_layout->endLayout();
    m_heights[width] = static_cast<int>(std::ceil(y));
}

int FiguresLine::heightForWidth(int width) const {
    if (const auto known = m_heights.find(width); known != m_heights.end())
        return known->second;
    layOut(width);
    return m_heights[width];
}

QSize FiguresLine::sizeHint() const {
    return {m_theme.scaled(160), QFontMetrics(m_theme.font(TextRole::Small)).height()};
}

QRectF FiguresLine::linkBox() const {
    if (!hasLink())
        return {};
    layOut(width());
    const QTextLine line = m_layout->lineForTextPosition(m_link.start);
    const double left = line.cursorToX(m_link.start);
    const double right = line.cursorToX(m_link.start + m_link.length);
    return line.rect().adjusted(left, 0, right - line.width(), 0);
}

bool FiguresLine::event(QEvent* event) {
    const auto isOnLink = [&] {
        return linkBox().contains(static_cast<QMouseEvent*>(event)->position());
    };
    const auto isLeft = [&] {
        return static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton;
    };
    const auto isEnter = [&] {
        const int key = static_cast<QKeyEvent*>(event)->key();
        return key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Space;
    };
    switch (event->type()) {
    case QEvent::MouseMove:
        setCursor(isOnLink() ? Qt::PointingHandCursor : Qt::ArrowCursor);
        break;
    case QEvent::MouseButtonPress:
        return isLeft() && isOnLink(); // so that the release comes here
    case QEvent::MouseButtonRelease:
        if (isLeft() && isOnLink())
            emit taskAsked(m_task);
        break;
    case QEvent::KeyPress:
        if (hasLink() && isEnter()) {
            emit taskAsked(m_task);
            return true;
        }
        break;
    default:
        break;
    }
    return QWidget::event(event);
}

void FiguresLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(m_theme.colours().muted);
    layOut(width());
    m_layout->draw(&painter, {});
    if (!hasFocus() || !hasLink())
        return;
    painter.setPen(m_theme.colours().focus);
    painter.drawRect(linkBox().adjusted(-1.5, 0.5, 1.5, -0.5));
}

FiguresLine::FiguresLine(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_layout(std::make_unique<QTextLayout>()) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMouseTracking(true);
    setAccessibleName(tr("Figures of the answer"));
}

void FiguresLine::show(const StoredMessage& message) {
    m_task = message.figures.task;
    showText(figuresText(message, m_theme.colours()));
    setTip(*this, figuresInWords(message));
}

} // namespace ui
