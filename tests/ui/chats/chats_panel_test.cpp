// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"
#include "ui/views/chats/chats_panel.h"

#include <QAbstractButton>
#include <QLineEdit>
#include <QListView>
#include <QTemporaryDir>

using namespace ui;

class ChatsPanelTest : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatStore> m_store;
    std::unique_ptr<ChatsPanel> m_panel;
    Theme m_theme;
    ChatId m_oldest = 0;
    ChatId m_newest = 0;

    QListView& list() const { return *m_panel->findChild<QListView*>(); }

    QLineEdit& filter() const { return *m_panel->findChild<QLineEdit*>(); }

    QAbstractButton& button(const QString& name) const {
        for (QAbstractButton* button : m_panel->findChildren<QAbstractButton*>())
            if (button->accessibleName() == name)
                return *button;
        qFatal("There is no button \"%s\".", qPrintable(name));
    }

    int rowCount() const { return list().model()->rowCount(); }

    QString title(int row) const { return list().model()->index(row, 0).data().toString(); }

private slots:

    void init() {
        m_theme.applyTo(*qApp);
        m_folder = std::make_unique<QTemporaryDir>();
        m_store = std::make_unique<ChatStore>(
            StoreOptions{m_folder->filePath(QStringLiteral("chats.sqlite")), 5, 20});
        m_store->open();
        m_oldest = m_store->createChat(titled(QStringLiteral("<b>oldest</b>")));
        m_store->createChat(titled(QStringLiteral("middle")));
        m_newest = m_store->createChat(titled(QStringLiteral("newest")));
        m_panel = std::make_unique<ChatsPanel>(m_theme, *m_store);
        m_panel->resize(216, 500);
        m_panel->show();
        m_panel->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_panel.get(), support::kPatienceMs));
        QTRY_COMPARE(rowCount(), 3);
    }

    void cleanup() {
        m_panel.reset();
        m_store.reset();
    }

    void aClickChoosesAChatOnce() {
        QSignalSpy chosen(m_panel.get(), &ChatsPanel::chatChosen);
        const QRect row = list().visualRect(list().model()->index(1, 0));
        const QPoint point(row.center().x(), row.bottom() - 4);
        QTest::mouseClick(list().viewport(), Qt::LeftButton, {}, point);
        QTest::mouseClick(list().viewport(), Qt::LeftButton, {}, point);
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(m_panel->currentChat(), chosen.first().first().toLongLong());
    }

    void theKeyboardMovesWithoutOpeningAndEnterOpens() {
        m_panel->setCurrentChat(m_newest);
        list().setFocus();
        QSignalSpy chosen(m_panel.get(), &ChatsPanel::chatChosen);
        QTest::keyClick(&list(), Qt::Key_Down);
        QTest::keyClick(&list(), Qt::Key_Down);
        QCOMPARE(chosen.count(), 0);
        QTest::keyClick(&list(), Qt::Key_Return);
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(chosen.first().first().toLongLong(), m_oldest);
    }

    void deleteHidesTheChatAndUndoBringsItBack() {
        QSignalSpy deleted(m_panel.get(), &ChatsPanel::chatDeleted);
        QSignalSpy restored(m_panel.get(), &ChatsPanel::chatRestored);
        list().setFocus();
        list().setCurrentIndex(list().model()->index(1, 0));
        QTest::keyClick(&list(), Qt::Key_Delete);
        QTRY_COMPARE(rowCount(), 2);
        QCOMPARE(deleted.count(), 1);
        QAbstractButton& undo = button(QStringLiteral("Bring the deleted chat back"));
        QVERIFY(undo.isVisible());
        undo.setFocus();
        QTest::keyClick(&undo, Qt::Key_Space);
        QTRY_COMPARE(rowCount(), 3);
        QCOMPARE(title(1), QStringLiteral("middle"));
        QCOMPARE(restored.count(), 1);
        QVERIFY(!undo.isVisible());
    }

    void f2Renames() {
        list().setFocus();
        list().setCurrentIndex(list().model()->index(0, 0));
        QTest::keyClick(&list(), Qt::Key_F2);
        auto* const editor = list().viewport()->findChild<QLineEdit*>();
        QVERIFY(editor != nullptr);
        QCOMPARE(editor->text(), QStringLiteral("newest"));
        editor->selectAll();
        QTest::keyClicks(editor, QStringLiteral("renamed"));
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_COMPARE(title(0), QStringLiteral("renamed"));
        QCOMPARE(chatOf(*m_store, m_newest).record.title, QStringLiteral("renamed"));
    }

    void theFilterNarrowsAndEscapeClearsIt() {
        m_panel->focusFilter();
        QTest::keyClicks(&filter(), QStringLiteral("midd"));
        QTRY_COMPARE(rowCount(), 1);
        QSignalSpy chosen(m_panel.get(), &ChatsPanel::chatChosen);
        QTest::keyClick(&filter(), Qt::Key_Return);
        QCOMPARE(chosen.count(), 1);
        QTest::keyClick(&filter(), Qt::Key_Escape);
        QTRY_COMPARE(rowCount(), 3);
    }

    void fieldAndButtonStandInOneLine() {
        const QAbstractButton& newChat = button(QStringLiteral("New chat"));
        QCOMPARE(newChat.height(), filter().height());
        QCOMPARE(newChat.y(), filter().y());
    }

    void newIsAskedFor() {
        QSignalSpy asked(m_panel.get(), &ChatsPanel::newChatAsked);
        button(QStringLiteral("New chat")).click();
        QCOMPARE(asked.count(), 1);
    }

    void whatTakesFocusHasAName() {
        int focusableCount = 0;
        for (const QWidget* widget : m_panel->findChildren<QWidget*>()) {
            if (widget->focusPolicy() == Qt::NoFocus)
                continue;
            ++focusableCount;
            QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
        }
        QVERIFY(focusableCount >= 4);
    }

    void titlesAreDrawnAsTheyAre() {
        QCOMPARE(title(2), QStringLiteral("<b>oldest</b>"));
        const QImage light = m_panel->grab().toImage();
        m_store->renameChat(m_oldest, QStringLiteral("oldest"));
        QTRY_COMPARE(title(2), QStringLiteral("oldest"));
        QVERIFY(m_panel->grab().toImage() != light);
    }
};

QTEST_MAIN(ChatsPanelTest)
#include "chats_panel_test.moc"
