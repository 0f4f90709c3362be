// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/support/studio_stage.h"
#include "ui/shell/commands/command_search.h"
#include "ui/shell/text_field.h"
#include "ui/studio/program/screenshot_job.h"
#include "ui/studio/program/single_instance.h"
#include "ui/studio/settings_dialog.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/messages/figures_line.h"
#include "ui/views/chat/panels/first_sight.h"
#include "ui/views/chat/panels/tasks_dialog.h"
#include "ui/views/chats/chats_panel.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/models/model_chooser.h"
#include "ui/views/models/model_panel.h"
#include "ui/views/skip_sets/skip_set_tree.h"

#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QTableView>

#include <algorithm>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// What menus and the command search act on, and where the keyboard is afterwards. Some functions
/// go on with the window of the one before.
class StudioCommandsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() { return m_stage->studio->window(); }

    ChatSession& session() { return m_stage->studio->session(); }

    void open(const QString& replayName = {}) {
        m_stage = std::make_unique<StudioStage>(QString(), replayName);
        m_stage->open();
        QVERIFY(QTest::qWaitForWindowActive(&window(), support::kPatienceMs));
        m_stage->loadModel();
    }

private slots:

    /// In Chat, with a model.
    void init() {
        if (m_stage == nullptr)
            return open();
        window().showWorkspace(0);
        m_stage->settle();
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    /// A colour that is set by hand is lost where a dock becomes a window of its own.
    void mutedSentencesHaveTheColourOfTheStyleSheet() {
        QStringList told;
        for (const QLabel* label : window().findChildren<QLabel*>())
            if (label->property("tone").toString() == QLatin1String("muted"))
                told << label->text() << label->objectName();
        for (const char* start : {"summary",
                                  "swift_note",
                                  "Choose a recipe; how it is run is chosen here.",
                                  "What a run asks and how steady",
                                  "Each cell is one sublayer of the model."})
            QVERIFY2(
                std::ranges::any_of(
                    told, [&](const QString& text) { return text.startsWith(QString(start)); }),
                start);
        m_isKept = true;
    }

    void inspectBeginsAtAMapThatWasFilledWhileItWasHidden() {
        m_stage->saySearch();
        window().showWorkspace(1);
        const auto* map = qobject_cast<QTableView*>(QApplication::focusWidget());
        QVERIFY(map != nullptr && map->isVisible());
        m_isKept = true;
    }

    void plotsShareTheWidthAfterTheLayoutWasReset() {
        m_stage->saySearch();
        window().showWorkspace(1);
        m_stage->settle();
        const auto width = [&](const char* id) {
            return window().currentWorkspace()->dock(QLatin1String(id))->width();
        };
        for (int turn = 0; turn < 2; ++turn) {
            m_stage->action("view.reset_layout")->trigger();
            m_stage->settle();
            QTRY_VERIFY2(std::abs(width("inspect.matchness") - width("inspect.speed")) <= 8,
                         qPrintable(QString::number(width("inspect.matchness"))));
        }
        m_isKept = true;
    }

    void theKeyboardIsAtHomeAfterTheLayoutWasReset() {
        for (int index : {0, 1}) {
            window().showWorkspace(index);
            window().currentWorkspace()->focusNextDock(1);
            m_stage->action("view.reset_layout")->trigger();
            m_stage->settle();
            QVERIFY(window().currentWorkspace()->centralWidget()->isAncestorOf(
                QApplication::focusWidget()));
        }
        m_isKept = true;
    }

    void withoutAnExperimentThereIsNoneToPause() {
        QAction* pause = m_stage->action("experiments.pause");
        QVERIFY(!pause->isEnabled());
        ExperimentQueue& queue = m_stage->studio->experiments()->queue();
        const QString id = queue.add(ExperimentJob());
        QVERIFY(pause->isEnabled());
        queue.remove(id);
        QVERIFY(!pause->isEnabled());
        m_isKept = true;
    }

    void aFurtherStartsBackendIsOfferedOnceTheModelIsThere() {
        m_stage->say(ModelLoadProgress{"/models/tiny.gguf", "weights", 0.5});
        m_stage->settle();
        m_stage->studio->takeStart({{}, QStringLiteral("cpu"), {}, {}});
        QVERIFY(m_stage->notice("backend") == nullptr);
        m_stage->loadModel();
        const Notice* offer = m_stage->notice("backend");
        QVERIFY(offer != nullptr);
        QCOMPARE(offer->headline, QString("Tiny goes on with the backend plain."));
        m_stage->loadModel(); // without a further start
        QVERIFY(m_stage->notice("backend") == nullptr);
        m_isKept = true;
    }

    /// Vanilla alone would be there, and nobody would know why.
    void decoderModulesThatCannotBeUsedAreTold() {
        QVERIFY(m_stage->notice("refused_modules") == nullptr);
        ModelLoaded loaded = loadedModel(30, 1000);
        loaded.decoders = {vanillaDecoder()};
        loaded.refusedModules = {{ErrorCode::Unsupported,
                                  "The module libdecoder_swift.so was refused: it belongs to build "
                                  "1, but the program to build 2.",
                                  "Build program and modules together."}};
        m_stage->say(loaded);
        m_stage->settle();
        const Notice* told = m_stage->notice("refused_modules");
        QVERIFY(told != nullptr);
        QVERIFY(told->headline.contains(QStringLiteral("decoders are missing")));
        QVERIFY(told->sentence.contains(QStringLiteral("libdecoder_swift.so")));
        QVERIFY(told->sentence.endsWith(QStringLiteral("Build program and modules together.")));
        QVERIFY(told->details.isEmpty()); // there is no more to say
        loaded.refusedModules.push_back({ErrorCode::Unsupported, "The module b was refused.", ""});
        m_stage->say(loaded);
        m_stage->settle();
        QVERIFY(m_stage->notice("refused_modules")->headline.contains(QStringLiteral("2 modules")));
        QVERIFY(m_stage->notice("refused_modules")->details.contains(QStringLiteral("module b")));
        m_stage->loadModel();
        QVERIFY(m_stage->notice("refused_modules") == nullptr);
        m_isKept = true;
    }

    void theStoredSkipSetsAreShownFromTheMenu() {
        m_stage->action("model.skip_sets")->trigger();
        m_stage->settle();
        auto* list = window().findChild<SkipSetTree*>();
        QVERIFY(list != nullptr && window().currentWorkspace()->isAncestorOf(list));
        QVERIFY(m_stage->engine->lastSent<ListSkipSets>() != nullptr);
        SkipSetsListed listed;
        listed.requestId = m_stage->engine->lastSent<ListSkipSets>()->requestId;
        listed.own = {"aa", "Tiny", 30, {{"code", {{{3}, {}}, 0.5, 0.1, "swift", 1000, 9}}}};
        m_stage->engine->say(listed);
        m_stage->settle();
        QVERIFY(list->isVisible() && !list->visibleRegion().isEmpty());
        QVERIFY(list->current()->set.task == "code");
        QTRY_VERIFY(list->hasFocus());
        m_isKept = true;
    }

    void everyDockIsFoundByTheCommandSearchAndGetsTheKeyboard() {
        for (Workspace* workspace : window().workspaces())
            for (QDockWidget* dock : workspace->docks()) {
                dock->hide();
                m_stage->action("app.search")->trigger();
                QTRY_VERIFY(window().findChild<CommandSearch*>() != nullptr);
                auto* field = window().findChild<CommandSearch*>()->findChild<QLineEdit*>();
                field->setText(QStringLiteral("Dock: ") + dock->windowTitle());
                if (workspace != window().workspaces().front() &&
                    window().workspaces().front()->dock(
                        QString(dock->objectName()).replace("inspect.", "chat.")) != nullptr)
                    QTest::keyClick(field, Qt::Key_Down); // Chat has one of this name, too
                QTest::keyClick(field, Qt::Key_Return);
                QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
                m_stage->settle();
                QCOMPARE(window().currentWorkspace(), workspace);
                QVERIFY2(dock->isVisible(), qPrintable(dock->objectName()));
                QVERIFY2(dock->isAncestorOf(QApplication::focusWidget()),
                         qPrintable(dock->objectName()));
            }
        m_isKept = true;
    }

    void aFurtherStartLoadsNothingThatIsBeingLoaded() {
        const QString tiny = QStringLiteral("/models/tiny.gguf");
        const QString other = QStringLiteral("/models/other.gguf");
        m_stage = std::make_unique<StudioStage>(tiny);
        m_stage->open();
        const auto loads = [this] {
            return std::ranges::count_if(m_stage->engine->sent, [](const EngineCommand& command) {
                return std::holds_alternative<LoadModel>(command);
            });
        };
        Studio& studio = *m_stage->studio;
        QCOMPARE(loads(), 1);
        studio.takeStart({});
        studio.takeStart({tiny, {}, {}, QStringLiteral("a question")});
        QCOMPARE(loads(), 1);
        studio.takeStart({other, {}, {}, {}}); // which cancels the first load
        QCOMPARE(loads(), 2);
        m_stage->say(failedTask("load_model", {ErrorCode::Cancelled, "Cancelled.", ""}));
        m_stage->settle();
        studio.takeStart({other, {}, {}, {}});
        QCOMPARE(loads(), 2);
        studio.takeStart({other, QStringLiteral("plain"), {}, {}}); // with another backend
        QCOMPARE(loads(), 3);
        for (int ended = 0; ended < 2; ++ended)
            m_stage->say(failedTask("load_model", {ErrorCode::NotFound, "It is gone.", ""}));
        m_stage->settle();
        studio.takeStart({other, QStringLiteral("plain"), {}, {}});
        QCOMPARE(loads(), 4);
    }

    void theKeyboardIsInTheMapOnceASetWasFound() {
        ModelLoaded loaded = loadedModel(30, 1000);
        DecoderInfo searching = swiftDecoder();
        searching.settings.push_back(setting("skip_set", "Skip set", SettingKind::Text, {}));
        searching.settings.push_back(setting("optimise", "Search", SettingKind::Integer, 1.0));
        loaded.decoders = {searching};
        m_stage->say(loaded);
        m_stage->say(DecoderChosen{searching, {}});
        m_stage->settle();
        m_stage->beginAnswer();
        m_stage->finishAnswer();
        window().showWorkspace(1);
        m_stage->settle();
        QAbstractButton* find = nullptr;
        for (QAbstractButton* button : window().findChildren<QAbstractButton*>())
            if (button->accessibleName() == QLatin1String("Find a skip set with this chat") &&
                button->isVisible())
                find = button;
        QVERIFY(find != nullptr);
        window().currentWorkspace()->focusHome();
        QCOMPARE(QApplication::focusWidget(), find); // the map's home while it is empty
        QTest::keyClick(find, Qt::Key_Space);
        m_stage->settle();
        QVERIFY(!find->isVisible());
        m_stage->saySearch();
        auto* map = qobject_cast<QTableView*>(QApplication::focusWidget());
        QVERIFY(map != nullptr && map->isVisible());
    }

    void whatASearchSetsIsNoChoiceOfTheUser() {
        DecoderInfo searching = swiftDecoder();
        searching.settings.push_back(
            setting("skip_set", "Skip set", SettingKind::Text, std::string()));
        searching.settings.push_back(setting("optimise", "Search", SettingKind::Flag, 1.0));
        ModelLoaded loaded = loadedModel(30, 1000);
        loaded.decoders = {searching};
        SettingValues values = resolveSettings(searching, {{"r", 0.3}}).value();
        m_stage->say(loaded);
        m_stage->say(DecoderChosen{searching, values});
        m_stage->settle();
        m_stage->beginAnswer();
        m_stage->finishAnswer();
        emit window().findChild<LayerMapView*>()->findAsked();
        QVERIFY(m_stage->engine->lastSent<ChangeSettings>() != nullptr);
        values["S"] = 48.0;
        m_stage->say(SettingsChanged{values});
        m_stage->settle();
        QSettings file(m_stage->options.settingsPath, QSettings::IniFormat);
        const SettingValues kept = KeptSettings(file, m_stage->studio->run()).startOf("swift");
        QVERIFY(kept.contains("r"));
        QVERIFY(!kept.contains("S"));
        m_stage->action("model.save_defaults")->trigger();
        const SettingValues saved =
            AnswerDefaults(file).ofModel(QString::fromStdString(loaded.path)).decoderSettings;
        QVERIFY(saved.at("r") == SettingValue(0.3));
        QVERIFY(saved.at("S") == SettingValue(1000.0));
    }

    void everyFieldTakesWhateverIsPasted() {
        m_stage->beginAnswer();
        m_stage->finishAnswer();
        m_stage->action("chat.settings")->trigger();
        m_stage->action("chat.prompts")->trigger();
        buttonNamed(window(), QStringLiteral("Edit the answer in a new branch"))->click();
        m_stage->settle();
        int fields = 0;
        for (QPlainTextEdit* field : window().findChildren<QPlainTextEdit*>()) {
            if (field->isReadOnly())
                continue;
            QVERIFY2(dynamic_cast<TextField*>(field) != nullptr,
                     qPrintable(field->accessibleName()));
            ++fields;
        }
        QCOMPARE(fields, 5); // the message, an answer, a prompt, the chat's two
    }

    /// Whatever is marked in the list; and a chat that has not begun yet can be given no name.
    void entriesForAChatMeanTheOneThatIsShown() {
        m_stage->beginAnswer();
        m_stage->finishAnswer();
        const ChatId first = session().chat().record.id;
        session().newChat();
        m_stage->beginAnswer();
        m_stage->finishAnswer();
        const ChatId second = session().chat().record.id;
        auto* list = window().findChild<ChatsPanel*>()->findChild<QListView*>();
        QTRY_COMPARE(list->model()->rowCount(), 2);
        QTRY_VERIFY(list->selectionModel()->hasSelection());
        QVERIFY(first != second);
        list->setCurrentIndex(list->model()->index(1, 0)); // by the arrows: not opened
        m_stage->action("chat.delete")->trigger();
        m_stage->settle();
        QTRY_VERIFY(session().chat().record.id == 0);
        for (const char* id : {"chat.rename", "chat.export", "chat.pin", "chat.delete"})
            QVERIFY2(!m_stage->action(id)->isEnabled(), id);
        session().openChat(first);
        QTRY_COMPARE(session().chat().record.id, first);
        m_isKept = true;
    }

    void theSettingsShowLongPlacesWhole() {
        m_stage = std::make_unique<StudioStage>();
        const QString folder =
            m_stage->folder.filePath(QStringLiteral("somewhere-far-away/").repeated(12));
        QVERIFY(QDir().mkpath(folder));
        m_stage->options.chatsPath = folder + QStringLiteral("chats.sqlite");
        m_stage->open();
        window().setTextPercent(150);
        m_stage->action("app.settings")->trigger();
        m_stage->settle();
        const auto* dialog = window().findChild<SettingsDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        int wrapped = 0;
        for (const QLabel* label : dialog->findChildren<QLabel*>()) {
            if (!label->wordWrap())
                continue;
            QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                     qPrintable(label->text()));
            ++wrapped;
        }
        QCOMPARE(wrapped, 3);
    }

    void aQuestionWithoutAnAnswerCanBeAskedAgain() {
        session().send(QStringLiteral("a question"));
        session().stop();
        QVERIFY(!m_stage->action("chat.copy_last")->isEnabled());
        QVERIFY(m_stage->action("run.regenerate")->isEnabled());
        m_stage->engine->sent.clear();
        m_stage->action("run.regenerate")->trigger();
        QVERIFY(m_stage->engine->lastSent<SubmitPrompt>() != nullptr);
    }

    void theNoticeOnTheFirstAnswerLeadsToItsRoundInLearn() {
        m_stage->answer();
        const auto* sight = window().findChild<FirstSight*>();
        QVERIFY(sight->isVisible());
        sight->findChild<QPushButton*>()->click();
        for (int i = 0; i < 2; ++i)
            m_stage->settle();
        QCOMPARE(window().currentWorkspace()->objectName(), QStringLiteral("learn_workspace"));
        const auto* motion = window().findChild<SlowMotionView*>();
        QVERIFY(motion != nullptr && motion->isVisible() && motion->scene() != nullptr);
        m_isKept = true;
    }

    void whatYouSeeShowsTheMarksOfWhichItTells() {
        m_stage->answer();
        QAction* origin = m_stage->action("chat.origin");
        if (origin->isChecked())
            origin->trigger();
        QVERIFY(!m_stage->studio->chatView().showsOrigin());
        m_stage->action("help.first_sight")->trigger();
        QVERIFY(m_stage->studio->chatView().showsOrigin());
        QVERIFY(origin->isChecked());
        m_isKept = true;
    }

    void theTasksAreListedFromTheMenu() {
        QVERIFY(m_stage->action("model.tasks")->isEnabled());
        m_stage->action("model.tasks")->trigger();
        m_stage->settle();
        auto* dialog = window().findChild<TasksDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QVERIFY(m_stage->engine->lastSent<ListTasks>() != nullptr);
        m_isKept = true;
    }

    void aLongTitleIsReadWholeWhileItIsChanged() {
        m_stage->beginAnswer();
        m_stage->action("chat.rename")->trigger();
        auto* dialog = window().findChild<QInputDialog*>();
        QVERIFY(dialog != nullptr);
        const auto* field = dialog->findChild<QLineEdit*>();
        QVERIFY(field->width() >
                QFontMetrics(field->font()).horizontalAdvance(QString(40, QLatin1Char('n'))));
    }

    /// As it was below the answer when it came.
    void theFiguresOfAChatThatIsOpenedAgainAreSmall() {
        m_stage->beginAnswer();
        m_stage->finishAnswer();
        const ChatId id = session().chat().record.id;
        session().newChat();
        session().openChat(id);
        QTRY_COMPARE(session().chat().record.id, id);
        m_stage->settle();
        const QFontMetrics small(m_stage->studio->theme().font(TextRole::Small));
        int lines = 0;
        for (const FiguresLine* line : window().findChildren<FiguresLine*>())
            if (line->isVisible()) {
                QCOMPARE(line->heightForWidth(10'000), small.height());
                ++lines;
            }
        QCOMPARE(lines, 1);
        m_isKept = true;
    }

    /// Text that was held back because it might have been the beginning of a stop string.
    void withoutADisplayTheEndOfAnAnswersTextIsHandedOnToo() {
        m_stage->beginAnswer();
        std::string text;
        ScreenshotJob::Request request;
        request.path = m_stage->folder.filePath(QStringLiteral("window.png"));
        request.out = [&text](std::string_view part) { text += part; };
        const ScreenshotJob job(*m_stage->studio, request);
        m_stage->say(TextReleased{m_stage->promptId, " end"});
        m_stage->finishAnswer();
        QCOMPARE(text, std::string(" end\n"));
        m_isKept = true;
    }

    void aReplayOffersNothingThatNeedsAModel() {
        open(QStringLiteral("run.swiftrun"));
        QVERIFY(!m_stage->action("chat.new")->isEnabled());
        const auto* chats = window().findChild<ChatsPanel*>();
        const QAbstractButton* newChat = buttonNamed(*chats, QStringLiteral("New chat"));
        QVERIFY(!newChat->isEnabled() && !chats->acceptDrops());
        QCOMPARE(newChat->toolTip(), QString("A replay has no chats beside the recorded one."));
        window().showWorkspace(1);
        m_stage->settle();
        for (const char* name :
             {"Find a skip set with this chat", "Load a skip set...", "Resume the search"})
            for (const QAbstractButton* button : window().findChildren<QAbstractButton*>())
                if (button->accessibleName() == QLatin1String(name))
                    QVERIFY2(!button->isVisible(), name);
        auto* menu = window().findChild<ModelChooser*>()->menu();
        emit menu->aboutToShow();
        for (const QAction* action : menu->actions())
            QVERIFY2(action->isSeparator() || !action->isEnabled(), qPrintable(action->text()));
        const auto* panel = window().findChild<ModelPanel*>();
        for (const char* name : {"Unload", "Open file\u2026", "Open folder\u2026"})
            QVERIFY2(!buttonNamed(*panel, QString::fromUtf8(name))->isEnabled(), name);
    }
};

QTEST_MAIN(StudioCommandsTest)
#include "studio_commands_test.moc"
