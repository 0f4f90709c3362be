// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/views/speed/shown_speed.h"
#include "ui/views/speed/gain_finding.h"
#include "ui/views/speed/latency_view.h"

#include <QPushButton>
#include <QTest>

using namespace support;
using namespace ui;

namespace {

bool isNear(double value, double wanted, double tolerance) {
    return qAbs(value - wanted) <= tolerance;
}

} // namespace

class SpeedViewTest : public QObject {
    Q_OBJECT

private slots:

    void theFiguresOfTheAnswerTieOut() {
        ViewStage stage;
        sayPlannedAnswer(stage);
        const engine::DecodeMetrics total = stage.store.speed().chat().sums;
        QCOMPARE(total.tokens, 178);
        QCOMPARE(total.rounds, 37);
        QVERIFY(isNear(*total.tokensPerRound(), 1.0 + 141.0 / 37.0, 1e-12));
        QCOMPARE(shareText(*total.acceptance()), QString(".95"));
        const SpanFigures answer = stage.store.speed().answer();
        QVERIFY(isNear(*answer.tokensPerSecond(), 62.2, 1e-6));
        QVERIFY(isNear(*answer.speedup(), 62.2 / 46.8, 1e-6));
        QCOMPARE(*stage.store.speed().chat().speedup(), *answer.speedup());
    }

    void equationSixGivesWhatThePaperPromises() {
        ViewStage stage;
        QVERIFY(expectedSpeeds(stage.store).empty());
        sayPlannedAnswer(stage);
        const auto speeds = expectedSpeeds(stage.store);
        QCOMPARE(speeds.size(), 3u);
        QCOMPARE(speeds[0].label, QString("expected 1.50, c = 1 − r = .55"));
        QCOMPARE(speeds[1].label, QString("expected 1.36, c measured .63"));
        // With v and the rest counted it is what was measured: 1.33.
        QVERIFY(isNear(speeds[2].speedup, 62.2 / 46.8, 0.001));
        QVERIFY(speeds[2].label.contains("v = 1.00, other .08"));
        QVERIFY(isNear(speeds[2].error, 0.0, 0.001));
        QVERIFY(isNear(speeds[0].error, speeds[0].speedup / (62.2 / 46.8) - 1.0, 1e-9));
        QCOMPARE(equationText(speeds),
                 QString("equation 6: 1.50 (+13 %), c = 1 − r = .55; 1.36 (+2 %), c measured .63"));
    }

