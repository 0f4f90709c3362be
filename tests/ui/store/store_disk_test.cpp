// SPDX-License-Identifier: GPL-3.0-only
// A disk of its own for each test: a small tmpfs, mounted where no other process sees it. Where
// that is not allowed, the tests are skipped; store_fault_test has others that need no rights.
#include "tests/support/file_content.h"
#include "tests/ui/store/store_fixture.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <sys/mount.h>
#include <sys/stat.h>

#include <sched.h>

using namespace ui;

namespace {

// Before any thread begins: they inherit the view of disks that main() has.
bool isMountingAllowed() {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// A disk of some kilobytes.
class SmallDisk {
public:
    explicit SmallDisk(int kilobytes) { mountIt(0, kilobytes); }

    ~SmallDisk() { ::umount2(folder().constData(), MNT_DETACH); }

    QByteArray folder() const { return QFile::encodeName(m_folder.path()); }

    QString file() const { return m_folder.filePath(QStringLiteral("chats.sqlite")); }

    bool mountIt(unsigned long flags, int kilobytes) const {
        const QByteArray size = "size=" + QByteArray::number(kilobytes) + "k";
        return ::mount("tmpfs", folder().constData(), "tmpfs", flags, size.constData()) == 0;
    }

    bool setSize(int kilobytes) const { return mountIt(MS_REMOUNT, kilobytes); }

    bool setReadOnly(bool isReadOnly) const {
        return mountIt(MS_REMOUNT | (isReadOnly ? MS_RDONLY : 0), 4096);
    }

private:
    QTemporaryDir m_folder;
};

} // namespace

class StoreDiskTest : public QObject {
    Q_OBJECT

public:
    explicit StoreDiskTest(bool isAllowed)
        : m_isAllowed(isAllowed) {}

private:
    bool m_isAllowed;

    static StoredMessage longAnswer(ChatId chat) {
        StoredMessage answer = answerOfTokens(chat, 0, 400);
        answer.state = MessageState::Finished;
        return answer;
    }

private slots:

    void initTestCase() {
        if (!m_isAllowed)
            QSKIP("This account may not mount a disk of its own.");
    }

    void aFullDiskLosesNothingAndTheStoreGoesOnByItself() {
        const SmallDisk disk(512);
        ChatId chat = 0;
        int messageCount = 0;
        {
            ChatStore store({disk.file(), 5, 20});
            QSignalSpy faulted(&store, &ChatStore::faulted);
            QSignalSpy cleared(&store, &ChatStore::faultCleared);
            QSignalSpy saved(&store, &ChatStore::saved);
            store.open();
            chat = store.createChat(titled(QStringLiteral("large")));
            while (faulted.isEmpty() && messageCount < 2000) {
                store.appendMessage(longAnswer(chat));
                ++messageCount;
                chatsOf(store);
            }
            QCOMPARE(faulted.count(), 1);
            const auto fault = faulted.first().first().value<StoreFault>();
            QCOMPARE(fault.kind, StoreFaultKind::Full);
            QVERIFY(fault.sentence.contains(QStringLiteral("disk")));
            QVERIFY(saved.count() > 0);
            QVERIFY(saved.count() < messageCount);
            for (int i = 0; i < 3; ++i, ++messageCount)
                store.appendMessage(longAnswer(chat));
            QCOMPARE(chatOf(store, chat).messages.size(), messageCount);
            QTRY_VERIFY(store.unsavedCount() >= 3);

            QVERIFY(disk.setSize(32768));
            QTRY_COMPARE(saved.count(), messageCount);
            QTRY_COMPARE(cleared.count(), 1);
            QCOMPARE(store.unsavedCount(), 0);
            QCOMPARE(faulted.count(), 1);
        }
        OpenStore store({disk.file(), 5, 20});
        QCOMPARE(chatOf(store, chat).messages.size(), messageCount);
    }

    void aReadOnlyDiskShowsOldChatsAndKeepsNewOnesInMemory() {
        const SmallDisk disk(4096);
        ChatId old = 0;
        {
            OpenStore store({disk.file(), 5, 20});
            old = store.createChat(titled(QStringLiteral("old")));
            store.appendMessage(longAnswer(old));
        }
        QVERIFY(disk.setReadOnly(true));
        ChatStore store({disk.file(), 5, 20});
        QSignalSpy faulted(&store, &ChatStore::faulted);
        QSignalSpy cleared(&store, &ChatStore::faultCleared);
        QSignalSpy saved(&store, &ChatStore::saved);
        store.open();
        QCOMPARE(chatOf(store, old).messages.size(), 1);
        const ChatId young = store.createChat(titled(QStringLiteral("young")));
        store.appendMessage(longAnswer(young));
        store.renameChat(old, QStringLiteral("renamed"));
        QCOMPARE(chatsOf(store).size(), 2);
        QCOMPARE(titlesFound(store, QStringLiteral("w399")).size(), 2);
        QCOMPARE(faulted.count(), 1);
        QCOMPARE(faulted.first().first().value<StoreFault>().kind, StoreFaultKind::ReadOnly);
        QCOMPARE(saved.count(), 0);

        QVERIFY(disk.setReadOnly(false));
        QTRY_COMPARE(saved.count(), 1);
        QTRY_COMPARE(cleared.count(), 1);
        QCOMPARE(titlesFound(store, QStringLiteral("renamed")).size(), 1);
        QCOMPARE(chatOf(store, old).messages.size(), 1);
    }

    void anExportToAFullDiskKeepsTheOldFile() {
        const SmallDisk disk(64);
        const QString path = QFile::decodeName(disk.folder()) + QStringLiteral("/chat.json");
        Chat chat;
        chat.record.title = QStringLiteral("first");
        QCOMPARE(writeExport(chat, {ExportFormat::Json, path, false}), QString());
        chat.messages = {longAnswer(1), longAnswer(1)};
        const QString error = writeExport(chat, {ExportFormat::Json, path, false});
        QVERIFY(error.contains(path));
        QVERIFY(support::fileBytes(path).contains("first"));
        QCOMPARE(QDir(QFile::decodeName(disk.folder())).entryList(QDir::Files).size(), 1);
    }
};

int main(int argc, char** argv) {
    const bool isAllowed = isMountingAllowed();
    const QCoreApplication application(argc, argv);
    StoreDiskTest test(isAllowed);
    return QTest::qExec(&test, argc, argv);
}

#include "store_disk_test.moc"
