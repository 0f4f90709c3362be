// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/studio_stage.h"
#include "ui/learn/empty_learn.h"
#include "ui/learn/learn_page.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/learn/stage_list.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QPushButton>
#include <QTest>

#include <set>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// The workspace Learn: reached by its keys, empty until there is a round, one page a stage.
class LearnPageTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    bool m_isKept = false; ///< the window, for the next function

    MainWindow& window() const { return m_stage->studio->window(); }

    LearnPage& page() const { return m_stage->studio->learnPage(); }

    void open(const QString& replay = {}) {
        m_stage = std::make_unique<StudioStage>(QString(), replay);
        m_stage->open();
    }

    /// Goes on with the window of the function before, where that has left it.
    void openOrGoOn() {
        if (m_stage == nullptr)
            open();
    }

    void finishAnswer() {
        PromptFinished finished = promptFinished(m_stage->promptId);
        finished.tokens = {1, 100, 101, 199};
        finished.reason = FinishReason::EndToken;
        m_stage->say(finished);
        m_stage->settle();
    }

    static Lesson lensLesson() {
        Lesson lesson;
        lesson.name = "own";
        lesson.title = "A lesson of mine";
        lesson.summary = "You will be able to try it.";
        LessonCheck check{.question = "Choose a cell."};
        check.conditions.push_back({.fact = "lens.rank", .atLeast = 1.0});
        lesson.steps.push_back({.title = "Look",
                                .text = "Text.",
                                .view = "lens",
                                .check = check,
                                .solution = {{.lens = "final"}}});
        return lesson;
    }

    void pressKeys() {
        m_stage->action("workspace.learn_workspace")->trigger();
        m_stage->settle();
    }

