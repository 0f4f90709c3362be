// SPDX-License-Identifier: Apache-2.0
// Several conversations in one session: whose turn it is, stops, settings, memory, recordings.
#include "engine/session/recording/event_json.h"
#include "engine/session/recording/run_recording.h"
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <future>
#include <set>

using namespace engine;
using session_test::DecoderScript;
using session_test::expectedAnswer;
using session_test::Fixture;
using session_test::LoadedFixture;

namespace {

constexpr int kEndless = 1 << 19;

// The stub's cache has one id for each token of its context, here of 2^20 tokens.
constexpr Position kCacheSlots = 1 << 20;
constexpr std::uint64_t kCacheBytes = std::uint64_t{kCacheSlots} * sizeof(TokenId);

SubmitPrompt
promptIn(std::uint64_t conversation, std::uint64_t id, int maxTokens, const std::string& text) {
    return {.promptId = id, .text = text, .maxTokens = maxTokens, .conversation = conversation};
}

/// The conversations whose steps were told, in order.
std::vector<std::uint64_t> stepsOf(const Fixture& fixture) {
    std::vector<std::uint64_t> conversations;
    for (const EngineEvent& event : fixture.events)
        if (event.as<StepFinished>() != nullptr)
            conversations.push_back(event.conversation);
    return conversations;
}

/// The start of this prompt; null if it was not told.
const PromptStarted* startOf(const Fixture& fixture, std::uint64_t promptId) {
    for (const EngineEvent& event : fixture.events)
        if (const auto* started = event.as<PromptStarted>();
            started && started->promptId == promptId)
            return started;
    return nullptr;
}

} // namespace

class SessionConversationsTest : public QObject {
    Q_OBJECT

private slots:
    void conversationsTakeTurnsStepByStep();
    void aShortAnswerDoesNotWaitForALongPrompt();
    void promptsOfOneConversationWaitForEachOther();
    void aStopEndsOneConversationAlone();
    void eachConversationHasItsDecoderAndSettings();
    void aFailedStepEndsOneConversationAlone();
    void aLoadWaitsForAllPromptsBeforeIt();
    void theCacheThatWasIdleLongestMakesRoom();
    void withoutAnIdleCacheAPromptIsRefused();
    void onAFullGpuAnIdleCacheMakesRoom();
    void onAFullGpuAnotherDecoderTakesThePlaceOfTheOld();
    void aDecoderThatDoesNotFitOnTheGpuLeavesTheOldChoice();
    void aClosedConversationBeginsAnew();
    void aRecordingTellsConversationsApart();
    void eventsOfTheOnlyConversationAreWrittenAsBefore();
};

void SessionConversationsTest::conversationsTakeTurnsStepByStep() {
    std::promise<void> sent;
    Fixture fixture({.onPass = [ready = sent.get_future().share()] { ready.wait(); }});
    QVERIFY(fixture.loadModel());
    fixture.session.send(promptIn(1, 1, kEndless, "abc"));
    fixture.session.send(promptIn(2, 2, 20, "bcd"));
    fixture.session.send(promptIn(3, 3, 40, "cde"));
    sent.set_value();
    QVERIFY(fixture.finish(2) != nullptr && fixture.finish(3) != nullptr);
    fixture.session.send(StopGeneration{1});
    QVERIFY(fixture.finish(1) != nullptr);
    const std::vector<std::uint64_t> steps = stepsOf(fixture);
    const auto third = std::find(steps.begin(), steps.end(), std::uint64_t{3});
    const auto lastOfSecond = std::find(steps.rbegin(), steps.rend(), std::uint64_t{2}).base();
    QVERIFY(lastOfSecond - third > 50);
    for (auto at = third; at + 3 <= lastOfSecond; ++at)
        QCOMPARE(std::set<std::uint64_t>(at, at + 3).size(), std::size_t{3});
    for (const PromptFinished& end : fixture.all<PromptFinished>()) {
        const std::string text = end.promptId == 1 ? "abc" : end.promptId == 2 ? "bcd" : "cde";
        QCOMPARE(end.tokens, expectedAnswer(text, end.generation.outputTokens));
    }
}

