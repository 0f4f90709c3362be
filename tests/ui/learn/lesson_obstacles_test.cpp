// SPDX-License-Identifier: GPL-3.0-only
// A lesson that cannot be walked says so before it begins, and what to do.
#include "tests/support/models/tiny_folder_model.h"
#include "tests/ui/studio/engine_stage.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/views/layer_map/editing/manual_set.h"

#include <QLabel>
#include <QUndoStack>

#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// Two steps, the second one with what is to be tried.
Lesson lessonThat(const LessonAction& action, const LessonNeeds& needs = {}) {
    Lesson lesson;
    lesson.name = "own";
    lesson.title = "A lesson of mine";
    lesson.summary = "You will be able to try it.";
    lesson.needs = needs;
    lesson.steps.push_back({.title = "Read", .text = "Text.", .view = "chat"});
    lesson.steps.push_back(
        {.title = "Do", .text = "Text.", .view = "chat", .button = "Do it", .actions = {action}});
    return lesson;
}

} // namespace

class LessonObstaclesTest : public EngineStageTest {
    Q_OBJECT

    bool m_isKept = false; ///< the window, for the next function

    /// Goes on with the window of the function before, where that has left it.
    void beginOrGoOn() {
        if (m_stage == nullptr)
            begin();
    }

    /// What is said instead of the first step; empty if the lesson has begun.
    QString said(const Lesson& lesson) {
        LessonPanel& panel = studio().lessonPanel();
        panel.begin(lesson);
        const bool hasBegun = studio().lessonPlayer().lesson() != nullptr;
        const QString obstacle = panel.obstacle();
        studio().lessonPlayer().leave();
        return hasBegun == obstacle.isEmpty() ? obstacle : QStringLiteral("both or neither");
    }

private slots:

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void aDecoderThatIsNotInstalledIsNamedBeforeTheLesson() {
        beginOrGoOn();
        const QString told = said(lessonThat({.decoder = "swfit"}));
        QVERIFY2(told.contains("A lesson of mine: in step 2"), qPrintable(told));
        QVERIFY2(told.contains("\"swfit\"") && told.contains(", vanilla"), qPrintable(told));
        QCOMPARE(said(lessonThat({.decoder = "swift"})), QString());
        m_isKept = true;
    }

    void aSettingThatTheDecoderHasNotIsNamedBeforeTheLesson() {
        beginOrGoOn();
        const QString unknown =
            said(lessonThat({.decoder = "swift", .settings = {{"depht", "3"}}}));
        QVERIFY2(unknown.contains("\"depht\"") && unknown.contains("Parameters"),
                 qPrintable(unknown));
        const QString wrong = said(lessonThat({.decoder = "swift", .settings = {{"r", "much"}}}));
        QVERIFY2(wrong.contains("\"much\""), qPrintable(wrong));
        QCOMPARE(said(lessonThat({.decoder = "swift", .settings = {{"r", "0.3"}}})), QString());
        m_isKept = true;
    }

    void aSublayerThatTheModelHasNotIsNamedBeforeTheLesson() {
        beginOrGoOn();
        const QString told = said(lessonThat({.flip = "mlp 6"}));
        QVERIFY2(told.contains("\"mlp 6\"") && told.contains("0 to 5"), qPrintable(told));
        QCOMPARE(said(lessonThat({.flip = "mlp 5"})), QString());
        m_isKept = true;
    }

    void aModelThatIsNotOnThisComputerIsNoBeginning() {
        beginOrGoOn();
        for (const char* wanted : {"default", "planted"}) {
            const QString told = said(lessonThat({.ask = "abc"}, {.model = wanted}));
            QVERIFY2(told.contains("installer/run.sh"), qPrintable(told));
        }
        m_isKept = true;
    }

    void aModelForSpaceIsAskedFor() {
        beginOrGoOn();
        const QString told = said(lessonThat({.decoder = "swift"}, {.spaceModel = true}));
        QVERIFY2(told.contains("trained for SPACE"), qPrintable(told));
        m_isKept = true;
    }

    void aFileThatIsNoLessonIsSaidInTheWindow() {
        beginOrGoOn();
        studio().openLessonFile(m_folder->filePath(QStringLiteral("none.json")));
        QVERIFY(m_stage->hasNotice(QStringLiteral("lesson_file")));
        QVERIFY(studio().lessonPlayer().lesson() == nullptr);
        m_isKept = true;
    }

    /// What the engine refuses although nothing spoke against it: the lesson goes on.
    void anActionThatFailsDoesNotHoldTheLessonUp() {
        beginOrGoOn();
        LessonPlayer& player = studio().lessonPlayer();
        Lesson lesson = lessonThat({.decoder = "swift"});
        lesson.steps[1].actions = {{.decoder = "vanilla"}, {.skipsNothing = true}, {.ask = "abc"}};
        studio().lessonPanel().begin(lesson);
        player.goTo(1);
        player.press();
        QTRY_VERIFY(!player.isBusy() && m_stage->count<PromptFinished>() == 1);
        player.leave();
        m_isKept = true;
    }

