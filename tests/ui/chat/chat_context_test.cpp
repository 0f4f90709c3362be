// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/chat_fixture.h"

#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

/// Chats that are too long for the context.
class ChatContextTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        m_chat->loadModel(600);
        session().send(QStringLiteral("one"));
        m_chat->count();
        m_chat->answer();
    }

    /// Such as the same one, loaded with a longer context.
    void theQuestionOfRoomEndsWithItsModel() {
        session().send(QStringLiteral("two"));
        m_chat->count(200);
        QVERIFY(session().contextQuestion() != nullptr);
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        m_chat->loadModel(8000);
        QVERIFY(session().contextQuestion() == nullptr);
        QCOMPARE(returned.count(), 1);
        QCOMPARE(returned.first().first().toString(), QStringLiteral("two"));
        QCOMPARE(session().branch().size(), 2);
        QCOMPARE(session().obstacle(QStringLiteral("two")), SendObstacle::None);
    }

    /// Templates refuse two messages of the user in a row.
    void anAnswerThatWasToGoOnIsPartOfTheSummary() {
        session().send(QStringLiteral("two"));
        m_chat->count();
        m_chat->engine->say(plainStep(m_chat->promptId(), 0, "half", 20.0));
        m_chat->finish(FinishReason::MaxTokens);
        session().continueAnswer(session().branch().last().id);
        m_chat->count(200);
        QVERIFY(session().contextQuestion() != nullptr);
        session().goOnInNewChat();
        std::vector<std::string> sent;
        for (const PromptMessage& message : m_chat->engine->lastSent<SubmitPrompt>()->messages)
            sent.push_back(message.role + ": " + message.content.substr(0, 9));
        QCOMPARE(sent,
                 (std::vector<std::string>{"user: two", "assistant: half", "user: Summarise"}));
    }
};

QTEST_GUILESS_MAIN(ChatContextTest)
#include "chat_context_test.moc"
