// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"
#include "ui/views/chats/chat_list_model.h"

#include <QAbstractItemModelTester>
#include <QTemporaryDir>

using namespace ui;

class ChatListModelTest : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatStore> m_store;
    std::unique_ptr<ChatListModel> m_model;
    std::unique_ptr<QAbstractItemModelTester> m_tester;
    int m_daysAhead = 0; ///< of the model's clock

    QStringList titles() const {
        QStringList titles;
        for (int row = 0; row < m_model->rowCount(); ++row)
            titles.append(m_model->index(row).data().toString());
        return titles;
    }

    QString shown(int row, int role) const { return m_model->index(row).data(role).toString(); }

    void waitForNewerTime() {
        const qint64 now = QDateTime::currentMSecsSinceEpoch();
        QTRY_VERIFY(QDateTime::currentMSecsSinceEpoch() > now);
    }

private slots:

    void init() {
        m_daysAhead = 0;
        m_folder = std::make_unique<QTemporaryDir>();
        m_store = std::make_unique<ChatStore>(
            StoreOptions{m_folder->filePath(QStringLiteral("chats.sqlite")), 5, 20});
        m_store->open();
        m_model = std::make_unique<ChatListModel>(
            *m_store, [this] { return QDateTime::currentDateTime().addDays(m_daysAhead); });
        m_tester = std::make_unique<QAbstractItemModelTester>(
            m_model.get(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy loaded(m_model.get(), &ChatListModel::loaded);
        QTRY_VERIFY(!loaded.isEmpty());
    }

    void cleanup() {
        m_tester.reset();
        m_model.reset();
        m_store.reset();
    }

    void newChatsComeFirstAndUsedOnesRise() {
        const ChatId a = m_store->createChat(titled(QStringLiteral("a")));
        m_store->createChat(titled(QStringLiteral("b")));
        m_store->createChat(titled(QStringLiteral("c")));
        QTRY_COMPARE(titles().join(QString()), QStringLiteral("cba"));
        waitForNewerTime();
        QSignalSpy reset(m_model.get(), &QAbstractItemModel::modelReset);
        m_store->appendMessage(userMessage(a, 0, QStringLiteral("again")));
        QTRY_COMPARE(titles().join(QString()), QStringLiteral("acb"));
        QCOMPARE(reset.count(), 0);
        QCOMPARE(m_model->indexOf(a).row(), 0);
        QCOMPARE(m_model->chatAt(0), a);
        QCOMPARE(m_model->chatAt(3), 0);
    }

    void deletedChatsGoAndRestoredOnesReturnToTheirPlace() {
        m_store->createChat(titled(QStringLiteral("a")));
        const ChatId b = m_store->createChat(titled(QStringLiteral("b")));
        m_store->createChat(titled(QStringLiteral("c")));
        QTRY_COMPARE(m_model->rowCount(), 3);
        m_store->deleteChat(b);
        QTRY_COMPARE(titles().join(QString()), QStringLiteral("ca"));
        m_store->restoreChat(b);
        QTRY_COMPARE(titles().join(QString()), QStringLiteral("cba"));
    }

    void editingRenamesInTheStore() {
        const ChatId chat = m_store->createChat(titled(QStringLiteral("before")));
        QTRY_COMPARE(m_model->rowCount(), 1);
        QVERIFY(m_model->flags(m_model->index(0)).testFlag(Qt::ItemIsEditable));
        QVERIFY(!m_model->setData(m_model->index(0), QStringLiteral(" \n "), Qt::EditRole));
        QVERIFY(m_model->setData(m_model->index(0), QStringLiteral(" after\n"), Qt::EditRole));
        QCOMPARE(shown(0, Qt::DisplayRole), QStringLiteral("after"));
        QCOMPARE(chatOf(*m_store, chat).record.title, QStringLiteral("after"));
    }

    void theFilterAsksTitlesAndMessages() {
        m_store->createChat(titled(QStringLiteral("Recipe for 40 people")));
        const ChatId boat = m_store->createChat(titled(QStringLiteral("Boats")));
        m_store->appendMessage(userMessage(boat, 0, QStringLiteral("Which recipe sails best?")));
        m_store->createChat(titled(QStringLiteral("Neither")));
        m_model->setFilter(QStringLiteral("rec"));
        m_model->setFilter(QStringLiteral("recipe"));
        QTRY_COMPARE(m_model->rowCount(), 2);
        QCOMPARE(shown(m_model->indexOf(boat).row(), ChatListModel::SubtitleRole),
                 QStringLiteral("Which recipe sails best?"));
        m_store->renameChat(boat, QStringLiteral("Recipes at sea"));
        QTRY_VERIFY(titles().contains(QStringLiteral("Recipes at sea")));
        QCOMPARE(m_model->rowCount(), 2);
        m_model->setFilter({});
        QTRY_COMPARE(m_model->rowCount(), 3);
    }

    void aFolderIsNamedInTheSecondLineExceptInItself() {
        const ChatId chat = m_store->createChat(titled(QStringLiteral("one")));
        m_store->createChat(titled(QStringLiteral("two")));
        m_store->setFolder(chat, QStringLiteral("Thesis"));
        QTRY_COMPARE(m_model->rowCount(), 2);
        QTRY_VERIFY(shown(1, ChatListModel::SubtitleRole).startsWith(QStringLiteral("Thesis")));
        m_model->setScope({ChatScope::Kind::Folder, QStringLiteral("Thesis")});
        QTRY_COMPARE(titles(), QStringList{QStringLiteral("one")});
        QVERIFY(!shown(0, ChatListModel::SubtitleRole).contains(QStringLiteral("Thesis")));
        m_store->setFolder(chat, {});
        QTRY_COMPARE(m_model->rowCount(), 0);
    }

    void everyMessageThatASearchFindsHasItsRow() {
        const ChatId chat = m_store->createChat(titled(QStringLiteral("one")));
        const MessageId first =
            m_store->appendMessage(userMessage(chat, 0, QStringLiteral("sail")));
        const MessageId last =
            m_store->appendMessage(userMessage(chat, first, QStringLiteral("sails")));
        m_model->setFilter(QStringLiteral("sail"));
        QTRY_COMPARE(m_model->rowCount(), 2);
        QCOMPARE(m_model->messageAt(0), last);
        QCOMPARE(m_model->messageAt(1), first);
        QCOMPARE(m_model->chatAt(1), chat);
        QCOMPARE(m_model->index(0).data(ChatListModel::FoundWordsRole).toStringList(),
                 QStringList{QStringLiteral("sail")});
    }

    void sectionsFollowTheClock_data() {
        QTest::addColumn<int>("daysAhead");
        QTest::addColumn<QString>("section");
        QTest::newRow("same day") << 0 << QStringLiteral("Today");
        QTest::newRow("next day") << 1 << QStringLiteral("Yesterday");
        QTest::newRow("two days") << 2 << QStringLiteral("Last week");
        QTest::newRow("seven days") << 7 << QStringLiteral("Last week");
        QTest::newRow("eight days") << 8 << QStringLiteral("Earlier");
    }

    void sectionsFollowTheClock() {
        QFETCH(int, daysAhead);
        QFETCH(QString, section);
        m_store->createChat(titled(QStringLiteral("one")));
        m_store->createChat(titled(QStringLiteral("two")));
        QTRY_COMPARE(m_model->rowCount(), 2);
        m_daysAhead = daysAhead;
        QSignalSpy told(m_model.get(), &ChatListModel::sectionsChanged);
        m_model->refreshDates();
        QCOMPARE(told.count(), 1);
        QCOMPARE(shown(0, ChatListModel::SectionRole), section);
        QVERIFY(m_model->index(0).data(ChatListModel::IsFirstOfSectionRole).toBool());
        QVERIFY(!m_model->index(1).data(ChatListModel::IsFirstOfSectionRole).toBool());
    }

    void theSecondLineSaysDecoderAndSpeedup() {
        const ChatId chat = m_store->createChat(titled(QStringLiteral("one")));
        StoredMessage answer = answerOfTokens(chat, 0, 3);
        answer.id = m_store->appendMessage(answer);
        answer.state = MessageState::Finished;
        answer.figures.decoderName = QStringLiteral("swift");
        answer.figures.speedup = 1.334;
        m_store->finishMessage(answer);
        QTRY_VERIFY(shown(0, ChatListModel::SubtitleRole).endsWith(QStringLiteral("SWIFT · 1.3×")));
        QCOMPARE(shown(0, ChatListModel::SubtitleRole).count(u':'), 1);
        QCOMPARE(decoderTitle(QStringLiteral("vanilla")), QStringLiteral("Vanilla"));
        QCOMPARE(decoderTitle(QStringLiteral("self_sd")), QStringLiteral("Self-SD"));
        QCOMPARE(decoderTitle(QStringLiteral("layerskip-fs")), QStringLiteral("LayerSkip FS"));
        m_daysAhead = 1;
        QCOMPARE(shown(0, ChatListModel::SubtitleRole), QStringLiteral("SWIFT · 1.3×"));
        QVERIFY(shown(0, Qt::AccessibleTextRole).contains(QStringLiteral("one, Yesterday")));
    }
};

QTEST_MAIN(ChatListModelTest)
#include "chat_list_model_test.moc"
