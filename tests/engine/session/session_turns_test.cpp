// SPDX-License-Identifier: Apache-2.0
// A session that takes turns with other processes.
#include "engine/base/forward_clock.h"
#include "engine/base/locks/turn_lock.h"
#include "tests/engine/session/session_fixture.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

using namespace engine;
using session_test::expectedAnswer;
using session_test::Fixture;
using session_test::LoadedFixture;
using session_test::rawPrompt;

namespace {

double msSince(ForwardClock::time_point start) {
    return std::chrono::duration<double, std::milli>(ForwardClock::now() - start).count();
}

} // namespace

class SessionTurnsTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void eachStepAndEachPieceOfAPromptIsATurn();
    void aPromptWaitsForItsTurnAndDoesNotCountThat();
    void aStopEndsTheWaiting();
    void aClosedSessionDoesNotWait();
    void workInAPauseWaitsForItsTurn();
    void withoutAFileNoTurnsAreTaken();
    void aFileThatCannotBeMadeIsAnError();

private:
    std::string next() const { return m_file + ".next"; }

    /// Until somebody waits for the next turn.
    void waitUntilItWaits() const {
        while (!FileLock::isHeld(next()))
            std::this_thread::yield();
    }

    /// As another process: until m_own is reset.
    void takeTurn() {
        if (!m_turns)
            m_turns = std::make_unique<TurnLock>(TurnLock::open(m_file).value());
        m_own.emplace(std::move(*m_turns->take().value()));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_file;
    std::unique_ptr<TurnLock> m_turns;
    std::optional<TurnLock::Turn> m_own;
};

void SessionTurnsTest::init() {
    m_own.reset();
    m_turns.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    m_file = m_folder->filePath("turns").toStdString();
}

/// A pass takes as long as it takes until this test waits for the next turn: so the session cannot
/// have two turns with passes before the test has one.
void SessionTurnsTest::eachStepAndEachPieceOfAPromptIsATurn() {
    std::atomic<bool> isLong = false;
    Fixture fixture({.onPass = [&] {
        while (isLong && !FileLock::isHeld(next()))
            std::this_thread::yield();
    }});
    QVERIFY(fixture.loadModel());
    takeTurn();
    isLong = true;
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 5));
    for (std::size_t turn = 0; turn <= 5; ++turn) { // the prompt, then five steps
        waitUntilItWaits();
        m_own.reset();
        takeTurn();
        fixture.take();
        QCOMPARE(fixture.all<StepFinished>().size(), turn);
    }
    m_own.reset();
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 5));
}

void SessionTurnsTest::aPromptWaitsForItsTurnAndDoesNotCountThat() {
    LoadedFixture fixture;
    takeTurn();
    fixture.session.send(TakeTurns{m_file});
    const auto start = ForwardClock::now();
    fixture.session.send(rawPrompt(1, "abc", 20));
    waitUntilItWaits();
    const auto waiting = ForwardClock::now();
    while (msSince(waiting) < 200.0) // far longer than the prompt takes
        std::this_thread::yield();
    const double waitedMs = msSince(waiting);
    m_own.reset();
    const auto* end = fixture.finish(1);
    const double restMs = msSince(start) - waitedMs;
    QVERIFY(end != nullptr);
    const GenerationMetrics& told = end->generation;
    QVERIFY(told.firstTokenMs <= restMs);
    QVERIFY(told.promptMs + told.decodeMs <= restMs);
    double stepMs = 0.0;
    for (const StepFinished& step : fixture.all<StepFinished>())
        stepMs += step.draftMs + step.verifyMs + step.searchMs + step.otherMs;
    QVERIFY(stepMs <= restMs);
}

void SessionTurnsTest::aStopEndsTheWaiting() {
    LoadedFixture fixture;
    takeTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 20));
    waitUntilItWaits();
    fixture.session.send(StopGeneration{});
    const auto* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    QVERIFY(end->reason == FinishReason::Cancelled);
    QVERIFY(end->tokens.empty());
}

void SessionTurnsTest::aClosedSessionDoesNotWait() {
    LoadedFixture fixture;
    takeTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 20));
    waitUntilItWaits();
    fixture.session.close(); // would never end
    QVERIFY(!FileLock::isHeld(next()));
}

void SessionTurnsTest::workInAPauseWaitsForItsTurn() {
    std::atomic<int> pieces = 0;
    std::counting_semaphore<> begun{0};
    Fixture fixture({.onIdle = [&](const std::stop_token&) -> Result<std::optional<SearchReport>> {
        begun.release();
        if (++pieces == 2)
            return std::optional<SearchReport>();
        waitUntilItWaits(); // for the test, which then has the next turn
        return std::optional<SearchReport>(SearchReport());
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 5));
    begun.acquire();
    takeTurn();
    waitUntilItWaits();
    QCOMPARE(pieces.load(), 1);
    m_own.reset();
    begun.acquire();
    QVERIFY(fixture.finish(1) != nullptr);
}

void SessionTurnsTest::withoutAFileNoTurnsAreTaken() {
    LoadedFixture fixture;
    takeTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(TakeTurns{});
    fixture.session.send(rawPrompt(1, "abc", 5));
    QVERIFY(fixture.finish(1) != nullptr); // although the turn is another's
}

void SessionTurnsTest::aFileThatCannotBeMadeIsAnError() {
    LoadedFixture fixture;
    fixture.session.send(TakeTurns{m_folder->filePath("no folder/turns").toStdString()});
    QVERIFY(fixture.fails("take_turns"));
    fixture.session.send(rawPrompt(1, "abc", 5));
    QVERIFY(fixture.finish(1) != nullptr);
}

QTEST_APPLESS_MAIN(SessionTurnsTest)
#include "session_turns_test.moc"
