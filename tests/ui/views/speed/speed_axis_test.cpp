// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/speed/shown_speed.h"
#include "ui/views/speed/speed_figures.h"

#include <QTest>

using namespace support;
using namespace ui;

/// What of the curve is seen: the axes and the room of the plot.
class SpeedAxisTest : public QObject {
    Q_OBJECT

private slots:

    void aShortAnswerFillsTheAxis() {
        ShownSpeed shown(QSize(452, 260));
        auto& [stage, view] = shown;
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        const double decoded = 4.0 / 46.8 + 178.0 / 62.2;
        QVERIFY(qAbs(view.plot().shownX().span() - decoded) <= 1e-6);
        stage.say(engine::SpanStarted{2, engine::SpanCause::Chat});
        sayAnswer(stage);
        stage.settle();
        // This chat's answer and a little of what was before it.
        QVERIFY(qAbs(view.plot().shownX().span() - 1.15 * 178.0 / 62.2) <= 1e-6);
    }

    /// Also where the newest steps are faster than all before.
    void theCurveEndsWithinTheAxis() {
        ShownSpeed shown(QSize(452, 260));
        auto& [stage, view] = shown;
        sayBaseline(stage);
        sayAnswer(stage);
        stage.say(promptStarted(2));
        engine::StepFinished step = draftStep(2, 0, {" a", " b", " c", " d", " e"}, 5, " f");
        step.draftMs = 0.0;
        step.verifyMs = 2.0 * kPlainStepMs; // six tokens in the time of two
        step.otherMs = 0.0;
        stage.say(step);
        stage.settle();
        const double now = *stage.store.speed().now().speedup();
        QVERIFY2(now > 2.5, qPrintable(QString::number(now)));
        QVERIFY(view.plot().shownY().to >= now - 1e-6);
    }

    /// An answer that copies its text may be faster than the axis usually reaches.
    void theCurveIsSeenHoweverFastItIs() {
        ShownSpeed shown(QSize(452, 260));
        auto& [stage, view] = shown;
        sayBaseline(stage);
        stage.say(promptStarted(2));
        for (int round = 0; round < 20; ++round) {
            engine::StepFinished step =
                draftStep(2, round, std::vector<std::string>(11, "a"), 11, "b");
            step.draftMs = 0.0;
            step.verifyMs = 1.5 * kPlainStepMs; // twelve tokens
            step.otherMs = 0.0;
            stage.say(step);
        }
        stage.settle();
        const double now = *stage.store.speed().now().speedup();
        QVERIFY2(qAbs(now - 8.0) < 0.1, qPrintable(QString::number(now)));
        QVERIFY2(view.plot().shownY().to >= now - 1e-6,
                 qPrintable(QString::number(view.plot().shownY().to)));
    }

    /// Its curve would be left with a few pixels.
    void aNarrowViewLeavesEquationSixToTheTable() {
        ShownSpeed shown(QSize(298, 170));
        auto& [stage, view] = shown;
        stage.say(paperPlan());
        sayBaseline(stage);
        sayAnswer(stage);
        stage.settle();
        QVERIFY(!equationText(expectedSpeeds(stage.store)).isEmpty());
        QVERIFY(view.detail().endsWith("this chat 1.33×"));
        QVERIFY2(view.plot().height() >= 110, qPrintable(QString::number(view.plot().height())));
    }
};

QTEST_MAIN(SpeedAxisTest)
#include "speed_axis_test.moc"
