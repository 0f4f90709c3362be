// SPDX-License-Identifier: Apache-2.0
// What can be asked of a session besides answers: models that are looked at, tokens that are
// counted, and why a prompt or a change was refused.
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <chrono>

using namespace engine;
using namespace session_test;

namespace {

const std::string kGguf = std::string(SWIFT_STUDIO_TEST_DATA_DIR) + "/tiny.gguf";
const std::string kFolder = std::string(SWIFT_STUDIO_TEST_DATA_DIR) + "/tiny_llama/";

/// A session with the real loader and without modules.
class RealSession {
public:
    template <typename T> std::optional<T> ask(EngineCommand command) {
        session.send(std::move(command));
        while (session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
            for (const EngineEvent& event : session.takeEvents()) {
                if (const auto* failed = event.as<EngineFailed>())
                    failure = *failed;
                if (const T* found = event.as<T>())
                    return *found;
                if (event.as<EngineFailed>() != nullptr)
                    return std::nullopt;
            }
        return std::nullopt;
    }

    EngineSession session{SessionOptions{}};
    std::optional<EngineFailed> failure;
};

const std::vector<PromptMessage> kMessages = {
    {"user", "hello"}, {"assistant", "yes", {'y', 'e', 's'}}, {"user", "why"}};
const std::vector<int> kCounts = {12, 15, 10}; // "[user]hello\n", "[assistant]yes\n", ...
constexpr int kOpening = 11;                   // "[assistant]"

} // namespace

class SessionQuestionsTest : public QObject {
    Q_OBJECT

private slots:
    void whatIsLookedAtIsWhatIsLoaded();
    void theCpuBackendIsTheUsualOne();
    void weightsAreHeldAsAsked();
    void aLessonModelTellsItsCopies();
    void aFolderHasItsOwnName();
    void aSnapshotHasTheNameOfItsRepository();
    void aContextBeyondTheModelsIsRefusedWithAHintThatHelps();
    void aModelThatCannotBeReadIsAFailureOfTheQuestion_data();
    void aModelThatCannotBeReadIsAFailureOfTheQuestion();
    void modulesThatCannotBeUsedAreToldWithTheModel();
    void messagesAreCounted();
    void rawTextIsCounted();
    void tokenIdsAreAPromptOfTheirOwn();
    void withoutAModelNothingIsCounted();
    void questionsAreAnsweredWhileAPromptRuns();
    void aPromptThatDoesNotFitIsKnownByItsNumbers();
    void aConversationThatDoesNotFitIsToldMessageByMessage();
    void thePolicySaysWhatIsLeftOut_data();
    void thePolicySaysWhatIsLeftOut();
    void aPromptBringsItsDecoderAndSampling();
    void otherFailuresHaveNoSuchNumbers();
    void aBiasThatTheModelDoesNotHaveIsRefusedAndNothingIsLost();
    void aPromptThatNoDecoderCanAnswerDoesNotBegin();
};

void SessionQuestionsTest::whatIsLookedAtIsWhatIsLoaded() {
    RealSession session;
    const auto seen = session.ask<ModelInspected>(
        InspectModel{.requestId = 7, .path = kGguf, .backend = "plain", .contextLength = 100});
    QVERIFY(seen.has_value());
    QCOMPARE(seen->requestId, std::uint64_t{7});
    QCOMPARE(seen->path, kGguf);
    const ModelFacts& facts = seen->model;
    QVERIFY(!facts.name.empty());
    QVERIFY(facts.weightTypes.find("Q4_1 ") != std::string::npos);
    QVERIFY(facts.weightTypes.find("F32 ") != std::string::npos);
    QCOMPARE(facts.contextLength, 100);
    QVERIFY(!facts.tokenizer.empty() && !facts.chatTemplate.empty());
    QVERIFY(facts.parameterCount > 0 && facts.fileBytes > 0);
    QVERIFY(facts.fileBytes < facts.parameterCount * 4); // quantised
    QCOMPARE(seen->memory.totalBytes,
             seen->memory.weightBytes + seen->memory.cacheBytes + seen->memory.scratchBytes +
                 seen->memory.passBytes);
    QVERIFY(seen->memory.freeBytes > 0);
    const auto loaded = session.ask<ModelLoaded>(
        LoadModel{.path = kGguf, .backend = "plain", .contextLength = 100});
    QVERIFY(loaded.has_value());
    const ModelFacts& held = loaded->model;
    QCOMPARE(held.name, facts.name);
    QCOMPARE(held.weightTypes, facts.weightTypes);
    QCOMPARE(held.weightBytes, facts.weightBytes);
    QCOMPARE(held.weightBytes, seen->memory.weightBytes);
    QCOMPARE(held.parameterCount, facts.parameterCount);
    QCOMPARE(held.backend, facts.backend);
    QCOMPARE(held.precision, facts.precision);
    QCOMPARE(held.tokenizer, facts.tokenizer);
    QCOMPARE(held.chatTemplate, facts.chatTemplate);
}

void SessionQuestionsTest::aLessonModelTellsItsCopies() {
    RealSession session;
    const auto own = session.ask<ModelInspected>(InspectModel{.path = kGguf, .backend = "plain"});
    const auto seen = session.ask<ModelInspected>(
        InspectModel{.path = kGguf, .backend = "plain", .isPlanted = true});
    const auto loaded =
        session.ask<ModelLoaded>(LoadModel{.path = kGguf, .backend = "plain", .isPlanted = true});
    QVERIFY(own.has_value() && seen.has_value() && loaded.has_value());
    const ModelFacts& facts = loaded->model;
    QVERIFY(own->model.silentCopies.empty());
    QCOMPARE(facts.layerCount, 2 * own->model.layerCount);
    QCOMPARE(static_cast<int>(facts.silentCopies.size()), own->model.layerCount);
    QCOMPARE(facts.silentCopies, seen->model.silentCopies);
    QCOMPARE(facts.name, own->model.name + " (lesson model)");
    QCOMPARE(facts.weightBytes, own->model.weightBytes);
    QCOMPARE(seen->memory.weightBytes, own->memory.weightBytes);
    QCOMPARE(seen->memory.cacheBytes, 2 * own->memory.cacheBytes);
}

void SessionQuestionsTest::theCpuBackendIsTheUsualOne() {
    RealSession session;
    const auto seen =
        session.ask<ModelInspected>(InspectModel{.path = kGguf, .settings = {{"weights", "file"}}});
    QVERIFY(seen.has_value());
    const ModelFacts& facts = seen->model;
    QCOMPARE(facts.backend, std::string("cpu"));
    QCOMPARE(facts.precision, std::string("4-bit"));
    QCOMPARE(facts.arithmetic, std::string("4-bit, scale and minimum per 32"));
    QCOMPARE(facts.kvType, std::string("float16"));
    QVERIFY(!facts.instructionSet.empty());
    QVERIFY(facts.weightBytes < facts.parameterCount * 4);
    const auto loaded =
        session.ask<ModelLoaded>(LoadModel{.path = kGguf, .settings = {{"weights", "file"}}});
    QVERIFY(loaded.has_value());
    QCOMPARE(loaded->model.backend, facts.backend);
    QCOMPARE(loaded->model.precision, facts.precision);
    QCOMPARE(loaded->model.arithmetic, facts.arithmetic);
    QCOMPARE(loaded->model.instructionSet, facts.instructionSet);
    QCOMPARE(loaded->model.kvType, facts.kvType);
    QCOMPARE(loaded->model.weightBytes, facts.weightBytes);
}

void SessionQuestionsTest::weightsAreHeldAsAsked() {
    RealSession session;
    const auto seen = session.ask<ModelInspected>(InspectModel{
        .path = kGguf, .settings = {{"weights", "bf16"}, {"kv", "f32"}, {"isa", "scalar"}}});
    QVERIFY(seen.has_value());
    const auto loaded = session.ask<ModelLoaded>(LoadModel{
        .path = kGguf, .settings = {{"weights", "bf16"}, {"kv", "f32"}, {"isa", "scalar"}}});
    QVERIFY(loaded.has_value());
    for (const ModelFacts* facts : {&seen->model, &loaded->model}) {
        QCOMPARE(facts->arithmetic, std::string("bfloat16"));
        QCOMPARE(facts->kvType, std::string("float32"));
        QCOMPARE(facts->instructionSet, std::string("scalar"));
    }
    QVERIFY(!session.ask<ModelLoaded>(
        LoadModel{.path = kGguf, .backend = "plain", .settings = {{"kv", "f16"}}}));
    QVERIFY(session.failure.has_value());
    QVERIFY(session.failure->error.message.find("--kv") != std::string::npos);
}

void SessionQuestionsTest::aFolderHasItsOwnName() {
    RealSession session;
    const auto seen =
        session.ask<ModelInspected>(InspectModel{.requestId = 1,
                                                 .path = kFolder,
                                                 .backend = "plain",
                                                 .settings = {{"precision", "float64"}}});
    QVERIFY(seen.has_value());
    QCOMPARE(seen->model.name, std::string("tiny_llama"));
    QCOMPARE(seen->model.precision, std::string("float64"));
    QCOMPARE(seen->model.layerCount, 3);
    QCOMPARE(seen->model.headDim, 12);
    QVERIFY(seen->model.weightTypes.starts_with("F16 "));
    QCOMPARE(seen->model.weightBytes, seen->model.parameterCount * 8);
    QCOMPARE(seen->notes.size(), std::size_t{2}); // the memory of wider weights, no tokenizer
    QVERIFY(seen->notes[0].ends_with("because this backend widens all of them to float64."));
}

void SessionQuestionsTest::aSnapshotHasTheNameOfItsRepository() {
    const test_support::TemporaryFolder cache;
    const auto repository = cache.path() / "models--some-one--tiny-llama";
    const auto snapshot = repository / "snapshots" / "0123abcd";
    std::filesystem::create_directories(repository / "blobs");
    std::filesystem::create_directories(snapshot);
    for (const char* name : {"config.json", "model.safetensors"}) {
        std::filesystem::copy_file(std::filesystem::path(kFolder) / name,
                                   repository / "blobs" / name);
        std::filesystem::create_symlink(std::filesystem::path("../../blobs") / name,
                                        snapshot / name);
    }
    RealSession session;
    const auto seen =
        session.ask<ModelInspected>(InspectModel{.path = snapshot.string(), .backend = "plain"});
    QVERIFY(seen.has_value());
    QCOMPARE(seen->model.name, std::string("tiny-llama"));
}

void SessionQuestionsTest::aContextBeyondTheModelsIsRefusedWithAHintThatHelps() {
    RealSession session;
    const auto inspect = [&](int context) {
        return session.ask<ModelInspected>(
            InspectModel{.path = kFolder, .backend = "plain", .contextLength = context});
    };
    const auto whole = inspect(0);
    QVERIFY(whole.has_value());
    const int most = whole->model.modelContextLength;
    QVERIFY(!inspect(most + 1));
    QVERIFY(session.failure.has_value());
    QCOMPARE(session.failure->error.hint, fmt::format("Choose at most {}.", most));
    QVERIFY(inspect(most).has_value());
}

void SessionQuestionsTest::aModelThatCannotBeReadIsAFailureOfTheQuestion_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("backend");
    QTest::addColumn<QString>("precision");
    QTest::addColumn<int>("contextLength");
    const QString good = QString::fromStdString(kGguf);
    QTest::newRow("no file") << "nowhere.gguf"
                             << ""
                             << "float32" << 0;
    QTest::newRow("no backend") << good << "abacus"
                                << "float32" << 0;
    QTest::newRow("no precision") << good << ""
                                  << "float8" << 0;
    QTest::newRow("a precision that the cpu backend lacks") << good << "cpu"
                                                            << "float64" << 0;
    QTest::newRow("no such context") << good << ""
                                     << "float32" << (1 << 30);
}

