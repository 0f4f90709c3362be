// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/support/studio_stage.h"
#include "ui/shell/commands/command_search.h"
#include "ui/shell/commands/shortcut_list.h"
#include "ui/shell/docks/view_menu.h"
#include "ui/studio/program/single_instance.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chats/chats_panel.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/models/model_panel.h"

#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QInputDialog>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QUndoCommand>
#include <QWheelEvent>
#include <QXmlStreamReader>

#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// The whole window: what can be done in it.
class StudioTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isSpoilt = false; ///< the next function needs another window

    MainWindow& window() { return m_stage->studio->window(); }

    void trigger(const char* id) {
        QAction* action = m_stage->action(id);
        QVERIFY2(action->isEnabled(), id);
        action->trigger();
    }

    void runFound(const char* words) {
        trigger("app.search");
        QTRY_VERIFY(window().findChild<CommandSearch*>() != nullptr);
        auto* field = window().findChild<CommandSearch*>()->findChild<QLineEdit*>();
        QTest::keyClicks(field, QLatin1String(words));
        QTest::keyClick(field, Qt::Key_Return);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }

    /// Closes the dialog of this kind; whether there was one.
    template <typename Dialog> bool closeDialog() {
        auto* dialog = window().findChild<Dialog*>();
        if (dialog == nullptr)
            return false;
        dialog->setAttribute(Qt::WA_DeleteOnClose, false);
        dialog->close();
        delete dialog;
        return true;
    }

