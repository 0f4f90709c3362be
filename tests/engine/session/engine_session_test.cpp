// SPDX-License-Identifier: Apache-2.0
// What a session tells of its work, and that failures leave it whole.
#include "engine/session/recording/run_recording.h"
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <sys/resource.h>

#include <csignal>

using namespace engine;
using namespace session_test;

namespace {

std::vector<TokenId> tokensOf(const std::vector<StepFinished>& steps) {
    std::vector<TokenId> tokens;
    for (const StepFinished& step : steps)
        for (const EmittedToken& token : step.tokens)
            tokens.push_back(token.id);
    return tokens;
}

std::string textOf(const std::vector<StepFinished>& steps) {
    std::string text;
    for (const StepFinished& step : steps)
        text += step.text;
    return text;
}

} // namespace

class EngineSessionTest : public QObject {
    Q_OBJECT

private slots:
    void aPromptIsAnsweredAsVanillaAnswersIt();
    void everyStepIsToldOnceAndInOrder();
    void aSecondTurnReadsOnlyWhatIsNew();
    void stopStringsHoldTextBackAndReleaseIt();
    void aDraftingDecoderTellsItsSearch();
    void whatRanBesideADraftAndTablesAreToldInTexts();
    void aPlainStepBehind32OthersIsTheBaseline();
    void settingsChangeWhileAPromptRuns();
    void whatADecoderDoesAtOnceIsToldBehindItsSettings();
    void aWrongSettingLeavesTheRunningPromptAlone();
    void samplingChangesWithTheNextPrompt();
    void aGrammarGivesAnswersTheirForm();
    void anotherSeedKeepsWhatIsCached();
    void aDecoderThatCannotTakeSamplingIsMadeAnew();
    void withoutAModelAPromptFails();
    void anUnknownDecoderLeavesTheOldOne();
    void settingsOfADecoderThatWasRefusedChangeNoOther();
    void aFailedLoadKeepsTheOldModel();
    void aModelThatDoesNotFitBesideTheOldOneIsLoadedAlone();
    void aFailedStepLetsTheNextPromptWork();
    void anExceptionInADecoderLetsTheNextPromptWork();
    void anExceptionInALoaderIsAFailure();
    void aSlowReaderMissesNoStep();
    void aRecordingHoldsWhatIsNeededToUnderstandIt();
    void aRecordingThatFailsLetsTheRunGoOn();
};

void EngineSessionTest::aPromptIsAnsweredAsVanillaAnswersIt() {
    for (const char* decoder : {"vanilla", "drafting"}) {
        LoadedFixture fixture(decoder);
        fixture.session.send(rawPrompt(7, "Once upon a time", 40));
        const PromptFinished* end = fixture.finish(7);
        QVERIFY(end != nullptr);
        QCOMPARE(end->tokens, expectedAnswer("Once upon a time", 40));
        QCOMPARE(end->reason, FinishReason::MaxTokens);
        QCOMPARE(end->generation.outputTokens, 40);
    }
}

void EngineSessionTest::everyStepIsToldOnceAndInOrder() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 50));
    const PromptFinished* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    const auto steps = fixture.all<StepFinished>();
    QCOMPARE(static_cast<int>(steps.size()), end->generation.steps);
    QCOMPARE(tokensOf(steps), end->tokens);
    QCOMPARE(textOf(steps), end->text);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps[i].step, static_cast<int>(i));
        QCOMPARE(steps[i].promptId, std::uint64_t{1});
        QCOMPARE(steps[i].confidences.empty(), steps[i].isPlain());
        QVERIFY(steps[i].path.size() <= steps[i].draft.size());
    }
    QCOMPARE(end->decoding.tokens + end->decoding.baselineTokens, std::int64_t{50});
    DecodeMetrics total = fixture.behindSteps().back().total; // of the decoder's first prompt
    total.addSearch(0.5);                                     // what the end of the answer took
    QCOMPARE(total, end->decoding);
    double time = 0.0;
    for (const EngineEvent& event : fixture.events)
        QVERIFY(event.time >= std::exchange(time, event.time));
}