    void aQuestionOfBlanksHoldsNothingUp() {
        beginOrGoOn();
        LessonPlayer& player = studio().lessonPlayer();
        studio().lessonPanel().begin(lessonThat({.ask = " "}));
        player.goTo(1);
        player.press();
        QTRY_VERIFY(!player.isBusy());
        player.leave();
        m_isKept = true;
    }

    void aLessonAsksInNoChatOfTheUsers() {
        beginOrGoOn();
        ChatSession& session = studio().session();
        answer(QStringLiteral("abc"));
        const qint64 own = session.chat().record.id;
        const auto messages = session.chat().messages.size();
        const std::size_t answers = m_stage->count<PromptFinished>();
        LessonPlayer& player = studio().lessonPlayer();
        studio().lessonPanel().begin(lessonThat({.ask = "abc", .maxTokens = 8}));
        player.goTo(1);
        player.press();
        QTRY_VERIFY(!player.isBusy() && m_stage->count<PromptFinished>() == answers + 1);
        QVERIFY(session.chat().record.id != own);
        session.openChat(own);
        QTRY_COMPARE(session.chat().record.id, own);
        player.press();
        QTRY_VERIFY(!player.isBusy() && m_stage->count<PromptFinished>() == answers + 2);
        QVERIFY(session.chat().record.id != own);
        player.leave();
        session.openChat(own);
        QTRY_COMPARE(session.chat().record.id, own);
        QCOMPARE(session.chat().messages.size(), messages);
        QVERIFY(session.settingsAt(SettingsPlace::Chat).maxTokens != std::optional(8));
        m_isKept = true;
    }

    void whatALessonHasChosenEndsWithIt() {
        beginOrGoOn();
        const RunStore& run = studio().run();
        QTRY_COMPARE(run.decoder()->name, std::string("swift"));
        const SettingValues settings = run.settings();
        LessonPlayer& player = studio().lessonPlayer();
        Lesson lesson = lessonThat({.decoder = "vanilla"});
        lesson.steps[1].actions.push_back({.ask = "abc"});
        studio().lessonPanel().begin(lesson);
        player.goTo(1);
        m_stage->gate.holdAtPass(5);
        player.press();
        QTRY_VERIFY(m_stage->gate.isWaiting() && run.answers().isRunning());
        QCOMPARE(run.decoder()->name, std::string("vanilla"));
        player.leave(); // while its answer is written
        m_stage->gate.release();
        QTRY_COMPARE(run.decoder()->name, std::string("swift"));
        QVERIFY(run.settings() == settings);
        QTRY_VERIFY(m_stage->isDone());
        studio().bridge().send(ChooseDecoder{"vanilla"});
        QTRY_COMPARE(run.decoder()->name, std::string("vanilla"));
        const QSettings kept(m_folder->filePath(QStringLiteral("swift-studio.ini")),
                             QSettings::IniFormat);
        QTRY_VERIFY(kept.value(QStringLiteral("run/choices"))
                        .toString()
                        .contains(QLatin1String("vanilla")));
        studio().bridge().send(ChooseDecoder{"swift"});
        QTRY_COMPARE(run.decoder()->name, std::string("swift"));
        m_isKept = true;
    }

    void withoutAModelALessonSaysWhereToOpenOne() {
        beginOrGoOn();
        studio().bridge().send(UnloadModel{});
        QTRY_VERIFY(studio().run().model() == nullptr);
        const QString told = said(lessonThat({.ask = "abc"}));
        QVERIFY2(told.contains("no model is loaded"), qPrintable(told));
    }

    void aModelWhoseLayersAreAllLockedHasNothingToSkip() {
        m_folder = std::make_unique<QTemporaryDir>();
        const ModelConfig config = letterConfig(2);
        auto weights = randomWeights(config, 3);
        const std::filesystem::path path =
            m_folder->filePath(QStringLiteral("letters")).toStdString();
        writeFolderModel(path, config, weights);
        m_stage = std::make_unique<EngineStage>(m_folder->path(), 420);
        QTRY_VERIFY(studio().run().model() != nullptr);
        const QString told = said(lessonThat({.decoder = "swift"}, {.freeSublayers = true}));
        QVERIFY2(told.contains("locked") && told.contains("more layers"), qPrintable(told));
        QCOMPARE(said(lessonThat({.decoder = "swift"})), QString());
    }

