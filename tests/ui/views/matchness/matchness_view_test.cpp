// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/figures_run.h"
#include "tests/ui/support/shown_words.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/matchness/matchness_view.h"
#include "ui/views/matchness/strip_view.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace support;
using namespace ui;

class MatchnessViewTest : public QObject {
    Q_OBJECT

    static int indexOfPlace(const SearchLog& search, int place) {
        for (std::size_t i = 0; i < search.bestSets().size(); ++i)
            if (search.bestSets()[i].place == place)
                return static_cast<int>(i);
        return -1;
    }

private slots:

    void theSearchTiesOut() {
        ViewStage stage;
        saySearch(stage);
        const SearchLog& search = stage.store.search();
        QCOMPARE(search.countedTrials(), 400);
        const auto bands = searchBands(search, searchSpan(search));
        QCOMPARE(bands.size(), 3u);
        QCOMPARE(bands[0].name, QString("fill γ"));
        QCOMPARE(bands[1].name, QString("optimise: 384 random + 16 Bayesian"));
        QCOMPARE(bands[2].name, QString("accelerate"));
        QCOMPARE(bands[1].from, 0.0);
        QCOMPARE(bands[1].to, 400.0);
        QCOMPARE(bands[2].from, 400.0);
        QCOMPARE(scoreText(*shownTrial(search, std::nullopt)), QString("31 / 32 = 0.969"));
        const auto& skipped = search.current()->change.plan.skipped;
        QCOMPARE(skipped.attention.size() + skipped.mlp.size(), 25u);
    }

    /// The names' numbers add up to that of all sets that were tried.
    void aTrialBeforeItsPhaseIsToldIsCountedInIt() {
        ViewStage stage;
        stage.say(engine::PhaseChanged{engine::DecoderPhase::Accumulate});
        stage.say(windowTrial("start", 1, 20, 20));
        stage.say(engine::PhaseChanged{engine::DecoderPhase::Optimise});
        stage.say(windowTrial("random", 2, 10, 20));
        stage.say(windowTrial("random", 3, 11, 20));
        const SearchLog& search = stage.store.search();
        const auto bands = searchBands(search, searchSpan(search));
        QCOMPARE(bands.size(), 2u);
        QCOMPARE(bands[0].name, QString("fill γ"));
        QCOMPARE(bands[1].name, QString("optimise: 2 random + 1 start"));
        QCOMPARE(bands[1].from, 0.0);
        QCOMPARE(search.countedTrials(), 3);
    }

