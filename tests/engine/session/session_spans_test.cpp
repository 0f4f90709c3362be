// SPDX-License-Identifier: Apache-2.0
// What a session's steps are summed up over, and what a recording must carry so that its reader
// finds the same sums.
#include "engine/session/recording/run_recording.h"
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <mutex>

using namespace engine;
using namespace session_test;

namespace {

SubmitPrompt promptOfChat(std::uint64_t id, std::uint64_t chat) {
    return {.promptId = id, .text = "abc", .chat = chat, .maxTokens = 12};
}

std::vector<EngineEvent> eventsOf(const std::string& path) {
    std::vector<EngineEvent> played;
    auto reader = support::valueOf(RunReader::open(path));
    while (auto event = reader.next().value())
        played.push_back(*std::move(event));
    return played;
}

} // namespace

class SessionSpansTest : public QObject {
    Q_OBJECT

private slots:
    void aSessionMayMeasureNoBaseline();
    void aShortFirstAnswerHasABaselineToo();
    void whatIsKnownIsNotMeasuredEarlyAgain();
    void everyChangeBeginsTheSumsAnew();
    void whatChangesNothingGoesOn();
    void changesWithoutAStepBetweenThemAreOne();
    void theBaselineOutlivesTheDecoderAndEndsWithTheModel();
    void aStepTellsWhyItsDraftEnded();
    void aPromptTellsWhatWasAsked();
    void aLongQuestionIsCutBetweenCharacters();
    void aRecordingBegunWithinAnAnswerHasAllOfIt();
    void aRecordingCarriesTheSumsFromBeforeIt();

private:
    /// Answers a prompt; the sums behind its last step, none when it failed.
    static std::optional<DecodeMetrics> answer(Fixture& fixture, std::uint64_t id, int chat = 1) {
        fixture.session.send(promptOfChat(id, static_cast<std::uint64_t>(chat)));
        if (fixture.finish(id) == nullptr)
            return std::nullopt;
        return fixture.behindSteps().back().total;
    }
};

void SessionSpansTest::aSessionMayMeasureNoBaseline() {
    Fixture fixture({}, 4096, {.measuresBaseline = false});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(ChangeSettings{{{"length", 1.0}}});
    fixture.session.send(rawPrompt(1, "abc", 200));
    QVERIFY(fixture.finish(1) != nullptr);
    for (const StepFinished& step : fixture.all<StepFinished>())
        QVERIFY(!step.isBaseline);
    QVERIFY(fixture.all<StepFinished>().size() > 64);
}

void SessionSpansTest::aShortFirstAnswerHasABaselineToo() {
    LoadedFixture fixture("drafting");
    fixture.session.send(ChangeSettings{{{"length", 1.0}}});
    fixture.session.send(rawPrompt(1, "abc", 200));
    QVERIFY(fixture.finish(1) != nullptr);
    const auto steps = fixture.all<StepFinished>();
    QVERIFY(steps.size() > 64);
    for (std::size_t i = 0; i < 64; ++i)
        QCOMPARE(steps[i].isBaseline, i == 2 || i == 7 || i == 16 || i == 33);
    const auto told = fixture.behindSteps();
    QCOMPARE(told[6].baselineStepMs, 0.0);
    QVERIFY(told[7].baselineStepMs > 0.0);
    QVERIFY(told[7].total.speedup().has_value());
}

/// A decoder that is chosen again and again for short answers would make too many plain steps.
void SessionSpansTest::whatIsKnownIsNotMeasuredEarlyAgain() {
    LoadedFixture fixture("vanilla");
    QVERIFY(answer(fixture, 1));
    const std::size_t before = fixture.all<StepFinished>().size();
    fixture.session.send(ChooseDecoder{"drafting"});
    fixture.session.send(ChangeSettings{{{"length", 1.0}}});
    for (const std::uint64_t chat : {1, 2}) {
        SubmitPrompt prompt = rawPrompt(1 + chat, "abc", 200);
        prompt.chat = chat;
        fixture.session.send(prompt);
        QVERIFY(fixture.finish(1 + chat) != nullptr);
    }
    const auto steps = fixture.all<StepFinished>();
    QVERIFY(steps.size() > before + 64);
    for (std::size_t i = 0; i < 64; ++i)
        QCOMPARE(steps[before + i].isBaseline, i == 32);
    const auto other = std::ranges::find(
        steps, std::uint64_t{3}, [](const StepFinished& step) { return step.promptId; });
    const auto early =
        std::find_if(other, steps.end(), [](const StepFinished& step) { return step.isBaseline; });
    QVERIFY(early - other <= 8); // the context is another one
}

