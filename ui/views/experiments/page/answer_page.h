// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/origin/token_mark.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

class ColumnScroll;

/// A text and where its tokens came from.
struct MarkedText {
    QString text;
    std::vector<TokenMark> tokens;
};

/// The answer that these rounds have written.
MarkedText markedText(const std::vector<const engine::ShardRound*>& rounds);

/// One prompt of a run and its answers, every token with its origin. Esc closes it. Thread: UI.
class AnswerPage : public QWidget {
    Q_OBJECT

public:
    explicit AnswerPage(const Theme& theme, QWidget* parent = nullptr);

    /// Until it is read; `prompt` is counted from 1.
    void begin(int prompt);

    /// `speed` over vanilla on this prompt, as its row has it; none if none is told.
    void setAnswers(const AnswersPicture& picture, std::optional<double> speed);

    int prompt() const { return m_prompt; }

signals:
    void closed();

    /// The user wants the next prompt of the table (1) or the one before (-1).
    void stepAsked(int direction);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void clear();
    void addTitle(const QString& words, const QString& figures);
    void addAnswer(const engine::ShardAnswer& answer,
                   const engine::PromptAnswers& kept,
                   std::optional<double> speed);
    void restyle();

    const Theme& m_theme;
    int m_prompt = 0;
    QWidget* m_head;
    QPushButton* m_back;
    QLabel* m_title;
    ColumnScroll* m_scroll;
    QVBoxLayout* m_column; ///< prompt and answers
};

} // namespace ui