void EngineSessionTest::aSecondTurnReadsOnlyWhatIsNew() {
    LoadedFixture fixture;
    SubmitPrompt prompt{.promptId = 1, .messages = {{"user", "Hello there"}}, .maxTokens = 30};
    fixture.session.send(prompt);
    const PromptStarted* first = fixture.next<PromptStarted>();
    QCOMPARE(first->reusedTokens, 0);
    const PromptFinished* answer = fixture.finish(1);
    prompt.promptId = 2;
    prompt.messages.push_back({"assistant", answer->text, answer->tokens});
    prompt.messages.push_back({"user", "And then?"});
    fixture.session.send(prompt);
    const PromptStarted* second = fixture.next<PromptStarted>();
    // The newest token of an answer is never cached.
    QCOMPARE(second->reusedTokens, first->promptTokens + 30 - 1);
    const PromptFinished* end = fixture.finish(2);
    const std::string text =
        "[user]Hello there\n[assistant]" + answer->text + "\n[user]And then?\n[assistant]";
    QCOMPARE(second->promptTokens, static_cast<int>(text.size()));
    QCOMPARE(end->tokens, expectedAnswer(text, 30));
}

void EngineSessionTest::stopStringsHoldTextBackAndReleaseIt() {
    const auto answer = expectedAnswer("abc", 20);
    const std::string text = test_support::ByteTokenizer().decode(answer, true).value();
    LoadedFixture fixture;
    SubmitPrompt prompt = rawPrompt(1, "abc", 20);
    prompt.stopStrings = {text.substr(10, 3)};
    fixture.session.send(prompt);
    const PromptFinished* stopped = fixture.finish(1);
    QCOMPARE(stopped->reason, FinishReason::StopString);
    QCOMPARE(stopped->text, text.substr(0, text.find(prompt.stopStrings[0])));
    prompt.promptId = 2;
    prompt.stopStrings = {text.substr(18, 2) + "!"}; // begins as the text ends, and does not come
    fixture.session.send(prompt);
    const TextReleased* released = fixture.next<TextReleased>();
    QVERIFY(released != nullptr);
    QCOMPARE(released->text, text.substr(18, 2));
    QCOMPARE(fixture.finish(2)->text, text);
}

void EngineSessionTest::aDraftingDecoderTellsItsSearch() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 40));
    QVERIFY(fixture.finish(1) != nullptr);
    const auto trials = fixture.all<TrialFinished>();
    QCOMPARE(trials.size(), std::size_t{1});
    QCOMPARE(trials[0].trialKind, std::string("random"));
    QCOMPARE(trials[0].plan.skipped, (SkipSet{{1}, {2}}));
    QCOMPARE(trials[0].ticks, (std::vector<int>{1, 0}));
    QCOMPARE(trials[0].window, (std::vector<std::string>{"a", "b"}));
    QCOMPARE(trials[0].guesses, (std::vector<std::string>{"a", "<end>"}));
    const auto phases = fixture.all<PhaseChanged>();
    QVERIFY(phases.size() >= 2);
    QCOMPARE(phases[0].phase, DecoderPhase::Optimise);
    QCOMPARE(phases[1].phase, DecoderPhase::Accelerate);
    // A plan is told before the first step that names it.
    for (const EngineEvent& event : fixture.events) {
        if (event.as<PlanChanged>() != nullptr)
            break;
        QVERIFY(event.as<StepFinished>() == nullptr);
    }
    QVERIFY(fixture.all<PromptFinished>()[0].decoding.searchMs >= 0.5);
}

