// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"

#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class ChatSessionTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

    ScriptedLink& engine() { return *m_chat->engine; }

    const StoredMessage last() { return session().branch().last(); }

    void converse(const QString& words) {
        session().send(words);
        m_chat->count();
        m_chat->answer();
    }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
    }

    void withoutAModelNothingIsSent() {
        QCOMPARE(session().obstacle(QStringLiteral("hello")), SendObstacle::NoModel);
        session().send(QStringLiteral("hello"));
        QVERIFY(engine().sent.empty());
        m_chat->loadModel();
        QCOMPARE(session().obstacle(QStringLiteral("  ")), SendObstacle::NoText);
        QCOMPARE(session().obstacle(QStringLiteral("hello")), SendObstacle::None);
    }

    void theWholeConversationIsSentInOneCommand() {
        m_chat->loadModel();
        converse(QStringLiteral("first"));
        engine().sent.clear();
        session().send(QStringLiteral("second"));
        QCOMPARE(engine().sent.size(), std::size_t(1));
        const auto* prompt = engine().lastSent<SubmitPrompt>();
        QCOMPARE(prompt->messages.size(), std::size_t(3));
        QCOMPARE(prompt->answerRoom, kAnswerRoom);
        QCOMPARE(prompt->messages[1].content, std::string("one two three four"));
        QCOMPARE(prompt->messages[1].tokens.size(), std::size_t(4));
        QCOMPARE(prompt->messages[2].content, std::string("second"));
        QCOMPARE(prompt->task, std::string("chat"));
    }

    void aMessageOfAnotherBranchIsOpenedOnItsBranch() {
        m_chat->loadModel();
        converse(QStringLiteral("first"));
        const MessageId question = session().branch().first().id;
        const MessageId answer = last().id;
        const ChatId chat = session().chat().record.id;
        session().edit(question, QStringLiteral("instead"));
        m_chat->count();
        m_chat->answer();
        QCOMPARE(session().branch().first().text, QStringLiteral("instead"));
        QSignalSpy sought(&session(), &ChatSession::messageSought);
        session().openMessage(chat, answer);
        QCOMPARE(sought.count(), 1);
        QCOMPARE(sought.last().first().toLongLong(), answer);
        QCOMPARE(session().branch().first().text, QStringLiteral("first"));
        session().newChat();
        session().openMessage(chat, answer);
        QTRY_COMPARE(sought.count(), 2);
        QCOMPARE(session().chat().record.id, chat);
        QCOMPARE(last().id, answer);
    }

    void aChatBegunInAFolderStaysInIt() {
        m_chat->loadModel();
        session().newChat();
        session().setNewFolder(QStringLiteral("Thesis"));
        converse(QStringLiteral("first"));
        QCOMPARE(session().chat().record.folder, QStringLiteral("Thesis"));
        session().newChat();
        converse(QStringLiteral("second"));
        QCOMPARE(session().chat().record.folder, QString());
    }

    void anAnswerGrowsWithItsStepsAndKeepsItsFigures() {
        m_chat->loadModel();
        QSignalSpy grew(&session(), &ChatSession::messageGrew);
        QSignalSpy finished(&session(), &ChatSession::messageFinished);
        converse(QStringLiteral("count"));
        QCOMPARE(grew.count(), 2);
        QCOMPARE(finished.count(), 1);
        QCOMPARE(last().text, QStringLiteral("one two three four"));
        QCOMPARE(last().state, MessageState::Finished);
        QCOMPARE(last().figures.acceptedTokens, 2);
        QCOMPARE(last().figures.draftSteps, 3);
        QCOMPARE(*last().figures.tokensPerSecond, 50.0);
        QVERIFY(!last().figures.speedup); // one plain step is no baseline
        const TokenTrace& token = last().tokens[1];
        QCOMPARE(last().text.mid(token.begin, token.end - token.begin), QStringLiteral(" two"));
        QVERIFY(token.fact.origin == TokenOrigin::Draft);
    }

    void theTaskThatWasRecognisedIsKeptWithTheAnswer() {
        m_chat->loadModel();
        session().send(QStringLiteral("put this into German"));
        QVERIFY(engine().lastSent<SubmitPrompt>()->taskUse == TaskUse::Recognised);
        m_chat->count();
        TaskRecognised recognised;
        recognised.promptId = m_chat->promptId();
        recognised.task = "translation";
        recognised.likeness = 0.83;
        engine().say(recognised);
        m_chat->answer();
        QCOMPARE(last().figures.task, QStringLiteral("translation"));
        QCOMPARE(*last().figures.taskLikeness, 0.83);
        session().send(QStringLiteral("something else"));
        m_chat->count();
        recognised.promptId = m_chat->promptId();
        recognised.task = "something else";
        recognised.isNew = true;
        engine().say(recognised);
        m_chat->answer();
        QCOMPARE(last().figures.task, QStringLiteral("something else"));
        QVERIFY(!last().figures.taskLikeness);
    }

    void noTaskIsLookedForWhereTheUserDoesNotWantIt() {
        m_chat->loadModel();
        m_chat->defaults.setRecognisesTasks(false);
        session().send(QStringLiteral("hello"));
        QVERIFY(engine().lastSent<SubmitPrompt>()->taskUse == TaskUse::Given);
    }

    void theSpeedupIsAgainstTheMeasuredBaseline() {
        m_chat->loadModel();
        converse(QStringLiteral("a"));
        converse(QStringLiteral("b"));
        // Two plain steps of 20 ms; the drafting step made three tokens in 60 ms.
        QCOMPARE(*last().figures.baselineTokensPerSecond, 50.0);
        QCOMPARE(*last().figures.speedup, 1.0);
    }

    void everythingIsThereAfterARestart() {
        m_chat->loadModel();
        converse(QStringLiteral("remember"));
        const Chat before = session().chat();
        m_chat.reset();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        QSignalSpy shown(&session(), &ChatSession::shown);
        session().openChat(before.record.id);
        QTRY_COMPARE(shown.count(), 1);
        QCOMPARE(last().text, QStringLiteral("one two three four"));
        QCOMPARE(last().tokens.size(), 4);
        QCOMPARE(last().figures, before.messages.last().figures);
        QCOMPARE(session().chat().record.title, QStringLiteral("remember"));
    }

    void stoppingAsksTheEngineAndKeepsWhatIsThere() {
        m_chat->loadModel();
        session().send(QStringLiteral("stop me"));
        m_chat->count();
        engine().say(plainStep(m_chat->promptId(), 0, "some", 20.0));
        m_chat->bridge->tick();
        session().stop();
        const auto* stop = engine().lastSent<StopGeneration>();
        QVERIFY(stop != nullptr);
        QVERIFY(stop->conversation == std::uint64_t{0}); // what is asked beside the chat goes on
        m_chat->finish(FinishReason::Cancelled);
        QCOMPARE(last().state, MessageState::Stopped);
        QCOMPARE(last().text, QStringLiteral("some"));
        QVERIFY(!session().isAnswering());
    }

    void regeneratingTakesANewSeedAndMakesABranch() {
        m_chat->loadModel();
        converse(QStringLiteral("again"));
        const MessageId first = last().id;
        session().regenerate(first);
        QVERIFY(engine().lastSent<SubmitPrompt>()->sampling.has_value());
        m_chat->count();
        m_chat->answer();
        QVERIFY(last().id != first);
        QCOMPARE(session().chat().childrenOf(last().parentId).size(), 2);
        session().showBranch(first);
        QCOMPARE(last().id, first);
    }

    void aQuestionWithoutAnAnswerIsAskedAgain() {
        m_chat->loadModel();
        converse(QStringLiteral("one"));
        session().send(QStringLiteral("two"));
        EngineFailed refused =
            failedTask("submit_prompt", {ErrorCode::Numeric, "A number left the finite ones.", ""});
        refused.promptId = m_chat->promptId();
        engine().say(refused);
        m_chat->bridge->tick();
        engine().sent.clear();
        session().regenerate(last().id);
        const auto* prompt = engine().lastSent<SubmitPrompt>();
        QVERIFY(prompt != nullptr);
        QCOMPARE(prompt->messages.back().content, std::string("two"));
        QVERIFY(!prompt->sampling); // no answer before had the seed
        QCOMPARE(session().branch().size(), 3);
        m_chat->count();
        m_chat->answer();
        QCOMPARE(session().branch().size(), 4);
    }

    void editingMakesABranchAndLosesNothing() {
        m_chat->loadModel();
        converse(QStringLiteral("frist"));
        const MessageId typo = session().branch().first().id;
        session().edit(typo, QStringLiteral("first"));
        m_chat->count();
        m_chat->answer();
        QCOMPARE(session().branch().first().text, QStringLiteral("first"));
        session().showBranch(typo);
        QCOMPARE(session().branch().first().text, QStringLiteral("frist"));
        QCOMPARE(session().branch().size(), 2);
    }

    void branchingIntoANewChatCopiesTheMessagesUpToThere() {
        m_chat->loadModel();
        converse(QStringLiteral("one"));
        const MessageId answer = last().id;
        const ChatId old = session().chat().record.id;
        converse(QStringLiteral("two"));
        session().branchIntoNewChat(answer);
        QVERIFY(session().chat().record.id != old);
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(last().text, QStringLiteral("one two three four"));
    }

    void aFullContextIsAskedAboutAndTheChoiceIsKept() {
        m_chat->loadModel(600);
        converse(QStringLiteral("one"));
        session().send(QStringLiteral("two"));
        m_chat->count(200);
        const ContextQuestion* question = session().contextQuestion();
        QVERIFY(question != nullptr);
        QCOMPARE(question->usedTokens, 600);
        QCOMPARE(question->dropOldest.droppedMessages, 2);
        QVERIFY(!session().isAnswering());
        session().goOn(ContextPolicy::DropOldest);
        m_chat->count(200);
        QVERIFY(session().contextQuestion() == nullptr);
        const auto* prompt = engine().lastSent<SubmitPrompt>();
        QCOMPARE(prompt->messages.size(), std::size_t(3));
        QVERIFY(prompt->policy == ContextPolicy::DropOldest); // the engine leaves out what it must
        m_chat->answer();
        session().send(QStringLiteral("three"));
        m_chat->count(200);
        QVERIFY(session().contextQuestion() == nullptr);
        QCOMPARE(engine().lastSent<SubmitPrompt>()->messages.back().content, std::string("three"));
    }

    void theGaugeShowsWhatIsSentOnceTheUserHasChosenWhatToLeaveOut() {
        m_chat->loadModel(600);
        converse(QStringLiteral("one"));
        session().send(QStringLiteral("two"));
        m_chat->count(200);
        session().goOn(ContextPolicy::DropOldest);
        m_chat->count(200);
        m_chat->answer();
        QSignalSpy counted(&session(), &ChatSession::promptCounted);
        session().countDraft();
        m_chat->count(200);
        QCOMPARE(counted.count(), 1);
        QCOMPARE(counted.first().first().toInt(), 400); // of 800
    }

    void theQuestionCanBeDismissedAndTheWordsComeBack() {
        m_chat->loadModel(600);
        session().send(QStringLiteral("long"));
        m_chat->count(5000);
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        session().dismissContextQuestion();
        QCOMPARE(returned.first().first().toString(), QStringLiteral("long"));
        QVERIFY(session().contextQuestion() == nullptr);
    }

    void wordsThatWaitForRoomAreADraftWhenTheirChatIsLeft() {
        m_chat->loadModel(600);
        converse(QStringLiteral("one"));
        const ChatId old = session().chat().record.id;
        session().send(QStringLiteral("long"));
        m_chat->count(5000);
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        session().newChat();
        QCOMPARE(returned.count(), 1);
        QCOMPARE(returned.first().first().toString(), QStringLiteral("long"));
        QVERIFY(session().contextQuestion() == nullptr);
        session().openChat(old);
        QTRY_COMPARE(session().chat().record.id, old);
        QCOMPARE(session().branch().size(), 2);
    }

    void aNewChatWithASummaryCarriesTheWordsOn() {
        m_chat->loadModel(600);
        converse(QStringLiteral("one"));
        const ChatId old = session().chat().record.id;
        session().send(QStringLiteral("two"));
        m_chat->count(200);
        session().goOnInNewChat();
        m_chat->answer();
        QVERIFY(session().chat().record.id != old);
        QVERIFY(session().chat().record.systemPrompt.contains(QStringLiteral("one two three")));
        m_chat->count();
        const auto* prompt = engine().lastSent<SubmitPrompt>();
        QCOMPARE(prompt->messages.size(), std::size_t(2));
        QCOMPARE(prompt->messages[0].role, std::string("system"));
        QCOMPARE(prompt->messages[1].content, std::string("two"));
    }

    void aNewChatWithASummaryKeepsTheSettingsAndTheFolder() {
        m_chat->loadModel(600);
        session().setNewFolder(QStringLiteral("Thesis"));
        session().setSettingsAt(SettingsPlace::Chat, {{}, 50, {}});
        converse(QStringLiteral("one"));
        session().send(QStringLiteral("two"));
        m_chat->count(200);
        session().goOn(ContextPolicy::DropOldest);
        m_chat->count(200);
        m_chat->answer();
        session().send(QStringLiteral("much"));
        m_chat->count(5000);
        session().goOnInNewChat();
        m_chat->answer();
        QVERIFY(session().chat().record.title.endsWith(QStringLiteral("(continued)")));
        QCOMPARE(session().chat().record.folder, QStringLiteral("Thesis"));
        QCOMPARE(session().settings().maxTokens, 50);
        const auto* prompt = engine().lastSent<SubmitPrompt>();
        QCOMPARE(prompt->maxTokens, 50);
        QVERIFY(prompt->policy == ContextPolicy::Ask); // the new chat has room
    }

    void theSummaryEndsWhenItsQuestionIsDismissed() {
        m_chat->loadModel(600);
        converse(QStringLiteral("one"));
        const ChatId chat = session().chat().record.id;
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        for (const bool isNew : {false, true}) { // an answer that is asked for again, or new words
            if (isNew)
                session().send(QStringLiteral("two"));
            else
                session().regenerate(last().id);
            m_chat->count(5000);
            session().goOnInNewChat();
            const SubmitPrompt summary = *engine().lastSent<SubmitPrompt>();
            engine().sent.clear();
            engine().sent.push_back(summary);
            session().dismissContextQuestion();
            QVERIFY(engine().lastSent<StopGeneration>() != nullptr);
            QCOMPARE(session().branch().size(), 2); // also before the engine has stopped
            QCOMPARE(last().text, QStringLiteral("one two three four"));
            m_chat->finish(FinishReason::Cancelled);
            QVERIFY(!session().isAnswering());
            QCOMPARE(session().chat().record.id, chat);
        }
        QCOMPARE(returned.count(), 1);
    }

    void aPromptThatCannotBeReadIsToldAndLeavesNoAnswer() {
        m_chat->loadModel();
        QSignalSpy failed(&session(), &ChatSession::failed);
        session().send(QStringLiteral("x"));
        EngineFailed refused = failedTask(
            "submit_prompt", {ErrorCode::NotFound, "There is no chat template.", "Send text."});
        refused.promptId = m_chat->promptId();
        engine().say(refused);
        m_chat->bridge->tick();
        QCOMPARE(failed.count(), 1);
        QCOMPARE(session().branch().size(), 1);
        QCOMPARE(session().obstacle(QStringLiteral("y")), SendObstacle::None);
    }

    void policiesAreReadBackFromTheirNames() {
        for (const ContextPolicy policy :
             {ContextPolicy::Ask, ContextPolicy::DropOldest, ContextPolicy::CutMiddle})
            QCOMPARE(policyNamed(policyName(policy)), policy);
        QCOMPARE(policyNamed(QStringLiteral("nonsense")), ContextPolicy::Ask);
    }

    void aRefusedPromptIsToldAndTheNextOneWorks() {
        m_chat->loadModel();
        QSignalSpy failed(&session(), &ChatSession::failed);
        session().send(QStringLiteral("x"));
        m_chat->count();
        engine().say(EngineFailed{
            Error{ErrorCode::Numeric, "A number left the finite ones.", "Try float32."},
            "submit_prompt",
            m_chat->promptId()});
        m_chat->bridge->tick();
        QCOMPARE(failed.count(), 1);
        QCOMPARE(last().state, MessageState::Failed);
        QCOMPARE(session().obstacle(QStringLiteral("y")), SendObstacle::None);
    }

    void anotherChatStopsTheAnswerAndItsTailIsNotMixedIn() {
        m_chat->loadModel();
        session().send(QStringLiteral("a"));
        m_chat->count();
        const std::uint64_t old = m_chat->promptId();
        session().newChat();
        QVERIFY(engine().lastSent<StopGeneration>() != nullptr);
        engine().say(plainStep(old, 0, "tail", 20.0));
        m_chat->finish(FinishReason::Cancelled);
        QVERIFY(session().branch().isEmpty());
        QVERIFY(!session().isAnswering());
        QCOMPARE(session().obstacle(QStringLiteral("b")), SendObstacle::None);
    }

    void aReplayShowsAnswersAndKeepsNothing() {
        session().setReplay(true);
        engine().say(loadedModel());
        engine().say(promptStarted(5));
        engine().say(draftStep(5, 0, {"a", " b"}, 2, " c"));
        engine().say(promptFinished(5));
        m_chat->bridge->tick();
        QCOMPARE(last().text, QStringLiteral("a b c"));
        QCOMPARE(session().obstacle(QStringLiteral("x")), SendObstacle::Replay);
        bool isListed = false;
        bool isAnswered = false;
        m_chat->store->listChats(this, [&](QList<ChatRecord> chats) {
            isListed = !chats.isEmpty();
            isAnswered = true;
        });
        QTRY_VERIFY(isAnswered);
        QVERIFY(!isListed);
    }

    void aReplayHasNoNewChatAndShowsItsLaterAnswers() {
        session().setReplay(true);
        engine().say(loadedModel());
        engine().say(promptStarted(5));
        engine().say(plainStep(5, 0, "one", 20.0));
        m_chat->bridge->tick();
        session().newChat();
        engine().say(promptFinished(5));
        engine().say(promptStarted(6));
        engine().say(plainStep(6, 0, "two", 20.0));
        engine().say(promptFinished(6));
        m_chat->bridge->tick();
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(session().branch().first().text, QStringLiteral("one"));
        QCOMPARE(last().text, QStringLiteral("two"));
    }

    void aContinuedAnswerIsReplayedAsOne() {
        session().setReplay(true);
        engine().say(loadedModel());
        PromptStarted asked = promptStarted(5);
        asked.question = "count";
        engine().say(asked);
        engine().say(plainStep(5, 0, "one", 20.0));
        engine().say(promptFinished(5));
        asked.promptId = 6;
        asked.continuesLast = true;
        engine().say(asked);
        engine().say(plainStep(6, 0, " two", 20.0));
        engine().say(promptFinished(6));
        m_chat->bridge->tick();
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(session().branch().first().text, QStringLiteral("count"));
        QCOMPARE(last().text, QStringLiteral("one two"));
        QCOMPARE(last().tokens.size(), 2);
    }
};

QTEST_GUILESS_MAIN(ChatSessionTest)
#include "chat_session_test.moc"
