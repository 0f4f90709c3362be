// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/chat/answer_defaults.h"
#include "ui/chat/context_question.h"
#include "ui/store/chat_store.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <map>
#include <optional>
#include <span>

namespace ui {

/// Why nothing can be sent now.
enum class SendObstacle { None, NoModel, Loading, Answering, ContextFull, NoText, Replay };

/// The chat that is shown. It sends prompts to the engine, receives the answers and saves
/// everything in the store as it arrives. It knows no widgets. Thread: UI.
class ChatSession : public QObject {
    Q_OBJECT

public:
    /// All outlive it.
    ChatSession(EngineBridge& bridge,
                const RunStore& run,
                ChatStore& store,
                AnswerDefaults& defaults);

    /// Keeps the part of an answer that has arrived so far.
    ~ChatSession() override;

    /// The chat shown. Its id is 0 until the first message is sent: an empty chat is not kept.
    const Chat& chat() const { return m_chat; }

    /// From the first message to the leaf.
    QList<StoredMessage> branch() const { return m_chat.currentBranch(); }

    /// Null when the chat has no such message.
    const StoredMessage* message(MessageId id) const;

    /// The position of an answer's token among the tokens of the prompt that produced it in this
    /// run.
    struct PromptPlace {
        std::uint64_t promptId = 0;
        int index = 0;     ///< among the prompt's tokens
        int firstStep = 0; ///< of the prompt among those of the message
    };

    /// None for a token from before this run, or one chosen by the user.
    std::optional<PromptPlace> placeOf(MessageId answer, int token) const;

    /// The answer being written; 0 when there is none.
    MessageId answeringId() const { return m_answer ? m_answer->messageId : 0; }

    bool isAnswering() const { return m_answer.has_value(); }

    /// Whether an answer is being written, or counted before it: what it answers stays shown.
    bool isBusy() const { return m_answer || m_asked; }

    SendObstacle obstacle(const QString& text) const;

    /// Whether the run's sampling is, for now, that of one answer.
    bool isSamplingLent() const { return m_usersSampling.has_value(); }

    /// The run's sampling, or what comes back behind that of one answer.
    const engine::SamplingOptions& usersSampling() const {
        return m_usersSampling ? *m_usersSampling : m_run.sampling();
    }

    /// The engine of a replay accepts no commands. Its answers are shown, and nothing is saved.
    void setReplay(bool isReplay) { m_isReplay = isReplay; }

    /// Closes the chat; an answer being written is stopped. A replay keeps its only one.
    void newChat();

    /// Begins an empty chat at once; the new chat that has not begun goes on waiting.
    void beginOwnChat(const QString& firstWords);

    /// The folder for the next new chat, which its first message creates. It waits for that as long
    /// as the chat's settings do, also through a restart.
    void setNewFolder(const QString& folder);

    /// A folder has another name now, also for the chat that has not begun.
    void followFolder(const QString& folder, const QString& name);
    void openChat(ChatId id);

    /// Opens the chat on a branch with this message, and emits messageSought().
    void openMessage(ChatId id, MessageId message);

    /// Adds the user's message after the leaf and asks for an answer. A text that cannot be sent
    /// now is returned by draftReturned(). `sampling`: of this answer alone.
    void send(const QString& text,
              const QList<Attachment>& attachments = {},
              std::optional<engine::SamplingOptions> sampling = {});

    /// The settings of this chat, of the loaded model, or of all chats. Without a model, the
    /// model's settings are empty and setting them does nothing.
    AnswerSettings settingsAt(SettingsPlace place) const;
    void setSettingsAt(SettingsPlace place, const AnswerSettings& settings);

    /// The settings in effect for its next answer.
    ResolvedAnswerSettings settings() const;

    /// What was written and not sent; it is kept with the chat.
    const Draft& draft() const { return m_chat.draft; }

    void setDraft(const Draft& draft);

    /// Another answer beside this one, with a new seed; or an answer to a question that got none.
    void regenerate(MessageId message);

    /// Replaces the user's message by another text in a new branch, and asks for an answer. A text
    /// that cannot be sent now is returned by draftReturned().
    void edit(MessageId userMessage, const QString& text);

    /// Whether the answer was cut off, so that continueAnswer() can go on with it.
    static bool canContinue(const StoredMessage& message);

    /// Continues where the answer ended, in a new branch if the user has replied to it.
    void continueAnswer(MessageId answer);