private slots:

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void itsKeysAreTheSameInAReplay_data() {
        QTest::addColumn<QString>("replay");
        QTest::newRow("replay") << QStringLiteral("run.swiftrun");
        QTest::newRow("engine") << QString();
    }

    void itsKeysAreTheSameInAReplay() {
        QFETCH(QString, replay);
        open(replay);
        const QAction* action = m_stage->action("workspace.learn_workspace");
        QVERIFY(action != nullptr);
        QCOMPARE(action->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_4));
        pressKeys();
        QVERIFY(page().isVisible());
        m_isKept = replay.isEmpty();
    }

    void eachStageHasAPageUnderItsOwnName() {
        openOrGoOn();
        std::set<QString> ids;
        int index = 0;
        for (const LearnStage& stage : learnStages()) {
            QVERIFY2(ids.insert(stage.id).second, qPrintable(stage.id));
            QVERIFY(!stage.title.isEmpty() && !stage.sentence.isEmpty());
            QCOMPARE(page().stageView(index++)->info().id, stage.id);
        }
        m_isKept = true;
    }

    void itSaysWhatToDoUntilThereIsARound() {
        openOrGoOn();
        pressKeys();
        QVERIFY(page().isEmpty());
        QVERIFY(page().emptyPage().isVisible());
        QCOMPARE(QApplication::focusWidget(), &page().emptyPage().mainButton());
        page().emptyPage().mainButton().click();
        QVERIFY(!page().isVisible()); // now in Chat
        m_stage->loadModel();
        m_stage->say(promptStarted(kFirstHiddenPrompt + 1)); // of a search
        m_stage->say(draftStep(kFirstHiddenPrompt + 1, 0, {" a"}, 1, " b"));
        m_stage->say(promptFinished(kFirstHiddenPrompt + 1));
        m_stage->settle();
        QVERIFY(page().isEmpty());
        m_stage->beginAnswer();
        pressKeys();
        QVERIFY(!page().isEmpty());
        QVERIFY(!page().emptyPage().isVisible());
        QVERIFY(page().stageView(0)->isVisible());
        m_isKept = true;
    }

    void aStageIsChosenInTheListOrByItsId() {
        openOrGoOn();
        if (page().isEmpty()) {
            m_stage->loadModel();
            m_stage->beginAnswer();
        }
        pressKeys();
        auto* list = window().findChild<StageList*>();
        QVERIFY(list != nullptr);
        const std::vector<LearnStage> stages = learnStages();
        for (int index = static_cast<int>(stages.size()) - 1; index >= 0; --index) {
            list->button(index)->click();
            QCOMPARE(page().stage(), index);
            QVERIFY(page().stageView(index)->isVisible());
        }
        page().showStage(stages.back().id);
        QCOMPARE(page().stage(), static_cast<int>(stages.size()) - 1);
        QCOMPARE(list->current(), page().stage());
        page().showStage(QStringLiteral("nonsense"));
        QCOMPARE(page().stage(), static_cast<int>(stages.size()) - 1);
        m_stage->action("learn.lens")->trigger(); // where the list of stages has no room
        QCOMPARE(stages[static_cast<std::size_t>(page().stage())].id, QStringLiteral("lens"));
    }

    void aStageIsNotRefreshedWhileItIsHidden() {
        open();
        m_stage->loadModel();
        m_stage->beginAnswer();
        const int before = page().stageView(0)->refreshCount();
        for (int step = 2; step < 20; ++step) {
            m_stage->say(draftStep(m_stage->promptId, step, {" two", " three"}, 1, " four"));
            m_stage->settle();
        }
        QCOMPARE(page().stageView(0)->refreshCount(), before);
        pressKeys();
        m_stage->studio->bridge().refreshPictures();
        QVERIFY(page().stageView(0)->refreshCount() > before);
    }

    /// Each time it is asked to show the cell, the lens reads on.
    void aLessonGoesOnWhenTheReadingOfTheLensWasStopped() {
        open();
        m_stage->loadModel();
        m_stage->beginAnswer();
        finishAnswer();
        const Lesson lesson = lensLesson();
        LessonPanel& panel = m_stage->studio->lessonPanel();
        const LessonPlayer& player = m_stage->studio->lessonPlayer();
        panel.begin(lesson);
        m_stage->settle();
        m_stage->studio->bridge().refreshPictures();
        QVERIFY(player.isPrepared());
        std::uint64_t before = 0;
        for (int press = 0; press < 2; ++press) {
            const auto* asked = m_stage->engine->lastSent<ReadLens>();
            QVERIFY(asked != nullptr && asked->requestId != before);
            before = asked->requestId;
            m_stage->say(LensFinished{before, true, {}, 0.1});
            m_stage->settle();
            QVERIFY(panel.showButton().isEnabled());
            panel.showButton().click();
            QVERIFY(player.isBusy());
        }
        panel.begin(lesson); // anew, while the last reading has not ended
        QVERIFY(player.isPrepared());
    }

    /// Whatever a search has asked meanwhile.
    void aLessonStopsInARoundOfTheChat() {
        open();
        m_stage->loadModel();
        m_stage->answer();
        m_stage->say(promptStarted(kFirstHiddenPrompt + 1));
        m_stage->say(draftStep(kFirstHiddenPrompt + 1, 0, {" a"}, 1, " b"));
        m_stage->say(promptFinished(kFirstHiddenPrompt + 1));
        m_stage->settle();
        Lesson lesson = lensLesson();
        lesson.steps = {{.title = "Look",
                         .text = "Text.",
                         .view = "slow_motion",
                         .button = "Go on",
                         .actions = {{.stop = "accept", .round = "best"}}}};
        m_stage->studio->lessonPanel().begin(lesson);
        m_stage->studio->lessonPlayer().press();
        const auto* walk = page().findChild<SlowMotionView*>();
        QCOMPARE(walk->promptId(), m_stage->promptId);
        QVERIFY(walk->scene()->current() == RoundStop::Accept);
    }

    /// Also where the learner has frozen the lens and gone elsewhere.
    void aLessonShowsTheLensThatItReads() {
        open();
        m_stage->loadModel();
        m_stage->beginAnswer();
        auto* lens = page().findChild<LensView*>();
        LessonPanel& panel = m_stage->studio->lessonPanel();
        const LessonPlayer& player = m_stage->studio->lessonPlayer();
        lens->setFrozen(true);
        panel.begin(lensLesson());
        QVERIFY(lens->isVisible() && !lens->isFrozen());
        lens->setFrozen(true);
        window().showWorkspace(0);
        finishAnswer();
        QVERIFY(m_stage->engine->lastSent<ReadLens>() == nullptr);
        panel.showButton().click();
        QVERIFY(lens->isVisible() && !lens->isFrozen());
        const auto* asked = m_stage->engine->lastSent<ReadLens>();
        QVERIFY(asked != nullptr && player.isBusy());
        window().showWorkspace(0); // what was begun comes to its end
        m_stage->say(LensFinished{asked->requestId, true, {}, 0.1});
        m_stage->settle();
        QVERIFY(!player.isBusy());
    }
};

QTEST_MAIN(LearnPageTest)

#include "learn_page_test.moc"
