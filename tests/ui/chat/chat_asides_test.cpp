// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"
#include "ui/chat/sides/side_run.h"

#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// Takes one prompt.
struct NarrowLink : ScriptedLink {
    bool send(EngineCommand command) override {
        if (std::holds_alternative<SubmitPrompt>(command) && lastSent<SubmitPrompt>() != nullptr)
            return false;
        return ScriptedLink::send(std::move(command));
    }
};

} // namespace

/// Questions that are answered beside the chat, and answers that are kept.
class ChatAsidesTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

    static StoredMessage answerOf(const QString& text) {
        StoredMessage answer;
        answer.role = MessageRole::Assistant;
        answer.text = text;
        answer.figures.decoderName = QStringLiteral("swift");
        return answer;
    }

    QStringList textsOfBranch() {
        QStringList texts;
        for (const StoredMessage& message : session().branch())
            texts << message.text;
        return texts;
    }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        m_chat->loadModel();
    }

    void anEmptyChatHasNoQuestion() { QVERIFY(!session().asideOf()); }

    void theQuestionAboveAnAnswerIsAskedWithWhatCameBefore() {
        session().send(QStringLiteral("count"));
        m_chat->count();
        m_chat->answer();
        const MessageId first = session().branch().last().id;
        session().send(QStringLiteral("again"));
        m_chat->count();
        m_chat->answer();
        const auto newest = session().asideOf();
        QVERIFY(newest);
        QCOMPARE(newest->text, QStringLiteral("again"));
        QCOMPARE(newest->prompt.messages.size(), std::size_t{3}); // without its answer
        QCOMPARE(newest->prompt.messages.back().content, std::string("again"));
        const auto earlier = session().asideOf(first);
        QVERIFY(earlier);
        QCOMPARE(earlier->text, QStringLiteral("count"));
        QCOMPARE(earlier->prompt.messages.size(), std::size_t{1});
    }

    void aKeptAnswerIsABranchOfItsQuestion() {
        session().send(QStringLiteral("count"));
        m_chat->count();
        m_chat->answer();
        const auto question = session().asideOf();
        const std::size_t sent = m_chat->engine->sent.size();
        QVERIFY(session().keepAnswers(
            *question, {answerOf(QStringLiteral("left")), answerOf(QStringLiteral("right"))}));
        QCOMPARE(textsOfBranch(), QStringList({QStringLiteral("count"), QStringLiteral("right")}));
        QCOMPARE(session().chat().childrenOf(question->question).size(), 3);
        QCOMPARE(m_chat->engine->sent.size(), sent); // nothing is asked for that
        QVERIFY(!session().isAnswering());
    }

    void wordsThatAreNotInTheChatComeIntoItWithTheAnswer() {
        const ChatSession::Aside question = session().asideOf(QStringLiteral(" hello "));
        QVERIFY(session().branch().isEmpty()); // not before
        QVERIFY(session().keepAnswers(question, {answerOf(QStringLiteral("hi"))}));
        QCOMPARE(textsOfBranch(), QStringList({QStringLiteral("hello"), QStringLiteral("hi")}));
        QVERIFY(session().chat().record.id != 0);
    }

    void wordsOfWhichOneAnswerWasKeptStayOneQuestion() {
        const auto kept = session().keepAnswers(session().asideOf(QStringLiteral("hello")),
                                                {answerOf(QStringLiteral("hi"))});
        QVERIFY(kept);
        QVERIFY(session().keepAnswers(*kept, {answerOf(QStringLiteral("hey"))}));
        QCOMPARE(session().chat().childrenOf(0).size(), 1);
        QCOMPARE(session().chat().childrenOf(kept->question).size(), 2);
    }

    void theSeedOfOneAnswerIsNotThatOfAnswersBesideIt() {
        const SamplingOptions chosen{.temperature = 0.8, .seed = 42};
        m_chat->engine->say(SamplingChanged{chosen});
        session().send(QStringLiteral("count"));
        m_chat->count();
        m_chat->answer();
        session().regenerate(session().branch().last().id);
        const SamplingOptions lent = *m_chat->engine->lastSent<SubmitPrompt>()->sampling;
        QVERIFY(lent.seed != chosen.seed);
        m_chat->engine->say(SamplingChanged{lent});
        m_chat->count();
        QVERIFY(session().isAnswering());
        QCOMPARE(session().asideOf()->prompt.sampling->seed, chosen.seed);
        QCOMPARE(session().asideOf(QStringLiteral("else")).prompt.sampling->seed, chosen.seed);
    }

    /// As where the engine refuses the user's sampling behind an answer with another seed.
    void aSamplingThatDoesNotComeBackIsLentNoLonger() {
        session().send(QStringLiteral("count"));
        m_chat->count();
        m_chat->answer();
        session().regenerate(session().branch().last().id);
        QVERIFY(session().isSamplingLent());
        m_chat->count();
        m_chat->answer();
        m_chat->engine->say(failedTask("change_sampling", {ErrorCode::InvalidInput, "No.", ""}));
        m_chat->bridge->tick();
        QVERIFY(!session().isSamplingLent());
    }

    void aSideIsNotAnsweredWhereTheOtherIsNotTaken() {
        RunStore run;
        auto link = std::make_unique<NarrowLink>();
        const NarrowLink& asked = *link;
        EngineBridge bridge(std::move(link), run);
        SideRun sides(bridge, 0);
        QVERIFY(!sides.start({}, {}));
        QVERIFY(asked.lastSent<SubmitPrompt>() != nullptr);
        QVERIFY(std::holds_alternative<CloseConversation>(asked.sent.back()));
    }

    void nothingIsKeptInAnotherChatOrBesideARunningAnswer() {
        session().send(QStringLiteral("count"));
        const auto question = session().asideOf();
        QVERIFY(question);
        QVERIFY(!session().keepAnswers(*question, {answerOf(QStringLiteral("x"))}));
        m_chat->count();
        m_chat->answer();
        session().newChat();
        QVERIFY(!session().keepAnswers(*question, {answerOf(QStringLiteral("x"))}));
        QVERIFY(session().branch().isEmpty());
    }
};

QTEST_MAIN(ChatAsidesTest)

#include "chat_asides_test.moc"
