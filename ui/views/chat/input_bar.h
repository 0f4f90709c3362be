// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QToolButton;

namespace ui {

class AttachmentRow;

/// How full the context is: a bar, amber from 75 %, red from 90 %, and the numbers.
class ContextGauge : public QWidget {
    Q_OBJECT

public:
    explicit ContextGauge(const Theme& theme, QWidget* parent = nullptr);

    /// Tokens; a length of 0 hides it.
    void show(int used, int length);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString share() const;
    QString numbers(int used) const;
    QString words(int used) const;

    const Theme& m_theme;
    int m_used = 0;
    int m_length = 0;
};

/// The field for the next message. It grows with its lines; Enter sends, Shift+Enter starts a new
/// line, the up-arrow in an empty field restores the last message. Stop replaces Send while an
/// answer is generated.
class InputBar : public QFrame {
    Q_OBJECT

public:
    explicit InputBar(const Theme& theme, QWidget* parent = nullptr);

    /// Adds a widget at the left below the text, such as the decoder switch.
    void addControl(QWidget* control);

    ContextGauge& gauge() { return *m_gauge; }

    QString text() const;
    void setText(const QString& text);
    void setPlaceholder(const QString& text);

    AttachmentRow& attachments() { return *m_attachments; }

    /// Whether Send or Stop is shown.
    void setAnswering(bool isAnswering);

    /// Why nothing can be sent, as the tool tip of the disabled Send; empty = it can.
    void setObstacle(const QString& reason);

    /// The message that the up-arrow restores.
    void setLastMessage(const QString& text) { m_lastMessage = text; }

    void focusText();

    /// The text field, for example as a focus proxy.
    QWidget* textField() const;

signals:
    void sendAsked(const QString& text);
    void stopAsked();
    void attachAsked();
    void textChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitHeight();
    void restyle();
    void send();

    const Theme& m_theme;
    AttachmentRow* m_attachments;
    QPlainTextEdit* m_text;
    QToolButton* m_attach;
    QHBoxLayout* m_row;
    ContextGauge* m_gauge;
    QPushButton* m_send;
    QPushButton* m_stop;
    QString m_obstacle;
    QString m_lastMessage;
};

} // namespace ui