/// The second conversation needs a turn for each of its tokens and one for its prompt, the first
/// one more than that for its prompt alone.
void SessionConversationsTest::aShortAnswerDoesNotWaitForALongPrompt() {
    constexpr int kShort = 20;
    std::promise<void> sent;
    Fixture fixture({.onPass = [ready = sent.get_future().share()] { ready.wait(); }});
    QVERIFY(fixture.loadModel());
    std::string text;
    for (int i = 0; i < 2 * kShort * kPrefillRows; ++i)
        text += static_cast<char>('a' + i % 23);
    fixture.session.send(promptIn(1, 1, 5, text));
    fixture.session.send(promptIn(2, 2, kShort, "bcd"));
    sent.set_value();
    QCOMPARE(fixture.finish(2)->tokens, expectedAnswer("bcd", kShort));
    for (const EngineEvent& event : fixture.events) {
        if (event.as<PromptFinished>() != nullptr)
            break;
        QVERIFY(event.as<StepFinished>() == nullptr || event.conversation == 2);
    }
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer(text, 5));
}

void SessionConversationsTest::promptsOfOneConversationWaitForEachOther() {
    LoadedFixture fixture;
    fixture.session.send(promptIn(1, 1, 30, "abc"));
    fixture.session.send(promptIn(1, 2, 30, "bcd"));
    fixture.session.send(promptIn(2, 3, 30, "cde"));
    std::vector<std::uint64_t> ended;
    for (int i = 0; i < 3; ++i)
        ended.push_back(fixture.next<PromptFinished>()->promptId);
    QVERIFY(std::find(ended.begin(), ended.end(), 1) < std::find(ended.begin(), ended.end(), 2));
    std::uint64_t running = 0;
    for (const EngineEvent& event : fixture.events)
        if (const auto* step = event.as<StepFinished>(); step && event.conversation == 1) {
            QVERIFY(step->promptId >= running);
            running = step->promptId;
        }
}

void SessionConversationsTest::aStopEndsOneConversationAlone() {
    LoadedFixture fixture;
    fixture.session.send(promptIn(1, 1, kEndless, "abc"));
    fixture.session.send(promptIn(1, 2, kEndless, "abc")); // waits
    fixture.session.send(promptIn(2, 3, kEndless, "bcd"));
    QVERIFY(fixture.next<StepFinished>([](const auto& step) { return step.promptId == 3; }) !=
            nullptr);
    fixture.session.send(StopGeneration{1});
    fixture.session.send(promptIn(1, 4, 5, "abc"));
    QCOMPARE(fixture.finish(1)->reason, FinishReason::Cancelled);
    QCOMPARE(fixture.finish(2)->reason, FinishReason::Cancelled);
    QCOMPARE(fixture.finish(4)->tokens, expectedAnswer("abc", 5));
    QVERIFY(fixture.next<StepFinished>([](const auto& step) { return step.promptId == 3; }) !=
            nullptr);
    fixture.session.send(StopGeneration{});
    QCOMPARE(fixture.finish(3)->reason, FinishReason::Cancelled);
}

