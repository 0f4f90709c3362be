// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/origin/token_mark.h"
#include "ui/theme/theme.h"

#include <QFrame>

#include <vector>

class QLabel;
class QVBoxLayout;

namespace ui {

/// What is known of one token: the content of the popup that a pointer previews and a click pins.
/// The owner places it and shows or hides it.
class TokenDetails : public QFrame {
    Q_OBJECT

public:
    explicit TokenDetails(const Theme& theme, QWidget* parent = nullptr);

    /// `text`: the token's characters in the message.
    void setToken(const TokenMark& token, const QString& text);

    /// What the full model held most likely in the token's place, best first. A click on another
    /// one than the token itself asks for a branch, while that can be had.
    void
    setChoices(const QList<engine::TokenChoice>& choices, engine::TokenId current, bool canBranch);

    /// Pinned: it stays and takes the focus; else it is a preview.
    void setPinned(bool isPinned);

    bool isPinned() const { return m_isPinned; }

    /// The same as sentences.
    QString summary() const;

signals:
    /// The answer shall go on with this token instead.
    void branchAsked(const engine::TokenChoice& choice);

    /// Esc was pressed.
    void closeRequested();

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    QLabel* addRow(const QString& name);
    void addChoice(const engine::TokenChoice& choice, bool isCurrent, bool canBranch);
    void applyTheme();

    const Theme& m_theme;
    bool m_isPinned = false;
    QLabel* m_text = nullptr;
    QLabel* m_origin = nullptr;
    std::vector<QLabel*> m_names;
    std::vector<QLabel*> m_values;
    QLabel* m_choicesTitle = nullptr;
    QVBoxLayout* m_choices = nullptr;
    QLabel* m_hint = nullptr;
};

} // namespace ui
