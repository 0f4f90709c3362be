// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/speed/shown_speed.h"
#include "ui/views/speed/gain_finding.h"
#include "ui/views/speed/speed_figures.h"

#include <QTest>

using namespace support;
using namespace ui;

/// What is told above the curve, span by span.
class SpeedWordsTest : public QObject {
    Q_OBJECT

private slots:

    void theViewSaysWhatIsNotMeasuredYet() {
        ShownSpeed shown;
        auto& [stage, view] = shown;
        stage.settle();
        QVERIFY(view.headline().isEmpty());
        sayBaseline(stage, 1);
        stage.settle();
        QCOMPARE(view.headline(), QString("46.8 tok/s"));
        QVERIFY(view.detail().contains("not measured yet"));
        stage.say(promptStarted(2)); // whose prompt is read first
        stage.settle();
        QCOMPARE(view.detail(), QString("this chat 46.8 tok/s \u00B7 vanilla not measured yet"));
        stage.say(engine::SpanStarted{2, engine::SpanCause::Chat});
        stage.settle();
        QCOMPARE(view.detail(), QString("vanilla not measured yet"));
        sayBaseline(stage, 1);
        stage.settle();
        QCOMPARE(view.headline(), QString("46.8 tok/s")); // plain steps are no times themselves
        sayAnswer(stage);
        stage.settle();
        const SpeedLog& log = stage.store.speed();
        QCOMPARE(view.headline(), speedText(log.now()));
        QVERIFY(view.detail().startsWith(spansText(log)));
        QVERIFY(view.detail().contains("this answer 1.33×"));
        QVERIFY(view.detail().contains("this chat 1.33×"));
    }

    /// As when a dock beside it is made narrower: its curve stays as it is, too.
    void aFrozenViewKeepsItsNumbersInAnotherSize() {
        ShownSpeed shown;
        auto& [stage, view] = shown;
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        const QString headline = view.headline();
        const QString detail = view.detail();
        view.setFrozen(true);
        for (int i = 0; i < 20; ++i) {
            engine::StepFinished slow = draftStep(1, 100 + i, {"a"}, 1, "b");
            slow.verifyMs = 20.0 * kPlainStepMs;
            stage.say(slow);
        }
        view.resize(view.width() + 8, view.height());
        stage.settle();
        QCOMPARE(view.headline(), headline);
        QCOMPARE(view.detail(), detail);
        view.setFrozen(false);
        stage.settle();
        QVERIFY(view.headline() != headline);
    }

    void aFrozenViewHasTheSameNumbersInTheOtherUnit() {
        ShownSpeed shown;
        auto& [stage, view] = shown;
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        const std::vector<QStringList> rows = view.table().rows;
        const QString headline = view.headline();
        const double fastest = view.plot().shownY().to;
        view.setFrozen(true);
        for (int i = 0; i < 20; ++i) {
            engine::StepFinished slow = draftStep(1, 100 + i, {"a"}, 1, "b");
            slow.verifyMs = 20.0 * kPlainStepMs;
            stage.say(slow);
        }
        engine::Statistics told = statistics(stage.store.speed().chat().sums);
        told.baselineStepMs = 3.0 * kPlainStepMs;
        stage.say(told);
        stage.settle();
        for (const bool isInTokens : {true, false}) {
            view.setInTokensPerSecond(isInTokens);
            QVERIFY(view.table().rows == rows);
            QCOMPARE(view.headline(), headline);
            QCOMPARE(view.subtitle().startsWith("tokens per second"), isInTokens);
        }
        QCOMPARE(view.plot().shownY().to, fastest);
        view.setFrozen(false);
        stage.settle();
        QVERIFY(view.table().rows != rows);
    }

    /// Behind a pause of more than a minute, until two plain steps are made.
    void whileVanillaIsMeasuredAgainTheAxisStays() {
        ShownSpeed shown;
        auto& [stage, view] = shown;
        sayBaseline(stage);
        sayAnswer(stage);
        engine::Statistics told = statistics(stage.store.speed().chat().sums);
        told.baselineStepMs = kPlainStepMs;
        stage.say(told);
        stage.settle();
        const QString axis = view.subtitle();
        const double speedup = view.table().rows[3][3].toDouble();
        stage.say(promptStarted(2));
        engine::StepFinished step = draftStep(2, 0, {"a"}, 1, "b");
        step.verifyMs = 2.0 * kPlainStepMs;
        stage.say(step);
        told.baselineStepMs = 0.0;
        stage.say(told);
        stage.settle();
        QVERIFY(view.detail().contains("vanilla is being measured again"));
        QVERIFY(view.detail().contains("this chat 1.33×"));
        QVERIFY(!view.detail().contains("not measured yet"));
        QCOMPARE(view.subtitle(), axis);
        QCOMPARE(view.table().rows[3][3].toDouble(), speedup);
    }

    void beforeVanillaIsMeasuredTheSpeedIsToldOnce() {
        ShownSpeed shown;
        auto& [stage, view] = shown;
        sayAnswer(stage);
        stage.settle();
        QCOMPARE(view.headline(), QString("65.0 tok/s"));
        QCOMPARE(view.detail(),
                 QString("now \u00B7 this answer 62.2 tok/s \u00B7 vanilla not measured yet"));
    }

    void oneRejectedTokenIsToldInTheSingular() {
        GainFinding finding;
        finding.source = DraftSource::SkippedLayers;
        finding.skippedSublayers = 10;
        finding.sublayers = 56;
        finding.factors.acceptance = 0.9;
        finding.factors.draftCost = 0.8;
        QVERIFY(arithmeticSentence(finding).startsWith(
            "Skipping 10 of 56 sublayers saves 20 % of a pass's time, but 1 of 10 drafted tokens "
            "is rejected."));
    }

    /// Vanilla has one speed and no speedup.
    void theSpeedOfPlainStepsIsToldOnce() {
        ShownSpeed shown;
        auto& [stage, view] = shown;
        sayBaseline(stage);
        stage.settle();
        QCOMPARE(view.headline(), QString("46.8 tok/s"));
        QCOMPARE(view.detail(), QString("now, in plain steps of the full model"));
        stage.say(promptStarted(2)); // half as fast
        for (int step = 0; step < 4; ++step)
            stage.say(plainStep(2, step, "x", 2.0 * kPlainStepMs));
        stage.settle();
        QCOMPARE(view.headline(), QString("23.4 tok/s"));
        QCOMPARE(view.detail(),
                 QString("now, in plain steps of the full model \u00B7 this chat 46.8 tok/s"));
    }
};

QTEST_MAIN(SpeedWordsTest)
#include "speed_words_test.moc"