void EngineSessionTest::whatRanBesideADraftAndTablesAreToldInTexts() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 12));
    QVERIFY(fixture.finish(1) != nullptr);
    const auto steps = fixture.all<StepFinished>();
    const auto first = std::find_if(
        steps.begin(), steps.end(), [](const StepFinished& step) { return !step.tables.empty(); });
    QVERIFY(first != steps.end());
    QCOMPARE(first->sides, (std::vector<SideRow>{{'x', -1}}));
    QCOMPARE(first->sideTexts, std::vector<std::string>{"x"});
    const ShownTable& table = first->tables.front();
    QCOMPARE(table.title, std::string("Pool"));
    QCOMPARE(table.chosenRow, 0);
    const std::vector<ShownCell> cells = {std::string("first"), ShownToken{'y', "y"}, 2.0};
    QVERIFY(table.rows[0] == cells);
    QVERIFY(table.rows[1] == std::vector<ShownCell>{ShownToken()});
    // 3 of 4 layers' worth of sublayers a draft pass, 4 for the verifying one.
    QCOMPARE(first->draftLayers, 3.0 * static_cast<double>(first->confidences.size()));
    QCOMPARE(first->verifyLayers, 4.0);
    const DecodeMetrics all = fixture.all<PromptFinished>()[0].decoding;
    QVERIFY(all.tokensPerLayer().has_value());
    QCOMPARE(all.verifyLayers, 4.0 * static_cast<double>(all.rounds));
}

void EngineSessionTest::aPlainStepBehind32OthersIsTheBaseline() {
    LoadedFixture fixture("drafting");
    fixture.session.send(ChangeSettings{{{"length", 1.0}}});
    fixture.session.send(rawPrompt(1, "abc", 600));
    QVERIFY(fixture.finish(1) != nullptr);
    const auto steps = fixture.all<StepFinished>();
    QVERIFY(steps.size() > 256);
    std::vector<int> gaps = {0};
    for (const StepFinished& step : steps)
        if (step.isBaseline)
            gaps.push_back(0);
        else
            ++gaps.back();
    gaps.pop_back();
    const std::vector<int> expected = {2, 4, 8, 16};
    QVERIFY(gaps.size() > expected.size() + 4);
    for (std::size_t i = 0; i < gaps.size(); ++i)
        QCOMPARE(gaps[i], i < expected.size() ? expected[i] : 32);
    const DecodeMetrics total = fixture.behindSteps().back().total;
    std::int64_t accepted = 0;
    std::int64_t rounds = 0;
    for (const StepFinished& step : steps) {
        rounds += step.isPlain() ? 0 : 1;
        accepted += static_cast<std::int64_t>(step.path.size());
        if (step.isBaseline)
            QCOMPARE(step.tokens.at(0).fact.origin, TokenOrigin::Vanilla);
    }
    QCOMPARE(total.rounds, rounds);
    QCOMPARE(total.accepted, accepted);
    QCOMPARE(total.draftSteps, rounds); // drafts of one token
    QVERIFY(total.speedup().has_value());
}

void EngineSessionTest::settingsChangeWhileAPromptRuns() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 1'000'000));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(ChangeSettings{{{"length", 7.0}}});
    const SettingsChanged* changed = fixture.next<SettingsChanged>();
    QVERIFY(changed != nullptr);
    QCOMPARE(integerOf(changed->settings, "length"), 7);
    const StepFinished* step = fixture.next<StepFinished>(
        [](const StepFinished& candidate) { return candidate.confidences.size() == 7; });
    QVERIFY(step != nullptr);
    QVERIFY(fixture.all<PromptFinished>().empty());
    fixture.session.send(StopGeneration{});
    const PromptFinished* end = fixture.finish(1);
    QCOMPARE(end->reason, FinishReason::Cancelled);
    QCOMPARE(end->decoding.searchMs, 0.25); // what the settings took, between two steps
}

void EngineSessionTest::whatADecoderDoesAtOnceIsToldBehindItsSettings() {
    LoadedFixture fixture("drafting");
    fixture.session.send(ChangeSettings{{{"length", 7.0}}});
    QVERIFY(fixture.next<SettingsChanged>() != nullptr);
    const TrialFinished* trial = fixture.next<TrialFinished>();
    QVERIFY(trial != nullptr);
    QCOMPARE(trial->window, (std::vector<std::string>{"a", "b"}));
    const PlanChanged* change = fixture.next<PlanChanged>();
    QVERIFY(change != nullptr);
    QCOMPARE(change->plan.skipped, (SkipSet{{1}, {2}}));
    fixture.session.send(rawPrompt(1, "abc", 1));
    QVERIFY(fixture.finish(1) != nullptr);
    QVERIFY(fixture.behindSteps().at(0).total.searchMs >= 0.25);
}

