// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QStringList>
#include <QWidget>

#include <vector>

namespace ui {

/// The tokens of an answer in one line, those of one round marked and in sight. A click on a token
/// asks for its round; Left and Right ask for the rounds beside it. Thread: UI.
class AnswerStrip : public QWidget {
    Q_OBJECT

public:
    /// A token, readable, and the round that wrote it. A plain value.
    struct Token {
        QString text;
        int round = 0;
    };

    explicit AnswerStrip(const Theme& theme, QWidget* parent = nullptr);

    void show(std::vector<Token> tokens, int round);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void roundAsked(int round);
    void besideAsked(int direction);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    int widthOf(std::size_t token) const;

    /// The x of every token and of the end, so that the marked ones are in the middle if they are
    /// not near an end.
    std::vector<int> places() const;

    const Theme& m_theme;
    std::vector<Token> m_tokens;
    int m_round = 0;
};

} // namespace ui
