// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"

#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

/// A question that is answered once more, and a chat that is gone on with in a new one.
class ChatAgainTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

    StoredMessage last() { return session().branch().last(); }

    void converse(const char* words) {
        session().send(QLatin1String(words));
        m_chat->count();
        m_chat->answer();
    }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        m_chat->loadModel();
        converse("count");
    }

    /// As where the settings of the sampling cannot be used.
    void theAnswerStaysInSightWhereAnotherOneIsRefused() {
        const MessageId answer = last().id;
        session().regenerate(answer);
        EngineFailed failed = failedTask("submit_prompt", {ErrorCode::InvalidInput, "No.", ""});
        failed.promptId = m_chat->promptId();
        m_chat->engine->say(failed);
        m_chat->bridge->tick();
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(last().id, answer);
    }

    void theAnswerStaysInSightWhereAnotherOneIsStoppedBeforeItBegins() {
        const MessageId answer = last().id;
        session().regenerate(answer);
        session().stop();
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(last().id, answer);
        QCOMPARE(session().obstacle(QStringLiteral("x")), SendObstacle::None);
    }

    void theAnswerIsThereWhenAChatIsOpenedThatWasLeftBeforeAnotherOneBegan() {
        const ChatId chat = session().chat().record.id;
        const MessageId answer = last().id;
        session().regenerate(answer);
        session().newChat();
        session().openChat(chat);
        QTRY_COMPARE(session().chat().record.id, chat);
        QCOMPARE(last().id, answer);
    }

    void wordsThatGotNoAnswerStayTheLastOnes() {
        session().send(QStringLiteral("and then?"));
        session().stop();
        QCOMPARE(last().text, QStringLiteral("and then?"));
    }

    /// However long it is: a view that added each message by itself would take long.
    void aBranchInANewChatIsShownOnceAndWhole() {
        converse("go on");
        const QSignalSpy added(&session(), &ChatSession::messageAdded);
        const QSignalSpy shown(&session(), &ChatSession::shown);
        session().branchIntoNewChat(last().id);
        QCOMPARE(added.count(), 0);
        QCOMPARE(shown.count(), 1);
        QCOMPARE(session().branch().size(), 4);
        QCOMPARE(last().text, QStringLiteral("one two three four"));
    }
};

QTEST_GUILESS_MAIN(ChatAgainTest)
#include "chat_again_test.moc"
