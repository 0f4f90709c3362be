// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/input_bar.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/text_field.h"
#include "ui/views/chat/attachment_row.h"

#include <QAbstractTextDocumentLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTextBlock>
#include <QTextDocument>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kMostLines = 8;
constexpr double kAmber = 0.75;
constexpr double kRed = 0.90;

} // namespace

ContextGauge::ContextGauge(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    setAccessibleName(tr("Context used"));
    connect(&theme, &Theme::changed, this, &ContextGauge::updateGeometry);
    hide();
}

void ContextGauge::show(int used, int length) {
    if (used == m_used && length == m_length)
        return;
    const QSize before = sizeHint();
    m_used = used;
    m_length = length;
    setVisible(length > 0);
    setAccessibleDescription(words(m_used));
    setToolTip(tr("How many tokens of the conversation the model sees, out of those that fit."));
    if (sizeHint() != before)
        updateGeometry();
    update();
}

QString ContextGauge::numbers(int used) const {
    return QStringLiteral("%1 / %2").arg(numberText(used), numberText(m_length));
}

QString ContextGauge::words(int used) const { return tr("%1 context").arg(numbers(used)); }

QString ContextGauge::share() const {
    return m_length > 0 ? tr("%1 %").arg(100 * static_cast<qint64>(m_used) / m_length) : QString();
}

/// The percentage is always shown in full.
QSize ContextGauge::minimumSizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Figure));
    return {metrics.horizontalAdvance(tr("%1 %").arg(100)), m_theme.scaled(20)};
}

QSize ContextGauge::sizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Figure));
    const QString widest = words(std::max(m_used, m_length)); // so that it grows only beyond it
    return {m_theme.scaled(108) + metrics.horizontalAdvance(widest), m_theme.scaled(20)};
}

void ContextGauge::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double part = m_length > 0 ? std::min(1.0, static_cast<double>(m_used) / m_length) : 0.0;
    const QColor level = part >= kRed     ? colours.error
                         : part >= kAmber ? colours.warning
                                          : colours.muted;
    painter.setFont(m_theme.font(TextRole::Figure));
    const auto fits = [&](const QString& text, int room) {
        return painter.fontMetrics().horizontalAdvance(text) <= room;
    };
    QRect room = rect().adjusted(m_theme.scaled(106), 0, 0, 0);
    const bool hasBar = fits(numbers(m_used), room.width());
    if (hasBar) {
        const QRectF bar(0, height() / 2.0 - 2, m_theme.scaled(96), 4);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.hover);
        painter.drawRoundedRect(bar, 2, 2);
        painter.setBrush(level);
        painter.drawRoundedRect(
            QRectF(bar.topLeft(), QSizeF(bar.width() * part, bar.height())), 2, 2);
    } else {
        room = rect(); // narrow, the numbers matter more than their picture
    }
    painter.setPen(part >= kRed ? colours.error : colours.muted);
    painter.drawText(room,
                     Qt::AlignVCenter | Qt::AlignLeft,
                     fits(words(m_used), room.width())     ? words(m_used)
                     : fits(numbers(m_used), room.width()) ? numbers(m_used)
                                                           : share());
}

