// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/message_body.h"

#include "ui/text/blocks/code_copy_button.h"
#include "ui/text/message_accessible.h"

#include <QAccessible>
#include <QClipboard>
#include <QGuiApplication>
#include <QPaintEvent>
#include <QPainter>
#include <QResizeEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ui {

namespace {

/// Code blocks beyond this number get no button of their own.
constexpr std::size_t kMostButtons = 200;

constexpr SourceRange kWhole{0, std::numeric_limits<int>::max()};

} // namespace

MessageBody::MessageBody(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_layout(theme) {
    installMessageAccessibility();
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::IBeamCursor);
    setAttribute(Qt::WA_StaticContents);
    setAccessibleName(tr("Message"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&m_theme, &Theme::changed, this, [this] {
        m_layout.rebuild();
        afterChange(0.0);
        update();
    });
}

MessageBody::~MessageBody() = default;

void MessageBody::setMessage(const QString& text, const std::vector<TokenMark>& tokens) {
    m_layout.clear();
    m_layout.append(text, tokens);
    m_layout.finish();
    m_isStreaming = false;
    m_pinnedToken = -1;
    hover(-1, {});
    clearSelection();
    afterChange(0.0);
    update();
}

void MessageBody::append(const QString& text, const std::vector<TokenMark>& tokens) {
    if (!m_isStreaming && !source().isEmpty())
        reload();
    m_isStreaming = true;
    const QRectF caret = m_layout.caretRect();
    const double unchanged = m_layout.append(text, tokens);
    afterChange(std::min(unchanged, caret.top()));
}

void MessageBody::finish() {
    const QRectF caret = m_layout.caretRect();
    m_isStreaming = false;
    const double unchanged = m_layout.finish();
    afterChange(std::min(unchanged, caret.top()));
    QAccessibleValueChangeEvent changed(this, spokenText());
    QAccessible::updateAccessibility(&changed);
}

/// A finished message is continued: its last block is open again.
void MessageBody::reload() {
    const QString text = source();
    const std::vector<TokenMark> known = tokens();
    m_layout.clear();
    m_layout.append(text, known);
    update();
}

void MessageBody::setShowsOrigin(bool showsOrigin) {
    if (showsOrigin == this->showsOrigin())
        return;
    m_layout.setShowsOrigin(showsOrigin);
    if (!showsOrigin) {
        setPinnedToken(-1);
        hover(-1, {});
    }
    afterChange(0.0);
    update();
}

void MessageBody::setColumnWidth(int pixels) {
    m_columnWidth = pixels;
    afterChange(0.0);
    update();
}

int MessageBody::textInset() const { return m_theme.scaled(6); }

QPointF MessageBody::toLayout(QPointF point) const {
    return point - QPointF(textInset(), m_theme.scaled(2));
}

int MessageBody::layoutWidth(int widgetWidth) const {
    const int room = widgetWidth - 2 * textInset();
    return m_columnWidth > 0 ? std::min(room, m_columnWidth) : room;
}

int MessageBody::heightOf(const MessageLayout& layout) const {
    return static_cast<int>(layout.height()) + 2 * m_theme.scaled(2) + 1;
}

const MessageLayout& MessageBody::laidOut() const {
    m_layout.setWidth(layoutWidth(width()));
    return m_layout;
}

/// Requests a repaint of everything below, and a new height if it has changed.
void MessageBody::afterChange(double unchanged) {
    m_heights.clear();
    laidOut();
    placeButtons();
    const int height = heightOf(m_layout);
    const int top = static_cast<int>(std::floor(unchanged)) + m_theme.scaled(2) - 1;
    update(QRect(0, top, width(), std::max(height, this->height()) - top));
    if (height == m_knownHeight)
        return;
    m_knownHeight = height;
    updateGeometry();
}

QRect MessageBody::tokenRect(int token) const {
    const QRectF rect = laidOut().tokenRect(token);
    if (rect.isNull())
        return {};
    return rect.translated(textInset(), m_theme.scaled(2)).toAlignedRect();
}

QString MessageBody::tokenText(int token) const {
    if (token < 0 || token >= static_cast<int>(tokens().size()))
        return {};
    const TokenMark& mark = tokens()[static_cast<std::size_t>(token)];
    return source().mid(mark.begin, mark.end - mark.begin);
}

QString MessageBody::plainText() const { return copiedText(m_layout, kWhole); }

QString MessageBody::spokenText() const {
    return copiedText(m_layout, kWhole, FormulaForm::Spoken);
}

SourceRange MessageBody::selection() const {
    return {std::min(m_anchor, m_selectionEnd), std::max(m_anchor, m_selectionEnd)};
}

QString MessageBody::selectedText() const { return copiedText(m_layout, selection()); }

QString MessageBody::spokenSelection() const {
    return copiedText(m_layout, selection(), FormulaForm::Spoken);
}

int MessageBody::selectionStart() const {
    const SourceRange rest{selection().begin, kWhole.end};
    const QString spoken = copiedText(m_layout, rest, FormulaForm::Spoken);
    return static_cast<int>(spokenText().size() - spoken.size());
}

void MessageBody::selectAll() { select(0, static_cast<int>(source().size())); }

void MessageBody::clearSelection() { select(0, 0); }

void MessageBody::select(int anchor, int end) {
    if (anchor == m_anchor && end == m_selectionEnd)
        return;
    m_anchor = anchor;
    m_selectionEnd = end;
    update();
}

void MessageBody::copySelection() const {
    const QString text = selectedText();
    if (!text.isEmpty())
        QGuiApplication::clipboard()->setText(text);
}

/// Layouts ask all messages several times whenever one grows.
int MessageBody::heightForWidth(int width) const {
    const int wanted = layoutWidth(width);
    if (const auto known = m_heights.find(wanted); known != m_heights.end())
        return known->second;
    m_layout.setWidth(wanted); // the caller sets a new width next
    const int height = heightOf(m_layout);
    m_heights[wanted] = height;
    return height;
}

QSize MessageBody::sizeHint() const {
    return {m_layout.width() + 2 * textInset(), heightOf(m_layout)};
}

QSize MessageBody::minimumSizeHint() const { return {m_theme.scaled(120), heightOf(m_layout)}; }

void MessageBody::resizeEvent(QResizeEvent* event) {
    if (layoutWidth(event->size().width()) == layoutWidth(event->oldSize().width()))
        return;
    afterChange(0.0);
    update();
}

void MessageBody::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    PiecePaint paint;
    paint.at = QPointF(textInset(), m_theme.scaled(2));
    paint.clip = event->rect();
    paint.selectionBegin = std::min(m_anchor, m_selectionEnd);
    paint.selectionEnd = std::max(m_anchor, m_selectionEnd);
    paint.ringToken = m_pinnedToken;
    laidOut().paint(painter, paint);
    if (m_isStreaming)
        painter.fillRect(m_layout.caretRect().translated(paint.at + QPointF(1, 0)),
                         m_theme.colours().accent);
    if (!m_isRingVisible || m_pinnedToken >= 0)
        return;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_theme.colours().focus, 2));
    painter.setBrush(Qt::NoBrush);
    const double radius = m_theme.scaled(4);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), radius, radius);
}