    /// Such as those of Auto, of which some need no pass.
    void draftsThatLeaveNoLayersOutHaveNoCostByTheirRatio() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        view.resize(640, 300);
        engine::DecoderInfo mixed = swiftDecoder();
        mixed.hasDraftRatio = false;
        stage.say(engine::DecoderChosen{mixed, engine::resolveSettings(mixed, {}).value()});
        sayPlannedAnswer(stage);
        stage.settle();
        const auto speeds = expectedSpeeds(stage.store);
        QCOMPARE(speeds.size(), 2u);
        QCOMPARE(equationText(speeds), QString("equation 6: 1.36 (+2 %), c measured .63"));
        QVERIFY(view.detail().endsWith("no c\u00A0=\u00A01\u00A0−\u00A0r, because not all drafts "
                                       "are made by leaving layers out"));
        QVERIFY(view.table().rows.back()[5].isEmpty());
    }

    void theTableEndsWithEquationSixAndItsError() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayPlannedAnswer(stage);
        stage.settle();
        const FigureTable table = view.table();
        const QStringList end = table.rows.back();
        QCOMPARE(end.size(), table.header.size());
        const auto speeds = expectedSpeeds(stage.store);
        QCOMPARE(end[5].toDouble(), speeds[0].speedup);
        QCOMPARE(end[6].toDouble(), speeds[0].error);
        QCOMPARE(end[7].toDouble(), speeds[1].speedup);
        QCOMPARE(end[8].toDouble(), speeds[1].error);
        QVERIFY(table.rows.front()[5].isEmpty());
        view.resize(640, 300);
        QVERIFY(view.detail().endsWith(equationText(speeds)));
    }

    /// Equation 6 reckons with one plain step; where checking takes four, it promises the tokens of
    /// a step as a speedup.
    void whereCheckingCostsMoreThanAPlainStepEquationSixIsToldWithItsError() {
        ViewStage stage;
        SpeedView compact(stage.context(), SpeedForm::Compact);
        compact.show();
        engine::Statistics copied = losingTotals(); // drafts cost nothing, ten tokens a step
        copied.total.rounds = 10;
        copied.total.tokens = 100;
        copied.total.accepted = copied.total.draftSteps = 90;
        copied.total.draftMs = 0.0;
        copied.total.verifyMs = 10 * 4.0 * kPlainStepMs;
        copied.baselineStepMs = kPlainStepMs;
        stage.say(copied);
        stage.settle();
        const auto speeds = expectedSpeeds(stage.store);
        QCOMPARE(speeds.size(), 2u);
        QVERIFY(isNear(speeds[0].speedup, 10.0, 1e-9));
        QVERIFY(isNear(speeds[0].error, 3.0, 1e-9) && !speeds[0].isNear);
        QVERIFY(isNear(*stage.store.speed().chat().speedup(), 2.5, 1e-9));
        QVERIFY(speeds[1].label.contains("v = 4.00") && speeds[1].isNear);
        QCOMPARE(equationText(speeds), QString("equation 6: 10.00 (+300 %), c measured .00"));
    }

    void theAverageStepAddsUp() {
        ViewStage stage;
        QVERIFY(averageStepSentence(stage.store.speed()).startsWith("No step has drafted yet"));
        sayBaseline(stage);
        sayAnswer(stage);
        const QString sentence =
            "An average step: 77 ms = draft 54 + verify 21 + other 2, for M = 4.81 tokens.";
        QCOMPARE(averageStepSentence(stage.store.speed()), sentence);
        TimeShares searching{
            .steps = 2, .drafting = 2, .tokens = 4, .draftMs = 60, .verifyMs = 40, .searchMs = 20};
        QCOMPARE(averageStepSentence(searching),
                 QString("An average step: 60 ms = draft 30 + verify 20 + search 10 + other 0, for "
                         "M = 2.00 tokens."));
        const TimeShares quick{
            .steps = 1, .drafting = 1, .tokens = 2, .draftMs = 1.26, .verifyMs = 0.9};
        QCOMPARE(averageStepSentence(quick),
                 QString("An average step: 2.2 ms = draft 1.3 + verify 0.9 + other 0.0, for M = "
                         "2.00 tokens."));
    }

    /// A change of settings, or what is asked out of sight, takes nothing from the answer in sight.
    void theTimesOfAnAnswerStayUntilTheNextOne() {
        ViewStage stage;
        LatencyView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.say(engine::SpanStarted{2, engine::SpanCause::Settings});
        stage.say(promptStarted(kFirstHiddenPrompt + 1));
        stage.settle();
        QVERIFY(view.bars().sentence().startsWith("An average step: 77 ms"));
        stage.say(promptStarted(2));
        stage.settle();
        QVERIFY(view.bars().sentence().startsWith("No step has drafted with these settings yet"));
        stage.say(engine::SpanStarted{2, engine::SpanCause::Chat});
        stage.settle();
        QVERIFY(view.bars().sentence().startsWith("No step of this chat has drafted yet"));
    }

    /// Whose steps are part of no answer.
    void aSearchThatHasDraftedIsNotSaidToHaveDraftedNothing() {
        ViewStage stage;
        sayBaseline(stage);
        stage.say(promptStarted(kFirstHiddenPrompt + 1));
        const SpeedLog& log = stage.store.speed();
        stage.say(draftStep(kFirstHiddenPrompt + 1, 0, {"a"}, 1, "b"));
        QVERIFY(averageStepSentence(log).startsWith("Only a search for a skip set has drafted"));
        stage.say(promptStarted(2));
        QVERIFY(averageStepSentence(log).startsWith("No step has drafted yet"));
    }

    void theRawLineStaysBesideTheOneOfTheLastTwoSeconds() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        // Spans of .4 s: what is decoded in 2.95 s gives 6 of them at steps of 77 ms.
        QCOMPARE(view.plot().pointCount(0), 6u);
        QCOMPARE(view.plot().pointCount(2), 6u);
        const FigureTable table = view.table();
        QCOMPARE(table.rows.back()[3].toDouble(), *stage.store.speed().now().speedup());
    }

    /// Whatever shows a span shows the same number of it.
    void everyFigureOfASpanIsTheSameInEveryView() {
        ViewStage stage;
        SpeedView full(stage.context());
        SpeedView compact(stage.context(), SpeedForm::Compact);
        LatencyView latency(stage.context());
        for (View* view : {static_cast<View*>(&full),
                           static_cast<View*>(&compact),
                           static_cast<View*>(&latency)})
            view->show();
        sayPlannedAnswer(stage);
        stage.say(promptStarted(2));
        sayAnswer(stage);
        stage.settle();
        const SpeedLog& log = stage.store.speed();
        QCOMPARE(full.headline(), compact.headline());
        QVERIFY(full.detail().startsWith(compact.detail())); // which has no line of the chat
        // The plot ends where the headline stands, and the dotted line at this chat's speed.
        const QStringList end = full.table().rows.back();
        QCOMPARE(QString::number(end[3].toDouble(), 'f', 2) + QStringLiteral("×"), full.headline());
        QCOMPARE(end[4].toDouble(), *log.chat().speedup());
        const QString m = QString::number(*log.answer().sums.tokensPerRound(), 'f', 2);
        QVERIFY(latency.bars().sentence().contains(QStringLiteral("M = %1").arg(m)));
        const auto finding = gainFinding(stage.store);
        QCOMPARE(finding->factors.tokensPerRound, *log.chat().sums.tokensPerRound());
        QCOMPARE(finding->factors.acceptance, *log.chat().sums.acceptance());
    }

    /// What is expected hangs on what was measured with these settings alone.
    void aChangeOfSettingsBeginsWhatIsExpectedAnew() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayPlannedAnswer(stage);
        QCOMPARE(expectedSpeeds(stage.store).size(), 3u);
        stage.say(engine::SpanStarted{2, engine::SpanCause::Settings});
        stage.settle();
        QVERIFY(expectedSpeeds(stage.store).empty());
        QVERIFY(!view.detail().contains("this chat"));
        stage.say(promptStarted(2));
        stage.say(losingTotals());
        for (const ExpectedSpeed& speed : expectedSpeeds(stage.store))
            if (speed.form == ExpectedSpeed::Form::MeasuredCost)
                QVERIFY(isNear(speed.speedup, 0.83, 0.005));
        QCOMPARE(stage.store.speed().chat().sums.tokens, 247 + 148);
    }

    void expectationsThatAreNearlyEqualShareALine() {
        const auto speed = [](double value) {
            return ExpectedSpeed{
                ExpectedSpeed::Form::AllCosts, value, QString("expected %1").arg(value), {}};
        };
        const auto groups = groupsOf({speed(1.34), speed(1.50), speed(1.31)}, 0.06);
        QCOMPARE(groups.size(), 2u);
        QCOMPARE(groups[0].label, QString("expected 1.31–1.34"));
        QCOMPARE(groups[0].middle(), 1.325);
        QCOMPARE(groups[1].label, QString("expected 1.5"));
        QCOMPARE(groupsOf({speed(1.30), speed(1.30)}, 0.06)[0].label, QString("expected 1.30"));
        QVERIFY(groupsOf({}, 0.06).empty());
    }

    void pointsEqualTheEvents() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        double tokens = 0.0;
        double before = 0.0;
        for (const QStringList& row : view.table().rows) {
            tokens += row[1].toDouble() * (row[0].toDouble() - before);
            before = row[0].toDouble();
            QVERIFY(isNear(row[2].toDouble(), row[1].toDouble() / kVanillaTokensPerSecond, 1e-9));
        }
        QVERIFY(isNear(tokens, 178 + 4, 1e-6));
        QVERIFY(isNear(before, 4.0 / 46.8 + 178.0 / 62.2, 1e-9));
        // The cumulative line ends at this chat's speedup.
        QVERIFY(isNear(view.table().rows.back()[4].toDouble(), 62.2 / 46.8, 1e-6));
    }

    /// Where the machine slows down, drafts and plain steps take longer alike.
    void eachSpeedIsComparedWithVanillaOfItsTime() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        engine::Statistics told;
        const auto draft = [&](int number, double slowness) {
            engine::StepFinished step = draftStep(1, number, {"a"}, 1, "b");
            step.verifyMs = slowness * 400.0;
            stage.say(step);
            ++told.total.rounds;
            told.total.tokens += 2;
            told.total.verifyMs += step.verifyMs;
            stage.say(told);
        };
        told.baselineStepMs = 250.0;
        stage.say(told);
        stage.say(promptStarted(1));
        draft(0, 1.0);
        stage.say(plainStep(1, 1, "p", 500.0));
        told.baselineStepMs = 500.0;
        ++told.total.baselineTokens;
        told.total.baselineMs += 500.0;
        stage.say(told);
        draft(2, 2.0);
        stage.settle();
        const auto rows = view.table().rows;
        QCOMPARE(rows.size(), 3u);
        for (const auto& [row, speedup] :
             {std::pair(0u, 1.25), std::pair(1u, 1.0), std::pair(2u, 1.25)})
            QCOMPARE(rows[row][2].toDouble(), speedup);
        QCOMPARE(rows.back()[4].toDouble(), 1.25);
        QCOMPARE(*stage.store.speed().answer().speedup(), 1.25);
        QVERIFY(isNear(view.plot().table().rows.back()[1].toDouble(), 1.25, 1e-6));
    }

    void eitherUnitShowsTheSameCurve() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        const double speedup = view.plot().table().rows[3][3].toDouble();
        view.setInTokensPerSecond(true);
        QVERIFY(isNear(view.plot().table().rows[3][3].toDouble(), speedup * 46.8, 1e-6));
    }

    void aRunOfOneShortStepIsSeen() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage, 1);
        stage.settle();
        QCOMPARE(view.plot().pointCount(3), 1u);
    }

    void manyEventsMakeOneReplot() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.resize(452, 260);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view, support::kPatienceMs));
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        const auto before = view.plot().replotCount();
        sayAnswer(stage);
        sayAnswer(stage);
        stage.settle();
        QCOMPARE(view.plot().replotCount(), before + 1);
        view.hide();
        sayAnswer(stage);
        stage.settle();
        QCOMPARE(view.plot().replotCount(), before + 1);
    }

    void anotherDecoderBeginsItsOwnSum() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.say(engine::DecoderChosen{});
        sayAnswer(stage);
        stage.settle();
        QVERIFY(isNear(view.table().rows.back()[4].toDouble(), 62.2 / 46.8, 1e-6));
        QCOMPARE(stage.store.speed().chat().sums.tokens, 178);
        stage.say(loadedModel());
        stage.settle();
        QCOMPARE(view.table().rows.size(), 0u);
    }

    void aSpanIsMarkedWhereItBegan() {
        ViewStage stage;
        SpeedCurve curve;
        engine::DecoderChosen chosen;
        chosen.info.title = "SWIFT";
        stage.say(chosen);
        sayBaseline(stage);
        QVERIFY(curve.update(stage.store.speed()));
        stage.say(engine::SpanStarted{2, engine::SpanCause::Decoder});
        QVERIFY(curve.update(stage.store.speed()));
        QVERIFY(curve.marks().empty()); // it has no step yet
        sayAnswer(stage);
        QVERIFY(curve.update(stage.store.speed()));
        QCOMPARE(curve.marks().size(), 1u);
        QVERIFY(isNear(curve.marks()[0].seconds, 4.0 / 46.8, 1e-9));
        QCOMPARE(markText(curve.marks()[0].mark), QString("SWIFT"));
        stage.store.rewind();
        QVERIFY(!curve.update(stage.store.speed()));
        QVERIFY(curve.isEmpty());
    }

    void latencyIsReadAsATable() {
        ViewStage stage;
        LatencyView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        const FigureTable table = view.table();
        QCOMPARE(table.rows.size(), 2u);
        QCOMPARE(table.rows[1][5], QString("70"));
        QVERIFY(isNear(table.rows[1][1].toDouble(), 149 * 0.63 * kPlainStepMs, 1e-6));
        QVERIFY(view.bars().sentence().startsWith("An average step: 77 ms"));
    }

    void everythingThatTakesFocusHasAName() {
        ViewStage stage;
        SpeedView view(stage.context());
        for (QWidget* widget : view.findChildren<QWidget*>())
            if (widget->focusPolicy() != Qt::NoFocus &&
                qobject_cast<QPushButton*>(widget) == nullptr)
                QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
    }
};

QTEST_MAIN(SpeedViewTest)
#include "speed_view_test.moc"
