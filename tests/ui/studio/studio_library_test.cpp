// SPDX-License-Identifier: GPL-3.0-only
#include "engine/session/recording/run_recording.h"
#include "tests/support/file_content.h"
#include "tests/ui/store/store_fixture.h"
#include "tests/ui/support/studio_stage.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/chats/chats_panel.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/models/library/model_library.h"
#include "ui/views/models/model_panel.h"

#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QListView>
#include <QMimeData>
#include <QSpinBox>

#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// What comes into the window from outside, and what is found again in it.
class StudioLibraryTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() { return m_stage->studio->window(); }

    ChatStore& chats() { return m_stage->studio->chats(); }

    ChatsPanel& panel() { return *window().findChild<ChatsPanel*>(); }

    /// The store answers in order, so whatever was asked for before has arrived, too.
    qsizetype countChats() {
        qsizetype count = -1;
        chats().listChats(this, [&](const QList<ChatRecord>& list) { count = list.size(); });
        waitUntil([&] { return count >= 0; });
        return count;
    }

    void drop(const QStringList& paths) {
        QMimeData files;
        QList<QUrl> urls;
        for (const QString& path : paths)
            urls.append(QUrl::fromLocalFile(path));
        files.setUrls(urls);
        QDragEnterEvent enter({700, 400}, Qt::CopyAction, &files, Qt::LeftButton, {});
        enter.ignore();
        QCoreApplication::sendEvent(&window(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent dropped({700, 400}, Qt::CopyAction, &files, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&window(), &dropped);
    }

private slots:

    void init() {
        if (m_stage != nullptr)
            return;
        m_stage = std::make_unique<StudioStage>();
        m_stage->options.defaultModelPath = m_stage->folder.filePath("default.gguf");
        m_stage->open();
        QVERIFY(QTest::qWaitForWindowActive(&window(), support::kPatienceMs));
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void whatCannotBeInspectedInAWatchedFolderIsNoNotice() {
        EngineFailed failed = failedTask("inspect_model", {ErrorCode::Unsupported, "No.", ""});
        failed.requestId = ModelLibrary::kFirstRequest + 1;
        m_stage->say(failed);
        m_stage->settle();
        QVERIFY(m_stage->notice("inspect_model") == nullptr);
        m_isKept = true;
    }

    void aModelThatIsDroppedIsProposed() {
        drop({"/models/some.gguf"});
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->path, std::string("/models/some.gguf"));
        QVERIFY(m_stage->engine->lastSent<LoadModel>() == nullptr);
        auto* models = window().findChild<ModelPanel*>();
        QVERIFY(models->isVisible());
        QCOMPARE(models->stage(), ModelPanel::Stage::Chosen);
        m_isKept = true;
    }

    void aFolderThatIsDroppedIsWatched() {
        drop({m_stage->folder.path()});
        auto* library = window().findChild<ModelLibrary*>();
        QCOMPARE(library->folders().size(), std::size_t(1));
        QCOMPARE(library->folders().front().path, m_stage->folder.path());
        const QString name = QFileInfo(m_stage->folder.path()).fileName();
        QVERIFY(
            m_stage->notice("dropped")->headline.contains(name)); // the list may be out of sight
        m_isKept = true;
    }

    void whatNobodyKnowsIsSaid() {
        drop({"/a/picture.png"});
        QVERIFY(m_stage->notice("dropped") != nullptr);
        QVERIFY(m_stage->notice("dropped")->headline.contains("picture.png"));
        m_isKept = true;
    }

    void ofTwoModelsThatAreDroppedTheFirstIsProposedAndThatIsSaid() {
        drop({"/models/first.gguf", "/models/second.gguf"});
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->path,
                 std::string("/models/first.gguf"));
        QVERIFY(m_stage->notice("one_model") != nullptr);
        QVERIFY(m_stage->notice("one_model")->headline.contains("first.gguf"));
        m_isKept = true;
    }

    void aRecordingIsReplayedAndABrokenOneSaysSoHere() {
        QSignalSpy replayed(m_stage->studio.get(), &Studio::replayAsked);
        const QString broken = m_stage->folder.filePath("broken.swiftrun");
        QFile file(broken);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no recording") > 0);
        file.close();
        m_stage->action("run.replay")->trigger();
        auto* dialog = window().findChild<QFileDialog*>();
        emit dialog->fileSelected(broken);
        dialog->close();
        QCOMPARE(replayed.count(), 0);
        QVERIFY(m_stage->notice("open_recording") != nullptr);
        QVERIFY(m_stage->notice("open_recording")->headline.contains("broken.swiftrun"));
        const QString whole = m_stage->folder.filePath("whole.swiftrun");
        auto recorder = RunRecorder::start(whole.toStdString());
        QVERIFY(recorder && recorder.value().write({1.0, Note{"a"}}) && recorder.value().finish());
        drop({whole});
        QCOMPARE(replayed.count(), 1);
        QCOMPARE(replayed.first().first().toString(), whole);
    }

    void theDefaultModelIsOpenedAgainOrSaidToBeMissing() {
        m_stage->action("model.open_default")->trigger();
        QVERIFY(m_stage->notice("load_model") != nullptr);
        QVERIFY(m_stage->notice("load_model")->sentence.contains("installer/run.sh"));
        QVERIFY(m_stage->engine->lastSent<LoadModel>() == nullptr);
        QFile file(m_stage->options.defaultModelPath);
        QVERIFY(file.open(QIODevice::WriteOnly));
        m_stage->action("model.open_default")->trigger();
        QCOMPARE(m_stage->engine->lastSent<LoadModel>()->path,
                 m_stage->options.defaultModelPath.toStdString());
        QVERIFY(m_stage->notice("load_model") == nullptr);
    }

    void pinArchiveAndDeleteMeanTheChatThatIsShown() {
        QVERIFY(!m_stage->action("chat.pin")->isEnabled());
        const ChatId chat = chats().createChat(titled(QStringLiteral("one")));
        m_stage->studio->session().openChat(chat);
        QTRY_VERIFY(m_stage->action("chat.pin")->isEnabled());
        QTRY_COMPARE(panel().targetChat(), chat);
        m_stage->action("chat.pin")->trigger();
        QTRY_VERIFY(chatOf(chats(), chat).record.isPinned);
        QTRY_COMPARE(m_stage->action("chat.pin")->text(), QStringLiteral("&Unpin chat"));
        QCOMPARE(m_stage->action("chat.archive")->text(), QStringLiteral("Ar&chive chat"));
        m_stage->action("chat.archive")->trigger();
        QTRY_VERIFY(chatOf(chats(), chat).record.isArchived);
        QTRY_COMPARE(m_stage->action("chat.archive")->text(),
                     QStringLiteral("Restore ar&chived chat"));
        m_stage->action("chat.delete")->trigger();
        QTRY_COMPARE(chatsOf(chats()).size(), 0);
        QTRY_COMPARE(m_stage->studio->session().chat().record.id, 0);
        m_isKept = true;
    }

    void aMessageThatASearchFoundIsShownWithTheFocus() {
        const ChatId chat = chats().createChat(titled(QStringLiteral("long")));
        MessageId leaf = 0;
        MessageId needle = 0;
        for (int i = 0; i < 80; ++i) {
            StoredMessage message = userMessage(
                chat, leaf, i == 11 ? QStringLiteral("a needle") : QStringLiteral("hay %1").arg(i));
            message.role = i % 2 == 0 ? MessageRole::User : MessageRole::Assistant;
            leaf = chats().appendMessage(message);
            if (i == 11)
                needle = leaf;
        }
        m_stage->action("chat.find")->trigger();
        auto* filter = panel().findChild<QLineEdit*>();
        QVERIFY(filter->hasFocus());
        QTest::keyClicks(filter, QStringLiteral("needle"));
        QTRY_COMPARE(panel().findChild<QListView*>()->model()->rowCount(), 1);
        QTest::keyClick(filter, Qt::Key_Return);
        ConversationView& conversation = m_stage->studio->chatView().conversation();
        QTRY_VERIFY(conversation.card(needle) != nullptr);
        QTRY_VERIFY(conversation.card(needle)->body().hasFocus());
        const int top = conversation.card(needle)->mapTo(conversation.viewport(), QPoint()).y();
        QVERIFY2(top >= 0 && top < conversation.viewport()->height() / 2,
                 qPrintable(QString::number(top)));
    }

    void chatsThatAreDroppedAreImportedAndCanBeTakenOutAgain() {
        const ChatId old = chats().createChat(titled(QStringLiteral("was there")));
        drop({QStringLiteral("tests/data/chats/open_webui.json")});
        QTRY_VERIFY(m_stage->notice("import") != nullptr);
        const Notice* notice = m_stage->notice("import");
        QCOMPARE(notice->headline, QString("2 chats were imported, 1 was left out."));
        QVERIFY(notice->sentence.contains("With a tool"));
        QCOMPARE(chatsOf(chats()).size(), 3);
        QCOMPARE(notice->choices.size(), std::size_t(1));
        auto* list = panel().findChild<QListView*>();
        QTRY_COMPARE(list->model()->rowCount(), 2); // one of them is archived
        m_stage->studio->session().openChat(chatsOf(chats()).first().id);
        QTRY_VERIFY(m_stage->studio->session().chat().record.id != 0);
        m_stage->notice("import")->choices.front().act();
        QCOMPARE(m_stage->studio->session().chat().record.id, 0);
        QTRY_COMPARE(chatsOf(chats()).size(), 1);
        QCOMPARE(chatsOf(chats()).first().id, old);
        QTRY_COMPARE(list->model()->rowCount(), 1);
    }

    void theOpenChatComesBackAtTheNextStart() {
        m_stage->loadModel();
        m_stage->answer();
        const ChatId chat = m_stage->studio->session().chat().record.id;
        QVERIFY(chat != 0);
        m_stage->studio->closeNow();
        m_stage->studio.reset();
        m_stage->open();
        QTRY_COMPARE(m_stage->studio->session().chat().record.id, chat);
        QCOMPARE(m_stage->studio->session().branch().front().text, QStringLiteral("a question"));

        m_stage->studio->session().newChat();
        m_stage->studio->closeNow();
        m_stage->studio.reset();
        m_stage->open();
        QCOMPARE(countChats(), 1);
        QCOMPARE(m_stage->studio->session().chat().record.id, ChatId{0}); // as it was left
    }

    void whatWasSetComesBackAtTheNextStart() {
        m_stage->action("chat.origin")->trigger();
        for (SegmentedControl* levels : window().findChildren<SegmentedControl*>())
            if (levels->accessibleName() == QLatin1String("Which settings to show"))
                levels->segment(1)->click();
        m_stage->loadModel();
        SamplingOptions sampling;
        sampling.temperature = 0.4;
        sampling.minP = 0.05;
        sampling.repetitionPenalty = 1.2;
        sampling.logitBias = {{7, -1.0}}; // a token of this model
        m_stage->say(SamplingChanged{sampling});
        DecoderChosen chosen;
        chosen.info = swiftDecoder();
        for (const SettingInfo& setting : chosen.info.settings)
            chosen.settings[setting.name] = setting.initial;
        m_stage->say(chosen);
        SettingsChanged changed{chosen.settings};
        changed.settings["gamma"] = 8.0;
        changed.settings["siblings"] = "2";
        m_stage->say(changed);
        m_stage->settle();
        m_stage->studio->closeNow();
        m_stage->studio.reset();

        m_stage->open();
        QVERIFY(!m_stage->studio->chatView().showsOrigin());
        QVERIFY(!m_stage->action("chat.origin")->isChecked());
        QVERIFY(!window().findChild<ParametersView*>()->form().isSimple());
        m_stage->loadModel();
        const auto* decoder = m_stage->engine->lastSent<ChooseDecoder>();
        QVERIFY(decoder != nullptr);
        QCOMPARE(decoder->name, std::string("swift"));
        QCOMPARE(numberOf(decoder->settings, "gamma"), 8.0);
        QVERIFY(decoder->settings.at("siblings") == SettingValue(std::string("2")));
        const auto* again = m_stage->engine->lastSent<ChangeSampling>();
        QVERIFY(again != nullptr);
        QCOMPARE(again->sampling.temperature, 0.4);
        QCOMPARE(again->sampling.minP, 0.05);
        QCOMPARE(again->sampling.repetitionPenalty, 1.2);
        QVERIFY(again->sampling.logitBias.empty());
    }

    void whatWaitsForTheEndOfAnAnswerOutlivesTheWindow() {
        m_stage->loadModel();
        m_stage->say(DecoderChosen{vanillaDecoder(), {}});
        m_stage->settle();
        m_stage->beginAnswer();
        auto* parameters = window().findChild<ParametersView*>();
        parameters->chooseDecoder("swift");
        m_stage->studio->bridge().send(ChangeSettings{{{"gamma", 8.0}}, 0, "swift"});
        m_stage->settle();
        m_stage->studio->closeNow();
        m_stage->studio.reset();
        m_stage->open();
        m_stage->loadModel();
        const auto* decoder = m_stage->engine->lastSent<ChooseDecoder>();
        QVERIFY(decoder != nullptr);
        QCOMPARE(decoder->name, std::string("swift"));
        QCOMPARE(numberOf(decoder->settings, "gamma"), 8.0);
    }

    void aPresetOfTheUsersIsOfferedInSplitChatAtOnce() {
        m_stage->loadModel();
        const auto isOffered = [this] {
            for (const View* view : m_stage->studio->views())
                if (view->info().id == QLatin1String("split_chat"))
                    for (const QComboBox* box : view->findChildren<QComboBox*>())
                        if (box->findText(QStringLiteral("Mine"), Qt::MatchEndsWith) >= 0)
                            return true;
            return false;
        };
        auto* parameters = window().findChild<ParametersView*>();
        parameters->refresh(Topic::Model | Topic::Decoder);
        QVERIFY(!isOffered());
        parameters->presets().saveAs(QStringLiteral("Mine"));
        QVERIFY(isOffered());
        parameters->presets().removeChosen();
        QVERIFY(!isOffered());
    }

    void anExportHasTheNameAndTheFormThatTheUserGaveIt() {
        m_stage->loadModel();
        m_stage->answer();
        const QString letter = QStringLiteral("\U00020BB7"); // two units of UTF-16
        const QString most = QString(59, u'a');
        const QList<std::pair<QString, QString>> names = {
            {letter + QStringLiteral(" & Co"), letter + QStringLiteral(" Co.md")},
            {most + letter, most + QStringLiteral(".md")}};
        ChatSession& session = m_stage->studio->session();
        QFileDialog* dialog = nullptr;
        for (const auto& name : names) {
            delete dialog;
            session.rename(session.chat().record.id, name.first);
            QTRY_COMPARE(session.chat().record.title, name.first);
            m_stage->action("chat.export")->trigger();
            dialog = window().findChild<QFileDialog*>();
            QCOMPARE(QFileInfo(dialog->selectedFiles().value(0)).fileName(), name.second);
        }
        const auto begins = [&](const char* filter, const QString& file, const char* text) {
            const QString path = m_stage->folder.filePath(file);
            emit dialog->filterSelected(QLatin1String(filter));
            emit dialog->fileSelected(path);
            waitUntil([&] { return QFileInfo::exists(path); });
            return fileBytes(path).startsWith(text);
        };
        QVERIFY(begins("HTML (*.html)", QStringLiteral("page.htm"), "<!DOCTYPE html>"));
        QVERIFY(begins("JSON (*.json)", QStringLiteral("version 1.5"), "{"));
        QVERIFY(begins("JSON (*.json)", QStringLiteral("text.MD"), "# "));
        delete dialog;
    }

    void aModelIsLoadedAgainAsInTheDockModels() {
        const QString tiny = QStringLiteral("/models/tiny.gguf");
        const auto sent = [this] { return m_stage->engine->lastSent<LoadModel>(); };
        auto* panel = window().findChild<ModelPanel*>();
        panel->propose(tiny);
        for (QSpinBox* spin : panel->findChildren<QSpinBox*>())
            if (spin->accessibleName() == QLatin1String("Context, tokens"))
                spin->setValue(2048);
        panel->load();
        m_stage->loadModel();
        m_stage->action("model.lesson")->trigger();
        QVERIFY(sent()->isPlanted);
        QCOMPARE(sent()->contextLength, 2048);
        for (const char* backend : {"", "plain"}) { // asked for by the start
            m_stage->studio->closeNow();
            m_stage->studio.reset();
            m_stage->options.backend = QLatin1String(backend);
            m_stage->open();
            m_stage->studio->loadModel(tiny);
            QCOMPARE(sent()->contextLength, 2048);
            QCOMPARE(sent()->backend, std::string(backend));
        }
    }

    void aFirstMessageAndACrashBeginANewChat() {
        QSettings settings(m_stage->options.settingsPath, QSettings::IniFormat);
        m_stage->loadModel();
        m_stage->answer();
        const ChatId chat = m_stage->studio->session().chat().record.id;
        m_stage->studio->closeNow();
        m_stage->studio.reset();
        m_stage->options.firstMessage = QStringLiteral("another question");
        m_stage->open();
        m_stage->loadModel();
        QTRY_VERIFY(m_stage->studio->session().chat().record.id > chat);
        m_stage->options.firstMessage.clear();
        m_stage->studio.reset();
        settings.setValue(QStringLiteral("session/open"), true);
        settings.sync();
        m_stage->open();
        QCOMPARE(countChats(), 2);
        QCOMPARE(m_stage->studio->session().chat().record.id, ChatId{0});
    }
};

QTEST_MAIN(StudioLibraryTest)
#include "studio_library_test.moc"
