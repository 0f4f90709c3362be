// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/support/studio_stage.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/chat/messages/message_card.h"
#include "ui/views/chats/chats_panel.h"

#include <QAbstractButton>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>

#include <set>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

QString describe(const QWidget& widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return QStringLiteral("%1 \"%2\" %3 in %4")
        .arg(QString::fromLatin1(widget.metaObject()->className()),
             button != nullptr ? button->text() : widget.accessibleName(),
             widget.objectName(),
             QString::fromLatin1(widget.parentWidget()->metaObject()->className()));
}

/// A dock behind another one, and a tab bar that is not needed, are visible for Qt, at a place
/// outside their parent.
bool hasPlace(const QWidget& widget) {
    for (const QWidget* part = &widget; !part->isWindow(); part = part->parentWidget())
        if (!part->parentWidget()->rect().intersects(part->geometry()))
            return false;
    return true;
}

bool takesTab(const QWidget& widget) {
    return widget.isVisible() && hasPlace(widget) && widget.isEnabled() &&
           (widget.focusPolicy() & Qt::TabFocus) != 0 && widget.focusProxy() == nullptr;
}

} // namespace

/// The window without a mouse, and without eyes. Most functions leave it as they found it, and the
/// next one goes on with it.
class StudioKeyboardTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() { return m_stage->studio->window(); }

