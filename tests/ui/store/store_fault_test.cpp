// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/store/store_fixture.h"
#include "ui/store/sqlite/chat_schema.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>
#include <QTemporaryDir>

#include <sys/resource.h>

#include <csignal>
#include <sqlite3.h>

using namespace ui;

namespace {

constexpr StoreFaultKind kNoFault = static_cast<StoreFaultKind>(99);

/// A connection of another program to the file.
class OtherProgram {
public:
    explicit OtherProgram(const QString& path) {
        sqlite3_open(QFile::encodeName(path).constData(), &m_database);
    }

    ~OtherProgram() { sqlite3_close(m_database); }

    bool run(const QString& statement) {
        return sqlite3_exec(
                   m_database, statement.toUtf8().constData(), nullptr, nullptr, nullptr) ==
               SQLITE_OK;
    }

private:
    sqlite3* m_database = nullptr;
};

StoreFault faultIn(const QSignalSpy& spy) {
    StoreFault fault;
    fault.kind = kNoFault;
    return spy.isEmpty() ? fault : spy.last().first().value<StoreFault>();
}

/// Lets writes of this process fail beyond a size of file, as a full disk does, while it lives.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_former);
        const rlimit limit{bytes, m_former.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }

    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &m_former); }

private:
    rlimit m_former{};
};

} // namespace