void SessionQuestionsTest::aModelThatCannotBeReadIsAFailureOfTheQuestion() {
    QFETCH(const QString, path);
    QFETCH(const QString, backend);
    QFETCH(const QString, precision);
    QFETCH(const int, contextLength);
    RealSession session;
    const auto failed =
        session.ask<EngineFailed>(InspectModel{.requestId = 9,
                                               .path = path.toStdString(),
                                               .backend = backend.toStdString(),
                                               .settings = {{"precision", precision.toStdString()}},
                                               .contextLength = contextLength});
    QVERIFY(failed.has_value());
    QCOMPARE(failed->task, std::string("inspect_model"));
    QCOMPARE(failed->requestId, std::uint64_t{9});
    QVERIFY(!failed->error.message.empty() && !failed->error.hint.empty());
    QVERIFY(session.ask<ModelInspected>(InspectModel{.path = kGguf}).has_value());
}

void SessionQuestionsTest::modulesThatCannotBeUsedAreToldWithTheModel() {
    const test_support::TemporaryFolder folder;
    const auto module = folder.write("libdecoder_broken.so", "no module");
    Fixture fixture({}, 4096, {.moduleFolder = folder.path()});
    fixture.session.send(LoadModel{"stub"});
    const auto* loaded = fixture.next<ModelLoaded>();
    QVERIFY(loaded != nullptr);
    QCOMPARE(loaded->refusedModules.size(), std::size_t{1});
    QVERIFY(loaded->refusedModules[0].message.find(module.string()) != std::string::npos);
    QVERIFY(!loaded->refusedModules[0].hint.empty());
}

