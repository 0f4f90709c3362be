// SPDX-License-Identifier: Apache-2.0
// The pause behind an answer, in which a decoder may work until the next command.
#include "engine/session/recording/run_recording.h"
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <atomic>
#include <semaphore>

using namespace engine;
using namespace session_test;

namespace {

using Piece = Result<std::optional<SearchReport>>;

Piece trial(int index) {
    SearchReport report;
    report.phase = DecoderPhase::Optimise;
    TrialRecord& record = report.trials.emplace_back();
    record.kind = "random";
    record.index = index;
    record.plan = LayerPlan::full(4);
    record.isBeside = true;
    return std::optional(std::move(report));
}

Piece nothing() { return std::optional<SearchReport>(); }

SubmitPrompt prompt(std::uint64_t id) { return rawPrompt(id, "abc", 5); }

} // namespace

class SessionPauseTest : public QObject {
    Q_OBJECT

private slots:
    void aDecoderWorksBehindAnAnswerUntilItHasNoMoreToDo();
    void aCommandWaitsForOnePieceOfWorkAtMost();
    void stoppingEndsThePauseUntilTheNextAnswer();
    void aLoadOrARefusedPromptEndsThePauseAndSaysSo();
    void anAnswerThatIsStoppedOrFailsLetsItsSearchWait();
    void aFreedCacheEndsItsSearchAndSaysSo();
    void nobodyWorksBeforeTheFirstAnswerOrBehindAStoppedOne();
    void closingTheSessionEndsThePause();
    void aFailureInThePauseLetsTheNextPromptWork();
    void thePauseCostsTheFiguresOfTheRunNothing();
    void aLaterRecordingKnowsWhatWasFoundInThePause();
};