private slots:

    /// In the middle of an answer.
    void init() {
        if (m_stage != nullptr)
            return;
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
        QVERIFY(QTest::qWaitForWindowActive(&window(), support::kPatienceMs));
        m_stage->loadModel();
        m_stage->saySearch();
        m_stage->beginAnswer();
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void everyActionIsInAMenu() {
        std::set<const QAction*> inMenus;
        for (const QMenu* menu : window().menuBar()->findChildren<QMenu*>())
            for (const QAction* action : menu->actions())
                inMenus.insert(action);
        for (const ActionCatalog::Entry& entry : window().actionCatalog().entries())
            QVERIFY2(inMenus.contains(entry.action), qPrintable(entry.id));
        m_isKept = true;
    }

    void noTwoEntriesOfAMenuHaveTheSameLetter() {
        for (const QMenu* menu : window().menuBar()->findChildren<QMenu*>()) {
            std::set<QString> letters;
            for (const QAction* action : menu->actions()) {
                const QString letter = QKeySequence::mnemonic(action->text()).toString();
                QVERIFY2(letter.isEmpty() || letters.insert(letter).second,
                         qPrintable(menu->title() + QStringLiteral(": ") + action->text()));
            }
        }
        m_isKept = true;
    }

    void noTwoActionsHaveTheSameKeys() {
        for (const ActionCatalog::Entry& entry : window().actionCatalog().entries())
            QVERIFY2(window().actionCatalog().conflicts(entry.id).isEmpty(), qPrintable(entry.id));
        m_isKept = true;
    }

    void everythingInAllWorkspacesHasAName() {
        for (int workspace : {0, 1, 2, 3, 4}) {
            window().showWorkspace(workspace);
            m_stage->settle();
            QCOMPARE(namelessWidgets(window()).join(QLatin1Char('\n')), QString());
        }
        m_isKept = true;
    }

    void theTabKeyMeetsEverything_data() {
        QTest::addColumn<int>("workspace");
        QTest::newRow("chat") << 0;
        QTest::newRow("inspect") << 1;
        QTest::newRow("experiments") << 2;
        QTest::newRow("learn") << 3;
        QTest::newRow("tune") << 4;
    }

    void theTabKeyMeetsEverything() {
        QFETCH(int, workspace);
        window().showWorkspace(workspace);
        if (m_stage->studio->session().isAnswering())
            m_stage->finishAnswer();
        m_stage->settle();
        std::set<const QWidget*> met;
        QTest::keyClick(&window(), Qt::Key_F6);
        const QWidget* first = QApplication::focusWidget();
        QStringList missed;
        for (int i = 0; i < 600; ++i) {
            QWidget* focused = QApplication::focusWidget();
            met.insert(focused);
            QTest::keyClick(focused, Qt::Key_Tab);
            if (QApplication::focusWidget() == focused || QApplication::focusWidget() == nullptr) {
                missed << QStringLiteral("the Tab key ends at ") + describe(*focused);
                break;
            }
            if (QApplication::focusWidget() == first) // all around
                break;
        }
        for (const QWidget* widget : window().findChildren<QWidget*>()) {
            // A group is one stop: its arrow keys choose.
            const auto* button = qobject_cast<const QAbstractButton*>(widget);
            const bool isInGroup = button != nullptr && button->autoExclusive();
            if (takesTab(*widget) && !isInGroup && !met.contains(widget))
                missed << describe(*widget);
        }
        QCOMPARE(missed.join(QLatin1Char('\n')), QString());
        m_isKept = true;
    }

    void f6MeetsEveryDock_data() { theTabKeyMeetsEverything_data(); }

    void f6MeetsEveryDock() {
        QFETCH(int, workspace);
        window().showWorkspace(workspace);
        m_stage->settle();
        Workspace* shown = window().currentWorkspace();
        std::set<const QDockWidget*> met;
        for (std::size_t i = 0; i < 2 * shown->docks().size() + 2; ++i) {
            QTest::keyClick(&window(), Qt::Key_F6);
            for (const QDockWidget* dock : shown->docks())
                if (dock->isAncestorOf(QApplication::focusWidget()))
                    met.insert(dock);
        }
        QStringList missed;
        for (const QDockWidget* dock : shown->docks())
            if (dock->isVisible() && !met.contains(dock))
                missed << dock->objectName();
        QCOMPARE(missed.join(QLatin1Char('\n')), QString());
        m_isKept = workspace < 4; // the next one needs an answer
    }

    void escapeStopsTheAnswerFromEveryControl_data() { theTabKeyMeetsEverything_data(); }

    void escapeStopsTheAnswerFromEveryControl() {
        QFETCH(int, workspace);
        window().showWorkspace(workspace);
        m_stage->settle();
        QStringList deaf;
        const auto widgets = window().findChildren<QWidget*>();
        int tried = 0;
        for (QWidget* widget : widgets) {
            if (!takesTab(*widget))
                continue;
            ++tried;
            widget->setFocus();
            m_stage->engine->sent.clear();
            QTest::keyClick(widget, Qt::Key_Escape);
            if (m_stage->engine->lastSent<StopGeneration>() == nullptr)
                deaf << describe(*widget);
        }
        QVERIFY(tried > 5);
        QCOMPARE(deaf.join(QLatin1Char('\n')), QString());
        m_isKept = true;
    }

    void escapeClosesTheDetailsOfATokenBeforeItStopsTheAnswer() {
        window().showWorkspace(0);
        m_stage->settle();
        ConversationView& conversation = m_stage->studio->chatView().conversation();
        MessageBody& body = conversation.cards().back()->body();
        QTest::mouseClick(&body, Qt::LeftButton, {}, body.tokenRect(0).center());
        QVERIFY(conversation.hasPinnedToken());
        QWidget* elsewhere = m_stage->studio->chatView().input().textField();
        elsewhere->setFocus();
        m_stage->engine->sent.clear();
        QTest::keyClick(elsewhere, Qt::Key_Escape);
        QVERIFY(!conversation.hasPinnedToken());
        QVERIFY(m_stage->engine->lastSent<StopGeneration>() == nullptr);
        QTest::keyClick(elsewhere, Qt::Key_Escape);
        QVERIFY(m_stage->engine->lastSent<StopGeneration>() != nullptr);
        m_isKept = true;
    }

    void aNewChatOfTheListIsWrittenAtOnce() {
        window().showWorkspace(0);
        m_stage->settle();
        const auto* chats = window().findChild<ChatsPanel*>();
        QAbstractButton* begin = buttonNamed(*chats, QStringLiteral("New chat"));
        begin->setFocus();
        begin->click();
        QCOMPARE(m_stage->studio->session().chat().record.id, ChatId{0});
        const QWidget* field = m_stage->studio->chatView().input().textField();
        QCOMPARE(static_cast<const QWidget*>(window().focusWidget()), field);
    }

    void escapeStopsTheAnswerFromAFloatingDock() {
        window().showWorkspace(0);
        QDockWidget* dock = window().currentWorkspace()->docks().front();
        dock->setFloating(true);
        dock->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(dock, support::kPatienceMs));
        m_stage->engine->sent.clear();
        QTest::keyClick(dock, Qt::Key_Escape);
        QVERIFY(m_stage->engine->lastSent<StopGeneration>() != nullptr);
        m_isKept = true;
    }

    void noWidgetKeepsTheFontOfTheSystem() {
        m_stage.reset();
        qApp->setStyleSheet({});
        qApp->setFont(QFont(QStringLiteral("DejaVu Sans"), 11));
        init();
        QStringList strangers;
        for (const QWidget* widget : window().findChildren<QWidget*>())
            if (widget->font().family() == QLatin1String("DejaVu Sans"))
                strangers << QString::fromLatin1(widget->metaObject()->className());
        QCOMPARE(strangers, QStringList());
    }
};

QTEST_MAIN(StudioKeyboardTest)
#include "studio_keyboard_test.moc"