void SessionConversationsTest::eachConversationHasItsDecoderAndSettings() {
    LoadedFixture fixture;
    SubmitPrompt drafting = promptIn(1, 1, 30, "abc");
    drafting.decoder = ChooseDecoder{"drafting", {{"length", 2.0}}};
    fixture.session.send(drafting);
    fixture.session.send(promptIn(2, 2, 30, "abc"));
    for (int i = 0; i < 2; ++i)
        QVERIFY(fixture.next<PromptFinished>() != nullptr);
    fixture.session.send(ChangeSettings{{{"length", 4.0}}, 1});
    QVERIFY(fixture.next<SettingsChanged>() != nullptr);
    fixture.session.send(ChangeSettings{{{"length", 4.0}}, 2}); // vanilla has no such setting
    QVERIFY(fixture.fails("change_settings"));
    fixture.session.send(ChangeSampling{{.seed = 7}, 2});
    QVERIFY(fixture.next<SamplingChanged>() != nullptr);
    int drafted = 0;
    for (const EngineEvent& event : fixture.events) {
        if (const auto* step = event.as<StepFinished>()) {
            QVERIFY(event.conversation == 1 || step->isPlain());
            drafted += step->isPlain() ? 0 : 1;
        }
        if (event.as<SettingsChanged>() != nullptr || event.as<PlanChanged>() != nullptr)
            QCOMPARE(event.conversation, std::uint64_t{1});
        if (event.as<SamplingChanged>() != nullptr || event.as<EngineFailed>() != nullptr)
            QCOMPARE(event.conversation, std::uint64_t{2});
    }
    QVERIFY(drafted > 5);
    for (const PromptFinished& end : fixture.all<PromptFinished>())
        QCOMPARE(end.tokens, expectedAnswer("abc", 30));
}

void SessionConversationsTest::aFailedStepEndsOneConversationAlone() {
    Fixture fixture({.onStep = [](int step, const std::stop_token&) -> Result<void> {
        return step < 3 ? Result<void>()
                        : Error{ErrorCode::Numeric, "The numbers are not finite.", ""};
    }});
    QVERIFY(fixture.loadModel());
    SubmitPrompt failing = promptIn(1, 1, 40, "abc");
    failing.decoder = ChooseDecoder{"drafting"};
    fixture.session.send(promptIn(2, 2, kEndless, "bcd"));
    fixture.session.send(failing);
    QVERIFY(fixture.fails("submit_prompt"));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(StopGeneration{});
    const PromptFinished* other = fixture.finish(2);
    QCOMPARE(other->tokens, expectedAnswer("bcd", other->generation.outputTokens));
    QCOMPARE(fixture.all<EngineFailed>().size(), std::size_t{1});
    QCOMPARE(fixture.all<EngineFailed>()[0].promptId, std::uint64_t{1});
}

void SessionConversationsTest::aLoadWaitsForAllPromptsBeforeIt() {
    LoadedFixture fixture;
    fixture.session.send(promptIn(1, 1, 30, "abc"));
    fixture.session.send(promptIn(2, 2, 60, "bcd"));
    fixture.session.send(LoadModel{"stub"});
    fixture.session.send(promptIn(3, 3, 5, "cde"));
    QVERIFY(fixture.next<ModelLoaded>() != nullptr);
    int endedBefore = 0; // the new model
    int loads = 0;
    for (const EngineEvent& event : fixture.events) {
        loads += event.as<ModelLoaded>() != nullptr ? 1 : 0;
        endedBefore += loads < 2 && event.as<PromptFinished>() != nullptr ? 1 : 0;
    }
    QCOMPARE(endedBefore, 2);
    QCOMPARE(fixture.finish(3)->tokens, expectedAnswer("cde", 5));
}

