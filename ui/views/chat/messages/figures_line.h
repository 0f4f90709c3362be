// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"
#include "ui/theme/theme.h"

#include <QTextLayout>
#include <QWidget>

#include <map>
#include <memory>

namespace ui {

/// The figures below an answer: speedup, tokens per second, time to the first token, M, acceptance
/// with its denominator; for a plain answer, the number of tokens; the task that was recognised.
/// Figures that were not measured are left out. Figures that follow a growing answer take the place
/// of those before without a new layout of the chat, unless they need another height. Thread: UI.
class FiguresLine : public QWidget {
    Q_OBJECT

public:
    explicit FiguresLine(const Theme& theme, QWidget* parent = nullptr);

    void show(const StoredMessage& message);

    /// Shows another text instead of the figures, until they are shown again.
    void showSentence(const QString& sentence);

    /// As rich text.
    const QString& text() const { return m_text; }

    /// Laid out once for a text and a width: a growing message makes its column ask all lines.
    int heightForWidth(int width) const override;

    QSize sizeHint() const override;

    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    /// The link on the task's name was chosen.
    void taskAsked(const QString& task);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void showText(const QString& text);
    void layOut(int width) const;
    QRectF linkBox() const;

    bool hasLink() const { return m_link.length > 0; }

    const Theme& m_theme;
    QString m_text;
    std::unique_ptr<QTextLayout> m_layout;
    mutable int m_laidOutWidth = -1; ///< laying out again would shape the letters again
    QTextLayout::FormatRange m_link; ///< empty without one
    QString m_task;
    mutable std::map<int, int> m_heights; ///< by width, of the text as it is
};

/// The same as rich text, with a link on the task's name; what comes from a prompt or a file (the
/// task's name) is escaped.
QString figuresText(const StoredMessage& message, const Colours& colours);

/// One sentence per figure, for the tool tip and screen readers.
QString figuresInWords(const StoredMessage& message);

/// The number of the measured tokens by origin, as they are coloured. The figures must equal these
/// numbers.
struct OriginCounts {
    int accepted = 0; ///< first choices and siblings
    int siblings = 0;
    int bonus = 0;
    int vanilla = 0;
};

OriginCounts countOrigins(const StoredMessage& message);

} // namespace ui