void MessageBody::placeButtons() {
    m_buttonBlocks.clear();
    const auto& blocks = m_layout.blocks();
    for (std::size_t i = 0; i < blocks.size() && m_buttonBlocks.size() < kMostButtons; ++i)
        if (blocks[i].kind() == BlockKind::Code)
            m_buttonBlocks.push_back(i);
    while (m_buttons.size() > m_buttonBlocks.size()) {
        m_buttons.back()->deleteLater();
        m_buttons.back()->hide();
        m_buttons.pop_back();
    }
    while (m_buttons.size() < m_buttonBlocks.size()) {
        auto* button = new CodeCopyButton(m_theme, this);
        connect(button, &QAbstractButton::clicked, this, [this, button] { copyCode(button); });
        m_buttons.push_back(button);
    }
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        const std::size_t block = m_buttonBlocks[i];
        const QRectF bar = blocks[block].titleBar().translated(
            textInset(), m_theme.scaled(2) + m_layout.top(block));
        const QSize size = m_buttons[i]->sizeHint();
        const double right = bar.right() - m_theme.scaled(6);
        const double top = bar.center().y() - size.height() / 2.0;
        m_buttons[i]->setGeometry(static_cast<int>(right) - size.width(),
                                  static_cast<int>(top),
                                  size.width(),
                                  size.height());
        const QString name =
            tr("Copy code block %1, %2").arg(QString::number(i + 1), blocks[block].title());
        if (m_buttons[i]->accessibleName() != name)
            m_buttons[i]->setAccessibleName(name);
        m_buttons[i]->show();
    }
}

void MessageBody::copyCode(const CodeCopyButton* button) {
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        m_buttons[i]->setCopied(m_buttons[i] == button);
        if (m_buttons[i] != button)
            continue;
        QGuiApplication::clipboard()->setText(copiedCode(m_layout.blocks()[m_buttonBlocks[i]]));
    }
}

} // namespace ui
