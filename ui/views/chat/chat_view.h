// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/chat_session.h"
#include "ui/shell/view.h"

#include <QString>
#include <QTimer>

class QLabel;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace ui {

class ContextPanel;
class ConversationView;
class InputBar;
class OriginLegend;
class StartPanel;

/// The chat: the conversation, and the field below it. Thread: UI.
class ChatView : public View {
    Q_OBJECT

public:
    ChatView(const ViewContext& context, ChatSession& session, QWidget* parent = nullptr);

    InputBar& input() { return *m_input; }

    ConversationView& conversation() { return *m_conversation; }

    bool showsOrigin() const { return m_showsOrigin; }

    void setShowsOrigin(bool isShown);

    /// Stands above the conversation, e.g. a finding about the run.
    void addNotice(QWidget* notice);

    /// The newest answer's text, without marks.
    void copyLastAnswer();
    void regenerateLast();

    /// What the title row's menu shows: exports and the like.
    void setMenuActions(const QList<QAction*>& actions);

    FigureTable table() const override;

signals:
    void originToggled(bool isShown);
    void titleEdited(const QString& title);

protected:
    void refreshView(Topics changed) override;

private:
    QWidget* makeTitleRow();
    void connectSession();
    void connectConversation();
    void showChat();
    void showState();
    void showGauge();
    void takeStatistics();
    void showPromptProgress();
    void showTitle();
    QString obstacleText(SendObstacle obstacle) const;
    const StoredMessage* lastAnswer() const;
    void restyle();

    ChatSession& m_session;
    bool m_showsOrigin = true; // before the title row, which shows it
    QWidget* m_titleRow;
    QLabel* m_title;
    QPushButton* m_originButton;
    QToolButton* m_menuButton;
    OriginLegend* m_legend;
    QStackedWidget* m_pages;
    StartPanel* m_start;
    ConversationView* m_conversation;
    ContextPanel* m_contextPanel;
    InputBar* m_input;
    int m_countedTokens = 0;
    QTimer m_countSoon; ///< until nothing was typed for a moment
};

} // namespace ui
