// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/stored_messages.h"
#include "ui/views/chat/panels/context_panel.h"
#include "ui/views/chat/panels/prompts_dialog.h"
#include "ui/views/chat/panels/start_panel.h"

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace support;
using namespace ui;

/// The panel of a full context, and the page of an empty chat.
class ChatPanelsTest : public QObject {
    Q_OBJECT

    Theme m_theme;

    static ContextQuestion question(int oldest, int middle) {
        ContextQuestion asked;
        asked.usedTokens = 8190;
        asked.contextLength = 8192;
        asked.leaf = 5;
        asked.dropOldest = {{false, false, true}, oldest, 1200, 100, oldest > 0};
        asked.cutMiddle = {{true, false, true}, middle, 300, 100, middle > 0};
        return asked;
    }

    static QRadioButton* choice(const ContextPanel& panel, const char* begin) {
        for (QRadioButton* button : panel.findChildren<QRadioButton*>())
            if (button->text().startsWith(QLatin1String(begin)))
                return button;
        return nullptr;
    }

    static void go(const ContextPanel& panel) {
        buttonNamed(panel, QStringLiteral("Continue"))->click();
    }

private slots:

    void theChoicesSayWhatTheyLeaveOut() {
        ContextPanel panel(m_theme);
        panel.ask(question(2, 1));
        QVERIFY(shownWords(panel).contains(QStringLiteral("8,190 of 8,192 tokens")));
        QVERIFY(choice(panel, "Drop")->text().endsWith(QStringLiteral("2 messages, 1,200 tokens")));
        QVERIFY(choice(panel, "Cut")->text().endsWith(QStringLiteral("1 message, 300 tokens")));
        QVERIFY(choice(panel, "Continue in")->isChecked());
        ContextQuestion asked = question(2, 1);
        asked.cutMiddle.droppedTokens = 1;
        panel.ask(asked);
        QVERIFY(choice(panel, "Cut")->text().endsWith(QStringLiteral("1 message, 1 token")));
    }

    void theChoiceIsToldWhenTheUserGoesOn_data() {
        QTest::addColumn<QByteArray>("begin");
        QTest::addColumn<engine::ContextPolicy>("policy");
        QTest::newRow("oldest") << QByteArray("Drop") << engine::ContextPolicy::DropOldest;
        QTest::newRow("middle") << QByteArray("Cut") << engine::ContextPolicy::CutMiddle;
    }

    void theChoiceIsToldWhenTheUserGoesOn() {
        QFETCH(QByteArray, begin);
        QFETCH(engine::ContextPolicy, policy);
        ContextPanel panel(m_theme);
        panel.ask(question(2, 1));
        int count = 0;
        connect(&panel, &ContextPanel::chosen, this, [&](engine::ContextPolicy chosen) {
            ++count;
            QCOMPARE(chosen, policy);
        });
        choice(panel, begin.constData())->click();
        go(panel);
        QCOMPARE(count, 1);
    }

    void aNewChatIsAChoiceOfItsOwn() {
        ContextPanel panel(m_theme);
        panel.ask(question(2, 1));
        QSignalSpy asked(&panel, &ContextPanel::newChatChosen);
        QSignalSpy chosen(&panel, &ContextPanel::chosen);
        choice(panel, "Continue in")->click();
        go(panel);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(chosen.count(), 0);
    }

    void askingTheSameAgainKeepsTheUsersChoice() {
        ContextPanel panel(m_theme);
        panel.ask(question(2, 1));
        choice(panel, "Cut")->click();
        panel.ask(question(2, 1));
        QVERIFY(choice(panel, "Cut")->isChecked());
    }