    /// Replaces the model's answer by another text in a new branch, which the model continues on
    /// request; the old answer stays.
    void editAnswer(MessageId answer, const QString& text, bool goesOn);

    /// Creates a new branch with the answer up to this token and `choice` instead of it; the model
    /// continues from there.
    void branchAt(MessageId answer, int token, const engine::TokenChoice& choice);

    /// The same for a token of an answer of this run. False, with a notice, when no answer of the
    /// chat shown has it.
    bool branchAtPlace(const PromptPlace& place, const engine::TokenChoice& choice);

    /// Shows the branch through this message, down to its newest end; dismisses a context question.
    void showBranch(MessageId message);

    void rename(ChatId id, const QString& title);

    /// Asks how many tokens the chat and its unsent text would take; promptCounted() has the
    /// answer.
    void countDraft();

    /// The chat's newest question, to be answered again for another purpose than the chat; the
    /// caller sets its promptId. None before the first question.
    std::optional<engine::SubmitPrompt> newestQuestion() const;

    /// A question that may be answered beside the chat. A plain value.
    struct Aside {
        ChatId chat = 0;             ///< 0 = a chat that does not exist yet
        MessageId parent = 0;        ///< the message before the question
        MessageId question = 0;      ///< in the chat; 0 = it is not in it
        QString text;                ///< of the question
        engine::SubmitPrompt prompt; ///< with everything that the chat would have sent
    };

    /// The question above this message, or the message itself; 0 = the newest question. None if
    /// there is no such question.
    std::optional<Aside> asideOf(MessageId message = 0) const;

    /// The same for words that are not in the chat: they would follow its leaf.
    Aside asideOf(const QString& words) const;

    /// Puts answers that were made beside the chat into it, as branches below their question; the
    /// last one is shown. Returns the question as the chat has it now; none if that cannot be now:
    /// an answer is being written, another chat is open, or the question is no longer there.
    std::optional<Aside> keepAnswers(const Aside& aside, const QList<StoredMessage>& answers);

    /// A new chat that begins with the messages up to this one.
    void branchIntoNewChat(MessageId message);

    /// Ends the answer within one forward pass.
    void stop();

    /// The user's choice when the context was full; kept with the chat.
    void goOn(engine::ContextPolicy policy);

    /// The other choice: in a new chat, with the model's summary of this one.
    void goOnInNewChat();

    /// The message that waits for that choice; null when there is none.
    const ContextQuestion* contextQuestion() const { return m_question ? &*m_question : nullptr; }

    /// Withdraws the question; the waiting message is returned as a draft.
    void dismissContextQuestion();

signals:
    /// Another chat, or another branch of it, is shown.
    void shown();
    void messageAdded(qint64 id);

    /// A message of the chat shown is to be scrolled into view.
    void messageSought(qint64 id);

    /// Text or tokens came to the answer being written.
    void messageGrew(qint64 id);

    /// The message is final.
    void messageFinished(qint64 id);

    /// The context question or an answer began or ended.
    void stateChanged();

    /// The engine refused; a sentence for the user and what to do.
    void failed(const QString& sentence, const QString& hint);

    /// A notice for the user: a sentence, and its consequence.
    void hinted(const QString& sentence, const QString& hint);

    /// A text that could not be sent and must not be lost.
    void draftReturned(const QString& text, const QList<ui::Attachment>& attachments);

    /// The draft of the chat shown was read from the disk.
    void draftLoaded();

    /// The number of prompt tokens of the chat shown, as the model counts them.
    void promptCounted(int tokens);

private:
    struct RunningAnswer {
        MessageId messageId = 0;
        std::uint64_t promptId = 0;
        bool isSummary = false; ///< for the next chat, not a message of this one
        QElapsedTimer sinceUpdate;
        bool hasStep = false;
        int firstStep = 0;     ///< of the message; more than 0 when it goes on
        int firstToken = 0;    ///< likewise
        QString decoderBefore; ///< of the message; empty unless it goes on
    };

    /// Sent to the engine, which has not reported yet whether it fits.
    struct AskedPrompt {
        std::uint64_t promptId = 0;
        MessageId leaf = 0; ///< words to be answered, or an answer that goes on
        std::optional<engine::SamplingOptions> sampling = {}; ///< of this answer alone
        int firstStep = 0;                                    ///< as it was asked for
    };

