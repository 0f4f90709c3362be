// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/chat/panels/tasks_dialog.h"

#include <QAbstractButton>
#include <QLineEdit>
#include <QTableWidget>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

/// The list of recognised tasks, and what is asked of the engine.
class TasksDialogTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<TasksDialog> m_dialog;

    void open(const QString& selected = {}) {
        m_dialog = std::make_unique<TasksDialog>(m_stage->theme, m_stage->bridge, selected);
        m_dialog->show();
        QVERIFY(QTest::qWaitForWindowActive(m_dialog.get(), support::kPatienceMs));
    }

    QTableWidget& table() { return *m_dialog->findChild<QTableWidget*>(); }

    /// The reply to the newest command, whichever of the three it was.
    void reply(std::vector<TaskSummary> tasks, const std::string& note = {}) {
        const EngineCommand& asked = m_stage->engine->sent.back();
        std::uint64_t id = 0;
        if (const auto* list = std::get_if<ListTasks>(&asked))
            id = list->requestId;
        else if (const auto* rename = std::get_if<RenameTask>(&asked))
            id = rename->requestId;
        else if (const auto* forget = std::get_if<ForgetTask>(&asked))
            id = forget->requestId;
        m_stage->tell(TasksListed{id, std::move(tasks), note});
    }

    QAbstractButton& button(const char* text) {
        return *buttonNamed(*m_dialog, QString::fromLatin1(text));
    }

    bool isSaid(const QString& words) const { return shownWords(*m_dialog).contains(words); }

    /// As a user does it who has the keyboard in the list.
    void type(const QString& name) {
        table().setFocus();
        QTest::keyClick(&table(), Qt::Key_F2);
        auto* field = table().findChild<QLineEdit*>();
        QVERIFY(field != nullptr);
        field->setText(name);
        QTest::keyClick(field, Qt::Key_Return);
        QCoreApplication::processEvents(); // a list takes what was typed behind its key
    }

    static std::vector<TaskSummary> twoTasks() {
        return {{"Sum up this", 12, 1'790'000'000}, {"Write Python", 1, 1'790'000'000}};
    }

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void cleanup() {
        m_dialog.reset();
        m_stage.reset();
    }

    void theTasksAreListedAndTheAskedOneIsChosen() {
        open(QStringLiteral("Write Python"));
        QVERIFY(m_stage->engine->lastSent<ListTasks>() != nullptr);
        QVERIFY(isSaid(QStringLiteral("No task is known")));
        reply(twoTasks());
        QVERIFY(!isSaid(QStringLiteral("No task is known")));
        QCOMPARE(table().rowCount(), 2);
        QCOMPARE(table().item(0, 0)->text(), QStringLiteral("Sum up this"));
        QCOMPARE(table().item(0, 1)->text(), QStringLiteral("12"));
        QCOMPARE(table().currentRow(), 1);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&table()));
        QCOMPARE(namelessWidgets(*m_dialog).join(QLatin1Char('\n')), QString());
    }

    void theTipOfATaskIsItsNameAsItIs() {
        open();
        reply({{"\"Sum\" <b>up</b> & go", 12, 1'790'000'000}});
        QCOMPARE(shownTip(table().item(0, 0)->toolTip()), table().item(0, 0)->text());
    }

    void aNameThatIsTypedIsAskedForAndCanBeTakenBack() {
        open();
        reply(twoTasks());
        type(QStringLiteral(" summaries "));
        const auto* asked = m_stage->engine->lastSent<RenameTask>();
        QVERIFY(asked != nullptr);
        QCOMPARE(asked->task, std::string("Sum up this"));
        QCOMPARE(asked->name, std::string("summaries"));
        QVERIFY(m_dialog->isVisible()); // the key did not close it
        reply({{"Write Python", 1, 1'790'000'000}, {"summaries", 12, 1'790'000'000}});
        QVERIFY(isSaid(QStringLiteral("is called")));
        QCOMPARE(table().currentRow(), 1);
        button("Undo").click();
        QCOMPARE(m_stage->engine->lastSent<RenameTask>()->task, std::string("summaries"));
        QCOMPARE(m_stage->engine->lastSent<RenameTask>()->name, std::string("Sum up this"));
    }

    void aNameThatAnotherTaskHasIsAskedAboutFirst() {
        open();
        reply(twoTasks());
        type(QStringLiteral("Write Python"));
        QVERIFY(m_stage->engine->lastSent<RenameTask>() == nullptr);
        QVERIFY(isSaid(QStringLiteral("become one")));
        QCOMPARE(table().item(0, 0)->text(), QStringLiteral("Sum up this"));
        button("Make them one").click();
        QCOMPARE(m_stage->engine->lastSent<RenameTask>()->name, std::string("Write Python"));
        reply({{"Write Python", 13, 1'790'000'000}});
        // Nothing tells them apart any more.
        QVERIFY(buttonNamed(*m_dialog, QStringLiteral("Undo")) == nullptr);
    }

    void anEmptyNameChangesNothing() {
        open();
        reply(twoTasks());
        type(QStringLiteral("  "));
        QVERIFY(m_stage->engine->lastSent<RenameTask>() == nullptr);
        QCOMPARE(table().item(0, 0)->text(), QStringLiteral("Sum up this"));
    }

    void aTaskIsForgottenAfterAQuestion() {
        open();
        reply(twoTasks());
        table().setFocus();
        QTest::keyClick(&table(), Qt::Key_Delete);
        QVERIFY(isSaid(QStringLiteral("Forget the 12 prompts of \u201CSum up this\u201D?")));
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&button("Keep it")));
        button("Keep it").click();
        QVERIFY(!isSaid(QStringLiteral("Forget the 12 prompts")));
        QVERIFY(m_stage->engine->lastSent<ForgetTask>() == nullptr);
        button("Forget the task...").click();
        button("Forget").click();
        QCOMPARE(m_stage->engine->lastSent<ForgetTask>()->task, std::string("Sum up this"));
        reply({{"Write Python", 1, 1'790'000'000}});
        QVERIFY(isSaid(QStringLiteral("is forgotten")));
        QCOMPARE(table().rowCount(), 1);
    }

    void whatTheEngineRefusesIsSaidAndTheOldNameIsBack() {
        open();
        reply(twoTasks());
        type(QStringLiteral("another"));
        m_stage->tell(
            failedTask("rename_task", {ErrorCode::Io, "The disk is full.", "Free some."}));
        QVERIFY(isSaid(QStringLiteral("The disk is full.")));
        QCOMPARE(table().item(0, 0)->text(), QStringLiteral("Sum up this"));
    }

    /// Also while a name is typed: nothing of it is lost.
    void anAnswerThatEndsBringsTheListUpToDate() {
        open();
        reply(twoTasks());
        const std::size_t before = m_stage->engine->sent.size();
        m_stage->tell(promptFinished(1));
        QCOMPARE(m_stage->engine->sent.size(), before + 1);
        reply(twoTasks());
        table().setFocus();
        QTest::keyClick(&table(), Qt::Key_F2);
        table().findChild<QLineEdit*>()->setText(QStringLiteral("half a na"));
        m_stage->tell(promptFinished(2));
        QCOMPARE(m_stage->engine->sent.size(), before + 1);
        QCOMPARE(table().findChild<QLineEdit*>()->text(), QStringLiteral("half a na"));
    }
};

QTEST_MAIN(TasksDialogTest)
#include "tasks_dialog_test.moc"
