// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"
#include "ui/views/chats/chats_panel.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QInputDialog>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMimeData>
#include <QPointer>
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

    QComboBox& scope() const { return *m_panel->findChild<QComboBox*>(); }

    void showScope(const QString& name) {
        scope().setCurrentIndex(scope().findText(name));
        emit scope().activated(scope().currentIndex());
    }

    QStringList titles() const {
        QStringList titles;
        for (int row = 0; row < rowCount(); ++row)
            titles.append(title(row));
        return titles;
    }

    /// The entry of the open context menu, or of its submenu.
    static QAction* entry(const QString& text) {
        for (const QWidget* widget : QApplication::topLevelWidgets())
            for (QAction* action : widget->actions())
                if (qobject_cast<const QMenu*>(widget) != nullptr &&
                    QString(action->text()).remove(u'&').section(u'\t', 0, 0) == text)
                    return action;
        return nullptr;
    }

    void openMenu(int row) {
        list().setFocus();
        list().setCurrentIndex(list().model()->index(row, 0));
        emit list().customContextMenuRequested(
            list().visualRect(list().currentIndex()).bottomLeft() + QPoint(20, -4));
    }

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
        list().setFocus();
        list().setCurrentIndex(list().model()->index(1, 0));
        QTest::keyClick(&list(), Qt::Key_Delete);
        QTRY_COMPARE(rowCount(), 2);
        QCOMPARE(deleted.count(), 1);
        QAbstractButton& undo = button(QStringLiteral("Restore the deleted chat"));
        QVERIFY(undo.isVisible());
        undo.setFocus();
        QTest::keyClick(&undo, Qt::Key_Space);
        QTRY_COMPARE(rowCount(), 3);
        QCOMPARE(title(1), QStringLiteral("middle"));
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

    void whatIsTypedOfANameOutlivesTheEndOfAnAnswer() {
        m_panel->setCurrentChat(m_newest);
        list().setFocus();
        list().setCurrentIndex(list().model()->index(0, 0));
        QTest::keyClick(&list(), Qt::Key_F2);
        const QPointer<QLineEdit> editor = list().viewport()->findChild<QLineEdit*>();
        QVERIFY(!editor.isNull());
        editor->selectAll();
        QTest::keyClicks(editor.data(), QStringLiteral("half a na"));
        QSignalSpy changed(list().model(), &QAbstractItemModel::dataChanged);
        m_store->appendMessage(userMessage(m_newest, 0, QStringLiteral("an answer")));
        QTRY_VERIFY(!changed.isEmpty());
        QVERIFY(!editor.isNull());
        QCOMPARE(editor->text(), QStringLiteral("half a na"));
        QTest::keyClick(editor.data(), Qt::Key_Return);
        QTRY_COMPARE(title(0), QStringLiteral("half a na"));
    }

    void enterRightBehindTheWordsGoesToWhatTheyFind() {
        QSignalSpy chosen(m_panel.get(), &ChatsPanel::chatChosen);
        m_panel->focusFilter();
        filter().setText(QStringLiteral("midd")); // the list still shows all chats
        QTest::keyClick(&filter(), Qt::Key_Return);
        QTRY_COMPARE(chosen.count(), 1);
        const ChatId found = chosen.first().first().toLongLong();
        QCOMPARE(chatOf(*m_store, found).record.title, QStringLiteral("middle"));
        filter().setText(QStringLiteral("old"));
        QTest::keyClick(&filter(), Qt::Key_Return);
        filter().setText(QStringLiteral("new")); // who goes on typing does not go there
        QTRY_COMPARE(titles(), QStringList{QStringLiteral("newest")});
        QCOMPARE(chosen.count(), 1);
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

    void escapeStopsNoAnswerWhileThereAreWordsToTakeAway() {
        for (const QString& words : {QStringLiteral("midd"), QString()}) {
            filter().setText(words);
            QKeyEvent before(QEvent::ShortcutOverride, Qt::Key_Escape, Qt::NoModifier);
            before.ignore();
            QCoreApplication::sendEvent(&filter(), &before);
            QCOMPARE(before.isAccepted(), !words.isEmpty());
            QCOMPARE(filter().text(), words);
        }
    }

    void enterGoesToTheMessageThatWasFound() {
        const MessageId found =
            m_store->appendMessage(userMessage(m_oldest, 0, QStringLiteral("a needle in hay")));
        m_store->appendMessage(userMessage(m_oldest, found, QStringLiteral("and more hay")));
        QSignalSpy chosen(m_panel.get(), &ChatsPanel::messageChosen);
        QTest::keyClicks(&filter(), QStringLiteral("needle"));
        QTRY_COMPARE(rowCount(), 1);
        QTest::keyClick(&filter(), Qt::Key_Return);
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(chosen.first().at(0).toLongLong(), m_oldest);
        QCOMPARE(chosen.first().at(1).toLongLong(), found);
        QCOMPARE(m_panel->currentChat(), m_oldest);
        // In the chat that is shown there are hits to go to, too.
        filter().setText(QStringLiteral("hay"));
        QTRY_COMPARE(rowCount(), 2);
        list().setFocus();
        list().setCurrentIndex(list().model()->index(1, 0));
        QTest::keyClick(&list(), Qt::Key_Return);
        QCOMPARE(chosen.count(), 2);
        QCOMPARE(chosen.last().at(1).toLongLong(), found);
        QCOMPARE(list().currentIndex().row(), 1);
    }

    void aPinnedChatStandsFirst() {
        openMenu(2);
        QVERIFY(entry(QStringLiteral("Pin")) != nullptr);
        entry(QStringLiteral("Pin"))->trigger();
        QTRY_COMPARE(title(0), QStringLiteral("<b>oldest</b>"));
        QCOMPARE(list().model()->index(0, 0).data(ChatListModel::SectionRole).toString(),
                 QStringLiteral("Pinned"));
        m_panel->togglePinned(m_oldest);
        QTRY_COMPARE(title(2), QStringLiteral("<b>oldest</b>"));
    }

    void anArchivedChatIsOutOfSightUntilItIsLookedFor() {
        m_store->appendMessage(userMessage(m_oldest, 0, QStringLiteral("old wood")));
        QTRY_COMPARE(title(0), QStringLiteral("<b>oldest</b>"));
        QVERIFY(!scope().isVisible());
        m_panel->toggleArchived(m_oldest);
        QTRY_COMPARE(rowCount(), 2);
        QTRY_VERIFY(scope().isVisible());
        filter().setText(QStringLiteral("wood"));
        QTRY_COMPARE(rowCount(), 1);
        QCOMPARE(list().model()->index(0, 0).data(ChatListModel::SectionRole).toString(),
                 QStringLiteral("Archived"));
        filter().clear();
        QTRY_COMPARE(rowCount(), 2);
        showScope(QStringLiteral("Archived"));
        QTRY_COMPARE(titles(), QStringList{QStringLiteral("<b>oldest</b>")});
        list().setFocus();
        QTest::keyClick(&list(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(rowCount(), 3); // nothing is archived, so all chats are shown again
        QVERIFY(!scope().isVisible());
    }

    void controlZBringsBackOneAfterTheOther() {
        list().setFocus();
        list().setCurrentIndex(list().model()->index(0, 0));
        QTest::keyClick(&list(), Qt::Key_Delete);
        QTRY_COMPARE(rowCount(), 2);
        list().setCurrentIndex(list().model()->index(0, 0));
        QTest::keyClick(&list(), Qt::Key_Delete);
        QTRY_COMPARE(titles(), QStringList{QStringLiteral("<b>oldest</b>")});
        QTest::keyClick(&list(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(title(0), QStringLiteral("middle"));
        QTest::keyClick(&list(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(title(0), QStringLiteral("newest"));
        QVERIFY(!button(QStringLiteral("Close this message")).isVisible());
    }

    void aFolderIsMadeByNameAndGoesWithItsLastChat() {
        m_panel->askForFolder(m_oldest);
        auto* dialog = m_panel->findChild<QInputDialog*>();
        QVERIFY(dialog != nullptr);
        dialog->setTextValue(QStringLiteral("  My\nthesis & more "));
        dialog->accept();
        QTRY_VERIFY(scope().isVisible());
        showScope(QStringLiteral("My thesis & more"));
        QTRY_COMPARE(titles(), QStringList{QStringLiteral("<b>oldest</b>")});
        QSignalSpy asked(m_panel.get(), &ChatsPanel::newChatAsked);
        button(QStringLiteral("New chat")).click();
        QCOMPARE(asked.first().first().toString(), QStringLiteral("My thesis & more"));
        openMenu(0);
        QVERIFY(entry(QStringLiteral("None")) != nullptr);
        entry(QStringLiteral("None"))->trigger();
        QTRY_COMPARE(rowCount(), 3);
        QVERIFY(!scope().isVisible());
    }

    void aFolderIsRenamedInAllItsChats() {
        m_store->setFolder(m_newest, QStringLiteral("a")); // whose menu is opened
        m_store->setFolder(m_oldest, QStringLiteral("a"));
        QTRY_VERIFY(scope().findText(QStringLiteral("a")) >= 0);
        showScope(QStringLiteral("a"));
        QTRY_COMPARE(rowCount(), 2); // the panel knows of both
        showScope(scope().itemText(0));
        QTRY_COMPARE(rowCount(), 3);
        openMenu(0);
        QVERIFY(entry(QStringLiteral("Rename \"a\"...")) != nullptr);
        entry(QStringLiteral("Rename \"a\"..."))->trigger();
        auto* dialog = m_panel->findChild<QInputDialog*>();
        QVERIFY(dialog != nullptr);
        QSignalSpy renamed(m_panel.get(), &ChatsPanel::folderRenamed);
        dialog->setTextValue(QStringLiteral("b"));
        dialog->accept();
        QCOMPARE(renamed.count(), 1);
        QCOMPARE(renamed.first(), (QVariantList{QStringLiteral("a"), QStringLiteral("b")}));
        QTRY_COMPARE(chatOf(*m_store, m_oldest).record.folder, QStringLiteral("b"));
        QCOMPARE(chatOf(*m_store, m_newest).record.folder, QStringLiteral("b"));
        QTRY_COMPARE(scope().findText(QStringLiteral("a")), -1);
    }

    void aFolderThatIsShownIsStillShownByItsNewName() {
        m_store->setFolder(m_newest, QStringLiteral("a"));
        m_store->setFolder(m_oldest, QStringLiteral("a"));
        QTRY_VERIFY(scope().findText(QStringLiteral("a")) >= 0);
        showScope(QStringLiteral("a"));
        QTRY_COMPARE(rowCount(), 2);
        openMenu(0);
        QVERIFY(entry(QStringLiteral("Rename \"a\"...")) != nullptr);
        entry(QStringLiteral("Rename \"a\"..."))->trigger();
        auto* dialog = m_panel->findChild<QInputDialog*>();
        QVERIFY(dialog != nullptr);
        dialog->setTextValue(QStringLiteral("b"));
        dialog->accept();
        QTRY_COMPARE(scope().findText(QStringLiteral("a")), -1);
        QCOMPARE(scope().currentText(), QStringLiteral("b"));
        QTRY_COMPARE(rowCount(), 2);
    }

    void withoutTheKeyboardInTheListCommandsMeanTheChatThatIsShown() {
        m_panel->setCurrentChat(m_newest);
        list().setFocus();
        list().setCurrentIndex(list().model()->index(2, 0));
        QCOMPARE(m_panel->targetChat(), m_oldest);
        filter().setFocus();
        QCOMPARE(m_panel->targetChat(), m_newest);
    }

    void theNeighbourOfAChatThatWentIsNotMeant() {
        m_panel->setCurrentChat(m_newest);
        filter().setFocus();
        m_panel->toggleArchived(m_newest);
        QTRY_COMPARE(rowCount(), 2);
        QCOMPARE(m_panel->targetChat(), m_newest);
    }

    void filesOfChatsCanBeDropped() {
        QMimeData chats;
        chats.setUrls({QUrl::fromLocalFile(QStringLiteral("/a/chats.JSON")),
                       QUrl::fromLocalFile(QStringLiteral("/a/model.gguf")),
                       QUrl::fromLocalFile(m_folder->path())});
        QDragEnterEvent enter({20, 200}, Qt::CopyAction, &chats, Qt::LeftButton, {});
        enter.ignore();
        QCoreApplication::sendEvent(m_panel.get(), &enter);
        QVERIFY(enter.isAccepted());
        QSignalSpy asked(m_panel.get(), &ChatsPanel::importAsked);
        QDropEvent drop({20, 200}, Qt::CopyAction, &chats, Qt::LeftButton, {});
        QCoreApplication::sendEvent(m_panel.get(), &drop);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked.first().first().toStringList(),
                 (QStringList{QStringLiteral("/a/chats.JSON"), m_folder->path()}));
        QMimeData model;
        model.setUrls({QUrl::fromLocalFile(QStringLiteral("/a/model.gguf"))});
        QDragEnterEvent other({20, 200}, Qt::CopyAction, &model, Qt::LeftButton, {});
        other.ignore();
        QCoreApplication::sendEvent(m_panel.get(), &other);
        QVERIFY(!other.isAccepted());
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