    void whatWouldNotBeEnoughCannotBeChosen() {
        ContextPanel panel(m_theme);
        panel.ask(question(2, 0));
        QVERIFY(!choice(panel, "Cut")->isEnabled());
        QVERIFY(choice(panel, "Cut")->text().contains(QStringLiteral("would not free enough")));
        QVERIFY(choice(panel, "Drop")->isEnabled());
        panel.ask(question(0, 1));
        QVERIFY(choice(panel, "Cut")->isEnabled());
        QVERIFY(choice(panel, "Cut")->isChecked());
        QVERIFY(!choice(panel, "Drop")->isEnabled());
        panel.ask(question(0, 0));
        QVERIFY(!buttonNamed(panel, QStringLiteral("Continue"))->isEnabled());
        QVERIFY(buttonNamed(panel, QStringLiteral("Write a shorter message"))->isEnabled());
    }

    /// The question comes unasked: a window on a small screen must not grow by it.
    void theQuestionIsWholeInANarrowChatWithLargeText() {
        m_theme.setTextPercent(150);
        {
            ContextPanel panel(m_theme);
            panel.ask(question(200, 100));
            const int width = m_theme.scaled(420);
            QVERIFY2(panel.minimumSizeHint().width() <= width,
                     qPrintable(QString::number(panel.minimumSizeHint().width())));
            panel.resize(width, panel.heightForWidth(width));
            panel.show();
            for (int turn = 0; turn < 4; ++turn)
                QCoreApplication::processEvents();
            for (const QWidget* part : panel.findChildren<QWidget*>())
                if (part->hasHeightForWidth())
                    QVERIFY2(part->height() >= part->heightForWidth(part->width()),
                             qPrintable(part->accessibleName()));
        }
        m_theme.setTextPercent(100);
    }

    void theQuestionCanBeLeft() {
        ContextPanel panel(m_theme);
        panel.ask(question(2, 1));
        QSignalSpy dismissed(&panel, &ContextPanel::dismissed);
        buttonNamed(panel, QStringLiteral("Write a shorter message"))->click();
        QCOMPARE(dismissed.count(), 1);
        panel.setBusy(true);
        QVERIFY(!buttonNamed(panel, QStringLiteral("Continue"))->isEnabled());
        QCOMPARE(namelessWidgets(panel).join(QLatin1Char('\n')), QString());
    }

    void promptsAreWrittenInsertedAndDeletedWithUndo() {
        const QTemporaryDir folder;
        PromptList prompts(folder.filePath(QStringLiteral("prompts.json")));
        prompts.add({QStringLiteral("B"), QStringLiteral("second")});
        PromptsDialog dialog(m_theme, prompts);
        dialog.show();
        const auto press = [&](const char* name) {
            buttonNamed(dialog, QLatin1String(name))->click();
        };
        auto* text = dialog.findChild<QPlainTextEdit*>();
        QCOMPARE(text->toPlainText(), QStringLiteral("second"));
        press("New prompt");
        text->setPlainText(QStringLiteral("a first one"));
        press("Save");
        QCOMPARE(prompts.prompts().first().title, QStringLiteral("a first one"));
        text->setPlainText(QStringLiteral("changed"));
        press("Save");
        QCOMPARE(prompts.prompts().first().text, QStringLiteral("changed"));
        press("Delete");
        QCOMPARE(prompts.prompts().size(), 1);
        press("Undo");
        QCOMPARE(prompts.prompts().size(), 2);
        QCOMPARE(text->toPlainText(), QStringLiteral("changed"));
        QSignalSpy inserted(&dialog, &PromptsDialog::insertAsked);
        press("Insert");
        QCOMPARE(inserted[0][0].toString(), QStringLiteral("changed"));
        QVERIFY(!dialog.isVisible());
        QCOMPARE(namelessWidgets(dialog).join(QLatin1Char('\n')), QString());
    }

