// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/figures_run.h"
#include "ui/shell/banner.h"
#include "ui/views/speed/gain_finding.h"
#include "ui/views/speed/latency_view.h"
#include "ui/views/speed/no_gain_notice.h"
#include "ui/views/speed/speed_view.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QtTest>

using namespace support;
using namespace ui;

namespace {

bool isNear(double value, double wanted, double tolerance) {
    return qAbs(value - wanted) <= tolerance;
}

/// c = .91, 148 of 251 accepted, M = 1.60: the mock-ups' model on which skipping does not pay.
engine::Statistics losingTotals() {
    engine::Statistics statistics;
    statistics.total.rounds = 247;
    statistics.total.tokens = 247 + 148;
    statistics.total.accepted = 148;
    statistics.total.draftSteps = 251;
    statistics.total.draftMs = 251 * 0.91 * kPlainStepMs;
    statistics.total.verifyMs = 247 * kPlainStepMs;
    return statistics;
}

QPushButton* buttonOf(QWidget& widget, const QString& text) {
    for (QPushButton* button : widget.findChildren<QPushButton*>())
        if (button->text() == text)
            return button;
    return nullptr;
}

} // namespace

class SpeedViewTest : public QObject {
    Q_OBJECT

private slots:

    void theFiguresOfTheAnswerTieOut() {
        ViewStage stage;
        stage.say(paperPlan());
        sayBaseline(stage);
        sayAnswer(stage);
        const auto& total = stage.store.speed().total();
        QCOMPARE(total.tokens, 178);
        QCOMPARE(total.rounds, 37);
        QVERIFY(isNear(*total.tokensPerRound(), 1.0 + 141.0 / 37.0, 1e-12));
        QCOMPARE(shareText(*total.acceptance()), QString(".95"));
        QVERIFY(isNear(*stage.store.speed().wholeSpeedup(), 62.2 / 46.8, 1e-6));
        const auto now = speedOfLast(stage.store.speed(), 10.0);
        QVERIFY(isNear(now->tokensPerSecond, 62.2, 1e-6));
        QVERIFY(isNear(*now->speedup, 1.33, 0.005));
    }

    void equationSixGivesWhatThePaperPromises() {
        ViewStage stage;
        QVERIFY(expectedSpeeds(stage.store).empty());
        stage.say(paperPlan());
        sayBaseline(stage);
        sayAnswer(stage);
        const auto speeds = expectedSpeeds(stage.store);
        QCOMPARE(speeds.size(), 3u);
        QCOMPARE(speeds[0].label, QString("expected 1.50, c = 1 − r = .55"));
        QCOMPARE(speeds[1].label, QString("expected 1.36, c measured .63"));
        // With v and the rest counted it is what was measured: 1.33.
        QVERIFY(isNear(speeds[2].speedup, 62.2 / 46.8, 0.001));
        QVERIFY(speeds[2].label.contains("v = 1.00, other .08"));
    }

    void theAverageStepAddsUp() {
        ViewStage stage;
        QVERIFY(averageStepSentence(stage.store.speed().sharesOfAll()).contains("No step"));
        sayBaseline(stage);
        sayAnswer(stage);
        const QString sentence =
            "An average step: 77 ms = draft 54 + verify 21 + other 2, for M = 4.81 tokens.";
        QCOMPARE(averageStepSentence(stage.store.speed().sharesOfAll()), sentence);
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

    void theViewSaysWhatIsNotMeasuredYet() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        stage.settle();
        QVERIFY(view.headline().isEmpty());
        sayBaseline(stage, 1);
        stage.settle();
        QCOMPARE(view.headline(), QString("46.8"));
        QVERIFY(view.detail().contains("not measured yet"));
        sayBaseline(stage, 1);
        stage.settle();
        QCOMPARE(view.headline(), QString("1.00×"));
        sayAnswer(stage);
        stage.settle();
        QCOMPARE(view.headline(), QString("1.33×"));
        QCOMPARE(view.detail(), QString("62.2 tok/s now"));
    }