void SessionConversationsTest::theCacheThatWasIdleLongestMakesRoom() {
    Fixture fixture({}, 4096, {.cacheLimitBytes = 2 * kCacheBytes + kCacheBytes / 2});
    QVERIFY(fixture.loadModel());
    for (const std::uint64_t conversation : {0, 1}) {
        fixture.session.send(promptIn(conversation, conversation + 1, 5, "abcdef"));
        QVERIFY(fixture.finish(conversation + 1) != nullptr);
    }
    QVERIFY(fixture.all<Note>().empty());
    fixture.session.send(promptIn(2, 3, 5, "abcdef"));
    QCOMPARE(fixture.finish(3)->tokens, expectedAnswer("abcdef", 5));
    const auto told = std::find_if(fixture.events.begin(), fixture.events.end(), [](const auto& e) {
        return e.template as<Note>() != nullptr;
    });
    QVERIFY(told != fixture.events.end());
    QCOMPARE(told->conversation, std::uint64_t{0});
    QVERIFY(told->as<Note>()->text.find("cache") != std::string::npos);
    fixture.session.send(promptIn(1, 4, 5, "abcdef")); // still has its cache
    QVERIFY(fixture.finish(4) != nullptr);
    QCOMPARE(startOf(fixture, 4)->reusedTokens, 5);
    fixture.session.send(promptIn(0, 5, 5, "abcdef"));
    QCOMPARE(fixture.finish(5)->tokens, expectedAnswer("abcdef", 5));
    QCOMPARE(startOf(fixture, 5)->reusedTokens, 0);
    std::vector<std::uint64_t> freed;
    for (const EngineEvent& event : fixture.events)
        if (event.as<Note>() != nullptr)
            freed.push_back(event.conversation);
    QCOMPARE(freed, (std::vector<std::uint64_t>{0, 2}));
}

void SessionConversationsTest::withoutAnIdleCacheAPromptIsRefused() {
    Fixture fixture(
        {}, 4096, {.cacheLimitBytes = kCacheBytes / 2}); // the first one is never refused
    QVERIFY(fixture.loadModel());
    fixture.session.send(promptIn(0, 1, kEndless, "abc"));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(promptIn(1, 2, 5, "abc"));
    QVERIFY(fixture.fails("submit_prompt"));
    const EngineFailed failed = fixture.all<EngineFailed>().at(0);
    QCOMPARE(failed.error.code, ErrorCode::NoMemory);
    QCOMPARE(failed.promptId, std::uint64_t{2});
    QVERIFY(!failed.error.hint.empty());
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(StopGeneration{});
    QVERIFY(fixture.finish(1) != nullptr);
    fixture.session.send(promptIn(1, 3, 5, "abc"));
    QCOMPARE(fixture.finish(3)->tokens, expectedAnswer("abc", 5));
}

/// One cache fits, and the second one cannot even be made to be measured.
void SessionConversationsTest::onAFullGpuAnIdleCacheMakesRoom() {
    Fixture fixture({.gpuSlots = kCacheSlots + kCacheSlots / 2});
    QVERIFY(fixture.loadModel());
    for (const std::uint64_t conversation : {0, 1, 0}) {
        const std::uint64_t id = fixture.all<PromptFinished>().size() + 1;
        fixture.session.send(promptIn(conversation, id, 5, "abcdef"));
        const PromptFinished* finished = fixture.finish(id);
        QVERIFY(finished != nullptr);
        QCOMPARE(finished->tokens, expectedAnswer("abcdef", 5));
        QCOMPARE(startOf(fixture, id)->reusedTokens, 0);
    }
    std::vector<std::uint64_t> freed;
    for (const EngineEvent& event : fixture.events)
        if (event.as<Note>() != nullptr)
            freed.push_back(event.conversation);
    QCOMPARE(freed, (std::vector<std::uint64_t>{0, 1}));
}

void SessionConversationsTest::onAFullGpuAnotherDecoderTakesThePlaceOfTheOld() {
    Fixture fixture({.gpuSlots = kCacheSlots + kCacheSlots / 2});
    QVERIFY(fixture.loadModel()); // and makes vanilla
    fixture.session.send(ChooseDecoder{"drafting"});
    fixture.session.send(promptIn(0, 1, 5, "abcdef"));
    QVERIFY(fixture.finish(1) != nullptr);
    QVERIFY(fixture.all<EngineFailed>().empty());
    QCOMPARE(fixture.all<DecoderChosen>().back().info.name, std::string("drafting"));
}

