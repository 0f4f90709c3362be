// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/context_question.h"
#include "ui/theme/theme.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QRadioButton;

namespace ui {

/// Asks in place how to continue when the context is full, and shows what each choice would leave
/// out.
class ContextPanel : public QFrame {
    Q_OBJECT

public:
    explicit ContextPanel(const Theme& theme, QWidget* parent = nullptr);

    void ask(const ContextQuestion& question);

    void setBusy(bool isBusy);

signals:
    void newChatChosen(); ///< with a summary; nothing is dropped from this one
    void chosen(engine::ContextPolicy policy);
    void dismissed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void chooseFirst(bool isSameQuestion);
    void restyle();

    const Theme& m_theme;
    QLabel* m_icon;
    QLabel* m_title;
    QRadioButton* m_newChat;
    QRadioButton* m_dropOldest;
    QRadioButton* m_cutMiddle;
    QPushButton* m_continue;
    QPushButton* m_cancel;
    QLabel* m_note;
    qint64 m_askedFor = 0; ///< ContextQuestion::leaf
};

} // namespace ui
