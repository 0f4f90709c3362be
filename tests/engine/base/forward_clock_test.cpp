// SPDX-License-Identifier: Apache-2.0
#include "engine/base/forward_clock.h"

#include <QTest>

using namespace engine;
using namespace std::chrono_literals;

/// What a clock says of a process that was held. No function waits: all times are given.
class ForwardClockTest : public QObject {
    Q_OBJECT

    using Time = PauseMeter::Time;

    static constexpr Time kStart{1000s};

private slots:

    void withoutBeatsNothingIsLeftOut() {
        const PauseMeter meter;
        QVERIFY(meter.without(kStart) == kStart);
        QVERIFY(meter.without(kStart + 1h) == kStart + 1h);
    }

    void whileItBeatsTimePasses() {
        PauseMeter meter;
        for (int beat = 0; beat < 100; ++beat) {
            const Time now = kStart + beat * PauseMeter::kBetweenBeats;
            meter.beat(now, false);
            QVERIFY(meter.without(now + 20ms) == now + 20ms);
        }
    }

    void aPauseIsLeftOut() {
        PauseMeter meter;
        meter.beat(kStart, false);
        const Time after = kStart + 1h;
        QVERIFY(meter.without(after) == kStart + PauseMeter::kMostAhead); // not known yet
        meter.beat(after, true);
        // Whoever read the clock before this beat does not see it stand still behind it.
        QVERIFY(meter.without(after) == kStart + PauseMeter::kMostAhead);
        QVERIFY(meter.without(after + 10ms) == kStart + PauseMeter::kMostAhead + 10ms);
    }

    void pausesAddUp() {
        PauseMeter meter;
        meter.beat(kStart, false);
        meter.beat(kStart + 10s + PauseMeter::kMostAhead, true);
        meter.beat(kStart + 30s + 2 * PauseMeter::kMostAhead, true);
        const Time now = kStart + 31s;
        meter.beat(now, false);
        QVERIFY(meter.without(now) == now - 30s);
    }

    void aThreadThatHadToWaitWasNotHeld() {
        PauseMeter meter;
        meter.beat(kStart, false);
        meter.beat(kStart + 3s, false);
        QVERIFY(meter.without(kStart + 3s) == kStart + 3s);
    }

    void aSignalWithoutAPauseLeavesNothingOut() {
        PauseMeter meter;
        meter.beat(kStart, false);
        meter.beat(kStart + 10ms, true);
        QVERIFY(meter.without(kStart + 10ms) == kStart + 10ms);
    }

    void behindTheLastBeatTheClockGoesOn() {
        PauseMeter meter;
        meter.beat(kStart, false);
        meter.beat(kStart + 10s + PauseMeter::kMostAhead, true);
        meter.end();
        QVERIFY(meter.without(kStart + 1h) == kStart + 1h - 10s);
    }

    /// A pause that is told late takes an hour from the meter's time, but not from the clock's.
    void theClockOfTheProcessNeverGoesBack() {
        PauseMeter& meter = PauseMeter::ofProcess();
        const Time start = std::chrono::steady_clock::now();
        const auto before = ForwardClock::now();
        meter.beat(start, false);
        meter.beat(start + 1h, true);
        QVERIFY(meter.without(std::chrono::steady_clock::now()) < before);
        QVERIFY(ForwardClock::now() >= before);
        meter.end();
    }
};

QTEST_GUILESS_MAIN(ForwardClockTest)
#include "forward_clock_test.moc"