void SessionSpansTest::everyChangeBeginsTheSumsAnew() {
    LoadedFixture fixture("drafting");
    const auto first = answer(fixture, 1);
    QVERIFY(first && first->allTokens() == 12);
    const auto second = answer(fixture, 2);
    QVERIFY(second && second->allTokens() == 24);
    std::vector<SpanCause> causes;
    const auto expectAnew = [&](SpanCause cause, int chat, std::uint64_t id) {
        const auto sums = answer(fixture, id, chat);
        causes.push_back(cause);
        return sums && sums->allTokens() == 12;
    };
    fixture.session.send(ChangeSettings{{{"length", 2.0}}});
    QVERIFY(expectAnew(SpanCause::Settings, 1, 3));
    fixture.session.send(ChangeSampling{{.temperature = 0.5}});
    QVERIFY(expectAnew(SpanCause::Sampling, 1, 4));
    QVERIFY(expectAnew(SpanCause::Chat, 2, 5));
    fixture.session.send(ChooseDecoder{"vanilla"});
    QVERIFY(expectAnew(SpanCause::Decoder, 2, 6));
    fixture.session.send(LoadModel{"stub"});
    QVERIFY(expectAnew(SpanCause::Model, 2, 7));
    const auto told = fixture.all<SpanStarted>();
    QCOMPARE(told.size(), causes.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
        QCOMPARE(told[i].cause, causes[i]);
        QCOMPARE(told[i].span, static_cast<std::int64_t>(i) + 2);
    }
}

void SessionSpansTest::whatChangesNothingGoesOn() {
    LoadedFixture fixture("drafting");
    QVERIFY(answer(fixture, 1));
    fixture.session.send(ChangeSettings{{{"length", 3.0}}}); // as it was
    fixture.session.send(ChangeSampling{});
    const auto sums = answer(fixture, 2);
    QVERIFY(sums && sums->allTokens() == 24);
    QVERIFY(fixture.all<SpanStarted>().empty());
}

void SessionSpansTest::changesWithoutAStepBetweenThemAreOne() {
    LoadedFixture fixture("drafting");
    QVERIFY(answer(fixture, 1));
    for (const double length : {2.0, 4.0, 5.0})
        fixture.session.send(ChangeSettings{{{"length", length}}});
    QVERIFY(answer(fixture, 2));
    QCOMPARE(fixture.all<SpanStarted>().size(), std::size_t{1});
}

void SessionSpansTest::theBaselineOutlivesTheDecoderAndEndsWithTheModel() {
    LoadedFixture fixture("vanilla");
    QVERIFY(answer(fixture, 1));
    const auto told = fixture.behindSteps();
    QCOMPARE(told[0].baselineStepMs, 0.0); // one is no measurement
    QVERIFY(told[1].baselineStepMs > 0.0);
    const double known = told.back().baselineStepMs;
    fixture.session.send(ChooseDecoder{"drafting"});
    QVERIFY(answer(fixture, 2));
    QVERIFY(!fixture.all<StepFinished>().at(told.size()).isPlain());
    QCOMPARE(fixture.behindSteps().at(told.size()).baselineStepMs, known);
    fixture.session.send(LoadModel{"stub"});
    QVERIFY(answer(fixture, 3));
    const auto all = fixture.all<StepFinished>();
    const auto anew = std::find_if(
        all.begin(), all.end(), [](const StepFinished& step) { return step.promptId == 3; });
    QCOMPARE(fixture.behindSteps().at(static_cast<std::size_t>(anew - all.begin())).baselineStepMs,
             0.0);
}