    void pointsEqualTheTrialsByKind() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        saySearch(stage);
        stage.settle();
        QCOMPARE(view.plot().pointCount(static_cast<int>(TrialLook::Random)), 384u);
        QCOMPARE(view.plot().pointCount(static_cast<int>(TrialLook::Bayesian)), 16u);
        const FigureTable table = view.table();
        QCOMPARE(table.rows.size(), 400u);
        const auto& trials = stage.store.search().trials();
        double before = 0.0;
        for (std::size_t i = 0; i < trials.size(); ++i) {
            const bool isBayesian = trials[i].kind == "bayesian";
            QCOMPARE(table.rows[i][isBayesian ? 2 : 1].toDouble(), trials[i].score);
            const double best = table.rows[i].back().toDouble();
            QCOMPARE(best, trials[i].best);
            QVERIFY(best >= before);
            before = best;
        }
    }

    void aSelectedStepMovesTheScrubberAndTheStrip() {
        ViewStage stage;
        MatchnessView view(stage.context());
        MatchnessStripView strip(stage.context());
        auto* counts = qobject_cast<LiveLabel*>(strip.makeLegend(&strip));
        view.show();
        strip.show();
        saySearch(stage);
        stage.settle();
        QVERIFY(!view.plot().cursor());
        QCOMPARE(view.badge(), QString("live"));
        QCOMPARE(strip.countsText(), QString("31 match, 1 miss"));
        stage.selection.setHistoryIndex(indexOfPlace(stage.store.search(), 300));
        stage.bridge.markChanged(Topic::Selection);
        stage.settle();
        QCOMPARE(view.plot().cursor()->label, QString("step 300: 29 / 32 = 0.906"));
        QCOMPARE(view.plot().cursor()->x, 300.0);
        QCOMPARE(view.badge(), QString("step 300"));
        QCOMPARE(strip.badge(), QString("step 300"));
        QCOMPARE(strip.countsText(), QString("29 match, 3 miss"));
        QCOMPARE(counts->text(), QString("29 match, 3 miss"));
        QVERIFY(strip.subtitle().contains("γ = 32"));
    }

    void oneStepAndOneTokenAreToldInTheSingular() {
        ViewStage stage;
        MatchnessView view(stage.context());
        MatchnessStripView strip(stage.context());
        view.show();
        strip.show();
        engine::TrialFinished one = trial("random", 1, 1.0, 1.0, paperPlan().plan);
        one.ticks = {1};
        one.window = one.guesses = {"w"};
        stage.say(one);
        stage.say(paperPlan());
        stage.settle();
        QVERIFY(view.plot().accessibleDescription().endsWith(QString("after 1 search step.")));
        QVERIFY(strip.subtitle().startsWith(QStringLiteral("first γ = 1 token:")));
    }

    void aClickGoesToTheBestSetOfThatPlace() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        saySearch(stage);
        stage.settle();
        emit view.plot().pointChosen(310.0);
        QCOMPARE(stage.selection.historyIndex(),
                 std::optional<int>(indexOfPlace(stage.store.search(), 300)));
        emit view.plot().pointChosen(450.0);
        QVERIFY(!stage.selection.historyIndex());
    }

    void aFrozenCurveOfASearchThatIsGoneLeadsNowhere() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        saySearch(stage);
        stage.settle();
        view.setFrozen(true);
        stage.say(loadedModel());
        saySearch(stage);
        emit view.plot().pointChosen(310.0);
        QVERIFY(!stage.selection.historyIndex());
        view.setFrozen(false);
        stage.settle();
        emit view.plot().pointChosen(310.0);
        QVERIFY(stage.selection.historyIndex());
    }

    /// Beside the newest set there is no step to click on where the axis ends with it.
    void theNewestSetIsTheLiveOne() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        saySearch(stage);
        stage.settle();
        QCOMPARE(stage.store.search().bestSets().back().place, 400);
        emit view.plot().pointChosen(310.0);
        QVERIFY(stage.selection.historyIndex());
        emit view.plot().pointChosen(400.0);
        QVERIFY(!stage.selection.historyIndex());
    }

    void theWayHomeLeavesThePlaceInTheHistory() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        saySearch(stage);
        stage.settle();
        emit view.plot().pointChosen(310.0); // the first half of a double click
        emit view.plot().choiceTakenBack();
        QVERIFY(!stage.selection.historyIndex());
    }

    /// In the plot's own table, what is scored again would stand beside the line of before.
    void theTableHasARowForEachTrial() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        stage.say(windowTrial("random", 1, 20, 20));
        engine::TrialFinished again = windowTrial("rescore", 1, 14, 14);
        again.counts = false;
        stage.say(again);
        stage.settle();
        const FigureTable table = view.table();
        QCOMPARE(table.header.size(), 8);
        QCOMPARE(table.rows.size(), 2u);
        QCOMPARE(table.rows[0], QStringList({"1", "0.625", "", "", "", "", "", "0.625"}));
        QCOMPARE(table.rows[1], QStringList({"1", "", "", "", "", "0.4375", "", "0.4375"}));
    }

    void aScreenReaderHearsNoScoreOfAnotherSet() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        stage.say(windowTrial("random", 1, 20, 20));
        stage.say(paperPlan());
        stage.settle();
        QVERIFY(view.plot().accessibleDescription().contains("0.625"));
        engine::PlanChanged byHand = paperPlan(2);
        byHand.plan.skipped.mlp.pop_back();
        byHand.reason = "manual";
        stage.say(byHand);
        stage.settle();
        QFocusEvent focus(QEvent::FocusIn, Qt::TabFocusReason);
        QCoreApplication::sendEvent(&view.plot(), &focus);
        QCOMPARE(view.plot().accessibleDescription(),
                 QStringLiteral("This set has not been scored yet."));
        stage.say(loadedModel());
        stage.settle();
        QVERIFY(view.plot().accessibleDescription().isEmpty());
    }

    void theLegendHasAllMarksOfASearch() {
        ViewStage stage;
        MatchnessView view(stage.context());
        const std::unique_ptr<QWidget> legend(view.makeLegend(nullptr));
        QCOMPARE(legend->accessibleName(),
                 QStringLiteral("Legend: random, Bayesian, start, current set"));
        QCOMPARE(view.table().header.mid(1, 3), QStringList({"random", "Bayesian", "start"}));
    }

    void anotherModelBeginsAnew() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        saySearch(stage);
        stage.settle();
        stage.say(loadedModel());
        for (int i = 1; i <= 3; ++i)
            stage.say(windowTrial("random", i, 10, 10));
        stage.settle();
        QCOMPARE(view.table().rows.size(), 3u);
    }

    /// Where the decoder's own words would be English in any window.
    void theTableOfTheHistoryHasTheNamesOfThePlot() {
        ViewStage stage;
        HistoryView view(stage.context());
        saySearch(stage);
        QCOMPARE(view.table().rows.back().mid(2, 2), QStringList({"better", "Bayesian"}));
        engine::PlanChanged again = paperPlan(900);
        again.reason = "restart";
        stage.say(again);
        QCOMPARE(view.table().rows.back().mid(2, 2), QStringList({"started again", "start"}));
        again.planId = 901;
        again.reason = "library";
        stage.say(again);
        QCOMPARE(view.table().rows.back()[2], QStringLiteral("library"));
    }

    /// A set that is chosen by hand is in use however bad it is: the line goes down to it, so it is
    /// not called the best.
    void theLineIsTheCurrentSet() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        stage.say(windowTrial("random", 1, 20, 20));
        stage.say(windowTrial("manual", 2, 8, 8));
        stage.settle();
        const FigureTable table = view.table();
        QCOMPARE(table.header.back(), QStringLiteral("current set"));
        QCOMPARE(table.rows.back().back().toDouble(), 8 / 32.0);
    }

    void quietKindsAreTheirOwn() {
        ViewStage stage;
        MatchnessView view(stage.context());
        view.show();
        stage.say(windowTrial("start", 1, 15, 15));
        stage.say(windowTrial("manual", 2, 12, 15));
        engine::TrialFinished again = windowTrial("rescore", 2, 14, 14);
        again.counts = false;
        stage.say(again);
        stage.say(windowTrial("influence", 3, 9, 15));
        stage.settle();
        for (const TrialLook look :
             {TrialLook::Start, TrialLook::Manual, TrialLook::Rescore, TrialLook::Other})
            QCOMPARE(view.plot().pointCount(static_cast<int>(look)), 1u);
    }

    void theStripWrapsAtAnyWidthUnderTheModelTester() {
        Theme theme;
        StripModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::vector<StripCell> cells(33);
        cells[2] = {"hands", "gives", false};
        model.setCells(cells);
        for (const int columns : {1, 5, 16, 40}) {
            model.setColumns(columns);
            int found = 0;
            for (int row = 0; row < model.rowCount(); ++row)
                for (int column = 0; column < model.columnCount(); ++column)
                    found += model.flags(model.index(row, column)) != Qt::NoItemFlags ? 1 : 0;
            QCOMPARE(found, 33);
        }
        model.setCells({});
        QCOMPARE(model.rowCount(), 0);
        MatchnessStrip strip(theme);
        strip.setCells(std::vector<StripCell>(32, StripCell{"a", "", true}));
        strip.resize(1020, 100);
        strip.show();
        QTRY_COMPARE(strip.cellModel().columnCount(), 16);
        strip.resize(330, 300);
        QTRY_VERIFY(strip.cellModel().columnCount() <= 5);
        QVERIFY(strip.heightFor(330) > strip.heightFor(1020));
    }

    void tokensWithoutLettersAreSeen() {
        engine::TrialFinished trial = windowTrial("random", 1, 31, 31);
        trial.window = {" fox", "\n"};
        trial.ticks = {1, 0};
        trial.guesses = {" fox", " "};
        const std::vector<StripCell> cells = stripCells(trial);
        QCOMPARE(cells[0].token, QString::fromUtf8("\u2423fox"));
        QCOMPARE(cells[1].token, QString::fromUtf8("\u21B5"));
        QCOMPARE(cells[1].guess, QString::fromUtf8("\u2423"));
    }

    void theStripIsReadByKeyboardAndScreenReader() {
        Theme theme;
        MatchnessStrip strip(theme);
        strip.setCells({{"the", "", true}, {"<b>hands</b>", "gives", false}});
        strip.resize(400, 60);
        strip.show();
        QVERIFY(QTest::qWaitForWindowExposed(&strip, support::kPatienceMs));
        strip.setFocus();
        strip.setCurrentIndex(strip.model()->index(0, 0));
        QTest::keyClick(&strip, Qt::Key_Right);
        QCOMPARE(strip.currentIndex().column(), 1);
        QCOMPARE(strip.currentIndex().data(Qt::AccessibleTextRole).toString(),
                 QString("Token 2, <b>hands</b>: the draft would have written gives."));
        QCOMPARE(shownTip(strip.currentIndex().data(Qt::ToolTipRole).toString()),
                 strip.currentIndex().data(Qt::AccessibleTextRole).toString());
        QVERIFY(!strip.accessibleName().isEmpty());
        strip.setCells({{"the", "a", false}, {"hands", "", true}}); // a better set was found
        QCOMPARE(strip.currentIndex().column(), 1);
    }

    void anEmptyStripSaysWhatItWillShow() {
        ViewStage stage;
        MatchnessStripView strip(stage.context());
        strip.show();
        stage.settle();
        QVERIFY(!strip.strip().isVisible());
        QVERIFY(strip.table().rows.empty());
        stage.say(paperPlan());
        engine::TrialFinished scored = windowTrial("random", 1, 20, 20);
        stage.say(scored);
        stage.settle();
        QVERIFY(strip.strip().isVisible());
        QCOMPARE(strip.table().rows.size(), 32u);
        QCOMPARE(strip.table().rows[0], QStringList({"1", "w0", "w0", "yes"}));
        QCOMPARE(strip.table().rows[2], QStringList({"3", "w2", "other", "no"}));
        // Recordings of before tell the marks alone.
        scored.window.clear();
        scored.guesses.clear();
        QCOMPARE(stripCells(scored)[2], (StripCell{"3", "", false}));
    }
};

QTEST_MAIN(MatchnessViewTest)
#include "matchness_view_test.moc"
