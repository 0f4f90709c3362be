// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/decoder_slot.h"

#include <QTest>

using namespace engine;
using namespace std::chrono_literals;

namespace {

DecodeStep plain() {
    DecodeStep step;
    step.tokens = {1};
    return step;
}

DecodeStep drafted() {
    DecodeStep step;
    step.tokens = {1, 2};
    step.draft.add(1, -1, 0.5);
    step.path = {0};
    return step;
}

} // namespace

/// What a slot knows of plain steps, and how long.
class DecoderSlotTest : public QObject {
    Q_OBJECT

    DecoderRegistry m_registry{"no modules"};
    const DecoderSlot::Clock::time_point m_start = DecoderSlot::Clock::time_point() + 1h;

private slots:

    void plainStepsOlderThanAMinuteAreMeasuredAnew() {
        DecoderSlot slot(m_registry);
        slot.enterChat(1, m_start);
        for (const double ms : {10.0, 14.0, 12.0})
            slot.add(plain(), ms, true, m_start);
        slot.add(plain(), 40.0, true, m_start + 50s);
        slot.enterChat(1, m_start + 60s);
        QCOMPARE(slot.baselineStepMs(), 13.0);
        slot.enterChat(1, m_start + 61s);
        QCOMPARE(slot.baselineStepMs(), 0.0); // one is no measurement
        for (int step = 0; step < 4; ++step) {
            QVERIFY(!slot.isBaselineStepNext());
            slot.add(drafted(), 10.0, false, m_start + 61s);
        }
        QVERIFY(slot.isBaselineStepNext());
        slot.add(plain(), 42.0, true, m_start + 62s);
        QCOMPARE(slot.baselineStepMs(), 41.0);
    }

    void aClockThatWasSetBackMakesNothingOlderLast() {
        DecoderSlot slot(m_registry);
        slot.enterChat(1, m_start);
        for (const double ms : {10.0, 14.0})
            slot.add(plain(), ms, true, m_start + 1h);
        QCOMPARE(slot.baselineStepMs(), 12.0);
        slot.enterChat(1, m_start);
        QCOMPARE(slot.baselineStepMs(), 0.0);
    }
};

QTEST_APPLESS_MAIN(DecoderSlotTest)
#include "decoder_slot_test.moc"