    void aModelThatTuneHasMadeForSpaceNeedsNothingElse() {
        m_folder = std::make_unique<QTemporaryDir>();
        const QString path = m_folder->filePath(QStringLiteral("letters"));
        writeLetterModel(path, 3);
        writeText((path + QStringLiteral("/tuning.json")).toStdString(),
                  R"({"swift_studio_tuning":1,"recipe":{"name":"space","masks":2}})");
        m_stage = std::make_unique<EngineStage>(m_folder->path(), 420);
        QTRY_VERIFY(studio().run().model() != nullptr);
        QVERIFY(studio().run().decoder()->name != "space");
        QCOMPARE(said(lessonThat({.decoder = "swift"}, {.spaceModel = true})), QString());
    }

    void theLessonOfTheStartWaitsForTheModel() {
        m_folder = std::make_unique<QTemporaryDir>();
        writeLetterModel(m_folder->filePath(QStringLiteral("letters")), 3);
        const QString lesson = m_folder->filePath(QStringLiteral("own.json"));
        writeText(lesson.toStdString(),
                  R"({"format":"swift-lesson","version":1,"name":"own","title":"Mine",)"
                  R"("summary":"You will be able to try it.","order":1,"minutes":1,"source":"me",)"
                  R"("needs":{},"steps":[{"title":"Read","view":"chat"}]})");
        writeText(m_folder->filePath(QStringLiteral("own.md")).toStdString(),
                  "# Mine\n\nYou will be able to try it.\n\n## Read\n\nText.\n");
        m_stage = std::make_unique<EngineStage>(m_folder->path(), 420, lesson);
        QVERIFY(studio().lessonPanel().isVisible());
        QTRY_VERIFY(studio().lessonPlayer().lesson() != nullptr);
        QVERIFY2(studio().lessonPanel().obstacle().isEmpty(),
                 qPrintable(studio().lessonPanel().obstacle()));
    }

    void aLessonBeginsFromItsOwnStateBehindAnother() {
        begin();
        const RunStore& run = studio().run();
        const std::string decoder = run.decoder()->name;
        const SettingValues settings = run.settings();
        Lesson lesson = lessonThat({.decoder = "swift", .settings = {{"profile", "paper"}}});
        lesson.steps[1].actions.push_back({.flip = "mlp 2"});
        lesson.steps[1].actions.push_back({.ask = "abc"});
        studio().lessonPanel().begin(lesson);
        LessonPlayer& player = studio().lessonPlayer();
        player.goTo(1);
        player.press();
        QTRY_VERIFY(!player.isBusy() && m_stage->count<PromptFinished>() == 1);
        QVERIFY(run.search().used() != nullptr);
        player.leave();
        lesson.name = "other";
        studio().lessonPanel().begin(lesson);
        QTRY_VERIFY(player.isPrepared());
        QVERIFY(run.search().used() == nullptr);
        QCOMPARE(run.decoder()->name, decoder);
        QVERIFY(run.settings() == settings);
        studio().bridge().send(ChooseDecoder{"vanilla"}); // what the user chooses stays
        QTRY_COMPARE(run.decoder()->name, std::string("vanilla"));
        studio().lessonPanel().begin(lesson);
        QTRY_VERIFY(player.isPrepared());
        QCOMPARE(run.decoder()->name, std::string("vanilla"));
    }

    /// Flips of the lesson and of the learner in it are given back with its decoder.
    void undoBehindALessonIsOfTheUsersStepsAlone() {
        begin();
        const RunStore& run = studio().run();
        QUndoStack& history = studio().undoStack();
        const ViewContext context{
            studio().theme(), run, studio().bridge(), studio().selection(), history};
        ManualSet map(context);
        const auto isSet = [&](const SkipSet& set) {
            return textOf(run.settings(), "skip_set") == skipSetJson(set);
        };
        map.use({{2}, {}}, "my flip");
        QTRY_VERIFY(isSet({{2}, {}}));
        const SettingValues own = run.settings();
        Lesson lesson = lessonThat({.decoder = "swift"});
        lesson.steps[1].actions.push_back({.flip = "mlp 3"});
        studio().lessonPanel().begin(lesson);
        LessonPlayer& player = studio().lessonPlayer();
        player.goTo(1);
        player.press();
        QTRY_VERIFY(!player.isBusy());
        QVERIFY(isSet({{}, {3}}));
        QCOMPARE(history.undoText(), QString("my flip"));
        map.use({{2}, {3}}, "the learner's flip");
        QTRY_VERIFY(isSet({{2}, {3}}));
        player.leave();
        QTRY_VERIFY(run.settings() == own);
        QCOMPARE(history.undoText(), QString("my flip"));
        history.undo();
        QTRY_VERIFY(!isSet({{2}, {}}));
        QVERIFY(!history.canUndo());
    }
};

QTEST_MAIN(LessonObstaclesTest)
#include "lesson_obstacles_test.moc"
