// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/picture_pace.h"

#include <QtTest>

using ui::PicturePace;

class PicturePaceTest : public QObject {
    Q_OBJECT

    /// Ticks of this cost for some seconds; how often the interval changed.
    static int run(PicturePace& pace, double costMs, int seconds, double& nowMs) {
        int changes = 0;
        for (const double end = nowMs + seconds * 1000.0; nowMs < end; nowMs += 25.0)
            changes += pace.note(costMs, nowMs) ? 1 : 0;
        return changes;
    }

    /// Expensive ticks until the interval changes once.
    static void slowDown(PicturePace& pace, double& nowMs) {
        while (!pace.note(20.0, nowMs += 25.0)) {
        }
    }

private slots:

    void cheapTicksKeepTheFullRate() {
        PicturePace pace;
        double nowMs = 0.0;
        QCOMPARE(run(pace, 2.0, 10, nowMs), 0);
        QCOMPARE(pace.intervalMs(), 33);
    }

    void oneExpensiveTickChangesNothing() {
        PicturePace pace;
        double nowMs = 0.0;
        pace.note(100.0, nowMs += 25.0);
        run(pace, 1.0, 2, nowMs);
        QCOMPARE(pace.intervalMs(), 33);
    }

    void ticksOverBudgetMakePicturesRarerSecondBySecond() {
        PicturePace pace;
        double nowMs = 0.0;
        slowDown(pace, nowMs);
        QCOMPARE(pace.intervalMs(), 100);
        run(pace, 20.0, 5, nowMs);
        QCOMPARE(pace.intervalMs(), 250);
    }

    void fiveCalmSecondsMakeThemOftenAgain() {
        PicturePace pace;
        double nowMs = 0.0;
        slowDown(pace, nowMs);
        run(pace, 1.0, 4, nowMs);
        QCOMPARE(pace.intervalMs(), 100);
        run(pace, 1.0, 3, nowMs);
        QCOMPARE(pace.intervalMs(), 33);
    }

    void ticksNearTheBudgetChangeNothing() {
        PicturePace pace;
        double nowMs = 0.0;
        slowDown(pace, nowMs);
        run(pace, 6.0, 20, nowMs);
        QCOMPARE(pace.intervalMs(), 100);
    }
};

QTEST_APPLESS_MAIN(PicturePaceTest)
#include "picture_pace_test.moc"
