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

    /// Until the session waits for its turn.
    void waitUntilItWaits() const {
        while (!FileLock::isHeld(next()))
            std::this_thread::yield();
    }

    /// As another process: until m_own is reset.
    void holdTurn() {
        m_turns = std::make_unique<TurnLock>(TurnLock::open(m_file).value());
        m_own.emplace(std::move(*m_turns->take().value()));
    }

    std::vector<std::size_t> giveTurns(Fixture& fixture);

    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_file;
    std::unique_ptr<TurnLock> m_turns;
    std::optional<TurnLock::Turn> m_own;
};

void SessionTurnsTest::init() {
    m_own.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    m_file = m_folder->filePath("turns").toStdString();
}

/// Gives the session one turn after another until the prompt is answered; then it may be waiting
/// for the next one. Returns the steps made by the end of each turn.
std::vector<std::size_t> SessionTurnsTest::giveTurns(Fixture& fixture) {
    std::vector<std::size_t> steps;
    while (fixture.all<PromptFinished>().empty()) {
        waitUntilItWaits();
        m_own.reset();
        m_own.emplace(std::move(*m_turns->take().value())); // when the session's turn is over
        fixture.take();
        steps.push_back(fixture.all<StepFinished>().size());
    }
    return steps;
}

void SessionTurnsTest::eachStepAndEachPieceOfAPromptIsATurn() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    holdTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 5));
    const std::vector<std::size_t> steps = giveTurns(fixture);
    QVERIFY(steps.size() >= 6);
    QCOMPARE(steps[0], std::size_t(0)); // the prompt
    for (std::size_t turn = 1; turn < steps.size(); ++turn)
        QCOMPARE(steps[turn], std::min<std::size_t>(turn, 5));
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 5));
}

void SessionTurnsTest::aPromptWaitsForItsTurnAndDoesNotCountThat() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    holdTurn();
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
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    holdTurn();
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
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    holdTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 20));
    waitUntilItWaits();
    fixture.session.close(); // would never end
    QVERIFY(!FileLock::isHeld(next()));
}

void SessionTurnsTest::workInAPauseWaitsForItsTurn() {
    std::atomic<int> pieces = 0;
    std::counting_semaphore<> hasWorked{0};
    Fixture fixture({.onIdle = [&](const std::stop_token&) -> Result<std::optional<SearchReport>> {
        ++pieces;
        hasWorked.release();
        return std::optional<SearchReport>();
    }});
    QVERIFY(fixture.loadModel("drafting"));
    holdTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(rawPrompt(1, "abc", 5));
    giveTurns(fixture);
    waitUntilItWaits();
    QCOMPARE(pieces.load(), 0);
    m_own.reset();
    hasWorked.acquire();
    QCOMPARE(pieces.load(), 1);
}

void SessionTurnsTest::withoutAFileNoTurnsAreTaken() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    holdTurn();
    fixture.session.send(TakeTurns{m_file});
    fixture.session.send(TakeTurns{});
    fixture.session.send(rawPrompt(1, "abc", 5));
    QVERIFY(fixture.finish(1) != nullptr); // although the turn is another's
}

void SessionTurnsTest::aFileThatCannotBeMadeIsAnError() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    fixture.session.send(TakeTurns{m_folder->filePath("no folder/turns").toStdString()});
    QVERIFY(fixture.fails("take_turns"));
    fixture.session.send(rawPrompt(1, "abc", 5));
    QVERIFY(fixture.finish(1) != nullptr);
}

QTEST_APPLESS_MAIN(SessionTurnsTest)
#include "session_turns_test.moc"