private slots:

    void init() {
        if (m_stage == nullptr) {
            m_stage = std::make_unique<StudioStage>();
            m_stage->open();
        } else {
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
            window().showWorkspace(0);
            m_stage->settle();
            window().activateWindow();
        }
        QVERIFY(QTest::qWaitForWindowActive(&window(), support::kPatienceMs));
    }

    void cleanup() {
        if (std::exchange(m_isSpoilt, false) || QTest::currentTestFailed())
            m_stage.reset();
    }

    void theRecordActionSaysWhetherItRecords() {
        m_stage->say(RecordingStarted{"/tmp/r.swiftrun"});
        m_stage->settle();
        QVERIFY(m_stage->action("run.record")->text().contains(QStringLiteral("top")));
        trigger("run.record");
        QVERIFY(m_stage->engine->lastSent<StopRecording>() != nullptr);
        m_stage->say(RecordingStopped{"/tmp/r.swiftrun", std::nullopt});
        m_stage->settle();
        QVERIFY(m_stage->action("run.record")->text().startsWith(QStringLiteral("&Record")));
    }

    void undoAndRedoAreAmongTheActions() {
        QVERIFY(!m_stage->action("edit.undo")->isEnabled());
        m_stage->studio->undoStack().push(new QUndoCommand(QStringLiteral("a change")));
        QVERIFY(m_stage->action("edit.undo")->text().contains(QStringLiteral("a change")));
        QWidget* dock = window().currentWorkspace()->docks().front();
        QTest::keyClick(dock, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!m_stage->studio->undoStack().canUndo());
        trigger("edit.redo");
        QVERIFY(m_stage->studio->undoStack().canUndo());
        m_stage->studio->undoStack().clear();
    }

    void theKeyboardGoesToTheMessageWhenItsNoticeGoes() {
        window().messages().show({Notice::Kind::Info,
                                  QStringLiteral("test"),
                                  QStringLiteral("A notice."),
                                  {},
                                  {},
                                  {{QStringLiteral("Do it"), [] {}, true}}});
        for (QPushButton* button : window().messages().findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Do it")) {
                button->setFocus();
                QTest::keyClick(button, Qt::Key_Space);
            }
        QVERIFY(window().messages().notices().empty());
        QVERIFY(m_stage->studio->chatView().input().textField()->hasFocus());
    }

    void whatCannotBeDoneIsOff() {
        for (const char* id : {"run.stop",
                               "run.regenerate",
                               "chat.copy_last",
                               "chat.rename",
                               "chat.export",
                               "model.unload"})
            QVERIFY2(!m_stage->action(id)->isEnabled(), id);
        m_stage->loadModel();
        QVERIFY(m_stage->action("model.unload")->isEnabled());
        m_stage->beginAnswer();
        QVERIFY(m_stage->action("run.stop")->isEnabled());
        QVERIFY(!m_stage->action("run.regenerate")->isEnabled());
        QVERIFY(m_stage->action("chat.rename")->isEnabled());
        QVERIFY(m_stage->action("chat.export")->isEnabled());
        m_stage->finishAnswer();
        QVERIFY(!m_stage->action("run.stop")->isEnabled());
        QVERIFY(m_stage->action("run.regenerate")->isEnabled());
        QVERIFY(m_stage->action("chat.copy_last")->isEnabled());
        m_stage->say(ModelUnloaded{});
        m_stage->settle();
        QVERIFY(!m_stage->action("run.regenerate")->isEnabled());
        QVERIFY(!m_stage->action("model.unload")->isEnabled());
        trigger("chat.new");
        QVERIFY(!m_stage->action("chat.copy_last")->isEnabled());
        QVERIFY(!m_stage->action("chat.export")->isEnabled());
    }

    void loadingCanBeStopped() {
        m_stage->say(ModelLoadProgress{"/models/a.gguf", "weights", 0.5});
        m_stage->settle();
        trigger("run.stop");
        QVERIFY(m_stage->engine->lastSent<StopLoading>() != nullptr);
        m_isSpoilt = true;
    }

    void theWheelOverALoadOptionScrollsAndChangesNothing() {
        trigger("model.choose");
        auto* panel = window().findChild<ModelPanel*>();
        panel->propose(QStringLiteral("/models/tiny.gguf"));
        for (QPushButton* button : panel->findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Load options"))
                button->setChecked(true);
        m_stage->settle();
        int tried = 0;
        for (QWidget* control : panel->findChildren<QWidget*>()) {
            auto* box = qobject_cast<QComboBox*>(control);
            auto* spin = qobject_cast<QSpinBox*>(control);
            if (!control->isVisible() || (box == nullptr && spin == nullptr))
                continue;
            ++tried;
            control->setFocus();
            const int before = box != nullptr ? box->currentIndex() : spin->value();
            const QPointF middle = control->rect().center();
            for (const int angle : {-120, 120}) {
                QWheelEvent wheel(middle,
                                  control->mapToGlobal(middle),
                                  {},
                                  {0, angle},
                                  Qt::NoButton,
                                  Qt::NoModifier,
                                  Qt::NoScrollPhase,
                                  false);
                QApplication::sendEvent(control, &wheel);
                QCOMPARE(box != nullptr ? box->currentIndex() : spin->value(), before);
            }
        }
        QVERIFY(tried >= 5);
    }

    void theKeyboardGoesToTheMessageOnceAModelIsLoaded() {
        trigger("model.choose");
        auto* panel = window().findChild<ModelPanel*>();
        panel->propose(QStringLiteral("/models/tiny.gguf"));
        panel->load();
        QVERIFY(panel->isAncestorOf(QApplication::focusWidget()));
        m_stage->loadModel();
        QVERIFY(m_stage->studio->chatView().input().textField()->hasFocus());
    }

    void aDecoderThatIsRefusedIsToldOnceAndOnlyUntilAnotherIsChosen() {
        m_stage->loadModel();
        auto* parameters = window().findChild<ParametersView*>();
        parameters->chooseDecoder("vanilla");
        m_stage->say(failedTask("choose_decoder", {ErrorCode::Unsupported, "Not here.", "Look."}));
        m_stage->settle();
        QCOMPARE(m_stage->notice("choose_decoder")->headline, QStringLiteral("Not here."));
        QCOMPARE(parameters->presets().problem(), QString());
        m_stage->say(DecoderChosen{vanillaDecoder(), {}});
        m_stage->settle();
        QVERIFY(m_stage->notice("choose_decoder") == nullptr);
    }

    void aChatIsExportedUnderANameMadeFromItsTitle() {
        m_stage->loadModel();
        m_stage->answer();
        trigger("chat.rename");
        auto* rename = window().findChild<QInputDialog*>();
        emit rename->textValueSelected(QStringLiteral("Rain: what, and when/where?"));
        QTRY_VERIFY(m_stage->studio->session().chat().record.title.startsWith(u'R'));
        QVERIFY(closeDialog<QInputDialog>());
        trigger("chat.export");
        auto* dialog = window().findChild<QFileDialog*>();
        QCOMPARE(QFileInfo(dialog->selectedFiles().value(0)).fileName(),
                 QStringLiteral("Rain what and when where.md"));
        const QString path = m_stage->folder.filePath(QStringLiteral("out.json"));
        emit dialog->fileSelected(path);
        QTRY_VERIFY(m_stage->notice("export") != nullptr);
        QCOMPARE(m_stage->notice("export")->sentence, path);
        emit dialog->fileSelected(m_stage->folder.filePath(QStringLiteral("none/out.md")));
        QTRY_VERIFY(m_stage->notice("export")->kind == Notice::Kind::Error);
        QVERIFY(closeDialog<QFileDialog>());
    }

    void actionsOfTheChatDoWhatTheySay() {
        m_stage->loadModel();
        m_stage->answer();
        trigger("chat.copy_last");
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("one two three four"));
        ChatView& chat = m_stage->studio->chatView();
        const bool before = chat.showsOrigin();
        trigger("chat.origin");
        QCOMPARE(chat.showsOrigin(), !before);
        QTest::keyClick(&window(), Qt::Key_H, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(chat.showsOrigin(), before);
        trigger("chat.rename");
        emit window().findChild<QInputDialog*>()->textValueSelected(QStringLiteral("  named  "));
        QTRY_COMPARE(m_stage->studio->session().chat().record.title, QStringLiteral("named"));
        QVERIFY(closeDialog<QInputDialog>());
        window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window(), support::kPatienceMs));
        m_stage->engine->sent.clear();
        trigger("run.regenerate");
        QVERIFY(m_stage->engine->lastSent<SubmitPrompt>() != nullptr);
        trigger("chat.new");
        QCOMPARE(m_stage->studio->session().chat().record.id, 0);
        QVERIFY(chat.input().textField()->hasFocus());
    }

    void dialogsOpenWithoutStoppingTheWindow() {
        m_stage->loadModel();
        for (const char* id : {"model.open_file", "model.open_folder", "run.replay"}) {
            trigger(id);
            QVERIFY2(closeDialog<QFileDialog>(), id);
        }
        trigger("run.record");
        auto* record = window().findChild<QFileDialog*>();
        emit record->fileSelected(QStringLiteral("/tmp/r.swiftrun"));
        QCOMPARE(m_stage->engine->lastSent<StartRecording>()->path, std::string("/tmp/r.swiftrun"));
        QVERIFY(closeDialog<QFileDialog>());
        trigger("app.shortcuts");
        QVERIFY(closeDialog<ShortcutList>());
        trigger("app.about");
        QVERIFY(m_stage->notice("about") != nullptr);
        trigger("model.choose");
        QVERIFY(window().findChild<ModelPanel*>()->isVisible());
        trigger("model.unload");
        QVERIFY(m_stage->engine->lastSent<UnloadModel>() != nullptr);
        m_isSpoilt = true;
    }

    void aFaultOfALoadIsToldOnce() {
        trigger("model.choose");
        m_stage->settle();
        m_stage->say(failedTask("load_model", {ErrorCode::NotFound, "The file is gone.", "Look."}));
        m_stage->settle();
        QVERIFY(m_stage->notice("load_model") == nullptr);
        QCOMPARE(window().findChild<ModelPanel*>()->findChildren<Banner*>().size(), qsizetype{1});
        m_isSpoilt = true;
    }

    void theCommandSearchFindsDecodersAndSettingsAndActsOnThem() {
        trigger("model.choose"); // Parameters has never been seen with this model
        m_stage->loadModel();
        runFound("patience");
        auto* parameters = window().findChild<ParametersView*>();
        SettingRow* row = parameters->form().row("patience");
        QTRY_VERIFY(row != nullptr && !row->visibleRegion().isEmpty());
        QVERIFY(row->isAncestorOf(window().focusWidget()));
        runFound("temperature");
        QVERIFY(parameters->sampling().row("temperature")->isAncestorOf(window().focusWidget()));
        runFound("use vanilla");
        QCOMPARE(m_stage->engine->lastSent<ChooseDecoder>()->name, std::string("vanilla"));
        m_isSpoilt = true;
    }

    void promptsAreKeptFromAMessageAndFoundByTheCommandSearch() {
        m_stage->loadModel();
        m_stage->answer();
        buttonNamed(window(), QStringLiteral("Add to your prompts"))->click();
        QVERIFY(m_stage->notice("prompts") != nullptr);
        trigger("app.search");
        QTRY_VERIFY(window().findChild<CommandSearch*>() != nullptr);
        auto* field = window().findChild<CommandSearch*>()->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("a question"));
        QTest::keyClick(field, Qt::Key_Down); // the chat has the same title
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_COMPARE(m_stage->studio->chatView().input().text(), QStringLiteral("a question"));
    }

    void theCommandSearchOpensOnceAndRunsCommands() {
        m_stage->loadModel();
        m_stage->answer();
        trigger("app.search");
        trigger("app.search");
        QTRY_VERIFY(window().findChild<CommandSearch*>() != nullptr);
        m_stage->settle();
        QCOMPARE(window().findChildren<CommandSearch*>().size(), 1);
        auto* field = window().findChild<CommandSearch*>()->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("workspace: inspect"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("inspect_workspace"));
    }

    void theCurrentChatIsMarkedInTheList() {
        m_stage->loadModel();
        m_stage->answer();
        auto* list = window().findChild<ChatsPanel*>()->findChild<QListView*>();
        QTRY_COMPARE(list->model()->rowCount(), 1);
        QTRY_VERIFY(list->selectionModel()->hasSelection());
        trigger("chat.new");
        QTRY_VERIFY(!list->selectionModel()->hasSelection());
        m_isSpoilt = true;
    }

    void theSystemEndsTheWindowInTheMiddleOfAnAnswer() {
        m_stage->loadModel();
        m_stage->beginAnswer();
        m_stage->studio->closeNow();
        QVERIFY(!window().isVisible());
        QVERIFY(!QSettings(m_stage->options.settingsPath, QSettings::IniFormat)
                     .value(QStringLiteral("session/open"))
                     .toBool());
        m_isSpoilt = true;
    }

    void aModelStartsAsItWasSaved() {
        m_stage->loadModel();
        m_stage->say(SamplingChanged{{.temperature = 0.25, .topK = 9}});
        SettingsChanged settings{m_stage->studio->run().settings()};
        settings.settings["r"] = 0.2;
        m_stage->say(settings);
        m_stage->settle();
        QVERIFY(!m_stage->action("model.forget_defaults")->isEnabled());
        trigger("model.save_defaults");
        QVERIFY(m_stage->action("model.forget_defaults")->isEnabled());
        m_stage->say(SamplingChanged{{.temperature = 1.0}});
        m_stage->engine->sent.clear();
        m_stage->loadModel();
        QCOMPARE(m_stage->engine->lastSent<ChangeSampling>()->sampling.temperature, 0.25);
        QCOMPARE(m_stage->engine->lastSent<ChangeSampling>()->sampling.topK, 9);
        const auto* chosen = m_stage->engine->lastSent<ChooseDecoder>();
        QCOMPARE(chosen->name, std::string("swift"));
        QVERIFY(chosen->settings.at("r") == SettingValue(0.2));
        trigger("model.forget_defaults");
        m_stage->engine->sent.clear();
        m_stage->loadModel();
        QVERIFY(m_stage->engine->lastSent<ChooseDecoder>() == nullptr);
    }

    void anotherStartIsTakenByThisWindow() {
        m_stage->loadModel();
        m_stage->beginAnswer();
        const ChatId chat = m_stage->studio->session().chat().record.id;
        m_stage->engine->sent.clear();
        window().setWindowState(Qt::WindowMinimized);
        m_stage->studio->takeStart({{}, {}, {}, QStringLiteral("another question")});
        QVERIFY(!window().isMinimized());
        // The answer at work is not cut off.
        QVERIFY(m_stage->engine->lastSent<StopGeneration>() == nullptr);
        QCOMPARE(m_stage->studio->session().chat().record.id, chat);
        m_stage->finishAnswer();
        QVERIFY(m_stage->studio->session().chat().record.id != chat);
        QCOMPARE(m_stage->engine->lastSent<SubmitPrompt>()->messages.back().content,
                 std::string("another question"));
        m_stage->studio->takeStart(
            {QStringLiteral("/models/other.gguf"), QStringLiteral("plain"), {}, {}});
        QCOMPARE(m_stage->engine->lastSent<LoadModel>()->path, std::string("/models/other.gguf"));
        QCOMPARE(m_stage->engine->lastSent<LoadModel>()->backend, std::string("plain"));
        m_isSpoilt = true;
    }

    void everyViewThatShowsNumbersHasThemInATable() {
        m_stage->loadModel();
        m_stage->saySearch();
        m_stage->answer();
        QStringList empty;
        for (int workspace : {0, 1}) {
            window().showWorkspace(workspace);
            m_stage->settle();
            for (const View* view : m_stage->studio->views())
                if (view->isVisible() && view->table().rows.empty())
                    empty << view->info().id;
        }
        QCOMPARE(empty.join(QLatin1Char(' ')), QString());
    }

    void everyViewIsSavedAndReadAgain() {
        m_stage->loadModel();
        m_stage->saySearch();
        m_stage->answer();
        int tables = 0;
        for (int workspace : {0, 1}) {
            window().showWorkspace(workspace);
            m_stage->settle();
            m_stage->studio->bridge().refreshPictures();
            for (View* view : m_stage->studio->views()) {
                if (!view->isVisible())
                    continue;
                const QString base = m_stage->folder.filePath(view->info().id);
                QCOMPARE(saveView(*view, base + QStringLiteral(".svg")), QString());
                QFile svg(base + QStringLiteral(".svg"));
                QVERIFY(svg.open(QIODevice::ReadOnly));
                QXmlStreamReader xml(&svg);
                while (!xml.atEnd())
                    xml.readNext();
                QVERIFY2(!xml.hasError(), qPrintable(view->info().id + xml.errorString()));
                QCOMPARE(saveView(*view, base + QStringLiteral(".png")), QString());
                QVERIFY(!QImage(base + QStringLiteral(".png")).isNull());
                const FigureTable table = view->table();
                if (table.header.isEmpty())
                    continue;
                ++tables;
                for (const QStringList& row : table.rows)
                    QCOMPARE(row.size(), table.header.size());
                QCOMPARE(saveView(*view, base + QStringLiteral(".csv")), QString());
                QFile csv(base + QStringLiteral(".csv"));
                QVERIFY(csv.open(QIODevice::ReadOnly));
                QVERIFY2(csv.readAll().count('\n') >= static_cast<qsizetype>(table.rows.size()),
                         qPrintable(view->info().id));
            }
        }
        QVERIFY(tables >= 9);
    }

    void aReplayFillsEveryViewAndTakesNoWords() {
        m_stage = std::make_unique<StudioStage>(QStringLiteral("/models/never.gguf"),
                                                QStringLiteral("run.swiftrun"));
        m_stage->open();
        QVERIFY(m_stage->engine->sent.empty());
        m_stage->loadModel();
        m_stage->saySearch();
        m_stage->say(promptStarted(5));
        m_stage->say(plainStep(5, 0, "one", 20.0));
        m_stage->say(draftStep(5, 1, {" two", " three", " wrong"}, 2, " four"));
        m_stage->say(promptFinished(5));
        m_stage->settle();
        QVERIFY(m_stage->engine->sent.empty());
        QCOMPARE(m_stage->studio->session().branch().last().text,
                 QStringLiteral("one two three four"));
        const ChatView& chat = m_stage->studio->chatView();
        QVERIFY(!buttonNamed(chat, QStringLiteral("Send"))->isEnabled());
        QVERIFY(buttonNamed(chat, QStringLiteral("Send"))
                    ->toolTip()
                    .contains(QStringLiteral("recording")));
        for (const char* id : {"run.regenerate",
                               "run.record",
                               "model.open_file",
                               "model.open_folder",
                               "model.unload"})
            QVERIFY2(!m_stage->action(id)->isEnabled(), id);
        for (int workspace : {0, 1}) {
            window().showWorkspace(workspace);
            m_stage->settle();
            for (const View* view : m_stage->studio->views())
                if (view->isVisible())
                    QVERIFY2(!view->table().rows.empty(), qPrintable(view->info().id));
        }
    }
};

QTEST_MAIN(StudioTest)
#include "studio_test.moc"
