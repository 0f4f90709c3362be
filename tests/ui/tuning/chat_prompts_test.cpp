// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"
#include "ui/tuning/chat_prompts.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace ui;

/// What of the user's chats a training may read.
class ChatPromptsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ChatStore> m_store;

    QList<QJsonObject> read() {
        const auto lines = answerTo<QByteArray>(
            [&](QObject* context, auto done) { readChatPrompts(*m_store, context, done); });
        QList<QJsonObject> objects;
        for (const QByteArray& line : lines.split('\n'))
            if (!line.isEmpty())
                objects << QJsonDocument::fromJson(line).object();
        return objects;
    }

    ChatId ask(const QString& title, const QString& question) {
        const ChatId chat = m_store->createChat(titled(title));
        m_store->appendMessage(userMessage(chat, 0, question));
        return chat;
    }

private slots:

    void init() {
        static int number = 0;
        m_store = std::make_unique<ChatStore>(
            StoreOptions{.path = m_folder.filePath(QString::number(++number) + ".db")});
        m_store->open();
    }

    void cleanup() { m_store.reset(); }

    void withoutChatsThereIsNothing() { QVERIFY(read().isEmpty()); }

    void onlyTheFirstQuestionOfEachChatIsRead() {
        const ChatId chat = m_store->createChat(titled(QStringLiteral("One")));
        const MessageId first =
            m_store->appendMessage(userMessage(chat, 0, QStringLiteral("Name \"three\" colours.")));
        StoredMessage answer = userMessage(chat, first, QStringLiteral("Secret answer"));
        answer.role = MessageRole::Assistant;
        const MessageId answered = m_store->appendMessage(answer);
        m_store->appendMessage(userMessage(chat, answered, QStringLiteral("And later?")));
        ask(QStringLiteral("Two"), QStringLiteral("Another one"));
        const auto lines = read();
        QCOMPARE(lines.size(), 2);
        QStringList prompts;
        for (const QJsonObject& line : lines) {
            prompts << line["prompt"].toString();
            QCOMPARE(line["task"].toString(), QStringLiteral("own_chats"));
            QVERIFY(line["id"].toString().startsWith(QStringLiteral("chat-")));
        }
        prompts.sort();
        QCOMPARE(prompts, QStringList({"Another one", "Name \"three\" colours."}));
    }

    void deletedAndEmptyChatsAreLeftOut() {
        m_store->deleteChat(ask(QStringLiteral("Gone"), QStringLiteral("Forget me")));
        m_store->createChat(titled(QStringLiteral("Empty")));
        ask(QStringLiteral("Spaces"), QStringLiteral("  \n"));
        ask(QStringLiteral("Kept"), QStringLiteral("Keep me"));
        const auto lines = read();
        QCOMPARE(lines.size(), 1);
        QCOMPARE(lines.front()["prompt"].toString(), QStringLiteral("Keep me"));
    }

    /// Or it would be trained on and held out.
    void aQuestionThatWasAskedTwiceIsReadOnce() {
        ask(QStringLiteral("One"), QStringLiteral("Hello"));
        ask(QStringLiteral("Two"), QStringLiteral(" Hello\n"));
        QCOMPARE(read().size(), 1);
    }

    void whoIsGoneIsNotCalled() {
        ask(QStringLiteral("One"), QStringLiteral("Anything"));
        auto context = std::make_unique<QObject>();
        bool isCalled = false;
        readChatPrompts(*m_store, context.get(), [&](const QByteArray&) { isCalled = true; });
        context.reset();
        QCOMPARE(read().size(), 1); // behind the first question
        QVERIFY(!isCalled);
    }
};

QTEST_GUILESS_MAIN(ChatPromptsTest)
#include "chat_prompts_test.moc"