void EngineSessionTest::aWrongSettingLeavesTheRunningPromptAlone() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 1'000'000));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(ChangeSettings{{{"length", 99.0}}});
    QVERIFY(fixture.fails("change_settings"));
    QVERIFY(fixture.all<EngineFailed>()[0].error.message.find("length") != std::string::npos);
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(StopGeneration{});
    QCOMPARE(fixture.finish(1)->reason, FinishReason::Cancelled);
}

void EngineSessionTest::samplingChangesWithTheNextPrompt() {
    LoadedFixture fixture;
    fixture.session.send(ChangeSampling{{.temperature = 50.0, .seed = 1}});
    fixture.session.send(rawPrompt(1, "abc", 30));
    fixture.session.send(ChangeSampling{{.temperature = -1.0}});
    fixture.session.send(ChangeSampling{{.temperature = 0.0}});
    fixture.session.send(rawPrompt(2, "abc", 30));
    QVERIFY(fixture.finish(1)->tokens != expectedAnswer("abc", 30));
    QCOMPARE(fixture.finish(2)->tokens, expectedAnswer("abc", 30));
    QCOMPARE(fixture.all<EngineFailed>().at(0).task, std::string("change_sampling"));
}

void EngineSessionTest::aGrammarGivesAnswersTheirForm() {
    LoadedFixture fixture;
    SamplingOptions sampling;
    sampling.grammar = {GrammarKind::Regex, "[a-c]{5}"};
    fixture.session.send(ChangeSampling{sampling});
    fixture.session.send(rawPrompt(1, "abc", 30));
    fixture.session.send(rawPrompt(2, "abc", 3));
    sampling.grammar = {GrammarKind::Regex, "[a-c"};
    fixture.session.send(ChangeSampling{sampling});
    const PromptFinished whole = *fixture.finish(1);
    QCOMPARE(whole.reason, FinishReason::EndToken);
    QCOMPARE(whole.text.size(), std::size_t{5});
    QVERIFY(whole.text.find_first_not_of("abc") == std::string::npos);
    QVERIFY(!whole.isInsideGrammar);
    const PromptFinished cut = *fixture.finish(2);
    QCOMPARE(cut.text, whole.text.substr(0, 3));
    QVERIFY(cut.isInsideGrammar);
    QVERIFY(fixture.fails("change_sampling"));
}

void EngineSessionTest::anotherSeedKeepsWhatIsCached() {
    LoadedFixture fixture;
    fixture.session.send(rawPrompt(1, "abcdef", 8));
    fixture.session.send(ChangeSampling{{.temperature = 0.0, .seed = 9}});
    fixture.session.send(rawPrompt(2, "abcdef", 8));
    QCOMPARE(fixture.finish(2)->tokens, expectedAnswer("abcdef", 8));
    const auto starts = fixture.all<PromptStarted>();
    QCOMPARE(starts.at(1).reusedTokens, starts.at(1).promptTokens - 1);
}

void EngineSessionTest::aDecoderThatCannotTakeSamplingIsMadeAnew() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abcdef", 8));
    fixture.session.send(ChangeSampling{{.temperature = 50.0, .seed = 9}});
    fixture.session.send(rawPrompt(2, "abcdef", 30));
    QVERIFY(fixture.finish(2)->tokens != expectedAnswer("abcdef", 30));
    QCOMPARE(fixture.all<PromptStarted>().at(1).reusedTokens, 0);
    QVERIFY(fixture.all<EngineFailed>().empty());
}

void EngineSessionTest::withoutAModelAPromptFails() {
    Fixture fixture;
    fixture.session.send(rawPrompt(5, "abc", 3));
    QVERIFY(fixture.fails("submit_prompt"));
    QCOMPARE(fixture.all<EngineFailed>()[0].promptId, std::uint64_t{5});
    QVERIFY(fixture.loadModel());
    fixture.session.send(rawPrompt(6, "abc", 3));
    QVERIFY(fixture.finish(6) != nullptr);
}

