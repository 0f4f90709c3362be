// SPDX-License-Identifier: Apache-2.0
// Stops and closes in every state of a session, and random sequences of commands.
#include "engine/base/locks/processor_loan.h"
#include "tests/engine/session/session_fixture.h"
#include "tests/support/few_cases.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <sys/resource.h>

#include <csignal>
#include <map>
#include <random>

using namespace engine;
using namespace session_test;

namespace {

constexpr int kEndless = 1'000'000;

/// Signals from the engine's thread that something was reached.
class Latch {
public:
    void set() {
        {
            const std::scoped_lock lock(m_mutex);
            m_isSet = true;
        }
        m_changed.notify_all();
    }

    void wait() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_isSet; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_isSet = false; // guarded by m_mutex
};

/// Reading it takes thousands of passes.
std::string longText() { return std::string(900'000, 'x'); }

SubmitPrompt endlessPrompt(std::uint64_t id) { return rawPrompt(id, "abc", kEndless); }

} // namespace

class SessionEndsTest : public QObject {
    Q_OBJECT

private slots:
    void aStopEndsWhatWasSentBeforeItAndNothingLater();
    void aStopActsInsideAStep();
    void aStopEndsTheReadingOfAPrompt();
    void aStopEndsTheSearchBehindAnAnswer();
    void aStoppedLoadKeepsTheOldModel();
    void aNewerLoadEndsAnEarlierOne();
    void unloadingEndsAPromptFirst();
    void closeEndsEverythingAtOnce_data();
    void closeEndsEverythingAtOnce();
    void closeReturnsABorrowedProcessor();
    void aClosedSessionTakesNoCommands();
    void tooManyCommandsAreRefusedButStopsAct();
    void randomCommandsLeaveAWorkingSession();
    void aRecordingNeverEndsBeforeItHasBegun();
};

void SessionEndsTest::aStopEndsWhatWasSentBeforeItAndNothingLater() {
    LoadedFixture fixture;
    for (std::uint64_t id = 1; id < 60; id += 3) {
        fixture.session.send(endlessPrompt(id));
        fixture.session.send(endlessPrompt(id + 1));
        if (id % 2 == 0)
            QVERIFY(fixture.next<StepFinished>() != nullptr);
        fixture.session.send(StopGeneration{});
        fixture.session.send(rawPrompt(id + 2, "abc", 5));
        QCOMPARE(fixture.finish(id)->reason, FinishReason::Cancelled);
        QCOMPARE(fixture.finish(id + 1)->reason, FinishReason::Cancelled);
        const PromptFinished* later = fixture.finish(id + 2);
        QCOMPARE(later->reason, FinishReason::MaxTokens);
        QCOMPARE(later->tokens, expectedAnswer("abc", 5));
    }
}

void SessionEndsTest::aStopActsInsideAStep() {
    Latch inside;
    Fixture fixture({.onStep = [&inside](int step, const std::stop_token& stop) -> Result<void> {
        if (step < 3)
            return {};
        inside.set();
        waitForStop(stop);
        return Error{ErrorCode::Cancelled, "The step was cancelled.", ""};
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(endlessPrompt(1));
    inside.wait();
    fixture.session.send(StopGeneration{});
    const PromptFinished* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    QCOMPARE(end->reason, FinishReason::Cancelled);
    // Three of its own, and behind the second the plain one that a first answer is compared with.
    QCOMPARE(end->generation.steps, 3 + 1);
    QCOMPARE(end->tokens, expectedAnswer("abc", end->generation.outputTokens));
}

void SessionEndsTest::aStopEndsTheReadingOfAPrompt() {
    Latch reading;
    Latch stopped;
    Fixture fixture({.onPass = [&] {
        reading.set();
        stopped.wait();
    }});
    QVERIFY(fixture.loadModel());
    fixture.session.send(rawPrompt(1, longText(), 5));
    reading.wait();
    fixture.session.send(StopGeneration{});
    stopped.set();
    const PromptFinished* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    QCOMPARE(end->reason, FinishReason::Cancelled);
    QVERIFY(end->tokens.empty());
    fixture.session.send(rawPrompt(2, "abc", 5));
    QCOMPARE(fixture.finish(2)->tokens, expectedAnswer("abc", 5));
}

void SessionEndsTest::aStopEndsTheSearchBehindAnAnswer() {
    Latch searching;
    Fixture fixture({.onEnd = [&searching](std::stop_token stop) {
        searching.set();
        waitForStop(stop);
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(rawPrompt(1, "abc", 5));
    searching.wait();
    fixture.session.send(StopGeneration{});
    const PromptFinished* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    QCOMPARE(end->tokens, expectedAnswer("abc", 5)); // the answer was whole already
}

void SessionEndsTest::aStoppedLoadKeepsTheOldModel() {
    LoadedFixture fixture;
    fixture.session.send(LoadModel{"slow"});
    QVERIFY(fixture.next<ModelLoadProgress>(
                [](const ModelLoadProgress& event) { return event.path == "slow"; }) != nullptr);
    fixture.session.send(StopLoading{});
    QVERIFY(fixture.fails("load_model"));
    QCOMPARE(fixture.all<EngineFailed>()[0].error.code, ErrorCode::Cancelled);
    fixture.session.send(rawPrompt(1, "abc", 5));
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 5));
}

void SessionEndsTest::aNewerLoadEndsAnEarlierOne() {
    Fixture fixture;
    fixture.session.send(LoadModel{"slow"});
    fixture.session.send(LoadModel{"stub"});
    QVERIFY(fixture.fails("load_model"));
    QCOMPARE(fixture.next<ModelLoaded>()->path, std::string("stub"));
}

void SessionEndsTest::unloadingEndsAPromptFirst() {
    LoadedFixture fixture("drafting");
    fixture.session.send(endlessPrompt(1));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(UnloadModel{});
    QCOMPARE(fixture.finish(1)->reason, FinishReason::Cancelled);
    QVERIFY(fixture.next<ModelUnloaded>() != nullptr);
    fixture.session.send(rawPrompt(2, "abc", 5));
    QVERIFY(fixture.fails("submit_prompt"));
}

void SessionEndsTest::closeEndsEverythingAtOnce_data() {
    QTest::addColumn<QString>("state");
    for (const char* state : {"idle",
                              "loading",
                              "reading a prompt",
                              "generating",
                              "inside a step",
                              "searching",
                              "queue full",
                              "commands waiting"})
        QTest::newRow(state) << QString(state);
}

void SessionEndsTest::closeEndsEverythingAtOnce() {
    QFETCH(QString, state);
    Latch reached;
    DecoderScript script;
    if (state == "searching")
        script.onEnd = [&reached](std::stop_token stop) {
            reached.set();
            waitForStop(stop);
        };
    if (state == "inside a step")
        script.onStep = [&reached](int, const std::stop_token& stop) -> Result<void> {
            reached.set();
            waitForStop(stop);
            return Error{ErrorCode::Cancelled, "The step was cancelled.", ""};
        };
    Fixture fixture(script, state == "queue full" ? 64 : 4096);
    QVERIFY(fixture.loadModel(state == "generating" ? "vanilla" : "drafting"));
    if (state == "loading") {
        fixture.session.send(LoadModel{"slow"});
        QVERIFY(fixture.next<ModelLoadProgress>([](const ModelLoadProgress& event) {
            return event.path == "slow";
        }) != nullptr);
    } else if (state == "reading a prompt") {
        fixture.session.send(rawPrompt(1, longText(), kEndless));
        QVERIFY(fixture.next<PromptProgress>() != nullptr);
    } else if (state == "searching" || state == "inside a step") {
        fixture.session.send(rawPrompt(1, "abc", 5));
        reached.wait();
    } else if (state == "queue full") {
        fixture.session.send(endlessPrompt(1));
        fixture.passes.waitFor(62); // nobody reads: the engine has to wait soon
    } else if (state != "idle") {
        fixture.session.send(endlessPrompt(1));
        QVERIFY(fixture.next<StepFinished>() != nullptr);
    }
    if (state == "commands waiting")
        for (std::uint64_t id = 2; id < 500; ++id)
            fixture.session.send(endlessPrompt(id));
    fixture.session.close();
    QVERIFY(fixture.passes.count() < kEndless / 2); // no answer was made to its end
}

/// The step goes on when its processor is returned.
void SessionEndsTest::closeReturnsABorrowedProcessor() {
    Latch lent;
    Fixture fixture({.onStep = [&lent](int, const std::stop_token& stop) -> Result<void> {
        ProcessorLender lender(true);
        while (!lender.isAsked() && !stop.stop_requested())
            std::this_thread::yield();
        lent.set();
        lender.lend();
        return {};
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(endlessPrompt(1));
    fixture.session.borrowProcessor();
    lent.wait();
    fixture.session.close();
    QVERIFY(!fixture.session.send(endlessPrompt(2)));
}

void SessionEndsTest::aClosedSessionTakesNoCommands() {
    LoadedFixture fixture;
    fixture.session.close();
    QVERIFY(!fixture.session.send(rawPrompt(1, "abc", 5)));
    QVERIFY(!fixture.session.send(StopGeneration{}));
    fixture.session.takeEvents();
    QVERIFY(!fixture.session.waitForEvents(
        std::chrono::milliseconds(support::kPatienceMs))); // and it does not wait
    fixture.session.close();
}

void SessionEndsTest::tooManyCommandsAreRefusedButStopsAct() {
    LoadedFixture fixture;
    fixture.session.send(endlessPrompt(0));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    std::uint64_t id = 1;
    while (fixture.session.send(endlessPrompt(id)))
        ++id;
    QVERIFY(id > 1000 && id < 10'000);
    QVERIFY(fixture.session.send(StopGeneration{}));
    for (std::uint64_t ended = 0; ended < id; ++ended)
        QCOMPARE(fixture.finish(ended)->reason, FinishReason::Cancelled);
}

void SessionEndsTest::randomCommandsLeaveAWorkingSession() {
    std::mt19937_64 random(4);
    const int sequences = support::takesFewCases() ? 60 : 200;
    for (int sequence = 0; sequence < sequences; ++sequence) {
        Fixture fixture({}, 8 + random() % 100);
        std::vector<std::uint64_t> prompts;
        const auto sendOne = [&](std::uint64_t choice) {
            const std::uint64_t id = prompts.size() + 1;
            const std::vector<EngineCommand> commands = {
                LoadModel{"stub"},
                LoadModel{random() % 2 == 0 ? "slow" : "missing"},
                StopLoading{},
                ChooseDecoder{random() % 2 == 0 ? "drafting" : "vanilla"},
                ChooseDecoder{"none"},
                ChangeSettings{{{"length", static_cast<double>(1 + random() % 9)}}},
                ChangeSampling{{.temperature = static_cast<double>(random() % 2)}},
                random() % 4 == 0 ? endlessPrompt(id) : rawPrompt(id, "abc", 20),
                StopGeneration{},
                random() % 4 == 0 ? EngineCommand(UnloadModel{}) : EngineCommand(LoadModel{"stub"}),
                rawPrompt(id, "", 3),
            };
            const EngineCommand& command = commands[choice % commands.size()];
            if (std::holds_alternative<SubmitPrompt>(command))
                prompts.push_back(id);
            fixture.session.send(command);
        };
        const std::uint64_t count = 3 + random() % 12;
        for (std::uint64_t i = 0; i < count; ++i) {
            sendOne(random());
            if (random() % 3 == 0)
                fixture.take();
        }
        if (sequence % 4 == 0)
            continue; // closed by the destructor, in whatever state
        fixture.session.send(StopGeneration{});
        fixture.session.send(StopLoading{});
        fixture.session.send(LoadModel{"stub"});
        fixture.session.send(ChooseDecoder{"drafting"});
        fixture.session.send(ChangeSampling{});
        fixture.session.send(rawPrompt(1000, "abc", 30));
        const PromptFinished* last = fixture.finish(1000);
        QVERIFY2(last != nullptr, qPrintable(QString("sequence %1").arg(sequence)));
        QCOMPARE(last->tokens, expectedAnswer("abc", 30));
        std::map<std::uint64_t, int> ends;
        for (const PromptFinished& end : fixture.all<PromptFinished>())
            ++ends[end.promptId];
        for (const EngineFailed& failure : fixture.all<EngineFailed>())
            if (failure.task == "submit_prompt")
                ++ends[failure.promptId];
        QCOMPARE(ends.size(), prompts.size() + 1);
        for (const auto& [id, endings] : ends)
            QCOMPARE(endings, 1);
    }
}

/// However many bytes can be written: a start is refused, or told before its end.
void SessionEndsTest::aRecordingNeverEndsBeforeItHasBegun() {
    const test_support::TemporaryFolder folder;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
    LoadedFixture fixture;
    int begun = 0;
    int refused = 0;
    for (rlim_t bytes = 0; bytes < 8192; bytes += 64) {
        const rlimit tight{bytes, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &tight);
        fixture.session.send(StartRecording{(folder.path() / "run.swiftrun").string(), true});
        fixture.session.send(StopRecording{});
        fixture.session.send(CountTokens{.requestId = bytes, .text = "abc"});
        const auto* last = fixture.next<TokensCounted>();
        setrlimit(RLIMIT_FSIZE, &before);
        QVERIFY(last != nullptr);
        int open = 0;
        for (const EngineEvent& event : fixture.events) {
            open += event.as<RecordingStarted>() != nullptr ? 1 : 0;
            open -= event.as<RecordingStopped>() != nullptr ? 1 : 0;
            QVERIFY2(open == 0 || open == 1, qPrintable(QString("%1 bytes").arg(bytes)));
            begun += event.as<RecordingStarted>() != nullptr ? 1 : 0;
            refused += event.as<EngineFailed>() != nullptr ? 1 : 0;
        }
        QCOMPARE(open, 0);
    }
    std::signal(SIGXFSZ, oldHandler);
    QVERIFY(begun > 0 && refused > 0);
}

QTEST_APPLESS_MAIN(SessionEndsTest)
#include "session_ends_test.moc"