InputBar::InputBar(const Theme& theme, QWidget* parent)
    : QFrame(parent)
    , m_theme(theme)
    , m_attachments(new AttachmentRow(theme, this))
    , m_text(new TextField(this))
    , m_attach(new QToolButton(this))
    , m_row(new QHBoxLayout)
    , m_gauge(new ContextGauge(theme, this))
    , m_send(new QPushButton(tr("Send"), this))
    , m_stop(new QPushButton(tr("Stop"), this)) {
    m_text->setAccessibleName(tr("Message"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setTabChangesFocus(true);
    m_text->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_text->installEventFilter(this);
    m_text->setAcceptDrops(false); // dropped files would be inserted as their names; the chat
                                   // handles both
    m_attach->setAccessibleName(tr("Attach a text file"));
    m_attach->setToolTip(tr("Attach a text file, or drop one onto the chat"));
    m_attach->setFocusPolicy(Qt::TabFocus);
    m_send->setAccessibleName(tr("Send the message"));
    m_stop->setAccessibleName(tr("Stop the answer"));
    m_stop->setToolTip(tr("Stop the answer (Esc)"));
    m_stop->hide();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(theme.scaled(12), theme.scaled(8), theme.scaled(8), theme.scaled(8));
    rows->setSpacing(theme.scaled(6));
    rows->addWidget(m_attachments);
    rows->addWidget(m_text);
    m_row->addWidget(m_attach);
    m_row->setSpacing(theme.scaled(12));
    m_row->addWidget(m_gauge);
    m_row->addStretch();
    m_row->addWidget(m_send);
    m_row->addWidget(m_stop);
    rows->addLayout(m_row);
    connect(m_text, &QPlainTextEdit::textChanged, this, [this] {
        fitHeight();
        emit textChanged();
    });
    connect(m_attachments, &AttachmentRow::changed, this, &InputBar::textChanged);
    connect(m_attach, &QToolButton::clicked, this, &InputBar::attachAsked);
    connect(m_send, &QPushButton::clicked, this, &InputBar::send);
    connect(m_stop, &QPushButton::clicked, this, &InputBar::stopAsked);
    connect(&theme, &Theme::changed, this, &InputBar::restyle);
    setObstacle({});
    restyle();
}

void InputBar::addControl(QWidget* control) {
    m_row->insertWidget(m_row->indexOf(m_gauge), control);
}

QString InputBar::text() const { return m_text->toPlainText(); }

void InputBar::setText(const QString& text) {
    m_text->setPlainText(text);
    m_text->moveCursor(QTextCursor::End);
}

void InputBar::setPlaceholder(const QString& text) {
    m_text->setPlaceholderText(text);
    // Qt 6.4 leaves the old text on the screen.
    m_text->viewport()->update();
}

void InputBar::setAnswering(bool isAnswering) {
    // The focus stays at the button's place.
    const bool hadFocus = m_send->hasFocus() || m_stop->hasFocus();
    // With both for a moment, the bar would push the docks aside.
    (isAnswering ? m_send : m_stop)->hide();
    (isAnswering ? m_stop : m_send)->show();
    if (hadFocus)
        m_text->setFocus();
}

void InputBar::setObstacle(const QString& reason) {
    m_obstacle = reason;
    const bool hadFocus = m_send->hasFocus(); // Qt would pass it on to whatever comes next
    m_send->setEnabled(reason.isEmpty());
    if (hadFocus && !reason.isEmpty())
        m_text->setFocus();
    m_send->setToolTip(reason.isEmpty() ? tr("Send the message (Enter)") : reason);
}

void InputBar::focusText() { m_text->setFocus(); }

QWidget* InputBar::textField() const { return m_text; }

void InputBar::send() {
    if (m_obstacle.isEmpty() && m_send->isVisibleTo(this))
        emit sendAsked(text());
    else if (!text().trimmed().isEmpty() && m_send->isVisibleTo(this))
        QToolTip::showText(m_send->mapToGlobal(QPoint(0, 0)), m_send->toolTip(), m_send);
}

/// The whole frame looks like the field.
void InputBar::mousePressEvent(QMouseEvent* event) {
    QFrame::mousePressEvent(event);
    focusText();
}

/// Lines wrap differently at another width.
void InputBar::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitHeight();
}

bool InputBar::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        update();
    if (watched != m_text || event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (isEnter && !(key->modifiers() & Qt::ShiftModifier)) {
        send();
        return true;
    }
    if (key->key() == Qt::Key_Up && text().isEmpty() && !m_lastMessage.isEmpty()) {
        setText(m_lastMessage);
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

/// As high as its lines wrap now; the document itself counts only the lines it has painted.
void InputBar::fitHeight() {
    const QFontMetrics metrics(m_text->font());
    int lines = 0;
    for (QTextBlock block = m_text->document()->begin(); block.isValid() && lines < kMostLines;
         block = block.next()) {
        m_text->document()->documentLayout()->blockBoundingRect(block);
        lines += std::max(block.layout()->lineCount(), 1);
    }
    m_text->setFixedHeight(std::clamp(lines, 1, kMostLines) * metrics.lineSpacing() +
                           m_theme.scaled(10));
}

void InputBar::restyle() {
    m_text->setFont(m_theme.font(TextRole::Conversation));
    m_text->setStyleSheet(
        QStringLiteral("QPlainTextEdit { border: none; background: transparent; }"));
    m_attach->setIcon(
        makeIcon(IconName::Attach, m_theme.colours().muted, m_theme.colours().disabled));
    m_stop->setIcon(makeIcon(IconName::Stop, m_theme.colours().text, m_theme.colours().disabled));
    // As wide as the other button, in spite of its icon.
    m_stop->setStyleSheet(QStringLiteral("border-color: %1; font-weight: 600; padding: 0 %2px;")
                              .arg(m_theme.colours().text.name())
                              .arg(m_theme.scaled(3)));
    m_send->setProperty("kind", "primary");
    fitHeight();
    update();
}

void InputBar::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool hasFocus = m_text->hasFocus();
    painter.setPen(QPen(hasFocus ? colours.focus : colours.controlBorder, hasFocus ? 2 : 1));
    painter.setBrush(colours.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
}

} // namespace ui