void EngineSessionTest::anUnknownDecoderLeavesTheOldOne() {
    LoadedFixture fixture("drafting");
    fixture.session.send(ChooseDecoder{"draftin"});
    QVERIFY(fixture.fails("choose_decoder"));
    QVERIFY(fixture.all<EngineFailed>()[0].error.hint.find("drafting") != std::string::npos);
    fixture.session.send(rawPrompt(1, "abc", 30));
    QVERIFY(fixture.finish(1)->decoding.rounds > 0);
}

/// They waited for the end of the answer behind their decoder.
void EngineSessionTest::settingsOfADecoderThatWasRefusedChangeNoOther() {
    LoadedFixture fixture("drafting");
    fixture.session.send(rawPrompt(1, "abc", 1'000'000));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(ChooseDecoder{"other"});
    fixture.session.send(ChangeSettings{{{"length", 7.0}}, 0, "other"});
    fixture.session.send(ChangeSettings{{{"length", 5.0}}, 0, "drafting"});
    fixture.session.send(StopGeneration{});
    QVERIFY(fixture.fails("choose_decoder"));
    QVERIFY(fixture.fails("change_settings"));
    QCOMPARE(fixture.all<EngineFailed>().back().error.code, ErrorCode::Cancelled);
    QCOMPARE(integerOf(fixture.next<SettingsChanged>()->settings, "length"), 5);
    QCOMPARE(fixture.all<SettingsChanged>().size(), std::size_t(1));
}

void EngineSessionTest::aFailedLoadKeepsTheOldModel() {
    LoadedFixture fixture;
    fixture.session.send(LoadModel{"missing"});
    QVERIFY(fixture.fails("load_model"));
    fixture.session.send(rawPrompt(1, "abc", 3));
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 3));
    QVERIFY(fixture.all<ModelUnloaded>().empty());
}

void EngineSessionTest::aModelThatDoesNotFitBesideTheOldOneIsLoadedAlone() {
    LoadedFixture fixture;
    fixture.session.send(LoadModel{"too big"});
    QVERIFY(fixture.next<ModelUnloaded>() != nullptr);
    QCOMPARE(fixture.next<ModelLoaded>()->path, std::string("too big"));
    QVERIFY(fixture.all<EngineFailed>().empty());
    fixture.session.send(rawPrompt(1, "abc", 3));
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 3));
}

void EngineSessionTest::aFailedStepLetsTheNextPromptWork() {
    Fixture fixture(
        {.onStep = [failed = false](int step, const std::stop_token&) mutable -> Result<void> {
            if (step < 3 || std::exchange(failed, true))
                return {};
            return Error{ErrorCode::Numeric, "The numbers are not finite.", ""};
        }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(rawPrompt(1, "abc", 40));
    QVERIFY(fixture.fails("submit_prompt"));
    QCOMPARE(fixture.all<EngineFailed>()[0].error.code, ErrorCode::Numeric);
    QCOMPARE(fixture.all<EngineFailed>()[0].promptId, std::uint64_t{1});
    fixture.session.send(rawPrompt(2, "abc", 40));
    const PromptFinished* end = fixture.finish(2);
    QCOMPARE(end->tokens, expectedAnswer("abc", 40));
    QCOMPARE(fixture.all<PromptStarted>().at(1).reusedTokens, 0); // it was made anew
}

void EngineSessionTest::anExceptionInADecoderLetsTheNextPromptWork() {
    Fixture fixture(
        {.onStep = [thrown = false](int step, const std::stop_token&) mutable -> Result<void> {
            if (step == 2 && !std::exchange(thrown, true))
                throw std::runtime_error("thrown by a test");
            return {};
        }});
    QVERIFY(fixture.loadModel("drafting"));
    fixture.session.send(rawPrompt(1, "abc", 40));
    QVERIFY(fixture.fails("submit_prompt"));
    QCOMPARE(fixture.all<EngineFailed>()[0].error.code, ErrorCode::Internal);
    fixture.session.send(rawPrompt(2, "abc", 40));
    QCOMPARE(fixture.finish(2)->tokens, expectedAnswer("abc", 40));
}

void EngineSessionTest::anExceptionInALoaderIsAFailure() {
    LoadedFixture fixture;
    fixture.session.send(LoadModel{"thrower"});
    QVERIFY(fixture.fails("load_model"));
    fixture.session.send(rawPrompt(1, "abc", 3));
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 3));
}

