// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/chat/chat_view_stage.h"
#include "ui/views/chat/panels/answer_settings_panel.h"

#include <QComboBox>
#include <QScrollBar>
#include <QSpinBox>

using namespace engine;
using namespace support;
using namespace ui;

/// System prompt, longest answer and stop strings, in the head of the chat.
class AnswerSettingsTest : public QObject, ChatViewStage {
    Q_OBJECT

private slots:

    void init() { open(); }

    void cleanup() { close(); }

    void theHeadShowsTheSystemPromptAndItIsEditedThere() {
        m_chat->loadModel();
        QAbstractButton* head = button("No system prompt");
        head->click();
        auto* panel = m_view->findChild<AnswerSettingsPanel*>();
        QVERIFY(panel->isVisible());
        auto* editor = panel->findChild<QPlainTextEdit*>();
        QAbstractButton* save = buttonNamed(*panel, QStringLiteral("Save"));
        QVERIFY(!save->isEnabled());
        QTest::keyClicks(editor, QStringLiteral("Be brief & kind."));
        save->click();
        QCOMPARE(head->text(), QStringLiteral("System prompt (this chat's): Be brief && kind."));
        QCOMPARE(m_chat->session->settings().systemPrompt, QStringLiteral("Be brief & kind."));
        QTest::keyClick(editor, Qt::Key_Escape);
        QVERIFY(!panel->isVisible());
        converse("hello");
        QCOMPARE(m_chat->engine->lastSent<SubmitPrompt>()->messages[0].content,
                 std::string("Be brief & kind."));
        m_chat->session->setSettingsAt(SettingsPlace::Chat, {QString(2000, u'x'), {}, {}});
        QVERIFY(head->text().endsWith(u'\u2026'));
        QVERIFY(m_view->minimumSizeHint().width() < 800);
    }

    void inALowWindowTheFieldsScrollInsteadOfCoveringEachOther() {
        m_chat->loadModel();
        m_theme.setTextPercent(150);
        m_view->resize(640, 380);
        m_view->showAnswerSettings();
        QCoreApplication::processEvents();
        auto* panel = m_view->findChild<AnswerSettingsPanel*>();
        QVERIFY(panel->height() <= m_view->height() / 2);
        for (const QWidget* field :
             std::initializer_list<QWidget*>{panel->findChild<QComboBox*>(),
                                             panel->findChild<QSpinBox*>(),
                                             buttonNamed(*panel, QStringLiteral("Save"))})
            QVERIFY(field->height() >= field->minimumSizeHint().height());
        const QAbstractButton* close = buttonNamed(*panel, QStringLiteral("Close"));
        for (int stop = 0; stop < 8 && !close->hasFocus(); ++stop)
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QVERIFY(close->hasFocus());
        QVERIFY(panel->verticalScrollBar()->value() > 0);
    }

    void aWiderPlaceIsShownUntilTheChatHasItsOwn() {
        m_chat->loadModel();
        auto* panel = m_view->findChild<AnswerSettingsPanel*>();
        m_view->showAnswerSettings();
        auto* place = panel->findChild<QComboBox*>();
        auto* editor = panel->findChild<QPlainTextEdit*>();
        auto* longest = panel->findChild<QSpinBox*>();
        QAbstractButton* save = buttonNamed(*panel, QStringLiteral("Save"));
        place->setCurrentIndex(2);
        editor->setPlainText(QStringLiteral("For all."));
        longest->setValue(1);
        QCOMPARE(longest->text(), QStringLiteral("1 token"));
        longest->setValue(77);
        QCOMPARE(longest->text(), QStringLiteral("77 tokens"));
        save->click();
        place->setCurrentIndex(0);
        QCOMPARE(editor->toPlainText(), QStringLiteral("For all."));
        QCOMPARE(longest->value(), 77);
        QVERIFY(!save->isEnabled());
        panel->findChildren<QPlainTextEdit*>().last()->setPlainText(QStringLiteral("END\n\\n\\n"));
        save->click();
        const ResolvedAnswerSettings settings = m_chat->session->settings();
        QCOMPARE(settings.systemPrompt, QStringLiteral("For all."));
        QCOMPARE(settings.stopStrings,
                 (QStringList{QStringLiteral("END"), QStringLiteral("\n\n")}));
        QVERIFY(!m_chat->session->settingsAt(SettingsPlace::Chat).systemPrompt);
        buttonNamed(*panel, QStringLiteral("Use the wider settings"))->click();
        QVERIFY(m_chat->session->settings().stopStrings.isEmpty());
    }

