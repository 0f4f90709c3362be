// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/origin/token_mark.h"
#include "ui/text/message_layout.h"
#include "ui/theme/theme.h"

#include <QPoint>
#include <QRect>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <map>
#include <vector>

namespace ui {

class CodeCopyButton;

/// The body of an answer: streaming Markdown in which every token can show its origin. It is as
/// high as its text needs at its width. Nothing in the text is ever loaded, opened or run; a link
/// shows its target. Keys: Ctrl+A and Ctrl+C; while origin is shown Left and Right walk through the
/// tokens and Esc lets the pinned one go. Thread: UI.
class MessageBody : public QWidget {
    Q_OBJECT

public:
    explicit MessageBody(const Theme& theme, QWidget* parent = nullptr);
    ~MessageBody() override;

    /// Shows a whole message. Tokens ascend; their offsets count QChars of `text`.
    void setMessage(const QString& text, const std::vector<TokenMark>& tokens);

    /// Adds text at the end, and tokens whose offsets count from the start of the message. A caret
    /// is shown at the end until finish().
    void append(const QString& text, const std::vector<TokenMark>& tokens);

    /// The stream has ended.
    void finish();

    bool isStreaming() const { return m_isStreaming; }

    void setShowsOrigin(bool showsOrigin);

    bool showsOrigin() const { return m_layout.context().showsOrigin; }

    /// The widest that text becomes, pixels; the default is no limit.
    void setColumnWidth(int pixels);

    /// Pixels between the widget's left edge and its text, used by the focus ring.
    int textInset() const;

    /// Around the first line of the token; null when Markdown does not show it.
    QRect tokenRect(int token) const;

    /// The token with the ring, -1 = none.
    int pinnedToken() const { return m_pinnedToken; }

    void setPinnedToken(int token);

    const std::vector<TokenMark>& tokens() const { return m_layout.context().tokens; }

    /// The token's characters in the source.
    QString tokenText(int token) const;

    /// The message as Markdown, unchanged.
    QString source() const { return m_layout.document().source(); }

    /// The message without marks and signs; formulas as they were written.
    QString plainText() const;

    /// The same with formulas in words, for screen readers.
    QString spokenText() const;

    QString selectedText() const;

    /// The selected part of spokenText(), and where it begins there.
    QString spokenSelection() const;
    int selectionStart() const;

    void selectAll();
    void clearSelection();
    void copySelection() const;

    /// Tokens that Markdown does not show; together with the drawn ones they are all tokens.
    int unseenTokens() const { return m_layout.unseenTokens(); }

    const MessageLayout& messageLayout() const { return m_layout; }

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The pointer is over another token, or over none (-1).
    void tokenHovered(int token, QPoint globalPosition);
    /// A token got the ring by click or key, or lost it (-1).
    void tokenPinned(int token);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    QPointF toLayout(QPointF point) const;
    int layoutWidth(int widgetWidth) const;
    int heightOf(const MessageLayout& layout) const;
    const MessageLayout& laidOut() const; ///< for the widget's own width
    void afterChange(double unchanged);
    void reload();
    void hover(int token, QPoint globalPosition);
    void moveAlongTokens(int direction);
    void select(int anchor, int end);
    SourceRange selection() const;
    void placeButtons();
    void copyCode(const CodeCopyButton* button);
    bool showLinkTip(QPoint position, QPoint globalPosition);
    bool isOwnShortcut(const QKeyEvent& event) const;

    const Theme& m_theme;
    mutable MessageLayout m_layout;       ///< its lines are a cache for one width
    mutable std::map<int, int> m_heights; ///< by layout width, of the message as it is
    bool m_isStreaming = false;
    bool m_isRingVisible = false; ///< the focus came by key
    bool m_isSelecting = false;
    int m_columnWidth = 0; ///< 0 = no limit
    int m_knownHeight = 0;
    int m_hoveredToken = -1;
    int m_pinnedToken = -1;
    int m_anchor = 0; ///< source offsets of the selection, in the order it was made
    int m_selectionEnd = 0;
    QPointF m_pressedAt;
    std::vector<CodeCopyButton*> m_buttons;  ///< children
    std::vector<std::size_t> m_buttonBlocks; ///< [buttons] index of the code block
};

} // namespace ui