void EngineSessionTest::aSlowReaderMissesNoStep() {
    Fixture fixture({}, 3);
    QVERIFY(fixture.loadModel());
    fixture.session.send(rawPrompt(1, "abc", 300));
    fixture.passes.waitFor(2); // the engine is ahead and has to wait again and again
    const PromptFinished* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    const auto steps = fixture.all<StepFinished>();
    QCOMPARE(steps.size(), std::size_t{300});
    for (std::size_t i = 0; i < steps.size(); ++i)
        QCOMPARE(steps[i].step, static_cast<int>(i));
    QCOMPARE(fixture.behindSteps().size(), steps.size());
}

void EngineSessionTest::aRecordingHoldsWhatIsNeededToUnderstandIt() {
    const test_support::TemporaryFolder folder;
    const std::string path = (folder.path() / "run.swiftrun").string();
    LoadedFixture fixture("drafting");
    fixture.session.send(StartRecording{path});
    fixture.session.send(rawPrompt(1, "abc", 40));
    QVERIFY(fixture.finish(1) != nullptr);
    fixture.session.send(StopRecording{});
    const RecordingStopped* stopped = fixture.next<RecordingStopped>();
    QVERIFY(stopped != nullptr && !stopped->error);
    auto reader = RunReader::open(path);
    QVERIFY(reader.hasValue());
    std::vector<EngineEvent> played;
    while (auto event = reader.value().next().value())
        played.push_back(*event);
    QVERIFY(played.at(0).as<ModelLoaded>() != nullptr);
    QCOMPARE(played.at(1).as<DecoderChosen>()->info.name, std::string("drafting"));
    QVERIFY(std::any_of(played.begin(), played.end(), [](const EngineEvent& event) {
        return event.as<RecordingStarted>() != nullptr;
    }));
    std::vector<StepFinished> steps;
    std::optional<DecodeMetrics> total; // behind the last step
    for (const EngineEvent& event : played)
        if (const StepFinished* step = event.as<StepFinished>()) {
            steps.push_back(*step);
            total.reset();
        } else if (const auto* statistics = event.as<Statistics>(); statistics && !total) {
            total = statistics->total;
        }
    QCOMPARE(tokensOf(steps), expectedAnswer("abc", 40));
    QVERIFY(steps[0].draft == fixture.all<StepFinished>()[0].draft);
    QVERIFY(total);
    QCOMPARE(*total, fixture.behindSteps().back().total);
}

void EngineSessionTest::aRecordingThatFailsLetsTheRunGoOn() {
    const test_support::TemporaryFolder folder;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tight{1U << 16U, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    Fixture fixture;
    const bool isLoaded = fixture.loadModel();
    fixture.session.send(StartRecording{(folder.path() / "run.swiftrun").string()});
    fixture.session.send(rawPrompt(1, "abc", 500));
    const RecordingStopped* stopped = fixture.next<RecordingStopped>();
    const PromptFinished* end = fixture.finish(1);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, oldHandler);
    QVERIFY(isLoaded && stopped != nullptr && stopped->error.has_value());
    QCOMPARE(stopped->error->code, ErrorCode::Io);
    QCOMPARE(end->generation.outputTokens, 500);
    auto reader = RunReader::open(stopped->path);
    int steps = 0;
    auto event = reader.value().next();
    for (; event && event.value(); event = reader.value().next())
        steps += event.value()->as<StepFinished>() != nullptr ? 1 : 0;
    QVERIFY(steps > 10 && steps < 500);
    fixture.session.send(StartRecording{(folder.path() / "none" / "run.swiftrun").string()});
    QVERIFY(fixture.fails("start_recording"));
}

QTEST_APPLESS_MAIN(EngineSessionTest)
#include "engine_session_test.moc"
