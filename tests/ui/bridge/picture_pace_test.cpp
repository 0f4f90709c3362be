// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/picture_pace.h"

#include <QTest>

using ui::PicturePace;

class PicturePaceTest : public QObject {
    Q_OBJECT

    PicturePace m_pace;
    double m_nowMs = 0.0;

    /// Ticks of this cost for some seconds; how often the interval changed.
    int run(double costMs, int seconds) {
        int changes = 0;
        for (const double end = m_nowMs + seconds * 1000.0; m_nowMs < end; m_nowMs += 25.0)
            changes += m_pace.note(costMs, m_nowMs) ? 1 : 0;
        return changes;
    }

    /// Expensive ticks until the interval changes once.
    void slowDown() {
        while (!m_pace.note(20.0, m_nowMs += 25.0)) {
        }
        QCOMPARE(m_pace.intervalMs(), 100);
    }

private slots:

    void init() {
        m_pace = {};
        m_nowMs = 0.0;
    }

    void cheapTicksKeepTheFullRate() {
        QCOMPARE(run(2.0, 10), 0);
        QCOMPARE(m_pace.intervalMs(), 33);
    }

    void oneExpensiveTickChangesNothing() {
        m_pace.note(100.0, m_nowMs += 25.0);
        run(1.0, 2);
        QCOMPARE(m_pace.intervalMs(), 33);
    }

    void ticksOverBudgetMakePicturesRarerSecondBySecond() {
        slowDown();
        run(20.0, 5);
        QCOMPARE(m_pace.intervalMs(), 250);
    }

    void fiveCalmSecondsMakeThemOftenAgain() {
        slowDown();
        run(1.0, 4);
        QCOMPARE(m_pace.intervalMs(), 100);
        run(1.0, 3);
        QCOMPARE(m_pace.intervalMs(), 33);
    }

    void ticksNearTheBudgetChangeNothing() {
        slowDown();
        run(6.0, 20);
        QCOMPARE(m_pace.intervalMs(), 100);
    }
};

QTEST_APPLESS_MAIN(PicturePaceTest)
#include "picture_pace_test.moc"