    void theRawLineIsTheMeasuredOneAndStaysWhenSmoothed() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        QVERIFY(!view.isSmoothed());
        // Spans of .4 s: what is decoded in 2.95 s gives 6 of them at steps of 77 ms.
        QCOMPARE(view.plot().pointCount(2), 6u);
        QCOMPARE(view.plot().pointCount(0), 0u);
        const FigureTable plain = view.plot().table();
        view.setSmoothed(true);
        QCOMPARE(view.plot().pointCount(0), 6u);
        const FigureTable smoothed = view.plot().table();
        for (std::size_t i = 0; i < 6; ++i)
            QCOMPARE(smoothed.rows[i][1], plain.rows[i][3]);
        QVERIFY(smoothed.rows[5][3] != plain.rows[5][3]);
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
        // The cumulative line ends at the whole run's speedup.
        QVERIFY(isNear(view.table().rows.back()[3].toDouble(), 62.2 / 46.8, 1e-6));
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
        const FigureTable table = view.table();
        QVERIFY(isNear(table.rows.back()[3].toDouble(), 62.2 / 46.8, 1e-6));
        // The first decoder's steps belong to no sum any more.
        QCOMPARE(table.rows[2][3], QString());
        stage.say(loadedModel());
        stage.settle();
        QCOMPARE(view.table().rows.size(), 0u);
    }

    void sumsThatNoStepExplainsAreWorkedOutOnce() {
        ViewStage stage;
        SpeedCurve curve;
        sayBaseline(stage);
        sayAnswer(stage);
        QVERIFY(curve.update(stage.store.speed()));
        engine::Statistics statistics;
        statistics.total = stage.store.speed().total();
        statistics.total.tokens += 2;
        stage.say(statistics);
        QVERIFY(!curve.update(stage.store.speed()));
        sayAnswer(stage);
        QVERIFY(curve.update(stage.store.speed()));
    }

    void theNoGainArithmeticIsThatOfTheMockUp() {
        ViewStage stage;
        engine::DecoderChosen chosen;
        chosen.info.lockedLayers = {0, -1};
        stage.say(chosen);
        stage.say(paperPlan());
        sayBaseline(stage);
        QVERIFY(!gainFinding(stage.store));
        stage.say(losingTotals());
        const auto finding = gainFinding(stage.store);
        QVERIFY(finding.has_value());
        QVERIFY(isNear(finding->expected, 0.83, 0.005));
        QVERIFY(isNear(*finding->measured, 0.83, 0.005));
        QVERIFY(isNear(*finding->neededAcceptance(), 0.91, 0.001));
        QVERIFY(isWithoutGain(*finding, false));
        const auto rows = arithmeticRows(*finding);
        QVERIFY(arithmeticSentence(*finding).contains("Skipping 25 of 56 sublayers"));
        QCOMPARE(rows[0].second, QString(".91"));
        QCOMPARE(rows[1].second, QString("148 / 251 = .59"));
        QCOMPARE(rows[2].second, QString("1.60"));
        QCOMPARE(rows[5].second, QString("0.83×"));
        QVERIFY(arithmeticSentence(*finding).contains(
            "saves 9 % of the time of a pass but loses 4 of 10 drafted tokens"));
    }

    void noGainIsNeitherSaidTooEarlyNorFlapping() {
        ViewStage stage;
        sayBaseline(stage);
        engine::Statistics early = losingTotals();
        early.total.rounds = kRoundsToJudge - 1;
        stage.say(early);
        QVERIFY(!gainFinding(stage.store));
        GainFinding close{.factors = {}, .expected = 1.0, .expectedFull = 1.0};
        QVERIFY(!isWithoutGain(close, false));
        QVERIFY(isWithoutGain(close, true));
        close.expectedFull = 1.04;
        QVERIFY(!isWithoutGain(close, true));
    }

    void theNoticeShowsWhyAndGoesWhenDismissed() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.resize(452, 400);
        view.show();
        auto* notice = view.findChild<NoGainNotice*>();
        sayBaseline(stage);
        stage.settle();
        QVERIFY(!notice->isVisible());
        stage.say(paperPlan());
        stage.say(losingTotals());
        sayBaseline(stage, 1);
        stage.settle();
        QVERIFY(notice->isVisible());
        QVERIFY(notice->findChild<Banner*>()->notice().sentence.contains("0.83×"));
        // That auto keeps this promise is tested in tests/plugins/auto_choice_test.cpp.
        QVERIFY(notice->findChild<Banner*>()->notice().sentence.contains(
            "Auto drafts what was written before instead"));
        buttonOf(*notice, "Why?")->click();
        QVERIFY(notice->isArithmeticShown());
        QVERIFY(notice->arithmetic().join('\n').contains("148 / 251 = .59"));
        QSignalSpy dismissed(notice, &NoGainNotice::dismissed);
        emit notice->findChild<Banner*>()->closed();
        QCOMPARE(dismissed.count(), 1);
        sayBaseline(stage, 1);
        stage.settle();
        QVERIFY(!notice->isVisible());
    }

    /// The notice advises auto: while auto decodes there is nothing to advise.
    void nothingIsSaidWhileAutoDecodes() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        engine::DecoderChosen chosen;
        chosen.info.name = "auto";
        stage.say(chosen);
        stage.say(paperPlan());
        stage.say(losingTotals());
        sayBaseline(stage);
        stage.settle();
        QVERIFY(!view.findChild<NoGainNotice*>()->isVisible());
        chosen.info.name = "swift";
        stage.say(chosen);
        stage.say(paperPlan());
        stage.say(losingTotals());
        sayBaseline(stage, 1);
        stage.settle();
        QVERIFY(view.findChild<NoGainNotice*>()->isVisible());
    }

    void whereSkippingPaysNothingIsSaid() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        stage.say(paperPlan());
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        QVERIFY(!view.findChild<NoGainNotice*>()->isVisible());
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
