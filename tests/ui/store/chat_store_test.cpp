// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"
#include "ui/store/sqlite/record_blobs.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTemporaryDir>

using namespace ui;

class ChatStoreTest : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;

    StoreOptions options(int commitMs = 10) const {
        return {m_folder->filePath(QStringLiteral("deep/er/chats.sqlite")), commitMs, 10};
    }

    static MessageFigures someFigures() {
        MessageFigures figures;
        figures.modelName = QStringLiteral("tiny");
        figures.decoderName = QStringLiteral("swift");
        figures.promptTokens = 12;
        figures.outputTokens = 178;
        figures.steps = 37;
        figures.firstTokenMs = 340.0;
        figures.tokensPerSecond = 62.2;
        figures.tokensPerStep = 4.81;
        figures.acceptedTokens = 141;
        figures.draftSteps = 149;
        figures.speedup = 1.33;
        figures.seed = 0xFFFF'FFFF'FFFF'FFFFULL;
        figures.finishReason = QStringLiteral("end_token");
        return figures;
    }

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aMessageReturnsWithAllItsFacts() {
        StoredMessage answer = answerOfTokens(0, 0, 9);
        answer.text.replace(0, 2, QStringLiteral("√\U0001F600").left(2));
        answer.state = MessageState::Stopped;
        answer.figures = someFigures();
        answer.tokens[6].choices = {{5, "␣a", 0.5}, {9, "b", 0.25}};
        ChatId chat = 0;
        {
            OpenStore store(options());
            ChatRecord record = titled(QStringLiteral("Maße, %1 and ''quotes\""));
            record.systemPrompt = QStringLiteral("Be brief.");
            record.settings.insert(QStringLiteral("r"), 0.45);
            chat = store.createChat(record);
            answer.chatId = chat;
            answer.id = store.appendMessage(answer);
        }
        OpenStore store(options());
        const Chat loaded = chatOf(store, chat);
        QCOMPARE(loaded.record.title, QStringLiteral("Maße, %1 and ''quotes\""));
        QCOMPARE(loaded.record.systemPrompt, QStringLiteral("Be brief."));
        QCOMPARE(loaded.record.settings.value(QStringLiteral("r")).toDouble(), 0.45);
        QCOMPARE(loaded.record.leafId, answer.id);
        QCOMPARE(loaded.record.decoderName, QStringLiteral("swift"));
        QCOMPARE(loaded.record.speedup, 1.33);
        QCOMPARE(loaded.messages.size(), 1);
        const StoredMessage& message = loaded.messages.first();
        QCOMPARE(message.state, MessageState::Stopped);
        QCOMPARE(message.role, MessageRole::Assistant);
        QVERIFY(message.figures == answer.figures);
        QVERIFY(!message.figures.decodeMs.has_value());
        QCOMPARE(message.tokens.size(), 9);
        QCOMPARE(message.tokens[6].id, answer.tokens[6].id);
        QCOMPARE(message.tokens[6].begin, answer.tokens[6].begin);
        QCOMPARE(message.tokens[6].fact.origin, answer.tokens[6].fact.origin);
        QCOMPARE(message.tokens[6].fact.targetProbability, 0.25);
        QCOMPARE(message.tokens[6].stepMs, 12.5);
        QCOMPARE(message.tokens[6].choices, answer.tokens[6].choices);
        QVERIFY(message.tokens[5].choices.isEmpty());
    }

    void aTraceThatDoesNotFitIsLeftOutAndTheIdsStay() {
        const QList<TokenTrace> tokens = answerOfTokens(0, 0, 5).tokens;
        const qsizetype length = answerOfTokens(0, 0, 5).text.size();
        QList<TokenTrace> read = unpackTokenIds(packTokenIds(tokens));
        QCOMPARE(read.size(), 5);
        QByteArray trace = packTrace(tokens);
        QVERIFY(!unpackTrace(trace.chopped(1), length, read));
        QVERIFY(!unpackTrace(trace, length - 1, read));
        QVERIFY(!unpackTrace({}, length, read));
        QCOMPARE(read[4].end, 0);
        for (const qsizetype byte : {0, 1, 4, 9}) {
            QByteArray damaged = trace;
            damaged[byte] = '\x7f';
            QVERIFY2(!unpackTrace(damaged, length, read), qPrintable(QString::number(byte)));
        }
        QVERIFY(unpackTrace(trace, length, read));
        QCOMPARE(read[4].end, tokens[4].end);
        QCOMPARE(read[4].id, tokens[4].id);
    }

    void choicesThatDoNotFitAreLeftOut() {
        QList<TokenTrace> tokens = answerOfTokens(0, 0, 3).tokens;
        QVERIFY(packChoices(tokens).isEmpty());
        tokens[1].choices = {{5, "x", 0.5}};
        const QByteArray blob = packChoices(tokens);
        const auto firstRead = [&](const QByteArray& from, int count) {
            QList<TokenTrace> read(count);
            unpackChoices(from, read);
            return read.at(1).choices;
        };
        QCOMPARE(firstRead(blob, 3), tokens[1].choices);
        QVERIFY(firstRead(blob, 2).isEmpty());
        QVERIFY(firstRead(blob.chopped(1), 3).isEmpty());
        QVERIFY(firstRead(QByteArray(blob).replace(0, 1, "\x09"), 3).isEmpty());
        QVERIFY(firstRead({}, 3).isEmpty());
    }

    void aDraftStaysUntilItIsSentOrItsChatIsDeleted() {
        const Draft draft{QStringLiteral("half a thought"),
                          {{QStringLiteral("a.txt"), QStringLiteral("√ text"), 4}}};
        ChatId kept = 0;
        ChatId deleted = 0;
        {
            OpenStore store(options());
            kept = store.createChat(titled(QStringLiteral("kept")));
            deleted = store.createChat(titled(QStringLiteral("deleted")));
            for (const ChatId chat : {ChatId(0), kept, deleted})
                store.setDraft(chat, draft);
            QCOMPARE(chatOf(store, kept).draft, draft);
            store.deleteChat(deleted);
        }
        {
            OpenStore store(options());
            const auto draftOf = [&](ChatId chat) {
                return answerTo<Draft>(
                    [&](QObject* context, auto done) { store.loadDraft(chat, context, done); });
            };
            QCOMPARE(chatOf(store, kept).draft, draft);
            QCOMPARE(draftOf(0), draft);
            QVERIFY(draftOf(deleted).isEmpty());
            QCOMPARE(chatsOf(store).size(), 1);
            store.setDraft(kept, {});
            store.setDraft(0, {});
        }
        OpenStore store(options());
        QVERIFY(chatOf(store, kept).draft.isEmpty());
    }

    void branchesAreChildrenOfOneMessageAndTheChatKnowsItsLeaf() {
        OpenStore store(options());
        const ChatId chat = store.createChat(titled(QStringLiteral("tree")));
        const MessageId root = store.appendMessage(userMessage(chat, 0, QStringLiteral("why")));
        const MessageId first = store.appendMessage(answerOfTokens(chat, root, 2));
        const MessageId second = store.appendMessage(answerOfTokens(chat, root, 3));
        Chat loaded = chatOf(store, chat);
        QCOMPARE(loaded.childrenOf(root), (QList<MessageId>{first, second}));
        QCOMPARE(loaded.childrenOf(0), QList<MessageId>{root});
        QCOMPARE(loaded.currentBranch().last().id, second);
        store.setCurrentLeaf(chat, first);
        loaded = chatOf(store, chat);
        QCOMPARE(loaded.currentBranch().size(), 2);
        QCOMPARE(loaded.currentBranch().first().id, root);
        QCOMPARE(loaded.currentBranch().last().id, first);
    }

    void aRingOfParentsDoesNotHang() {
        Chat chat;
        chat.messages = {userMessage(1, 2, {}), userMessage(1, 1, {})};
        chat.messages[0].id = 1;
        chat.messages[1].id = 2;
        chat.record.leafId = 2;
        QCOMPARE(chat.currentBranch().size(), 2);
    }

    void streamingIsCommittedAtMostOncePerInterval() {
        ChatStore store(options(1'000'000'000)); // longer than any machine takes
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        const ChatId chat = store.createChat(titled(QStringLiteral("long")));
        StoredMessage answer = answerOfTokens(chat, 0, 0);
        const MessageId id = store.appendMessage(answer);
        QTRY_COMPARE(saved.count(), 1);
        for (int count = 1; count <= 100; ++count) {
            answer = answerOfTokens(chat, 0, count);
            answer.id = id;
            store.updateMessage(answer);
        }
        // The answer to a question comes behind what was posted; nothing was committed by then.
        QTRY_COMPARE(chatOf(store, chat).messages.first().tokens.size(), 100);
        QCOMPARE(saved.count(), 1);
        answer.state = MessageState::Finished;
        store.finishMessage(answer);
        QTRY_COMPARE(saved.count(), 2);
        QCOMPARE(saved.last().at(0).toLongLong(), id);
        QCOMPARE(saved.last().at(1).toLongLong(), 100);
    }

    void aStreamingAnswerIsCommittedWithoutBeingFinished() {
        ChatStore store(options(5));
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        StoredMessage answer = answerOfTokens(store.createChat(titled({})), 0, 1);
        answer.id = store.appendMessage(answer);
        answer = [&] {
            StoredMessage grown = answerOfTokens(answer.chatId, 0, 40);
            grown.id = answer.id;
            return grown;
        }();
        store.updateMessage(answer);
        QTRY_VERIFY(!saved.isEmpty() && saved.last().at(1).toLongLong() == 40);
    }

    void whatIsPostedTogetherIsOneTransaction() {
        ChatStore store(options());
        QSignalSpy opened(&store, &ChatStore::opened);
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        QTRY_COMPARE(opened.count(), 1);
        const ChatId chat = store.createChat(titled(QStringLiteral("a turn")));
        const MessageId question = store.appendMessage(userMessage(chat, 0, QStringLiteral("q")));
        store.appendMessage(answerOfTokens(chat, question, 0));
        QTRY_COMPARE(saved.count(), 2);
        QCOMPARE(chatsOf(store).size(), 1);
    }

    void closingSavesWhatWasPosted() {
        ChatId chat = 0;
        {
            ChatStore store(options(1'000'000'000)); // longer than any machine takes
            store.open();
            chat = store.createChat(titled(QStringLiteral("kept")));
            StoredMessage answer = answerOfTokens(chat, 0, 1);
            answer.id = store.appendMessage(answer);
            StoredMessage grown = answerOfTokens(chat, 0, 33);
            grown.id = answer.id;
            store.updateMessage(grown);
        }
        OpenStore store(options());
        QCOMPARE(chatOf(store, chat).messages.first().tokens.size(), 33);
    }

    void whatWasStreamingComesBackAsRecovered() {
        MessageId id = 0;
        {
            OpenStore store(options());
            id = store.appendMessage(
                answerOfTokens(store.createChat(titled(QStringLiteral("cut off"))), 0, 17));
        }
        {
            ChatStore store(options());
            QSignalSpy recovered(&store, &ChatStore::recovered);
            store.open();
            QTRY_COMPARE(recovered.count(), 1);
            const auto answers = recovered.first().first().value<QList<RecoveredAnswer>>();
            QCOMPARE(answers.size(), 1);
            QCOMPARE(answers.first().messageId, id);
            QCOMPARE(answers.first().chatTitle, QStringLiteral("cut off"));
            QCOMPARE(answers.first().tokenCount, 17);
            const Chat chat = chatOf(store, answers.first().chatId);
            QCOMPARE(chat.messages.first().state, MessageState::Recovered);
            QCOMPARE(titlesFound(store, QStringLiteral("w16")).size(), 1);
        }
        ChatStore store(options());
        QSignalSpy recovered(&store, &ChatStore::recovered);
        store.open();
        QCOMPARE(chatsOf(store).size(), 1);
        QCOMPARE(recovered.count(), 0);
    }

    void theListIsNewestFirstAndRenamingKeepsThePlace() {
        OpenStore store(options());
        const ChatId older = store.createChat(titled(QStringLiteral("older")));
        const ChatId newer = store.createChat(titled(QStringLiteral("newer")));
        store.renameChat(older, QStringLiteral("renamed"));
        QList<ChatRecord> chats = chatsOf(store);
        QCOMPARE(chats.size(), 2);
        QCOMPARE(chats[0].id, newer);
        QCOMPARE(chats[1].title, QStringLiteral("renamed"));
        QTRY_VERIFY(QDateTime::currentMSecsSinceEpoch() > chats[0].updatedMs);
        store.appendMessage(userMessage(older, 0, QStringLiteral("again")));
        QCOMPARE(chatsOf(store).first().id, older);
    }

    void aDeletedChatCanBeRestoredUntilTheNextStart() {
        ChatId kept = 0;
        ChatId gone = 0;
        {
            OpenStore store(options());
            kept = store.createChat(titled(QStringLiteral("kept")));
            gone = store.createChat(titled(QStringLiteral("gone")));
            store.appendMessage(userMessage(gone, 0, QStringLiteral("secret words")));
            store.deleteChat(kept);
            store.deleteChat(gone);
            QCOMPARE(chatsOf(store).size(), 0);
            QCOMPARE(titlesFound(store, QStringLiteral("secret")), QStringList());
            store.restoreChat(kept);
            QCOMPARE(chatsOf(store).size(), 1);
        }
        OpenStore store(options());
        QCOMPARE(chatsOf(store).size(), 1);
        QCOMPARE(chatsOf(store).first().id, kept);
        store.restoreChat(gone);
        QCOMPARE(chatsOf(store).size(), 1);
        QCOMPARE(titlesFound(store, QStringLiteral("secret")), QStringList());
    }

    void searchFindsTitlesAndMessages_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("titles");
        const QString budget = QStringLiteral("Budget 100%");
        const QString sea = QStringLiteral("Names for a boat");
        QTest::newRow("nothing finds all") << QString() << QStringList{budget, sea};
        QTest::newRow("title, other case") << QStringLiteral("BUDGET") << QStringList{budget};
        QTest::newRow("message, part of a word") << QStringLiteral("ailin") << QStringList{sea};
        QTest::newRow("two words") << QStringLiteral("wind  sailing") << QStringList{sea};
        QTest::newRow("two words, one missing") << QStringLiteral("wind money") << QStringList{};
        QTest::newRow("short, by scan") << QStringLiteral("wi") << QStringList{sea};
        QTest::newRow("percent is a character") << QStringLiteral("0%") << QStringList{budget};
        QTest::newRow("percent alone") << QStringLiteral("%") << QStringList{budget};
        QTest::newRow("underscore is a character") << QStringLiteral("w_nd") << QStringList{};
        QTest::newRow("short underscore") << QStringLiteral("_d") << QStringList{};
        QTest::newRow("backslash") << QStringLiteral("a\\b") << QStringList{sea};
        QTest::newRow("short backslash") << QStringLiteral("\\b") << QStringList{sea};
        QTest::newRow("quote") << QStringLiteral("\"sailing\"") << QStringList{sea};
        QTest::newRow("operators are text") << QStringLiteral("wind OR money") << QStringList{};
        QTest::newRow("star") << QStringLiteral("sail*") << QStringList{};
        QTest::newRow("column name") << QStringLiteral("text:wind") << QStringList{};
        QTest::newRow("injection") << QStringLiteral("'; DROP TABLE chats; --") << QStringList{};
        QTest::newRow("Chinese") << QStringLiteral("帆船") << QStringList{sea};
        QTest::newRow("umlaut, other case") << QStringLiteral("STRÖMUNG") << QStringList{sea};
        QTest::newRow("the same, by scan") << QStringLiteral("STRÖMUNG by") << QStringList{sea};
        QTest::newRow("very many words")
            << QStringLiteral("by wind ").repeated(700) << QStringList{sea};
    }

    void searchFindsTitlesAndMessages() {
        QFETCH(QString, text);
        QFETCH(QStringList, titles);
        OpenStore store(options());
        store.createChat(titled(QStringLiteral("Budget 100%")));
        const ChatId boat = store.createChat(titled(QStringLiteral("Names for a boat")));
        store.appendMessage(userMessage(
            boat, 0, QStringLiteral("It is \"sailing\" by wind, a\\b, 我的帆船很快, Strömung.")));
        QCOMPARE(titlesFound(store, text), titles);
        QSignalSpy saved(&store, &ChatStore::saved);
        store.appendMessage(userMessage(boat, 0, QStringLiteral("and more")));
        QTRY_VERIFY(!saved.isEmpty());
        QCOMPARE(titlesFound(store, text), titles);
    }

    void aMatchShowsTheTextAroundIt() {
        OpenStore store(options());
        const ChatId chat = store.createChat(titled(QStringLiteral("t")));
        store.appendMessage(userMessage(
            chat, 0, QString(300, u'x') + QStringLiteral(" needle\nin the ") + QString(300, u'y')));
        const auto matches = answerTo<QList<ChatMatch>>([&](QObject* context, auto done) {
            store.searchChats(QStringLiteral("needle"), context, done);
        });
        QCOMPARE(matches.size(), 1);
        QVERIFY(matches.first().excerpt.contains(QStringLiteral("needle in the")));
        QVERIFY(matches.first().excerpt.size() <= 130);
        const QString faces = QStringLiteral("\U0001F600").repeated(100);
        store.appendMessage(userMessage(chat, 0, faces + QStringLiteral("apin") + faces));
        const auto cut = answerTo<QList<ChatMatch>>([&](QObject* context, auto done) {
            store.searchChats(QStringLiteral("pin"), context, done);
        });
        QCOMPARE(cut.size(), 1);
        QVERIFY(cut.first().excerpt.isValidUtf16());
    }

    void aSearchLooksIntoFilesThatWentAlong_data() {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("excerpt");
        const QString file = QStringLiteral("log \"of\" the.txt: fog at dawn, C:\\boats");
        QTest::newRow("a word of the file") << QStringLiteral("DAWN") << file;
        QTest::newRow("a backslash") << QStringLiteral("C:\\b") << file;
        QTest::newRow("one of the file, one of the words")
            << QStringLiteral("dawn please") << QStringLiteral("please read");
        QTest::newRow("a short one, by scan") << QStringLiteral("og") << file;
        QTest::newRow("no name of the file's own fields") << QStringLiteral("tokens") << QString();
    }

    void aSearchLooksIntoFilesThatWentAlong() {
        QFETCH(QString, words);
        QFETCH(QString, excerpt);
        OpenStore store(options());
        const ChatId chat = store.createChat(titled(QStringLiteral("t")));
        StoredMessage message = userMessage(chat, 0, QStringLiteral("please read"));
        message.attachments = {
            {QStringLiteral("log \"of\" the.txt"), QStringLiteral("fog at dawn, C:\\boats"), 3}};
        const MessageId id = store.appendMessage(message);
        for (const bool isSaved : {false, true}) {
            QSignalSpy saved(&store, &ChatStore::saved);
            if (isSaved) {
                const MessageId end = store.appendMessage(userMessage(chat, id, {}));
                QTRY_VERIFY(!saved.isEmpty() && saved.last().first().toLongLong() == end);
            }
            const auto matches = answerTo<QList<ChatMatch>>(
                [&](QObject* context, auto done) { store.searchChats(words, context, done); });
            QCOMPARE(matches.size(), excerpt.isEmpty() ? 0 : 1);
            if (matches.isEmpty())
                continue;
            QCOMPARE(matches.first().messageId, id);
            QCOMPARE(matches.first().excerpt, excerpt);
        }
    }

    void aSearchNamesEveryMessageThatItFound() {
        OpenStore store(options());
        const ChatId boats = store.createChat(titled(QStringLiteral("boats that sail")));
        const MessageId first = store.appendMessage(userMessage(boats, 0, QStringLiteral("sail")));
        const MessageId other = store.appendMessage(userMessage(boats, 0, QStringLiteral("row")));
        const MessageId last =
            store.appendMessage(userMessage(boats, other, QStringLiteral("sail again")));
        const ChatId many = store.createChat(titled(QStringLiteral("many")));
        for (int i = 0; i < 2 * StoreWorker::kMostHitsOfChat; ++i)
            store.appendMessage(userMessage(many, 0, QStringLiteral("sail %1").arg(i)));
        const ChatId titleOnly = store.createChat(titled(QStringLiteral("Sails")));
        const auto search = [&] {
            return answerTo<QList<ChatMatch>>([&](QObject* context, auto done) {
                store.searchChats(QStringLiteral("sail"), context, done);
            });
        };
        const auto hitsOf = [](const QList<ChatMatch>& matches, ChatId chat) {
            QList<MessageId> hits;
            for (const ChatMatch& match : matches)
                if (match.record.id == chat)
                    hits.append(match.messageId);
            return hits;
        };
        // The first search reads what waits in memory, the second one the disk.
        for (const bool isSaved : {false, true}) {
            QSignalSpy saved(&store, &ChatStore::saved);
            if (isSaved) {
                const MessageId end = store.appendMessage(userMessage(titleOnly, 0, {}));
                QTRY_VERIFY(!saved.isEmpty() && saved.last().first().toLongLong() == end);
            }
            const QList<ChatMatch> matches = search();
            QCOMPARE(hitsOf(matches, boats), (QList<MessageId>{last, first}));
            QCOMPARE(hitsOf(matches, many).size(), StoreWorker::kMostHitsOfChat);
            QCOMPARE(hitsOf(matches, titleOnly), QList<MessageId>{0});
        }
    }

    void anAnswerForAReceiverThatIsGoneIsDropped() {
        OpenStore store(options());
        bool isCalled = false;
        {
            QObject receiver;
            store.listChats(&receiver, [&](const QList<ChatRecord>&) { isCalled = true; });
        }
        QCOMPARE(chatsOf(store).size(), 0);
        QVERIFY(!isCalled);
    }

    void opensTenThousandMessages() {
        const QString path = options().path;
        {
            ChatStore store(options());
            QSignalSpy saved(&store, &ChatStore::saved);
            store.open();
            for (int c = 0; c < 100; ++c) {
                const ChatId chat = store.createChat(titled(QStringLiteral("chat %1").arg(c)));
                MessageId leaf = 0;
                for (int m = 0; m < 100; ++m) {
                    StoredMessage message = answerOfTokens(chat, leaf, 100);
                    message.state = MessageState::Finished;
                    leaf = store.appendMessage(message);
                }
            }
            QTRY_COMPARE(saved.count(), 10'000);
        }
        ChatStore store(options());
        QElapsedTimer timer;
        timer.start();
        store.open();
        const QList<ChatRecord> chats = chatsOf(store);
        const qint64 openMs = timer.restart();
        const Chat chat = chatOf(store, chats.first().id);
        qInfo("10,000 messages (%lld MB): opened and listed in %lld ms, a chat of 100 in %lld ms",
              QFileInfo(path).size() >> 20,
              openMs,
              timer.elapsed());
        QCOMPARE(chats.size(), 100);
        QCOMPARE(chat.messages.size(), 100);
        QCOMPARE(titlesFound(store, QStringLiteral("w99 ")).size(), 100);
    }
};

QTEST_MAIN(ChatStoreTest)
#include "chat_store_test.moc"