void SessionQuestionsTest::messagesAreCounted() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    fixture.session.send(CountTokens{.requestId = 3, .messages = kMessages});
    const auto* counted = fixture.next<TokensCounted>();
    QVERIFY(counted != nullptr);
    QCOMPARE(counted->requestId, std::uint64_t{3});
    QCOMPARE(counted->perMessage, kCounts);
    QCOMPARE(counted->total, 12 + 15 + 10 + kOpening);
    QCOMPARE(counted->contextLength, 1 << 20);
    fixture.session.send(SubmitPrompt{.promptId = 1, .messages = kMessages, .maxTokens = 1});
    QVERIFY(fixture.finish(1) != nullptr);
    QCOMPARE(fixture.all<PromptStarted>().at(0).promptTokens, counted->total);
}

void SessionQuestionsTest::rawTextIsCounted() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    fixture.session.send(CountTokens{.text = "seven!!"});
    const auto* counted = fixture.next<TokensCounted>();
    QVERIFY(counted != nullptr);
    QCOMPARE(counted->total, 7);
    QVERIFY(counted->perMessage.empty());
}

void SessionQuestionsTest::tokenIdsAreAPromptOfTheirOwn() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    fixture.session.send(SubmitPrompt{.promptId = 1, .ids = {'a', 'b', 'c'}, .maxTokens = 5});
    QCOMPARE(fixture.finish(1)->tokens, expectedAnswer("abc", 5));
    fixture.session.send(
        SubmitPrompt{.promptId = 2, .text = "abc", .ids = {'a', 'b', 'c'}, .maxTokens = 5});
    QVERIFY(fixture.fails("submit_prompt"));
    fixture.session.send(LoadModel{.path = "stub", .contextLength = 16});
    fixture.session.send(
        SubmitPrompt{.promptId = 3, .ids = std::vector<TokenId>(16, 'a'), .maxTokens = 5});
    QVERIFY(fixture.fails("submit_prompt"));
    const EngineFailed failed = fixture.all<EngineFailed>().back();
    QCOMPARE(failed.error.code, ErrorCode::InvalidInput);
    QCOMPARE(failed.promptTokens, 16);
    QCOMPARE(failed.contextLength, 16);
}