    /// Of an answer that was made in this run.
    struct MadeBy {
        std::uint64_t promptId = 0;
        int firstToken = 0; ///< of the message that it made
        int firstStep = 0;  ///< likewise
    };

    /// What is sent from now on may reach another model than the one that is there.
    bool isLoading() const {
        return m_run.loading() != nullptr || m_bridge.pendingLoad() != nullptr;
    }

    void onEvent(const engine::EngineEvent& event);
    void onStarted(const engine::PromptStarted& started);
    void onRecognised(const engine::TaskRecognised& recognised);
    void onStep(const engine::StepFinished& step);
    void showProgress(StoredMessage& answer, const engine::StepFinished& step);
    void onReleased(const engine::TextReleased& released);
    void onFinished(const engine::PromptFinished& finished);
    void takeFigures(StoredMessage& answer,
                     const engine::PromptFinished& finished,
                     const RunningAnswer& done);
    void onFailed(const engine::EngineFailed& failure);
    void onCounted(const engine::TokensCounted& counted);

    void onChatChanged(const ChatRecord& chat);
    void beginReplayedAnswer(const engine::PromptStarted& started);
    StoredMessage* replayedBefore(const engine::PromptStarted& started);
    void takeUpReplayed(StoredMessage& answer, const engine::PromptStarted& started);
    void onRewound();
    void addSpeed(MessageFigures& figures) const;
    StoredMessage beginAnswer(MessageId parent) const;
    StoredMessage* find(MessageId id);
    void leaveChat();
    bool stopEngine();
    void returnTo(Chat chat);
    MessageId leafBehind(MessageId id) const;
    bool isOnBranch(MessageId id) const;
    bool leadTo(MessageId id);
    void put(StoredMessage message);
    MessageId append(StoredMessage message);
    void showAnswersOf(MessageId question);
    void beginChatIfNew(const QString& firstWords);
    void answer(MessageId leaf, std::optional<engine::SamplingOptions> sampling = {});
    engine::SubmitPrompt makePrompt(std::vector<engine::PromptMessage> messages, int maxTokens);
    bool sendPrompt(engine::SubmitPrompt prompt);
    void beginRunning(std::uint64_t promptId);
    std::optional<engine::SamplingOptions> samplingOf(const StoredMessage& answer) const;
    void goOnWith(StoredMessage& answer, int firstStep);
    void addBranch(MessageId beside, StoredMessage message, bool goesOn);
    std::vector<engine::TokenId> idsOf(const StoredMessage& message) const;
    void onTooLong(const engine::EngineFailed& failure, const AskedPrompt& asked);
    engine::ContextFit fitOf(engine::ContextPolicy policy,
                             int total,
                             std::span<const int> perMessage,
                             int contextLength) const;
    bool refuseLongSystemPrompt(const engine::EngineFailed& failure, MessageId leaf);
    void takeBack(MessageId words);
    void takeBackWaiting();
    void saveDraft();
    void showNewChat();
    QString modelPath() const;
    AnswerSettings ownSettings() const;
    void setOwnSettings(const AnswerSettings& own);
    void submitSummary();
    void continueWithSummary(const QString& summary);
    void finishMessage(StoredMessage& message, MessageState state, const RunningAnswer& done);
    std::vector<engine::PromptMessage> promptMessages(MessageId last) const;
    Aside asideBehind(MessageId last) const;
    MessageFigures figuresOf(const engine::PromptFinished& finished) const;
    engine::ContextPolicy policy() const;

    static constexpr const char* kChatTask = "chat"; ///< whose search state its answers use

    EngineBridge& m_bridge;
    const RunStore& m_run;
    ChatStore& m_store;
    Chat m_chat;
    std::optional<RunningAnswer> m_answer;
    std::optional<StoredMessage> m_leftAnswer; ///< newest one whose chat was left before its end
    std::optional<AskedPrompt> m_asked;
    std::optional<engine::SamplingOptions> m_usersSampling; ///< comes back behind one answer
    std::uint64_t m_draftCount = 0; ///< the request that counts unsent words
    std::optional<ContextQuestion> m_question;
    AnswerDefaults& m_defaults;
    std::map<MessageId, MadeBy> m_prompts; // of this run
    Chat m_newChat; ///< that has not begun; it waits while another one is shown
    QTimer m_draftTimer;
    bool m_isDraftNew = false; ///< it is not on its way to the disk
    std::uint64_t m_lastPromptId = 0;
    bool m_isReplay = false;
};

} // namespace ui