void SessionConversationsTest::aDecoderThatDoesNotFitOnTheGpuLeavesTheOldChoice() {
    Fixture fixture({.gpuSlots = kCacheSlots + 1}); // drafting wants some more
    QVERIFY(fixture.loadModel());
    fixture.session.send(ChooseDecoder{"drafting"});
    QVERIFY(fixture.fails("choose_decoder"));
    QCOMPARE(fixture.all<EngineFailed>().at(0).error.code, ErrorCode::NoMemory);
    fixture.session.send(promptIn(0, 1, 5, "abcdef"));
    const PromptFinished* finished = fixture.finish(1);
    QVERIFY(finished != nullptr);
    QCOMPARE(finished->tokens, expectedAnswer("abcdef", 5));
    QCOMPARE(fixture.all<DecoderChosen>().back().info.name, std::string("vanilla"));
}

void SessionConversationsTest::aClosedConversationBeginsAnew() {
    LoadedFixture fixture;
    SubmitPrompt first = promptIn(1, 1, kEndless, "abc");
    first.decoder = ChooseDecoder{"drafting"};
    fixture.session.send(first);
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(CloseConversation{1});
    fixture.session.send(promptIn(1, 2, 5, "abc"));
    QCOMPARE(fixture.finish(1)->reason, FinishReason::Cancelled);
    QCOMPARE(fixture.finish(2)->tokens, expectedAnswer("abc", 5));
    QCOMPARE(startOf(fixture, 2)->reusedTokens, 0);
    QCOMPARE(fixture.all<DecoderChosen>().back().info.name, std::string("vanilla"));
}

void SessionConversationsTest::aRecordingTellsConversationsApart() {
    const test_support::TemporaryFolder folder;
    const std::string path = (folder.path() / "run.swiftrun").string();
    LoadedFixture fixture;
    SubmitPrompt drafting = promptIn(1, 1, kEndless, "abc");
    drafting.decoder = ChooseDecoder{"drafting"};
    fixture.session.send(drafting);
    fixture.session.send(promptIn(2, 2, kEndless, "bcd"));
    QVERIFY(fixture.next<StepFinished>([](const auto& step) { return step.promptId == 2; }) !=
            nullptr);
    fixture.session.send(StartRecording{path});
    QVERIFY(fixture.next<RecordingStarted>() != nullptr);
    fixture.session.send(StopGeneration{});
    for (int i = 0; i < 2; ++i)
        QVERIFY(fixture.next<PromptFinished>() != nullptr);
    fixture.session.send(StopRecording{});
    QVERIFY(fixture.next<RecordingStopped>() != nullptr);
    auto reader = RunReader::open(path);
    QVERIFY(reader.hasValue());
    std::map<std::uint64_t, std::vector<TokenId>> played;
    std::map<std::uint64_t, std::string> decoders;
    while (const auto event = reader.value().next().value()) {
        if (const auto* chosen = event->as<DecoderChosen>())
            decoders[event->conversation] = chosen->info.name;
        if (const auto* step = event->as<StepFinished>())
            for (const EmittedToken& token : step->tokens)
                played[event->conversation].push_back(token.id);
    }
    QCOMPARE(decoders.at(1), std::string("drafting"));
    QCOMPARE(decoders.at(2), std::string("vanilla"));
    for (const PromptFinished& end : fixture.all<PromptFinished>())
        QCOMPARE(played.at(end.promptId), end.tokens); // from their beginnings
}

void SessionConversationsTest::eventsOfTheOnlyConversationAreWrittenAsBefore() {
    const EngineEvent event{1.5, Note{"a sentence"}};
    QCOMPARE(eventJson(event), std::string(R"({"event":"remark","time":1.5,"text":"a sentence"})"));
    const EngineEvent other{1.5, Note{"a sentence"}, 9};
    const auto read = readEventJson(eventJson(other), "a test", 0);
    QCOMPARE(read.value()->conversation, std::uint64_t{9});
}

QTEST_APPLESS_MAIN(SessionConversationsTest)
#include "session_conversations_test.moc"
