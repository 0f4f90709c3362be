// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/session/chat_session.h"
#include "ui/chat/token_counter.h"
#include "ui/shell/docks/view.h"

#include <QString>
#include <QTimer>

#include <memory>

class QPushButton;
class QStackedWidget;
class QToolButton;

namespace ui {

class AnswerSettingsPanel;
class ContextPanel;
class ConversationView;
class InputBar;
class LiveLabel;
class OriginLegend;
class StartPanel;

/// The chat: the conversation, and the field below it. Thread: UI.
class ChatView : public View {
    Q_OBJECT

public:
    ChatView(const ViewContext& context, ChatSession& session, QWidget* parent = nullptr);
    ~ChatView() override;

    /// As narrow as it may be: docks beside it keep their widths, whatever it shows.
    QSize sizeHint() const override {
        return {minimumSizeHint().width(), View::sizeHint().height()};
    }

    InputBar& input() { return *m_input; }

    ConversationView& conversation() { return *m_conversation; }

    bool showsOrigin() const { return m_showsOrigin; }

    void setShowsOrigin(bool isShown);

    /// Adds a widget above the conversation, such as a finding about the run.
    void addNotice(QWidget* notice);

    /// Attaches files to the next message, in this order. For a file that cannot be attached,
    /// refused() gives one sentence.
    void attachFiles(const QStringList& paths);

    /// Lets the user choose files to attach.
    void askForFile();

    /// Appends a text to the input field, such as one of the user's prompts.
    void insertText(const QString& text);

    /// Opens the answer settings of the chat, the model or all chats.
    void showAnswerSettings();

    /// Continues the last answer, if it was cut off.
    void continueLast();
    bool canContinueLast() const;

    /// Whether the branch that is shown has an answer.
    bool hasAnswer() const { return lastAnswer() != nullptr; }

    /// The newest answer's text, without marks.
    void copyLastAnswer();

    /// Asks for another answer in place of the last message, or for the first one if that is a
    /// question.
    void regenerateLast();

    /// The actions of the title row's menu, such as exports.
    void setMenuActions(const QList<QAction*>& actions);

    FigureTable table() const override;

    /// Twenty pictures a second of a growing text are as smooth as thirty; its first words are
    /// shown at once.
    int leastIntervalMs() const override;

    StartPanel& startPanel() { return *m_start; }

signals:
    void originToggled(bool isShown);

    /// A request cannot be fulfilled: one sentence says why.
    void refused(const QString& sentence);

    /// The text of a user's message is to be added to the prompts.
    void keepAsPromptAsked(const QString& text);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void refreshView(Topics changed) override;

private:
    class AnswerFigures;

    QWidget* makeTitleRow();
    void connectSession();
    void connectConversation();
    void connectInput();
    void connectSettings();
    void readFiles(QStringList paths, ChatId chat);
    void attach(const Attachment& attachment);
    void showChat();
    void showDraft();
    void keepDraft();
    void showSettings();
    void showSystemPrompt();
    SendObstacle obstacle() const;
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
    LiveLabel* m_title;
    QPushButton* m_originButton;
    QToolButton* m_menuButton;
    QPushButton* m_systemPrompt; ///< in the head: its beginning; opens the settings
    AnswerSettingsPanel* m_settings;
    OriginLegend* m_legend;
    QStackedWidget* m_pages;
    StartPanel* m_start;
    ConversationView* m_conversation;
    ContextPanel* m_contextPanel;
    InputBar* m_input;
    TokenCounter m_counter;
    SendObstacle m_shownObstacle = SendObstacle::None; ///< when the state was shown last
    int m_countedTokens = 0;
    QTimer m_countSoon; ///< until nothing was typed for a moment
    std::unique_ptr<AnswerFigures> m_figures;
};

} // namespace ui