void SessionPauseTest::aDecoderWorksBehindAnAnswerUntilItHasNoMoreToDo() {
    std::atomic<int> pieces = 0;
    std::counting_semaphore<> isOver{0};
    Fixture fixture({.onIdle = [&](const std::stop_token&) {
        if (++pieces <= 3)
            return trial(pieces);
        isOver.release();
        return nothing();
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(prompt(1));
    QVERIFY(fixture.finish(1) != nullptr);
    for (int index = 1; index <= 3; ++index) {
        const auto* told = fixture.next<TrialFinished>();
        QVERIFY(told != nullptr);
        QCOMPARE(told->index, index);
        QVERIFY(told->isBeside);
    }
    isOver.acquire();
    // Other commands do not begin another pause, an answer does.
    for (const std::uint64_t request : {1, 2}) {
        fixture.session.send(CountTokens{.requestId = request, .text = "abc"});
        QVERIFY(fixture.next<TokensCounted>() != nullptr);
    }
    QCOMPARE(pieces.load(), 4);
    fixture.session.send(prompt(2));
    isOver.acquire();
    QCOMPARE(pieces.load(), 5);
}

/// The piece ends only when the command has been sent: it is the last one before the answer.
void SessionPauseTest::aCommandWaitsForOnePieceOfWorkAtMost() {
    std::binary_semaphore isWorking{0};
    std::binary_semaphore isSent{0};
    std::atomic<int> pieces = 0;
    Fixture fixture({.onIdle = [&](const std::stop_token&) {
        if (++pieces == 1) {
            isWorking.release();
            isSent.acquire();
        }
        return trial(pieces);
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(prompt(1));
    isWorking.acquire();
    fixture.session.send(prompt(2));
    isSent.release();
    QVERIFY(fixture.next<PromptStarted>(
                [](const PromptStarted& event) { return event.promptId == 2; }) != nullptr);
    int before = 0; // the second answer, behind which there is another pause
    for (const EngineEvent& event : fixture.events) {
        const auto* started = event.as<PromptStarted>();
        if (started && started->promptId == 2)
            break;
        const auto* told = event.as<TrialFinished>();
        before += told && told->isBeside ? 1 : 0;
    }
    QCOMPARE(before, 1);
}

void SessionPauseTest::stoppingEndsThePauseUntilTheNextAnswer() {
    Fixture fixture(
        {.onIdle = [pieces = 0](const std::stop_token&) mutable { return trial(++pieces); }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(prompt(1));
    QVERIFY(fixture.finish(1) != nullptr);
    const auto isBeside = [](const TrialFinished& trial) { return trial.isBeside; };
    QVERIFY(fixture.next<TrialFinished>(isBeside) != nullptr);
    fixture.session.send(StopGeneration{});
    QVERIFY(fixture.next<PhaseChanged>([](const PhaseChanged& change) {
        return change.phase == DecoderPhase::Accumulate;
    }) != nullptr);
    // Nothing more comes before the reply to a later question.
    const std::size_t before = fixture.all<TrialFinished>().size();
    fixture.session.send(CountTokens{.requestId = 1, .text = "abc"});
    QVERIFY(fixture.next<TokensCounted>() != nullptr);
    QCOMPARE(fixture.all<TrialFinished>().size(), before);
    fixture.session.send(prompt(2));
    QVERIFY(fixture.finish(2) != nullptr);
    QVERIFY(fixture.next<TrialFinished>(isBeside) != nullptr);
}

void SessionPauseTest::aLoadOrARefusedPromptEndsThePauseAndSaysSo() {
    const std::vector<EngineCommand> refused = {LoadModel{"missing"},
                                                rawPrompt(2, std::string(200, 'a'), 5)};
    for (const EngineCommand& command : refused) {
        Fixture fixture(
            {.onIdle = [pieces = 0](const std::stop_token&) mutable { return trial(++pieces); }});
        LoadModel load{"stub"};
        load.contextLength = 64;
        fixture.session.send(load);
        fixture.session.send(ChooseDecoder{"drafting"});
        fixture.session.send(prompt(1));
        QVERIFY(fixture.finish(1) != nullptr);
        QVERIFY(fixture.next<TrialFinished>(
                    [](const TrialFinished& trial) { return trial.isBeside; }) != nullptr);
        fixture.session.send(command);
        QVERIFY(fixture.next<PhaseChanged>([](const PhaseChanged& change) {
            return change.phase == DecoderPhase::Accumulate;
        }) != nullptr);
        QVERIFY(fixture.next<EngineFailed>() != nullptr);
        const std::size_t before = fixture.all<TrialFinished>().size();
        fixture.session.send(CountTokens{.requestId = 1, .text = "abc"});
        QVERIFY(fixture.next<TokensCounted>() != nullptr);
        QCOMPARE(fixture.all<TrialFinished>().size(), before);
    }
}

void SessionPauseTest::anAnswerThatIsStoppedOrFailsLetsItsSearchWait() {
    enum class End { Stop, Failure, Exception };
    for (const End end : {End::Stop, End::Failure, End::Exception}) {
        Fixture fixture({.onStep = [end](int step, const std::stop_token& stop) -> Result<void> {
            if (step == 0)
                return {};
            if (end == End::Exception)
                throw std::runtime_error("the step is broken");
            if (end == End::Failure)
                return Error{ErrorCode::Numeric, "The pass gave no numbers.", ""};
            waitForStop(stop);
            return Error{ErrorCode::Cancelled, "The step was cancelled.", ""};
        }});
        QVERIFY(fixture.loadModel("drafting"));
        fixture.session.send(rawPrompt(1, "abc", 40));
        QVERIFY(fixture.next<PhaseChanged>([](const PhaseChanged& change) {
            return change.phase == DecoderPhase::Optimise;
        }) != nullptr);
        if (end == End::Stop) {
            fixture.session.send(StopGeneration{});
            QVERIFY(fixture.finish(1) != nullptr);
        } else {
            QVERIFY(fixture.fails("submit_prompt"));
        }
        fixture.session.send(CountTokens{.requestId = 1, .text = "abc"});
        QVERIFY(fixture.next<TokensCounted>() != nullptr);
        QCOMPARE(fixture.all<PhaseChanged>().back().phase, DecoderPhase::Accumulate);
    }
}

void SessionPauseTest::aFreedCacheEndsItsSearchAndSaysSo() {
    constexpr std::uint64_t kCacheBytes = (std::uint64_t{1} << 20U) * sizeof(TokenId);
    Fixture fixture(
        {.onIdle = [pieces = 0](const std::stop_token&) mutable { return trial(++pieces); }},
        4096,
        {.cacheLimitBytes = kCacheBytes + kCacheBytes / 2});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(prompt(1));
    QVERIFY(fixture.next<TrialFinished>(
                [](const TrialFinished& trial) { return trial.isBeside; }) != nullptr);
    SubmitPrompt other = prompt(2);
    other.conversation = 1;
    fixture.session.send(other);
    QVERIFY(fixture.finish(2) != nullptr);
    QVERIFY(std::ranges::any_of(fixture.events, [](const EngineEvent& event) {
        const auto* change = event.as<PhaseChanged>();
        return event.conversation == 0 && change && change->phase == DecoderPhase::Accumulate;
    }));
}

void SessionPauseTest::nobodyWorksBeforeTheFirstAnswerOrBehindAStoppedOne() {
    std::atomic<int> pieces = 0;
    std::binary_semaphore isAnswering{0};
    Fixture fixture({.onEnd =
                         [&](const std::stop_token& stop) {
                             isAnswering.release();
                             waitForStop(stop);
                         },
                     .onIdle =
                         [&](const std::stop_token&) {
                             ++pieces;
                             return nothing();
                         }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(CountTokens{.requestId = 1, .text = "abc"});
    QVERIFY(fixture.next<TokensCounted>() != nullptr);
    QCOMPARE(pieces.load(), 0);
    fixture.session.send(prompt(1));
    isAnswering.acquire();
    fixture.session.send(StopGeneration{});
    fixture.session.send(CountTokens{.requestId = 2, .text = "abc"});
    QVERIFY(fixture.next<TokensCounted>() != nullptr);
    fixture.session.send(CountTokens{.requestId = 3, .text = "abc"});
    QVERIFY(fixture.next<TokensCounted>() != nullptr);
    QCOMPARE(pieces.load(), 0);
}

void SessionPauseTest::closingTheSessionEndsThePause() {
    std::binary_semaphore isWorking{0};
    Fixture fixture({.onIdle = [&](const std::stop_token& stop) {
        isWorking.release();
        waitForStop(stop); // a piece that only the closing session ends
        return trial(1);
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(prompt(1));
    isWorking.acquire();
    fixture.session.close();
}

void SessionPauseTest::aFailureInThePauseLetsTheNextPromptWork() {
    for (const bool throws : {false, true}) {
        Fixture fixture({.onIdle = [throws, pieces = 0](const std::stop_token&) mutable -> Piece {
            if (++pieces == 1)
                return trial(pieces);
            if (throws)
                throw std::runtime_error("the pause is broken");
            return Error{ErrorCode::Numeric, "The pass gave no numbers.", ""};
        }});
        QVERIFY(fixture.loadModel("drafting"));
        fixture.session.send(prompt(1));
        QVERIFY(fixture.finish(1) != nullptr);
        QVERIFY(fixture.fails("pause"));
        QVERIFY(fixture.next<PhaseChanged>([](const PhaseChanged& change) {
            return change.phase == DecoderPhase::Accumulate;
        }) != nullptr);
        fixture.session.send(prompt(2));
        QVERIFY(fixture.finish(2) != nullptr);
        QVERIFY(fixture.fails("pause"));
    }
}

void SessionPauseTest::thePauseCostsTheFiguresOfTheRunNothing() {
    const auto totalWith = [](bool works) {
        Fixture fixture({.onIdle = [works, pieces = 0](const std::stop_token&) mutable {
            Piece piece = works && ++pieces <= 3 ? trial(pieces) : nothing();
            if (piece.value())
                piece.value()->searchMs = 1e6;
            return piece;
        }});
        if (!fixture.loadModel("drafting"))
            return DecodeMetrics();
        fixture.session.send(prompt(1));
        fixture.finish(1);
        if (works)
            fixture.next<TrialFinished>([](const TrialFinished& told) { return told.isBeside; });
        fixture.session.send(prompt(2));
        fixture.finish(2);
        fixture.next<Statistics>(); // behind the end
        return fixture.all<Statistics>().back().total;
    };
    const DecodeMetrics worked = totalWith(true);
    QVERIFY(worked.allTokens() > 0);
    QCOMPARE(worked.searchMs, totalWith(false).searchMs);
}

void SessionPauseTest::aLaterRecordingKnowsWhatWasFoundInThePause() {
    const test_support::TemporaryFolder folder;
    const std::string path = (folder.path() / "run.swiftrun").string();
    const DraftForecast forecast{.matchness = 0.75, .draftSteps = 2, .tokensPerRound = 2.5};
    Fixture fixture({.onIdle = [&forecast, pieces = 0](const std::stop_token&) mutable {
        Piece piece = ++pieces == 1 ? trial(1) : nothing();
        if (auto& report = piece.value()) {
            PlanChange& change = report->planChanges.emplace_back();
            change.plan = LayerPlan::full(4);
            change.isBeside = true;
            report->forecast = forecast;
        }
        return piece;
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(prompt(1));
    const auto* told = fixture.next<ForecastMade>();
    QVERIFY(told != nullptr && told->forecast == forecast);
    fixture.session.send(StartRecording{path});
    fixture.session.send(StopRecording{});
    QVERIFY(fixture.next<RecordingStopped>() != nullptr);
    auto reader = RunReader::open(path);
    QVERIFY(reader.hasValue());
    bool knowsPlan = false;
    bool knowsForecast = false;
    while (auto event = reader.value().next().value()) {
        if (const auto* change = event->as<PlanChanged>())
            knowsPlan = change->isBeside;
        if (const auto* made = event->as<ForecastMade>())
            knowsForecast = made->forecast == forecast;
    }
    QVERIFY(knowsPlan);
    QVERIFY(knowsForecast);
}

QTEST_MAIN(SessionPauseTest)
#include "session_pause_test.moc"