void SessionQuestionsTest::withoutAModelNothingIsCounted() {
    Fixture fixture;
    fixture.session.send(CountTokens{.requestId = 4, .messages = kMessages});
    QVERIFY(fixture.fails("count_tokens"));
    QCOMPARE(fixture.all<EngineFailed>().at(0).requestId, std::uint64_t{4});
}

void SessionQuestionsTest::questionsAreAnsweredWhileAPromptRuns() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    fixture.session.send(rawPrompt(1, "abc", 1 << 19));
    QVERIFY(fixture.next<StepFinished>() != nullptr);
    fixture.session.send(InspectModel{.requestId = 1, .path = kGguf});
    fixture.session.send(CountTokens{.requestId = 2, .messages = kMessages});
    fixture.session.send(InspectModel{.requestId = 3, .path = "nowhere"});
    QVERIFY(fixture.next<ModelInspected>() != nullptr);
    QVERIFY(fixture.next<TokensCounted>() != nullptr);
    QVERIFY(fixture.fails("inspect_model"));
    QVERIFY(fixture.next<StepFinished>() != nullptr); // and the prompt goes on
    QVERIFY(fixture.all<PromptFinished>().empty());
    fixture.session.send(StopGeneration{});
    const auto* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    QCOMPARE(end->reason, FinishReason::Cancelled);
}

