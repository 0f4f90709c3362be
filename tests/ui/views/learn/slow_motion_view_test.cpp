// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/patience.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/learn/slow_motion/controls/stop_caret.h"
#include "ui/views/learn/slow_motion/controls/walk_transport.h"
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QImage>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// Two guesses, the second with an alternative that the model wanted; a draft that stopped because
/// it was unsure; and a candidate of the search.
StepFinished fullStep(int step) {
    StepFinished made = draftStep(1, step, {" delta", " count"}, 1, " x");
    made.draftTexts = {" delta", " count", " n"};
    made.draft.push_back({7, 0, 1, 0.31});
    made.draft[1].probability = 0.46;
    made.confidences = {0.98, 0.46};
    made.draftEnd = {DraftEndReason::Unsure, 0.46, 0.8};
    made.path = {0, 2};
    made.tokens.insert(made.tokens.begin() + 1, token(7, " n", TokenOrigin::Sibling, 0.41));
    made.rowChoices = {{made.tokens[0].id, " delta", 0.9},
                       {7, " n", 0.41},
                       {55, " y", 0.2},
                       {made.tokens[2].id, " x", 0.7}};
    made.verifiedRows = 4;
    made.draftMs = 10.0;
    made.verifyMs = 14.0;
    made.draftLayers = 4.0;
    made.verifyLayers = 4.0;
    return made;
}

TrialFinished candidate() {
    TrialFinished made = trial("random", 3, 0.75, 0.75, {.layerCount = 4, .skipped = {{1}, {2}}});
    made.ticks = {1, 1, 0, 1};
    made.window = {" a", " b", " c", " d"};
    made.guesses = {" a", " b", " q", " d"};
    return made;
}

} // namespace

class SlowMotionViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<SlowMotionView> m_view;

    void show(QSize size = {1100, 900}) {
        m_view = std::make_unique<SlowMotionView>(m_stage->context());
        m_view->resize(size);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get(), support::kPatienceMs));
        m_stage->settle();
    }

    /// An answer of three rounds: plain, full, and a draft of which nothing was kept.
    void sayRounds() {
        m_stage->say(loadedModel());
        m_stage->say(promptStarted(1));
        Statistics told = statistics({});
        told.baselineStepMs = 10.0;
        m_stage->say(told);
        PlanChanged change;
        change.planId = 1;
        change.plan = {.layerCount = 4, .skipped = {{1}, {2}}};
        m_stage->say(change);
        m_stage->say(plainStep(1, 0, "one", 10.0));
        m_stage->say(candidate());
        m_stage->say(fullStep(1));
        m_stage->say(draftStep(1, 2, {" no", " never"}, 0, " yes"));
    }

    std::vector<RoundStop> stops() const { return m_view->scene()->walk.stops; }

    void tick(int times) {
        for (int i = 0; i < times; ++i)
            m_stage->bridge.tick();
    }

    /// Ticks that a movement takes at speed 1.
    static int ticksOf(double ms) { return static_cast<int>(ms / EngineBridge::kTickMs) + 2; }

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void theRoundThatShowsMostIsShownFirst() {
        sayRounds();
        show();
        QCOMPARE(m_view->round(), 1);
        QCOMPARE(stops().size(), std::size_t{6});
        QCOMPARE(m_view->scene()->stop, 0);
    }

    void withoutARoundThereIsNothingAndNoKeyDoesHarm() {
        show();
        QVERIFY(m_view->scene() == nullptr);
        for (const int key :
             {Qt::Key_Space, Qt::Key_Backspace, Qt::Key_End, Qt::Key_3, Qt::Key_PageUp})
            QTest::keyClick(m_view.get(), static_cast<Qt::Key>(key));
        m_view->setPlaying(true);
        QVERIFY(!m_view->isPlaying());
        QVERIFY(m_view->table().header.isEmpty());
    }

    void aDraftByTheAdapterRunsNoLayerOfTheModel() {
        sayRounds();
        StepFinished step = fullStep(3);
        step.drafter = "tuned";
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        QVERIFY(m_view->sentence().contains(QStringLiteral("draft adapter")));
        QVERIFY(!m_view->sentence().contains(QStringLiteral("left out")));
    }

    /// One of the two places has two guesses: the picture of this stop shows the first choices
    /// only.
    void aDraftWithoutAPassTellsHowManyOfItsGuessesAreShown() {
        sayRounds();
        StepFinished step = fullStep(3);
        step.confidences.clear();
        step.draftMs = 0.0;
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        QVERIFY(m_view->sentence().startsWith(QStringLiteral("3 tokens are guessed without")));
        QStringList told;
        for (const ScenePicture* picture : m_view->findChildren<ScenePicture*>())
            told << picture->accessibleDescription();
        QVERIFY2(told.contains(QStringLiteral("the first choices: 2 of the 3 guesses")),
                 qPrintable(told.join(u'|')));
    }

    void oneGuessIsToldInTheSingular() {
        sayRounds();
        TrialFinished tried = candidate();
        tried.ticks = {1};
        tried.window = tried.guesses = {" a"};
        m_stage->say(tried);
        StepFinished step = draftStep(1, 3, {" a"}, 1, " b");
        step.confidences.clear();
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        QVERIFY2(m_view->sentence().startsWith(QStringLiteral("1 token is guessed without")),
                 qPrintable(m_view->sentence()));
        m_view->goTo(3);
        m_stage->settle();
        QCOMPARE(m_view->scene()->current(), RoundStop::Accept);
        QStringList told;
        for (const ScenePicture* picture : m_view->findChildren<ScenePicture*>())
            told << picture->accessibleDescription();
        QVERIFY2(told.contains(QStringLiteral("the only guess is kept")),
                 qPrintable(told.join(u'|')));
        m_view->goTo(4);
        QVERIFY2(m_view->sentence().contains(QStringLiteral("It predicts 1 of the 1 token.")),
                 qPrintable(m_view->sentence()));
    }

    void oneLayerIsToldInTheSingular() {
        sayRounds();
        PlanChanged change;
        change.planId = 2;
        change.plan = {4, {}, 0};
        m_stage->say(change);
        StepFinished step = draftStep(1, 3, {" a", " b"}, 1, " c");
        step.planId = 2;
        step.draftLayers = 2.0;
        step.verifyLayers = 1.0;
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        QVERIFY2(m_view->sentence().startsWith(
                     QStringLiteral("The first of the 4 layers alone guesses 2 tokens")),
                 qPrintable(m_view->sentence()));
        m_view->goTo(2);
        QVERIFY2(m_view->sentence().startsWith(
                     QStringLiteral("The last of the 4 layers reads all 3 rows")),
                 qPrintable(m_view->sentence()));
    }

    void aRoundWhoseRowsOnlyHelpLaterVerifiesNothing() {
        sayRounds();
        StepFinished step = plainStep(1, 3, "four", 10.0);
        step.sides = {{.token = 9, .parent = -1}, {.token = 9, .parent = 0}};
        step.sideTexts = {"<mask>", "<mask>"};
        step.verifiedRows = 3;
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        QCOMPARE(m_view->scene()->current(), RoundStop::Linearise);
        QVERIFY2(m_view->sentence().startsWith(QStringLiteral("There is nothing to verify yet.")),
                 qPrintable(m_view->sentence()));
    }

    void aDraftByACopyLeavesNoLayerOut() {
        sayRounds();
        StepFinished step = fullStep(3);
        step.drafter = "copy";
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        QVERIFY(m_view->sentence().contains(QStringLiteral("weights are rounded to 4 bits")));
        QVERIFY(!m_view->sentence().contains(QStringLiteral("left out")));
    }

    void theKeysWalkThroughTheStops() {
        sayRounds();
        show();
        const auto stop = [this] { return m_view->scene()->stop; };
        QTest::keyClick(m_view.get(), Qt::Key_Space);
        QCOMPARE(stop(), 1);
        QTest::keyClick(m_view.get(), Qt::Key_Space);
        QCOMPARE(stop(), 2);
        QTest::keyClick(m_view.get(), Qt::Key_Backspace);
        QCOMPARE(stop(), 1);
        QTest::keyClick(m_view.get(), Qt::Key_End);
        QCOMPARE(stop(), 5);
        QTest::keyClick(m_view.get(), Qt::Key_Space); // there is none behind it
        QCOMPARE(stop(), 5);
        QTest::keyClick(m_view.get(), Qt::Key_Home);
        QCOMPARE(stop(), 0);
        QTest::keyClick(m_view.get(), Qt::Key_Backspace);
        QCOMPARE(stop(), 0);
        QTest::keyClick(m_view.get(), Qt::Key_4);
        QCOMPARE(m_view->scene()->current(), RoundStop::Verify);
        QTest::keyClick(m_view.get(), Qt::Key_9);
        QCOMPARE(m_view->scene()->current(), RoundStop::Verify);
        QTest::keyClick(&m_view->transport().caret(), Qt::Key_Right);
        QCOMPARE(m_view->scene()->current(), RoundStop::Accept);
        const double before = m_view->transport().speed();
        QTest::keyClick(m_view.get(), Qt::Key_Minus);
        QVERIFY(m_view->transport().speed() < before);
        QTest::keyClick(m_view.get(), Qt::Key_PageDown);
        QCOMPARE(m_view->round(), 2);
        QTest::keyClick(m_view.get(), Qt::Key_PageDown); // the last one
        QCOMPARE(m_view->round(), 2);
    }

    /// With large text.
    void inALowWindowNoSentenceIsCutAndAStopShowsItsPicture() {
        m_stage->theme.setTextPercent(150);
        sayRounds();
        show({640, 480});
        const auto* scroll = m_view->findChild<QScrollArea*>();
        QVERIFY(scroll != nullptr);
        const auto isSeen = [&](const char* name) {
            for (const ScenePicture* picture : m_view->findChildren<ScenePicture*>())
                if (picture->accessibleName() == QLatin1String(name)) {
                    const int top = picture->mapTo(scroll, QPoint()).y();
                    const int high = std::min(picture->height(), scroll->viewport()->height());
                    return top >= 0 && top + high <= scroll->viewport()->height();
                }
            return false;
        };
        for (std::size_t stop = 0; stop < stops().size(); ++stop) {
            m_view->goTo(static_cast<int>(stop));
            m_stage->settle();
            for (const QLabel* label : m_view->findChildren<QLabel*>())
                QVERIFY(label->height() >= label->heightForWidth(label->width()));
            const RoundStop current = stops()[stop];
            const bool isOfRows = current == RoundStop::Linearise || current == RoundStop::Search;
            QVERIFY2(isSeen(isOfRows ? "Rows of the pass" : "Draft tree"),
                     qPrintable(stopTitle(current)));
        }
        const QScrollBar& bar = *scroll->verticalScrollBar();
        m_view->goTo(0);
        m_stage->settle();
        for (int i = 0; i < 200; ++i)
            QTest::keyClick(m_view.get(), Qt::Key_Down);
        QCOMPARE(bar.value(), bar.maximum()); // the numbers at the foot are reached without a mouse
        QTest::keyClick(m_view.get(), Qt::Key_Up);
        QVERIFY(bar.value() < bar.maximum());
    }

    void backwardsShowsWhatForwardsShowed_data() {
        QTest::addColumn<bool>("isDark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }

    void backwardsShowsWhatForwardsShowed() {
        QFETCH(bool, isDark);
        m_stage->theme.setChoice(isDark ? ThemeChoice::Dark : ThemeChoice::Light);
        sayRounds();
        show();
        for (int round = 0; round < 3; ++round) {
            m_view->showRound(1, round);
            std::vector<QImage> forwards;
            m_view->goTo(0);
            for (std::size_t stop = 0; stop < stops().size(); ++stop) {
                if (stop > 0)
                    m_view->goOn();
                tick(ticksOf(SlowMotionView::kMoveMs));
                QCOMPARE(m_view->scene()->part, 1.0);
                m_stage->settle();
                forwards.push_back(m_view->grab().toImage());
                if (stop > 0)
                    QVERIFY(forwards[stop] != forwards[stop - 1]);
            }
            for (std::size_t stop = stops().size() - 1; stop-- > 0;) {
                m_view->goBack();
                m_stage->settle();
                QCOMPARE(m_view->scene()->stop, static_cast<int>(stop));
                QVERIFY2(m_view->grab().toImage() == forwards[stop],
                         qPrintable(QStringLiteral("round %1 stop %2").arg(round).arg(stop)));
            }
        }
    }

    void whatFollowsIsNotToldBefore() {
        sayRounds();
        show();
        const WalkScene& scene = *m_view->scene();
        m_view->goTo(2); // linearise
        for (int row = 0; row < scene.walk.shape.rowCount(); ++row)
            QVERIFY(!scene.showsChoice(row) && !scene.isGone(row));
        QVERIFY(!scene.isKept(1));
        m_view->goTo(3); // verify
        QVERIFY(scene.showsChoice(0) && scene.showsChoice(2));
        QVERIFY(!scene.isKept(1) && !scene.isGone(2));
        m_view->goTo(4); // accept
        QVERIFY(scene.isKept(1) && scene.isKept(3));
        QVERIFY(scene.isGone(2));
    }

    /// The alternative that is kept stands first, whichever it was.
    void anAlternativeKeepsTheNumberThatTheAnswerShows() {
        sayRounds();
        StepFinished step = fullStep(3);
        step.draft.push_back({8, 0, 2, 0.1});
        step.path = {0, 3};
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        const WalkScene& scene = *m_view->scene();
        QCOMPARE(scene.depths()[1].alternatives, (std::vector{4, 3}));
        QCOMPARE(scene.choiceNumber(4), 3);
        QCOMPARE(scene.choiceNumber(3), 2);
        QCOMPARE(scene.choiceNumber(2), 1);
    }

    void aMovementGoesOnWithTheTicksAndOnlyWhileItIsSeen() {
        sayRounds();
        show();
        m_view->goOn();
        QCOMPARE(m_view->scene()->part, 0.0);
        tick(3);
        const double part = m_view->scene()->part;
        QVERIFY(part > 0.0 && part < 1.0);
        m_view->hide();
        tick(10);
        QCOMPARE(m_view->scene()->part, part);
        m_view->show();
        tick(ticksOf(SlowMotionView::kMoveMs));
        QCOMPARE(m_view->scene()->part, 1.0);
        QCOMPARE(m_view->scene()->stop, 1); // and waits there
    }

    void playingRestsAtEveryStopAndEndsAtTheLast() {
        sayRounds();
        show();
        m_view->setPlaying(true);
        const int perStop = ticksOf(SlowMotionView::kMoveMs) + ticksOf(SlowMotionView::kRestMs);
        tick(ticksOf(SlowMotionView::kRestMs));
        QCOMPARE(m_view->scene()->stop, 1);
        tick(perStop * 5);
        QCOMPARE(m_view->scene()->stop, 5);
        QVERIFY(!m_view->isPlaying());
        m_view->setPlaying(true); // again from the beginning
        QCOMPARE(m_view->scene()->stop, 0);
    }

    void withoutMotionAStopIsThereAtOnce() {
        m_stage->theme.setReducedMotion(true);
        sayRounds();
        show();
        for (std::size_t stop = 1; stop < stops().size(); ++stop) {
            m_view->goOn();
            QCOMPARE(m_view->scene()->part, 1.0);
        }
    }

    void everyStopHasASentenceItsArithmeticAndATable() {
        sayRounds();
        show();
        const RoundWalk& walk = m_view->scene()->walk;
        const auto values = [&](RoundStop stop) {
            QStringList told;
            for (const WalkLine& line : stopLines(walk, stop))
                told << line.label + QLatin1Char('|') + line.value;
            return told;
        };
        QVERIFY(values(RoundStop::Draft)
                    .contains(QString::fromUtf8("2 passes \u00D7 c .50 \u00D7 10.0 ms|10.0 ms")));
        QVERIFY(values(RoundStop::Draft)
                    .contains(QString::fromUtf8("sure enough? (\u03B5 .80)|.46 < .80")));
        QCOMPARE(values(RoundStop::Widen).first(),
                 QStringLiteral("k at each place: 1 + 2|3 candidates"));
        QCOMPARE(values(RoundStop::Linearise).first(),
                 QStringLiteral("3 candidates + the root|4 rows"));
        QVERIFY(values(RoundStop::Verify).first().endsWith(QStringLiteral("|14.0 ms")));
        QVERIFY(values(RoundStop::Accept)
                    .contains(QStringLiteral("accepted + own = tokens|2 + 1 = 3")));
        QVERIFY(values(RoundStop::Search)
                    .contains(QStringLiteral("right / tokens = matchness|3/4 = .75")));
        QSet<QString> sentences;
        for (std::size_t stop = 0; stop < stops().size(); ++stop) {
            m_view->goTo(static_cast<int>(stop));
            sentences.insert(m_view->sentence());
            QVERIFY(!m_view->table().rows.empty());
            for (const QStringList& row : m_view->table().rows)
                QCOMPARE(row.size(), m_view->table().header.size());
            QVERIFY(m_view->accessibleDescription().contains(m_view->sentence()));
        }
        QCOMPARE(sentences.size(), qsizetype{6});
    }

    void whatAModelWroteIsNeverReadAsMarkup() {
        sayRounds();
        StepFinished step = fullStep(3);
        step.draftTexts = {"<b>x</b>", "<img src='x'>", "</p>"};
        m_stage->say(step);
        show();
        m_view->showRound(1, 3);
        for (std::size_t stop = 0; stop < stops().size(); ++stop) {
            m_view->goTo(static_cast<int>(stop));
            for (const QLabel* label : m_view->findChildren<QLabel*>())
                QVERIFY2(!label->text().contains(QLatin1String("<img")), qPrintable(label->text()));
        }
    }

    void aChosenTokenBringsItsRound() {
        sayRounds();
        show();
        m_stage->selection.setToken(Selection::Token{1, 0});
        m_stage->bridge.markChanged(Topic::Selection);
        m_stage->settle();
        QCOMPARE(m_view->round(), 0);
        QCOMPARE(stops(), (std::vector<RoundStop>{RoundStop::Verify, RoundStop::Accept}));
        m_view->goRound(1);
        m_stage->say(plainStep(1, 3, "more", 10.0)); // the answer goes on
        m_stage->settle();
        QCOMPARE(m_view->round(), 1);
    }

    void aRowTellsWhatItSees() {
        sayRounds();
        show();
        m_view->goTo(2);
        auto* mask = m_view->findChild<WalkMask*>();
        QVERIFY(mask != nullptr);
        mask->setFocus();
        QTest::keyClick(mask, Qt::Key_Down);
        QTest::keyClick(mask, Qt::Key_Down);
        QTest::keyClick(mask, Qt::Key_Down);
        QCOMPARE(mask->chosenRow(), 3);
        const QString told = rowSentence(m_view->scene()->walk, 3);
        QVERIFY(told.contains(QStringLiteral("delta")) && !told.contains(QStringLiteral("count")));
        QCOMPARE(mask->accessibleDescription(), told);
    }

    void anOlderRecordingSaysWhatIsNotKnown() {
        sayRounds();
        StepFinished old = fullStep(3);
        old.rowChoices.clear();
        m_stage->say(old);
        show();
        m_view->showRound(1, 3);
        m_view->goTo(3);
        QVERIFY(m_view->sentence().contains(QStringLiteral("older")));
    }
};

QTEST_MAIN(SlowMotionViewTest)
#include "slow_motion_view_test.moc"
