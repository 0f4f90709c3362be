// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"

#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

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