    void withoutAModelNothingIsSavedForItAndWhatIsTypedWaits() {
        m_view->showAnswerSettings();
        auto* panel = m_view->findChild<AnswerSettingsPanel*>();
        auto* place = panel->findChild<QComboBox*>();
        auto* editor = panel->findChild<QPlainTextEdit*>();
        QAbstractButton* save = buttonNamed(*panel, QStringLiteral("Save"));
        place->setCurrentIndex(1);
        editor->setPlainText(QStringLiteral("For the model."));
        QVERIFY(!save->isEnabled());
        QCOMPARE(save->toolTip(), QStringLiteral("Load a model first."));
        place->setCurrentIndex(0);
        QVERIFY(save->toolTip().isEmpty());
        place->setCurrentIndex(1);
        QCOMPARE(editor->toPlainText(), QStringLiteral("For the model."));
        ModelLoaded loaded = loadedModel(4, 1000);
        loaded.model.name = "Tiny";
        m_chat->engine->say(loaded);
        m_chat->bridge->tick();
        QCOMPARE(editor->toPlainText(), QStringLiteral("For the model."));
        QVERIFY(save->toolTip().isEmpty());
        save->click();
        QCOMPARE(m_chat->session->settings().systemPrompt, QStringLiteral("For the model."));
    }

    void whatIsTypedAndNotSavedStaysWithItsChat() {
        m_chat->loadModel();
        converse("first");
        const ChatId first = m_chat->session->chat().record.id;
        m_view->showAnswerSettings();
        auto* panel = m_view->findChild<AnswerSettingsPanel*>();
        auto* place = panel->findChild<QComboBox*>();
        auto* editor = panel->findChild<QPlainTextEdit*>();
        editor->setPlainText(QStringLiteral("for the first"));
        place->setCurrentIndex(2);
        QCOMPARE(editor->toPlainText(), QString());
        editor->setPlainText(QStringLiteral("for all"));
        place->setCurrentIndex(0);
        m_chat->session->newChat();
        QCOMPARE(editor->toPlainText(), QString());
        editor->setPlainText(QStringLiteral("for the second"));
        converse("second"); // the new chat begins, and keeps what was typed for it
        QCOMPARE(editor->toPlainText(), QStringLiteral("for the second"));
        buttonNamed(*panel, QStringLiteral("Save"))->click();
        QCOMPARE(m_chat->session->settings().systemPrompt, QStringLiteral("for the second"));
        m_chat->session->openChat(first);
        QTRY_COMPARE(m_chat->session->chat().record.id, first);
        QCOMPARE(editor->toPlainText(), QStringLiteral("for the first"));
        QVERIFY(m_chat->session->settings().systemPrompt.isEmpty());
        place->setCurrentIndex(2);
        QCOMPARE(editor->toPlainText(), QStringLiteral("for all"));
    }

    void aBranchInANewChatTakesNothingThatWasTypedForAnother() {
        m_chat->loadModel();
        converse("first");
        const ChatId first = m_chat->session->chat().record.id;
        m_view->showAnswerSettings();
        auto* editor = m_view->findChild<AnswerSettingsPanel*>()->findChild<QPlainTextEdit*>();
        m_chat->session->newChat();
        editor->setPlainText(QStringLiteral("for the new chat"));
        m_chat->session->openChat(first);
        QTRY_COMPARE(m_chat->session->chat().record.id, first);
        editor->setPlainText(QStringLiteral("for the first"));
        m_chat->session->branchIntoNewChat(m_chat->session->branch().last().id);
        QCOMPARE(editor->toPlainText(), QString());
        m_chat->session->newChat();
        QCOMPARE(editor->toPlainText(), QStringLiteral("for the new chat"));
    }

    void aSystemPromptTooLongIsSaidWhereItIsWritten() {
        m_chat->loadModel();
        m_view->showAnswerSettings();
        auto* panel = m_view->findChild<AnswerSettingsPanel*>();
        panel->findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("long"));
        QTRY_VERIFY(m_chat->engine->lastSent<CountTokens>() != nullptr);
        const auto* asked = m_chat->engine->lastSent<CountTokens>();
        m_chat->engine->say(TokensCounted{asked->requestId, 2000, {}, 1000});
        m_chat->bridge->tick();
        QVERIFY(shownWords(*panel).contains(QStringLiteral("2,000 tokens")));
        QCOMPARE(panel->findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("long"));
    }
};

QTEST_MAIN(AnswerSettingsTest)
#include "answer_settings_test.moc"
