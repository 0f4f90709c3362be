// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/support/studio_stage.h"
#include "ui/views/models/model_panel.h"

#include <QDockWidget>

#include <memory>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// What the window says when something goes wrong, and what it never loses.
class StudioFaultsTest : public QObject {
    Q_OBJECT

    static void choose(const Notice* notice, int choice) {
        notice->choices.at(static_cast<std::size_t>(choice)).act();
    }

    /// Chats cannot be written: a file stands where their folder should be.
    static void blockChats(StudioStage& stage) {
        const QString inTheWay = stage.folder.filePath(QStringLiteral("file"));
        support::writeFile(inTheWay, "in the way");
        stage.options.chatsPath = inTheWay + QStringLiteral("/chats.sqlite");
    }

    std::unique_ptr<StudioStage> m_usual;

    /// A window in which functions find their own faults alone; they stand one behind the other.
    StudioStage& usual() {
        if (m_usual == nullptr) {
            m_usual = std::make_unique<StudioStage>();
            m_usual->open();
        }
        return *m_usual;
    }

private slots:

    void aModelThatCannotBeLoadedIsToldWithAWayOn() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        stage.open();
        QCOMPARE(stage.engine->lastSent<LoadModel>()->path, std::string("/models/tiny.gguf"));
        stage.say(failedTask("load_model",
                             {ErrorCode::NotFound, "The file is gone.", "Choose another one."}));
        stage.settle();
        const Notice* notice = stage.notice("load_model");
        QVERIFY(notice != nullptr);
        QVERIFY(notice->kind == Notice::Kind::Error);
        QCOMPARE(notice->headline, QStringLiteral("The file is gone."));
        QCOMPARE(notice->sentence, QStringLiteral("Choose another one."));
        QVERIFY(!notice->details.isEmpty());
        choose(notice, 0);
        QVERIFY(stage.studio->window().findChild<ModelPanel*>()->isVisible());
    }

    void whatTheUserCancelledIsNoFault() {
        StudioStage& stage = usual();
        stage.say(failedTask("load_model", {ErrorCode::Cancelled, "Stopped.", ""}));
        stage.settle();
        QVERIFY(stage.notice("load_model") == nullptr);
    }

    void aRecordingThatEndsByAFaultIsTold() {
        StudioStage& stage = usual();
        stage.say(RecordingStarted{"/tmp/a.swiftrun"});
        stage.say(RecordingStopped{"/tmp/a.swiftrun", std::nullopt});
        stage.settle();
        QVERIFY(stage.notice("recording") == nullptr);
        stage.say(RecordingStopped{"/tmp/a.swiftrun",
                                   Error{ErrorCode::Io, "The disk is full.", "Free some space."}});
        stage.settle();
        QCOMPARE(stage.notice("recording")->headline, QStringLiteral("The disk is full."));
        QCOMPARE(stage.notice("recording")->details, QStringLiteral("/tmp/a.swiftrun"));
    }

    void aRefusedWayOfSamplingIsToldBesideItsSettingAlone() {
        StudioStage& stage = usual();
        stage.say(failedTask("change_sampling", {ErrorCode::InvalidInput, "No.", ""}));
        stage.settle();
        QVERIFY(stage.notice("change_sampling") == nullptr);
    }

    void anAnswerThatEndsInsideItsFormIsToldUntilTheNext() {
        StudioStage& stage = usual();
        PromptFinished cut;
        cut.isInsideGrammar = true;
        stage.say(cut);
        stage.settle();
        QCOMPARE(stage.notice("answer_form")->headline,
                 QStringLiteral("The answer ended before it had the requested form."));
        for (const bool isCut : {false, true}) { // the hidden answers of a search say nothing
            PromptFinished hidden = promptFinished(kFirstHiddenPrompt + 1);
            hidden.isInsideGrammar = isCut;
            stage.say(hidden);
            stage.settle();
            QCOMPARE(stage.notice("answer_form") != nullptr, !isCut);
            stage.studio->window().messages().withdraw(QStringLiteral("answer_form"));
        }
        stage.say(cut);
        stage.settle();
        QVERIFY(stage.notice("answer_form") != nullptr);
        stage.say(PromptFinished{});
        stage.settle();
        QVERIFY(stage.notice("answer_form") == nullptr);
        m_usual.reset();
    }

    void damagedFilesAreSetAsideAndSaidSo() {
        StudioStage stage;
        support::writeFile(stage.options.chatsPath, QByteArray(8192, 'x'));
        support::writeFile(stage.options.settingsPath,
                           "[window]\ntext_percent=120\nno value\n[cut");
        stage.open();
        const auto damaged = [&]() -> const Notice* {
            for (const Notice* shown : stage.studio->window().messages().notices())
                if (shown->details.contains(QStringLiteral("damaged")))
                    return shown;
            return nullptr;
        };
        QTRY_VERIFY(damaged() != nullptr);
        QVERIFY(damaged()->kind == Notice::Kind::Warning);
        QVERIFY(!damaged()->sentence.isEmpty());
        QVERIFY(!QDir(stage.folder.path())
                     .entryList({QStringLiteral("chats.sqlite.damaged*")})
                     .isEmpty());
        QVERIFY(stage.notice("settings") != nullptr);
        QCOMPARE(stage.studio->theme().textPercent(), 120); // what can be read is used
        const QDir folder(stage.folder.path());
        const QStringList kept = folder.entryList({QStringLiteral("studio.ini.damaged-*")});
        QCOMPARE(kept.size(), 1);
        QVERIFY(stage.notice("settings")->sentence.contains(kept.front()));
    }

    void settingsThatCannotBeSavedAreToldOf() {
        StudioStage stage;
        const QString inTheWay = stage.folder.filePath(QStringLiteral("file"));
        support::writeFile(inTheWay, "in the way");
        const QString path = inTheWay + QStringLiteral("/studio.ini");
        const QString usual = std::exchange(stage.options.settingsPath, path);
        stage.open();
        QVERIFY(stage.notice("settings") != nullptr);
        QVERIFY(stage.notice("settings")->sentence.contains(path));
        stage.studio.reset();
        stage.options.settingsPath = usual;
        stage.open();
        QVERIFY(stage.notice("settings") == nullptr);
    }

    void aMissingModelIsToldOfAndNotForgottenUnlessAskedFor() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        const QString gone = stage.folder.filePath(QStringLiteral("gone.gguf"));
        const QString key = QStringLiteral("session/model");
        const auto kept = [&] {
            return QSettings(stage.options.settingsPath, QSettings::IniFormat)
                .value(key)
                .toString();
        };
        QSettings(stage.options.settingsPath, QSettings::IniFormat).setValue(key, gone);
        stage.open();
        QCOMPARE(stage.engine->lastSent<LoadModel>()->path, std::string("/models/tiny.gguf"));
        stage.loadModel();
        QCOMPARE(kept(), gone);
        const Notice* notice = stage.notice("missing_model");
        QVERIFY(notice != nullptr);
        QVERIFY(notice->sentence.contains(gone));
        choose(notice, 1);
        QCOMPARE(kept(), QStringLiteral("/models/tiny.gguf"));
        QVERIFY(stage.notice("missing_model") == nullptr);
    }

    void afterABadEndTheModelWaitsForTheUser() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        QSettings(stage.options.settingsPath, QSettings::IniFormat)
            .setValue(QStringLiteral("session/open"), true);
        stage.open();
        QVERIFY(stage.engine->lastSent<LoadModel>() == nullptr);
        const Notice* notice = stage.notice("ended_badly");
        QVERIFY(notice != nullptr);
        choose(notice, 0);
        QCOMPARE(stage.engine->lastSent<LoadModel>()->path, std::string("/models/tiny.gguf"));
        stage.loadModel();
        QVERIFY(stage.notice("ended_badly") == nullptr);
    }

    void aModelThatWasAskedForIsLoadedAfterABadEndToo() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        stage.options.isModelAskedFor = true;
        QSettings(stage.options.settingsPath, QSettings::IniFormat)
            .setValue(QStringLiteral("session/open"), true);
        stage.open();
        QVERIFY(stage.engine->lastSent<LoadModel>() != nullptr);
        QVERIFY(stage.notice("ended_badly") == nullptr);
    }

    void aGoodEndLeavesNoMark() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        stage.open();
        QVERIFY(stage.studio->window().close());
        stage.studio.reset();
        stage.open();
        QVERIFY(stage.notice("ended_badly") == nullptr);
        QVERIFY(stage.engine->lastSent<LoadModel>() != nullptr);
    }

    void anAnswerThatWasCutOffIsRecoveredAndShown() {
        StudioStage stage;
        {
            ChatStore store(StoreOptions{.path = stage.options.chatsPath});
            store.open();
            ChatRecord chat;
            chat.title = QStringLiteral("<b>cut</b>");
            chat.id = store.createChat(chat);
            StoredMessage answer = answerOf({TokenOrigin::Vanilla, TokenOrigin::Draft});
            answer.state = MessageState::Streaming;
            answer.chatId = chat.id;
            answer.id = store.appendMessage(answer);
            store.updateMessage(answer);
        }
        stage.open();
        QTRY_VERIFY(stage.notice("recovered") != nullptr);
        const Notice* notice = stage.notice("recovered");
        QCOMPARE(notice->headline,
                 QStringLiteral("An answer was interrupted when the program ended."));
        QVERIFY(notice->sentence.contains(QStringLiteral("<b>cut</b>")));
        stage.studio->window().showWorkspace(1);
        choose(notice, 0);
        QCOMPARE(stage.studio->window().currentWorkspace()->objectName(),
                 QStringLiteral("chat_workspace"));
        QTRY_COMPARE(stage.studio->session().chat().record.title, QStringLiteral("<b>cut</b>"));
        QCOMPARE(stage.studio->session().branch().last().text, QStringLiteral("a b "));
    }

    void chatsThatCannotBeSavedAreKeptAndTheWindowClosesOnceTheyAre() {
        StudioStage stage;
        blockChats(stage);
        stage.open();
        QTRY_VERIFY(stage.notice("store") != nullptr);
        QVERIFY(stage.notice("store")->kind == Notice::Kind::Error);
        stage.loadModel();
        stage.answer();
        QTRY_VERIFY(stage.studio->chats().unsavedCount() > 0);
        QVERIFY(!stage.studio->window().close());
        QFile::remove(stage.folder.filePath(QStringLiteral("file")));
        QTRY_VERIFY(stage.notice("store") == nullptr);
        QCOMPARE(stage.studio->chats().unsavedCount(), 0);
        QTRY_VERIFY(!stage.studio->window().isVisible()); // without a question
        QVERIFY(stage.notice("unsaved") == nullptr);
    }

    void quittingWithUnsavedChatsAsksFirst() {
        StudioStage stage;
        blockChats(stage);
        stage.open();
        stage.loadModel();
        stage.answer();
        QTRY_VERIFY(stage.studio->chats().unsavedCount() > 0);
        MainWindow& window = stage.studio->window();
        QVERIFY(!window.close());
        QVERIFY(window.isVisible());
        const Notice* notice = stage.notice("unsaved");
        QVERIFY(notice != nullptr);
        QCOMPARE(notice->headline, QStringLiteral("2 changes are not saved."));
        QCOMPARE(notice->choices.at(0).label, QStringLiteral("Quit anyway"));
        stage.action("app.quit")->trigger();
        QVERIFY(window.isVisible());
        choose(stage.notice("unsaved"), 0);
        QVERIFY(!window.isVisible());
    }
};

QTEST_MAIN(StudioFaultsTest)
#include "studio_faults_test.moc"