void SessionSpansTest::aStepTellsWhyItsDraftEnded() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 13)); // three rounds of four, and one token
    QVERIFY(fixture.finish(1) != nullptr);
    const auto steps = fixture.all<StepFinished>();
    QCOMPARE(steps[0].draftEnd, (DraftEnd{DraftEndReason::Length, 0.0, 3.0}));
    QVERIFY(steps.back().isPlain());
    QCOMPARE(steps.back().draftEnd, DraftEnd());
}

void SessionSpansTest::aPromptTellsWhatWasAsked() {
    LoadedFixture fixture;
    fixture.session.send(rawPrompt(1, "Once", 2));
    QVERIFY(fixture.finish(1) != nullptr);
    fixture.session.send(
        SubmitPrompt{.promptId = 2,
                     .messages = {{"user", "First"}, {"assistant", "Yes"}, {"user", "Second"}},
                     .maxTokens = 2});
    QVERIFY(fixture.finish(2) != nullptr);
    const auto started = fixture.all<PromptStarted>();
    QCOMPARE(started.at(0).question, std::string("Once"));
    QCOMPARE(started.at(1).question, std::string("Second"));
}

void SessionSpansTest::aLongQuestionIsCutBetweenCharacters() {
    LoadedFixture fixture;
    std::string text = "x";
    while (text.size() < kQuestionBytes + 10)
        text += "é";
    fixture.session.send(rawPrompt(1, text, 2));
    QVERIFY(fixture.finish(1) != nullptr);
    const std::string question = fixture.all<PromptStarted>().at(0).question;
    QCOMPARE(question.size(), kQuestionBytes - 1);
    QCOMPARE(question, text.substr(0, kQuestionBytes - 1));
}

void SessionSpansTest::aRecordingBegunWithinAnAnswerHasAllOfIt() {
    const test_support::TemporaryFolder folder;
    const std::string path = (folder.path() / "run.swiftrun").string();
    std::mutex mutex;
    std::condition_variable changed;
    bool isSent = false;
    // The engine waits in its third step until the recording was asked for.
    Fixture fixture({.onStep = [&](int step, std::stop_token) -> Result<void> {
        if (step != 2)
            return {};
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return isSent; });
        return {};
    }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(rawPrompt(1, "abc", 40));
    fixture.session.send(StartRecording{path});
    QVERIFY(fixture.next<PromptStarted>() != nullptr);
    {
        const std::lock_guard lock(mutex);
        isSent = true;
    }
    changed.notify_all();
    QVERIFY(fixture.finish(1) != nullptr);
    fixture.session.send(StopRecording{});
    QVERIFY(fixture.next<RecordingStopped>() != nullptr);
    std::vector<int> steps;
    std::optional<std::size_t> began;
    std::optional<std::size_t> asked;
    const auto events = eventsOf(path);
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].as<RecordingStarted>() != nullptr)
            began = i;
        if (events[i].as<PromptStarted>() != nullptr)
            asked = i;
        if (const auto* step = events[i].as<StepFinished>())
            steps.push_back(step->step);
    }
    QVERIFY(began && asked && *asked < *began);
    const auto told = fixture.all<StepFinished>();
    QCOMPARE(steps.size(), told.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
        QCOMPARE(steps[i], static_cast<int>(i));
}

void SessionSpansTest::aRecordingCarriesTheSumsFromBeforeIt() {
    const test_support::TemporaryFolder folder;
    const std::string path = (folder.path() / "run.swiftrun").string();
    LoadedFixture fixture("drafting");
    const auto before = answer(fixture, 1);
    QVERIFY(before);
    const double baseline = fixture.behindSteps().back().baselineStepMs;
    fixture.session.send(StartRecording{path});
    fixture.session.send(StopRecording{});
    QVERIFY(fixture.next<RecordingStopped>() != nullptr);
    std::optional<Statistics> carried;
    for (const EngineEvent& event : eventsOf(path))
        if (const auto* statistics = event.as<Statistics>())
            carried = *statistics;
    QVERIFY(carried);
    QCOMPARE(carried->total.allTokens(), before->allTokens());
    QCOMPARE(carried->baselineStepMs, baseline);
}

QTEST_GUILESS_MAIN(SessionSpansTest)
#include "session_spans_test.moc"
