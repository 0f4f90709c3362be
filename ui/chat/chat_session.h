// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/chat/context_fit.h"
#include "ui/store/chat_store.h"

#include <QElapsedTimer>
#include <QObject>

#include <map>
#include <optional>

namespace ui {

/// Why nothing can be sent now.
enum class SendObstacle { None, NoModel, Loading, Answering, ContextFull, NoText, Replay };

/// The chat that is shown: asks the engine, takes its answers, and hands everything to the store as
/// it comes. Knows no widgets. Thread: UI.
class ChatSession : public QObject {
    Q_OBJECT

public:
    static constexpr int kMostAnswerTokens = 1024;

    /// All outlive it.
    ChatSession(EngineBridge& bridge, const RunStore& run, ChatStore& store);

    /// Keeps what has come of an answer so far.
    ~ChatSession() override;

    /// The chat shown. Its id is 0 until the first message is sent: an empty chat is not kept.
    const Chat& chat() const { return m_chat; }

    /// From the first message to the leaf.
    QList<StoredMessage> branch() const { return m_chat.currentBranch(); }

    /// Null when the chat has no such message.
    const StoredMessage* message(MessageId id) const;

    /// The prompt that made this answer in this run; none for an older answer.
    std::optional<std::uint64_t> promptOf(MessageId answer) const;

    /// The answer that is being written, 0 when there is none.
    MessageId answeringId() const { return m_answer ? m_answer->messageId : 0; }

    bool isAnswering() const { return m_answer.has_value(); }

    SendObstacle obstacle(const QString& text) const;

    /// A replay has an engine that takes no commands.
    /// Its answers are shown, and nothing is kept.
    void setReplay(bool isReplay) { m_isReplay = isReplay; }

    /// Leaves the chat shown; an answer that is being written is stopped.
    void newChat();
    void openChat(ChatId id);

    /// Adds the user's words behind the leaf and asks for an answer.
    void send(const QString& text);

    /// Another answer beside this one, with a new seed.
    void regenerate(MessageId answer);

    /// Other words in the place of the user's message: a new branch, answered anew. Words that
    /// cannot be sent now come back by draftReturned().
    void edit(MessageId userMessage, const QString& text);

    /// Shows the branch through this message, down to its newest end.
    void showBranch(MessageId message);

    void rename(ChatId id, const QString& title);

    /// A new chat that begins with the messages up to this one.
    void branchIntoNewChat(MessageId message);

    /// Ends the answer within one forward pass.
    void stop();

    /// The user's choice when the context was full; kept with the chat.
    void goOn(ContextPolicy policy);

    /// What waits for that choice, null when nothing does.
    const ContextQuestion* contextQuestion() const { return m_question ? &*m_question : nullptr; }

    /// Takes the question back; the words that waited are given back as a draft.
    void dismissContextQuestion();

signals:
    /// Another chat, or another branch of it, is shown.
    void shown();
    void messageAdded(qint64 id);

    /// Text or tokens came to the answer being written.
    void messageGrew(qint64 id);

    /// It is as it will be.
    void messageFinished(qint64 id);

    /// Began or ended: the context question, an answer.
    void stateChanged();

    /// The engine refused; a sentence for the user and what to do.
    void failed(const QString& sentence, const QString& hint);

    /// Something worth knowing: a sentence, and what follows from it.
    void hinted(const QString& sentence, const QString& hint);

    /// Words that could not be sent and shall not be lost.
    void draftReturned(const QString& text);

    /// The number of prompt tokens of the chat shown, as the model counts them.
    void promptCounted(int tokens);

private:
    struct RunningAnswer {
        MessageId messageId = 0;
        std::uint64_t promptId = 0;
        bool isSummary = false; ///< for the next chat, not a message of this one
        QString summary;
        QElapsedTimer sinceUpdate;
    };

    struct PendingCount {
        std::uint64_t requestId = 0;
        MessageId userMessage = 0;
    };

    void onEvent(const engine::EngineEvent& event);
    void onStep(const engine::StepFinished& step);
    void showProgress(StoredMessage& answer, const engine::StepFinished& step);
    void onReleased(const engine::TextReleased& released);
    void onFinished(const engine::PromptFinished& finished);
    void onFailed(const engine::EngineFailed& failure);
    void onCounted(const engine::TokensCounted& counted);

    void onChatChanged(const ChatRecord& chat);
    void beginReplayedAnswer(const engine::PromptStarted& started);
    void onRewound();
    void addSpeed(MessageFigures& figures) const;
    StoredMessage beginAnswer(MessageId parent) const;
    StoredMessage* find(MessageId id);
    void leaveChat();
    void returnTo(Chat chat);
    MessageId append(StoredMessage message);
    void beginChatIfNew(const QString& firstWords);
    void answer(MessageId userMessage);
    bool startPrompt(std::vector<engine::PromptMessage> messages, int maxTokens);
    void submit(MessageId userMessage, std::vector<engine::PromptMessage> messages);
    void submitSummary();
    void continueWithSummary(const QString& summary);
    void finishMessage(StoredMessage& message, MessageState state);
    std::vector<engine::PromptMessage> promptMessages(MessageId last) const;
    MessageFigures figuresOf(const engine::PromptFinished& finished) const;
    ContextPolicy policy() const;

    EngineBridge& m_bridge;
    const RunStore& m_run;
    ChatStore& m_store;
    Chat m_chat;
    std::optional<RunningAnswer> m_answer;
    std::optional<StoredMessage> m_leftAnswer; ///< newest one whose chat was left before its end
    std::optional<PendingCount> m_count;
    std::optional<ContextQuestion> m_question;
    std::map<MessageId, std::uint64_t> m_prompts; // of this run
    std::uint64_t m_lastPromptId = 0;
    bool m_isReplay = false;
};

} // namespace ui