void SessionQuestionsTest::aPromptThatDoesNotFitIsKnownByItsNumbers() {
    Fixture fixture;
    fixture.session.send(LoadModel{.path = "stub", .contextLength = 20});
    QVERIFY(fixture.next<ModelLoaded>() != nullptr);
    for (const std::size_t length : {std::size_t{30}, std::size_t{20}}) {
        fixture.session.send(rawPrompt(length, std::string(length, 'a'), 5));
        QVERIFY(fixture.fails("submit_prompt"));
        const EngineFailed failed = fixture.all<EngineFailed>().back();
        QCOMPARE(failed.promptId, std::uint64_t{length});
        QCOMPARE(failed.promptTokens, static_cast<int>(length));
        QCOMPARE(failed.contextLength, 20);
        QVERIFY(fixture.all<PromptStarted>().empty()); // nothing has begun
    }
    fixture.session.send(rawPrompt(3, std::string(19, 'a'), 5));
    QVERIFY(fixture.finish(3) != nullptr); // with room for one token
}

void SessionQuestionsTest::aConversationThatDoesNotFitIsToldMessageByMessage() {
    Fixture fixture;
    fixture.session.send(LoadModel{.path = "stub", .contextLength = 60});
    QVERIFY(fixture.next<ModelLoaded>() != nullptr);
    fixture.session.send(SubmitPrompt{.promptId = 1, .messages = kMessages, .answerRoom = 13});
    QVERIFY(fixture.fails("submit_prompt"));
    const EngineFailed failed = fixture.all<EngineFailed>().back();
    QCOMPARE(failed.perMessage, kCounts);
    QCOMPARE(failed.promptTokens, 12 + 15 + 10 + kOpening);
    QCOMPARE(failed.contextLength, 60);
    QVERIFY(failed.error.message.find("13 of them for the answer") != std::string::npos);
    fixture.session.send(SubmitPrompt{.promptId = 2, .messages = kMessages, .answerRoom = 12});
    QVERIFY(fixture.finish(2) != nullptr);
    QVERIFY(fixture.all<TokensCounted>().empty()); // nobody had to ask
}

void SessionQuestionsTest::thePolicySaysWhatIsLeftOut_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<QString>("sent");
    QTest::newRow("oldest") << static_cast<int>(ContextPolicy::DropOldest)
                            << "[system]Be brief.\n[user]three\n[assistant]";
    QTest::newRow("middle") << static_cast<int>(ContextPolicy::CutMiddle)
                            << "[system]Be brief.\n[user]one\n[assistant]1\n[user]three\n"
                               "[assistant]";
}

void SessionQuestionsTest::thePolicySaysWhatIsLeftOut() {
    QFETCH(const int, policy);
    QFETCH(const QString, sent);
    Fixture fixture;
    fixture.session.send(LoadModel{.path = "stub", .contextLength = 90});
    QVERIFY(fixture.next<ModelLoaded>() != nullptr);
    const std::string long1(policy == static_cast<int>(ContextPolicy::DropOldest) ? 30 : 1, '1');
    fixture.session.send(SubmitPrompt{.promptId = 1,
                                      .messages = {{"system", "Be brief."},
                                                   {"user", "one"},
                                                   {"assistant", long1},
                                                   {"user", "two"},
                                                   {"assistant", std::string(30, '2')},
                                                   {"user", "three"}},
                                      .maxTokens = 3,
                                      .policy = static_cast<ContextPolicy>(policy)});
    const PromptFinished* end = fixture.finish(1);
    QVERIFY(end != nullptr);
    QCOMPARE(fixture.all<PromptStarted>().at(0).promptTokens, static_cast<int>(sent.size()));
    QCOMPARE(end->tokens, expectedAnswer(sent.toStdString(), 3));
}