    void theTipOfAPromptIsItsTextAsItIs() {
        const QTemporaryDir folder;
        PromptList prompts(folder.filePath(QStringLiteral("prompts.json")));
        const QString words = QStringLiteral("Say \"yes\" & explain:\n<b>why</b>");
        prompts.add({QStringLiteral("A"), words});
        const PromptsDialog dialog(m_theme, prompts);
        QCOMPARE(shownTip(dialog.findChild<QListWidget*>()->item(0)->toolTip()), words);
    }

    void whatIsWrittenIntoAPromptIsKeptWhenTheDialogIsClosed() {
        const QTemporaryDir folder;
        PromptList prompts(folder.filePath(QStringLiteral("prompts.json")));
        PromptsDialog dialog(m_theme, prompts);
        // With no prompt to choose one is begun.
        QVERIFY(dialog.focusWidget() == dialog.findChild<QLineEdit*>());
        dialog.findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("not saved yet"));
        dialog.reject();
        QCOMPARE(prompts.prompts().size(), 1);
    }

    void whatIsWrittenIntoAPromptIsKeptWhenAnotherOneIsChosenOrBegun() {
        const QTemporaryDir folder;
        PromptList prompts(folder.filePath(QStringLiteral("prompts.json")));
        prompts.add({QStringLiteral("A"), QStringLiteral("first")});
        prompts.add({QStringLiteral("B"), QStringLiteral("second")});
        PromptsDialog dialog(m_theme, prompts);
        dialog.show();
        auto* list = dialog.findChild<QListWidget*>();
        auto* text = dialog.findChild<QPlainTextEdit*>();
        text->setPlainText(QStringLiteral("changed"));
        dialog.findChild<QLineEdit*>()->setText(QStringLiteral("C"));
        QTest::mouseClick(
            list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(1)).center());
        QCoreApplication::processEvents();
        QCOMPARE(text->toPlainText(), QStringLiteral("second"));
        QCOMPARE(list->selectedItems(), QList<QListWidgetItem*>{list->item(0)}); // sorted anew
        QCOMPARE(list->item(0)->text(), QStringLiteral("B"));
        const SavedPrompt kept{QStringLiteral("C"), QStringLiteral("changed")};
        QCOMPARE(prompts.prompts().size(), 2);
        QVERIFY(prompts.prompts().last() == kept);
        text->setPlainText(QStringLiteral("second, too"));
        buttonNamed(dialog, QStringLiteral("New prompt"))->click();
        QCOMPARE(text->toPlainText(), QString());
        QCOMPARE(prompts.prompts().first().text, QStringLiteral("second, too"));
        text->setPlainText(QStringLiteral("deleted with its changes"));
        buttonNamed(dialog, QStringLiteral("Save"))->click();
        text->setPlainText(QStringLiteral("changes"));
        buttonNamed(dialog, QStringLiteral("Delete"))->click();
        QCOMPARE(text->toPlainText(), QString());
        QCOMPARE(prompts.prompts().size(), 2);
    }

    void promptsThatTheDiskRefusesStayInTheDialogUntilItIsClosedTwice() {
        const QTemporaryDir folder;
        const QString place = folder.filePath(QStringLiteral("place"));
        PromptList prompts(place + QStringLiteral("/prompts.json"));
        prompts.add({QStringLiteral("A"), QStringLiteral("first")});
        prompts.add({QStringLiteral("B"), QStringLiteral("second")});
        QVERIFY(QDir(place).removeRecursively());
        support::writeFile(place, "in the way");
        PromptsDialog dialog(m_theme, prompts);
        dialog.show();
        auto* list = dialog.findChild<QListWidget*>();
        auto* text = dialog.findChild<QPlainTextEdit*>();
        const QString words = QStringLiteral("changed");
        text->setPlainText(words);
        list->setCurrentRow(1);
        QCoreApplication::processEvents();
        QCOMPARE(text->toPlainText(), words);
        QCOMPARE(list->currentRow(), 0);
        QVERIFY(shownWords(dialog).contains(QStringLiteral("Your prompts cannot be written")));
        buttonNamed(dialog, QStringLiteral("New prompt"))->click();
        QCOMPARE(text->toPlainText(), words);
        QSignalSpy inserted(&dialog, &PromptsDialog::insertAsked);
        buttonNamed(dialog, QStringLiteral("Insert"))->click();
        QVERIFY(dialog.isVisible());
        QCOMPARE(inserted.count(), 0);
        QVERIFY(shownWords(dialog).contains(QStringLiteral("Close again")));
        buttonNamed(dialog, QStringLiteral("Insert"))->click();
        QVERIFY(!dialog.isVisible());
        QCOMPARE(inserted.count(), 1);
        QCOMPARE(prompts.prompts().first().text, QStringLiteral("first"));
    }

    void threeExamplesSendTheirWords() {
        StartPanel panel(m_theme);
        panel.setState(QStringLiteral("Ready."), true);
        QSignalSpy chosen(&panel, &StartPanel::promptChosen);
        auto buttons = panel.findChildren<QAbstractButton*>();
        buttons.removeOne(&panel.lessonButton());
        QCOMPARE(buttons.size(), 3);
        for (QAbstractButton* button : buttons)
            QTest::keyClick(button, Qt::Key_Space);
        QCOMPARE(chosen.count(), 3);
        for (int i = 0; i < 3; ++i)
            QVERIFY(buttons[i]->accessibleName().contains(chosen[i][0].toString()));
        panel.setState(QStringLiteral("<b>Load a model.</b>"), false);
        for (QAbstractButton* button : buttons)
            QVERIFY(!button->isEnabled());
    }

    void theFirstLessonIsOfferedWhereThereAreLessons() {
        StartPanel panel(m_theme);
        panel.show();
        QVERIFY(!panel.lessonButton().isVisible());
        panel.setHasLessons(true);
        panel.setState(QStringLiteral("No model."), false);
        QVERIFY(panel.lessonButton().isVisible() && panel.lessonButton().isEnabled());
        QSignalSpy asked(&panel, &StartPanel::firstLessonAsked);
        QTest::keyClick(&panel.lessonButton(), Qt::Key_Space);
        QCOMPARE(asked.count(), 1);
    }

    void examplesShowAllTheirWords_data() {
        QTest::addColumn<int>("percent");
        QTest::addColumn<int>("width");
        QTest::newRow("usual") << 100 << 440;
        QTest::newRow("large text in a wide chat") << 200 << 900;
        QTest::newRow("large text in a narrow chat") << 200 << 460;
    }

    void examplesShowAllTheirWords() {
        QFETCH(int, percent);
        QFETCH(int, width);
        StartPanel panel(m_theme);
        panel.setState(QStringLiteral("Ready."), true);
        panel.setHasLessons(true);
        m_theme.setTextPercent(percent); // while it is shown
        panel.resize(width, 1200);
        panel.show();
        for (int turn = 0; turn < 4; ++turn)
            QCoreApplication::processEvents();
        QCOMPARE(panel.width(), std::min(width, m_theme.scaled(440)));
        for (const QAbstractButton* button : panel.findChildren<QAbstractButton*>())
            for (const QLabel* label : button->findChildren<QLabel*>()) {
                if (label->text().isEmpty())
                    continue;
                QVERIFY2(button->rect().contains(label->geometry()), qPrintable(label->text()));
                QVERIFY2(label->width() >= label->minimumSizeHint().width(),
                         qPrintable(label->text()));
                const QRect words =
                    label->fontMetrics().boundingRect(QRect(0, 0, label->width(), 10'000),
                                                      label->wordWrap() ? Qt::TextWordWrap : 0,
                                                      label->text());
                QVERIFY2(words.width() <= label->width() && words.height() <= label->height(),
                         qPrintable(label->text()));
            }
        m_theme.setTextPercent(100);
    }
};

QTEST_MAIN(ChatPanelsTest)
#include "chat_panels_test.moc"