class StoreFaultTest : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;

    QString path() const { return m_folder->filePath(QStringLiteral("chats.sqlite")); }

    StoreOptions options() const { return {path(), 5, 20}; }

    ChatId fill(int messageCount) const {
        OpenStore store(options());
        const ChatId chat = store.createChat(titled(QStringLiteral("filled")));
        for (int i = 0; i < messageCount; ++i) {
            StoredMessage message = answerOfTokens(chat, 0, 60);
            message.state = MessageState::Finished;
            store.appendMessage(message);
        }
        return chat;
    }

    /// Opens a file that cannot be used: it has to be set aside unchanged, and a new one to work.
    void verifySetAside(StoreFaultKind kind) {
        const QByteArray before = support::fileBytes(path());
        ChatStore store(options());
        QSignalSpy faulted(&store, &ChatStore::faulted);
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        const ChatId chat = store.createChat(titled(QStringLiteral("new")));
        store.appendMessage(userMessage(chat, 0, QStringLiteral("hello")));
        QTRY_COMPARE(saved.count(), 1);
        QCOMPARE(faulted.count(), 1);
        const StoreFault fault = faultIn(faulted);
        QCOMPARE(fault.kind, kind);
        QVERIFY(!fault.isLasting());
        QVERIFY(fault.sentence.contains(fault.path));
        QVERIFY(!fault.details.isEmpty());
        QVERIFY(fault.path != path());
        QCOMPARE(support::fileBytes(fault.path), before);
        QCOMPARE(chatsOf(store).size(), 1);
    }

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aFileThatIsNoDatabaseIsSetAside() {
        support::writeFile(
            path(),
            QByteArray("These are my notes, and nobody may overwrite them.\n").repeated(40));
        verifySetAside(StoreFaultKind::Damaged);
    }

    void aCutFileIsSetAside_data() {
        QTest::addColumn<double>("part");
        for (const double part : {0.003, 0.02, 0.3, 0.7, 0.97})
            QTest::addRow("%.3f of it", part) << part;
    }

    void aCutFileIsSetAside() {
        QFETCH(double, part);
        fill(200);
        const QByteArray whole = support::fileBytes(path());
        support::writeFile(
            path(), whole.first(static_cast<qsizetype>(static_cast<double>(whole.size()) * part)));
        verifySetAside(StoreFaultKind::Damaged);
    }

    void overwrittenPagesAreFoundByTheCheck() {
        fill(200);
        QByteArray content = support::fileBytes(path());
        const qsizetype middle = content.size() / 2;
        content.replace(middle, 8192, QByteArray(8192, '\xa5'));
        support::writeFile(path(), content);
        verifySetAside(StoreFaultKind::Damaged);
    }

    void theLogOfADamagedFileGoesWithIt() {
        fill(50);
        QByteArray content = support::fileBytes(path());
        content.replace(4096, 4096, QByteArray(4096, '\xa5'));
        support::writeFile(path(), content);
        support::writeFile(path() + QStringLiteral("-wal"), QByteArray("not a log"));
        verifySetAside(StoreFaultKind::Damaged);
        const QStringList logs =
            QDir(m_folder->path()).entryList({QStringLiteral("chats.sqlite.damaged-*-wal")});
        QCOMPARE(logs.size(), 1);
    }

    void aDatabaseOfAnotherProgramIsSetAside() {
        OtherProgram(path()).run(QStringLiteral("CREATE TABLE bookmarks (url TEXT)"));
        verifySetAside(StoreFaultKind::Damaged);
    }

    void aFileWithOtherColumnsIsSetAside() {
        fill(1);
        OtherProgram(path()).run(
            QStringLiteral("ALTER TABLE messages RENAME COLUMN text TO words"));
        verifySetAside(StoreFaultKind::Damaged);
    }

    void aViewInPlaceOfATableIsNotRead() {
        fill(1);
        QVERIFY(
            OtherProgram(path()).run(QStringLiteral("ALTER TABLE chats RENAME TO others;"
                                                    "CREATE VIEW chats AS SELECT * FROM others")));
        verifySetAside(StoreFaultKind::Damaged);
    }

    void aTriggerInTheFileDoesNotRun() {
        const ChatId chat = fill(1);
        QVERIFY(OtherProgram(path()).run(
            QStringLiteral("CREATE TRIGGER evil AFTER INSERT ON messages BEGIN"
                           " DELETE FROM messages; END")));
        ChatStore store(options());
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        store.appendMessage(userMessage(chat, 0, QStringLiteral("hello")));
        QTRY_COMPARE(saved.count(), 1);
        QCOMPARE(chatOf(store, chat).messages.size(), 2);
    }

    void searchingGoesOnWithADamagedSearchTable() {
        fill(3);
        QVERIFY(OtherProgram(path()).run(
            QStringLiteral("UPDATE message_search_data SET block = x'ffffffff' WHERE id > 10")));
        OpenStore store(options());
        QCOMPARE(titlesFound(store, QStringLiteral("w59")).size(), 1);
    }

    void aSearchTableThatRefusesWritesIsMadeAnew() {
        const ChatId chat = fill(3);
        QVERIFY(OtherProgram(path()).run(
            QStringLiteral("UPDATE message_search_data SET block = x'00' WHERE id = 10")));
        {
            ChatStore store(options());
            QSignalSpy faulted(&store, &ChatStore::faulted);
            QSignalSpy saved(&store, &ChatStore::saved);
            store.open();
            store.appendMessage(userMessage(chat, 0, QStringLiteral("needle")));
            QTRY_COMPARE(saved.count(), 1);
            QCOMPARE(faulted.count(), 0);
            QCOMPARE(chatOf(store, chat).messages.size(), 4);
            QCOMPARE(titlesFound(store, QStringLiteral("needle")).size(), 1);
        }
        QVERIFY(OtherProgram(path()).run(QStringLiteral(
            "INSERT INTO message_search(message_search) VALUES('integrity-check')")));
    }

    void flippedBitsNeverStopTheStore() {
        fill(4);
        const QByteArray whole = support::fileBytes(path());
        int setAsideCount = 0;
        for (quint32 seed = 1; seed <= 60; ++seed) {
            QRandomGenerator random(seed);
            QByteArray content = whole;
            for (int flip = 0; flip < 12; ++flip) {
                char& byte = content[random.bounded(static_cast<int>(content.size()))];
                byte = static_cast<char>(byte ^ (1 << random.bounded(8)));
            }
            const QString file = m_folder->filePath(QStringLiteral("flipped-%1").arg(seed));
            support::writeFile(file, content);
            ChatStore store({file, 1, 1});
            QSignalSpy faulted(&store, &ChatStore::faulted);
            QSignalSpy saved(&store, &ChatStore::saved);
            store.open();
            for (const ChatRecord& chat : chatsOf(store))
                chatOf(store, chat.id).currentBranch();
            titlesFound(store, QStringLiteral("w59"));
            const ChatId chat = store.createChat(titled(QStringLiteral("new")));
            store.appendMessage(userMessage(chat, 0, QStringLiteral("hello")));
            QTRY_COMPARE(saved.count(), 1);
            QCOMPARE(chatOf(store, chat).messages.size(), 1);
            QVERIFY(faulted.count() <= 1);
            setAsideCount += static_cast<int>(faulted.count());
        }
        qInfo("%d of 60 files were set aside, the others could be used", setAsideCount);
        QVERIFY(setAsideCount > 5);
    }

    void aFileOfANewerProgramIsSetAside() {
        fill(1);
        OtherProgram(path()).run(QStringLiteral("PRAGMA user_version = 99"));
        verifySetAside(StoreFaultKind::Newer);
    }

    void anOlderFileIsMigratedAndACopyKept_data() {
        QTest::addColumn<int>("version");
        for (int version = 1; version < storeVersion(); ++version)
            QTest::addRow("version %d", version) << version;
    }

    void anOlderFileIsMigratedAndACopyKept() {
        QFETCH(int, version);
        {
            OtherProgram old(path());
            for (int step = 0; step < version; ++step)
                for (const QString& statement : schemaStep(step, true))
                    QVERIFY(old.run(statement));
            QVERIFY(old.run(
                QStringLiteral("INSERT INTO chats (id, title, created_ms, updated_ms,"
                               " deleted_ms, model, decoder, system_prompt, leaf, settings)"
                               " VALUES (7, 'from before', 1, 1, 0, '', '', '', 8, '{}')")));
            QVERIFY(old.run(
                QStringLiteral("INSERT INTO messages (id, chat, parent, role, state,"
                               " created_ms, text, token_ids, figures) VALUES"
                               " (8, 7, 0, 'user', 'finished', 1, 'old words', x'', '{}')")));
            if (version > 1)
                QVERIFY(old.run(QStringLiteral("INSERT INTO message_search (rowid, text)"
                                               " SELECT id, text FROM messages")));
            if (version > 2)
                QVERIFY(old.run(QStringLiteral("UPDATE messages SET attachments ="
                                               " '[{\"name\":\"a.txt\",\"text\":\"inside\"},7]'")));
            QVERIFY(old.run(QStringLiteral("PRAGMA user_version = %1").arg(version)));
            QVERIFY(old.run(QStringLiteral("PRAGMA application_id = %1").arg(kStoreApplicationId)));
        }
        ChatStore store(options());
        QSignalSpy faulted(&store, &ChatStore::faulted);
        store.open();
        QCOMPARE(titlesFound(store, QStringLiteral("words")),
                 QStringList{QStringLiteral("from before")});
        QCOMPARE(titlesFound(store, QStringLiteral("inside")).size(), version > 2 ? 1 : 0);
        QCOMPARE(chatOf(store, 7).messages.first().text, QStringLiteral("old words"));
        QCOMPARE(faulted.count(), 0);
        const QString copy = path() + QStringLiteral(".before-version-%1").arg(version + 1);
        QVERIFY(QFileInfo::exists(copy));
        QVERIFY(OtherProgram(copy).run(QStringLiteral("SELECT text FROM messages WHERE id = 8")));
        QCOMPARE(OtherProgram(copy).run(QStringLiteral("SELECT * FROM message_search")),
                 version > 1);
        QCOMPARE(OtherProgram(copy).run(QStringLiteral("SELECT folder FROM chats")), version > 3);
    }

    void anOlderFileTakesWhatIsNew() {
        {
            OtherProgram old(path());
            for (int step = 0; step < 2; ++step)
                for (const QString& statement : schemaStep(step, true))
                    QVERIFY(old.run(statement));
            QVERIFY(
                old.run(QStringLiteral("INSERT INTO chats VALUES"
                                       " (7, 'from before', 1, 1, 0, '', '', NULL, '', 0, '{}')")));
            QVERIFY(old.run(QStringLiteral("PRAGMA user_version = 2")));
            QVERIFY(old.run(QStringLiteral("PRAGMA application_id = %1").arg(kStoreApplicationId)));
        }
        {
            OpenStore store(options());
            const ChatRecord chat = chatOf(store, 7).record;
            QVERIFY(!chat.isPinned && !chat.isArchived && chat.folder.isEmpty());
            store.setPinned(7, true);
            store.setArchived(7, true);
            store.setFolder(7, QStringLiteral("Thesis"));
        }
        OpenStore store(options());
        const ChatRecord chat = chatOf(store, 7).record;
        QVERIFY(chat.isPinned && chat.isArchived);
        QCOMPARE(chat.folder, QStringLiteral("Thesis"));
        QCOMPARE(chat.title, QStringLiteral("from before"));
    }

    void aFileOfVersion2KeepsItsMessagesAndTakesWhatIsNew() {
        {
            OtherProgram old(path());
            for (const int step : {0, 1})
                for (const QString& statement : schemaStep(step, true))
                    QVERIFY(old.run(statement));
            QVERIFY(
                old.run(QStringLiteral("INSERT INTO chats VALUES (7, 'from before', 1, 1, 0, '',"
                                       " '', NULL, 'Be brief.', 9, '{\"r\":0.5}')")));
            QVERIFY(old.run(QStringLiteral("INSERT INTO messages VALUES (8, 7, 0, 'user',"
                                           " 'finished', 1, 'old words', x'', NULL, '{}')")));
            QVERIFY(old.run(QStringLiteral("INSERT INTO messages VALUES (9, 7, 8, 'assistant',"
                                           " 'streaming', 2, 'an answer', x'0100000002000000',"
                                           " NULL, '{}')")));
            QVERIFY(old.run(QStringLiteral("PRAGMA user_version = 2")));
            QVERIFY(old.run(QStringLiteral("PRAGMA application_id = %1").arg(kStoreApplicationId)));
        }
        const Attachment file{QStringLiteral("a.txt"), QStringLiteral("text"), 3};
        MessageId added = 0;
        {
            ChatStore store(options());
            QSignalSpy faulted(&store, &ChatStore::faulted);
            QSignalSpy recovered(&store, &ChatStore::recovered);
            store.open();
            const Chat chat = chatOf(store, 7);
            QCOMPARE(faulted.count(), 0);
            QCOMPARE(recovered.count(), 1);
            QCOMPARE(chat.record.systemPrompt, QStringLiteral("Be brief."));
            QCOMPARE(chat.record.settings.value(QStringLiteral("r")).toDouble(), 0.5);
            QCOMPARE(chat.messages.size(), 2);
            QVERIFY(chat.messages.first().attachments.isEmpty());
            QCOMPARE(chat.messages.last().tokens.size(), 2);
            QVERIFY(chat.messages.last().tokens.first().choices.isEmpty());
            QVERIFY(chat.draft.isEmpty());
            StoredMessage words = userMessage(7, 9, QStringLiteral("new words"));
            words.attachments = {file};
            added = store.appendMessage(words);
            store.setDraft(7, {QStringLiteral("unsent"), {file}});
        }
        OpenStore store(options());
        const Chat chat = chatOf(store, 7);
        QCOMPARE(chat.messages.last().id, added);
        QCOMPARE(chat.messages.last().attachments, QList<Attachment>{file});
        QCOMPARE(chat.draft, (Draft{QStringLiteral("unsent"), {file}}));
        QVERIFY(QFileInfo::exists(path() + QStringLiteral(".before-version-3")));
    }

    void anOlderFileWithoutRoomToMigrateLosesNothing() {
        {
            OtherProgram old(path());
            for (const QString& statement : schemaStep(0, true))
                QVERIFY(old.run(statement));
            QVERIFY(
                old.run(QStringLiteral("INSERT INTO chats VALUES"
                                       " (7, 'from before', 1, 1, 0, '', '', NULL, '', 8, '{}')")));
            QVERIFY(old.run(QStringLiteral("INSERT INTO messages VALUES (8, 7, 0, 'user',"
                                           " 'finished', 1, 'old words', x'', NULL, '{}')")));
            QVERIFY(old.run(QStringLiteral("PRAGMA user_version = 1")));
            QVERIFY(old.run(QStringLiteral("PRAGMA application_id = %1").arg(kStoreApplicationId)));
        }
        // No room for the copy that a migration keeps, as on a full disk.
        {
            const FileSizeLimit limit(100);
            ChatStore store(options());
            QSignalSpy faulted(&store, &ChatStore::faulted);
            store.open();
            QTRY_VERIFY(faulted.count() > 0);
            QVERIFY(faultIn(faulted).isLasting());
        }
        OpenStore store(options());
        QCOMPARE(chatOf(store, 7).messages.first().text, QStringLiteral("old words"));
    }

    void aSecondProgramWaitsInMemoryAndSavesWhenTheFirstEnds() {
        auto first = std::make_unique<ChatStore>(options());
        first->open();
        first->createChat(titled(QStringLiteral("of the first")));
        QCOMPARE(chatsOf(*first).size(), 1);
        ChatStore second(options());
        QSignalSpy faulted(&second, &ChatStore::faulted);
        QSignalSpy cleared(&second, &ChatStore::faultCleared);
        QSignalSpy saved(&second, &ChatStore::saved);
        second.open();
        QTRY_COMPARE(faulted.count(), 1);
        QCOMPARE(faultIn(faulted).kind, StoreFaultKind::Locked);
        QVERIFY(faultIn(faulted).sentence.contains(QStringLiteral("Another window")));
        const ChatId chat = second.createChat(titled(QStringLiteral("of the second")));
        second.appendMessage(userMessage(chat, 0, QStringLiteral("kept in memory")));
        QCOMPARE(chatOf(second, chat).messages.size(), 1);
        QCOMPARE(titlesFound(second, QStringLiteral("memory")).size(), 1);
        QTRY_COMPARE(second.unsavedCount(), 1);
        QCOMPARE(saved.count(), 0);
        first.reset();
        QTRY_COMPARE(saved.count(), 1);
        QTRY_COMPARE(cleared.count(), 1);
        QCOMPARE(second.unsavedCount(), 0);
        QCOMPARE(faulted.count(), 1);
        QCOMPARE(chatsOf(second).size(), 2);
    }

    void draftsAndChangesOfChatsThatCannotBeSavedAreCounted() {
        const QString inTheWay = support::writeFile(m_folder->filePath(QStringLiteral("file")));
        OpenStore store({inTheWay + QStringLiteral("/chats.sqlite"), 5, 20});
        store.setDraft(0, {QStringLiteral("unsent"), {}});
        QTRY_COMPARE(store.unsavedCount(), 1);
        const ChatId chat = store.createChat(titled(QStringLiteral("new")));
        QTRY_COMPARE(store.unsavedCount(), 2);
        store.appendMessage(userMessage(chat, 0, QStringLiteral("its first words")));
        store.setDraft(0, {}); // takes no words along
        QTRY_COMPARE(store.unsavedCount(), 1);
        QVERIFY(QFile::remove(inTheWay));
        QTRY_COMPARE(store.unsavedCount(), 0);
    }

    void whatWaitedIsTriedOnceMoreAtTheEnd() {
        auto first = std::make_unique<ChatStore>(options());
        first->open();
        QVERIFY(chatsOf(*first).isEmpty());
        auto second = std::make_unique<ChatStore>(StoreOptions{path(), 5, 600'000});
        second->open();
        second->createChat(titled(QStringLiteral("of the second")));
        QCOMPARE(chatsOf(*second).size(), 1);
        first.reset();
        second.reset();
        ChatStore third(options());
        third.open();
        QCOMPARE(chatsOf(third).size(), 1);
    }

    void aFolderThatCannotBeMadeIsSaidAndRetried() {
        const QString notAFolder = m_folder->filePath(QStringLiteral("file"));
        support::writeFile(notAFolder, "in the way");
        const QString below = notAFolder + QStringLiteral("/chats.sqlite");
        ChatStore store({below, 5, 20});
        QSignalSpy faulted(&store, &ChatStore::faulted);
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        const ChatId chat = store.createChat(titled(QStringLiteral("patient")));
        store.appendMessage(userMessage(chat, 0, QStringLiteral("hello")));
        QTRY_COMPARE(faulted.count(), 1);
        QCOMPARE(faultIn(faulted).kind, StoreFaultKind::ReadOnly);
        QVERIFY(faultIn(faulted).sentence.contains(below));
        QCOMPARE(chatOf(store, chat).messages.size(), 1);
        QVERIFY(QFile::remove(notAFolder));
        QTRY_COMPARE(saved.count(), 1);
        QVERIFY(QFileInfo::exists(below));
    }

    void aWriteThatFailsLosesNothing() {
        const ChatId chat = fill(20);
        ChatStore store(options());
        QSignalSpy faulted(&store, &ChatStore::faulted);
        QSignalSpy cleared(&store, &ChatStore::faultCleared);
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        QCOMPARE(chatOf(store, chat).messages.size(), 20);
        {
            const FileSizeLimit limit(4096);
            StoredMessage answer = answerOfTokens(chat, 0, 500);
            answer.state = MessageState::Finished;
            store.appendMessage(answer);
            QTRY_COMPARE(faulted.count(), 1);
            QVERIFY(faultIn(faulted).isLasting());
            QCOMPARE(chatOf(store, chat).messages.last().tokens.size(), 500);
            QTRY_COMPARE(store.unsavedCount(), 1);
            QCOMPARE(saved.count(), 0);
        }
        QTRY_COMPARE(saved.count(), 1);
        QTRY_COMPARE(cleared.count(), 1);
        QCOMPARE(chatOf(store, chat).messages.size(), 21);
    }
};

QTEST_MAIN(StoreFaultTest)
#include "store_fault_test.moc"