void SessionQuestionsTest::aPromptBringsItsDecoderAndSampling() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    SubmitPrompt prompt = rawPrompt(1, "abc", 13);
    prompt.decoder = ChooseDecoder{"drafting", {{"length", 2.0}}};
    prompt.sampling = SamplingOptions{.seed = 7};
    const std::size_t before = fixture.all<DecoderChosen>().size();
    fixture.session.send(prompt);
    QVERIFY(fixture.finish(1) != nullptr);
    prompt.promptId = 2;
    fixture.session.send(prompt);
    QVERIFY(fixture.finish(2) != nullptr);
    // Chosen once: what is the same stays, with all that it has cached.
    const auto chosen = fixture.all<DecoderChosen>();
    QCOMPARE(chosen.size(), before + 1);
    QCOMPARE(chosen.back().info.name, std::string("drafting"));
    QCOMPARE(fixture.all<SamplingChanged>().size(), std::size_t{1});
    QCOMPARE(fixture.all<SamplingChanged>().at(0).sampling.seed, std::uint64_t{7});
    QCOMPARE(fixture.all<PromptStarted>().at(1).reusedTokens, 2);
    prompt.promptId = 3;
    prompt.decoder = ChooseDecoder{"nobody", {}};
    fixture.session.send(prompt);
    QVERIFY(fixture.fails("submit_prompt"));
    QCOMPARE(fixture.all<EngineFailed>().back().promptId, std::uint64_t{3});
}

void SessionQuestionsTest::otherFailuresHaveNoSuchNumbers() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    SubmitPrompt both = rawPrompt(1, "abc", 5);
    both.messages = kMessages;
    fixture.session.send(both);
    fixture.session.send(rawPrompt(2, "", 5));
    QVERIFY(fixture.fails("submit_prompt"));
    QVERIFY(fixture.fails("submit_prompt"));
    for (const EngineFailed& failed : fixture.all<EngineFailed>()) {
        QCOMPARE(failed.promptTokens, 0);
        QCOMPARE(failed.contextLength, 0);
    }
}

void SessionQuestionsTest::aBiasThatTheModelDoesNotHaveIsRefusedAndNothingIsLost() {
    Fixture fixture;
    QVERIFY(fixture.loadModel());
    fixture.session.send(rawPrompt(1, "abcdef", 8));
    fixture.session.send(ChangeSampling{{.temperature = 0.0, .logitBias = {{1'000'000, 1.0}}}});
    QVERIFY(fixture.fails("change_sampling"));
    fixture.session.send(rawPrompt(2, "abcdef", 8));
    const PromptFinished* end = fixture.finish(2);
    QVERIFY(end != nullptr);
    QCOMPARE(end->tokens, expectedAnswer("abcdef", 8));
    const auto starts = fixture.all<PromptStarted>();
    QCOMPARE(starts.at(1).reusedTokens, starts.at(1).promptTokens - 1);
}

void SessionQuestionsTest::aPromptThatNoDecoderCanAnswerDoesNotBegin() {
    Fixture fixture;
    fixture.session.send(ChangeSampling{{.logitBias = {{1'000'000, 1.0}}}}); // of another model
    fixture.session.send(LoadModel{"stub"});
    fixture.session.send(rawPrompt(1, "abc", 3));
    QVERIFY(fixture.fails("submit_prompt"));
    QVERIFY(fixture.all<PromptStarted>().empty());
}

QTEST_GUILESS_MAIN(SessionQuestionsTest)
#include "session_questions_test.moc"
