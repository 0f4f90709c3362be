// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/origin/token_mark.h"
#include "ui/theme/theme.h"

#include <QFrame>

#include <vector>

class QLabel;
class QVBoxLayout;

namespace ui {

/// The details of one token: the content of the popup that hovering previews and a click pins. The
/// owner places, shows and hides it.
class TokenDetails : public QFrame {
    Q_OBJECT

public:
    explicit TokenDetails(const Theme& theme, QWidget* parent = nullptr);

    /// `text`: the token's characters in the message.
    void setToken(const TokenMark& token, const QString& text);

    /// The tokens that the full model found most probable here, best first. A click on one of the
    /// others asks for a branch, if that is possible.
    void
    setChoices(const QList<engine::TokenChoice>& choices, engine::TokenId current, bool canBranch);

    /// A pinned popup stays and takes the focus; otherwise it is a preview.
    void setPinned(bool isPinned);

    bool isPinned() const { return m_isPinned; }

    /// The same as sentences.
    QString summary() const;

signals:
    /// The user wants the answer to continue with this token instead.
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
