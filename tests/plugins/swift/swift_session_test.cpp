// SPDX-License-Identifier: Apache-2.0
// What a window shows of SWIFT: a session's events when the user draws a skip set.
#include "engine/loading/files/readable_text.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/session/engine_session.h"
#include "engine/session/recording/event_json.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/models/tiny_model.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <chrono>

using namespace engine;

namespace {

constexpr int kLayers = 10;
constexpr const char* kSet = R"({"attention":[2,5],"mlp":[7]})";

/// Its tokens are bytes, of which those above 127 are no characters.
Result<SessionModel> tinyModel(const LoadModel&, const ModelLoadWork&) {
    const ModelConfig config = support::layeredConfig(kLayers);
    SessionModel model;
    ENGINE_TRY(model.transformer,
               makePlainTransformer(config, support::randomWeights(config, 3), {}));
    model.tokenizer = std::make_unique<test_support::ByteTokenizer>();
    model.contextLength = 512;
    model.backend = "plain";
    return model;
}

class Studio {
public:
    Studio()
        : session({.moduleFolder = QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString(),
                   .loader = tinyModel}) {}

    /// Everything up to the first event of this type; empty when none comes.
    template <typename T> std::vector<EngineEvent> upTo() {
        std::vector<EngineEvent> taken;
        do {
            while (!m_waiting.empty()) {
                taken.push_back(m_waiting.front());
                m_waiting.erase(m_waiting.begin());
                if (taken.back().as<T>() != nullptr)
                    return taken;
            }
            if (session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
                m_waiting = session.takeEvents();
        } while (!m_waiting.empty());
        return {};
    }

    void choose(double gamma) {
        session.send(
            ChooseDecoder{"swift", {{"gamma", gamma}, {"optimise", 0.0}, {"max_draft", 3.0}}});
    }

    void setManually(const std::string& set) {
        session.send(ChangeSettings{
            {{"start", std::string("manual")}, {"skip_set", set}, {"optimise", 0.0}}});
    }

    EngineSession session;

private:
    std::vector<EngineEvent> m_waiting;
};

} // namespace

class SwiftSessionTest : public QObject {
    Q_OBJECT

private slots:
    void aDrawnSetIsToldWithItsScoreBehindTheAnswer();
    void aDrawnSetIsToldWithItsScoreWhileAPromptRuns();
    void aDrawnSetIsScoredBehindAStoppedAnswerToo();
    void aSetThatDoesNotFitIsRefusedEvenBeforeTheFirstPrompt();
    void lockedLayersAreTold();
};

void SwiftSessionTest::aDrawnSetIsToldWithItsScoreBehindTheAnswer() {
    Studio studio;
    studio.session.send(LoadModel{"tiny"});
    studio.choose(32.0);
    studio.session.send(SubmitPrompt{.promptId = 1, .text = "abc", .maxTokens = 60});
    QVERIFY(!studio.upTo<PromptFinished>().empty());
    QVERIFY(!studio.upTo<Statistics>().empty());
    studio.setManually(kSet);
    const auto told = studio.upTo<PlanChanged>();
    QCOMPARE(told.size(), std::size_t{3});
    QVERIFY(told[0].as<SettingsChanged>() != nullptr);
    const auto* trial = told[1].as<TrialFinished>();
    const auto* change = told[2].as<PlanChanged>();
    QVERIFY(trial != nullptr && change != nullptr);
    QCOMPARE(trial->trialKind, std::string("manual"));
    QVERIFY(trial->plan == change->plan);
    QCOMPARE(change->reason, std::string("manual"));
    QCOMPARE(change->plan.skipped, (SkipSet{{2, 5}, {7}}));
    QCOMPARE(change->skipRatio, 3.0 / 16.0);
    QCOMPARE(trial->ticks.size(), std::size_t{32});
    QCOMPARE(trial->window.size(), std::size_t{32});
    QCOMPARE(trial->guesses.size(), std::size_t{32});
    int matches = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        QVERIFY(isValidUtf8(trial->window[i]) && isValidUtf8(trial->guesses[i]));
        QCOMPARE(trial->ticks[i] == 1, trial->window[i] == trial->guesses[i]);
        matches += trial->ticks[i];
    }
    QCOMPARE(trial->score, matches / 32.0);
    const auto isStrange = [](const std::string& text) { return text.starts_with("<0x"); };
    QVERIFY(std::any_of(trial->window.begin(), trial->window.end(), isStrange) ||
            std::any_of(trial->guesses.begin(), trial->guesses.end(), isStrange));
    const std::string json = eventJson(told[1]);
    QVERIFY(json.size() < 4096); // small, whatever the answer's length
    const auto read = readEventJson(json, "a test", 0);
    QCOMPARE(read.value()->as<TrialFinished>()->window, trial->window);
    QCOMPARE(read.value()->as<TrialFinished>()->guesses, trial->guesses);
}

void SwiftSessionTest::aDrawnSetIsToldWithItsScoreWhileAPromptRuns() {
    Studio studio;
    studio.session.send(LoadModel{"tiny"});
    studio.choose(8.0);
    studio.session.send(SubmitPrompt{.promptId = 1, .text = "abc", .maxTokens = 500});
    for (int steps = 0; steps < 20; ++steps)
        QVERIFY(!studio.upTo<StepFinished>().empty());
    studio.setManually(kSet);
    QVERIFY(!studio.upTo<SettingsChanged>().empty());
    auto told = studio.upTo<StepFinished>();
    std::erase_if(told,
                  [](const auto& event) { return event.template as<SpanStarted>() != nullptr; });
    QCOMPARE(told.size(), std::size_t{3}); // nothing between: the very next step drafts with it
    QVERIFY(told[0].as<TrialFinished>() != nullptr && told[1].as<PlanChanged>() != nullptr);
    const StepFinished* step = told[2].as<StepFinished>();
    QVERIFY(step->isBaseline || step->planId == told[1].as<PlanChanged>()->planId);
    studio.session.send(StopGeneration{});
    QVERIFY(!studio.upTo<PromptFinished>().empty());
}

void SwiftSessionTest::aDrawnSetIsScoredBehindAStoppedAnswerToo() {
    Studio studio;
    studio.session.send(LoadModel{"tiny"});
    studio.choose(8.0);
    studio.session.send(SubmitPrompt{.promptId = 1, .text = "abc", .maxTokens = 500});
    for (int steps = 0; steps < 20; ++steps)
        QVERIFY(!studio.upTo<StepFinished>().empty());
    studio.session.send(StopGeneration{});
    const auto end = studio.upTo<PromptFinished>();
    QVERIFY(!end.empty());
    QCOMPARE(end.back().as<PromptFinished>()->reason, FinishReason::Cancelled);
    studio.setManually(kSet);
    const auto told = studio.upTo<PlanChanged>();
    QVERIFY(told.size() >= 3);
    const auto* trial = told[told.size() - 2].as<TrialFinished>();
    QVERIFY(trial != nullptr);
    QCOMPARE(trial->ticks.size(), std::size_t{8});
}

void SwiftSessionTest::aSetThatDoesNotFitIsRefusedEvenBeforeTheFirstPrompt() {
    Studio studio;
    studio.choose(8.0); // no model yet: no decoder is made
    studio.session.send(LoadModel{"tiny"});
    QVERIFY(!studio.upTo<ModelLoaded>().empty());
    for (const char* set : {R"({"attention":[99]})", R"({"mlp":[0]})"}) {
        studio.setManually(set);
        const auto told = studio.upTo<EngineFailed>();
        QCOMPARE(told.size(), std::size_t{1});
        const auto* failed = told[0].as<EngineFailed>();
        QCOMPARE(failed->task, std::string("change_settings"));
        QCOMPARE(failed->error.code, ErrorCode::InvalidInput);
    }
    studio.session.send(ChangeSettings{{{"max_draft", 4.0}}});
    const auto told = studio.upTo<SettingsChanged>();
    QCOMPARE(told.size(), std::size_t{1});
    const SettingValues& settings = told[0].as<SettingsChanged>()->settings;
    QCOMPARE(textOf(settings, "start"), std::string("stream"));
    QCOMPARE(textOf(settings, "skip_set"), std::string());
}

void SwiftSessionTest::lockedLayersAreTold() {
    Studio studio;
    studio.choose(8.0);
    studio.session.send(ChooseDecoder{"self_sd"});
    const auto infoOf = [&studio](const std::string& name) {
        while (true) {
            const auto told = studio.upTo<DecoderChosen>();
            if (told.empty() || told.back().as<DecoderChosen>()->info.name == name)
                return told.empty() ? DecoderInfo() : told.back().as<DecoderChosen>()->info;
        }
    };
    QCOMPARE(infoOf("swift").lockedLayers, (std::vector<int>{0, -1}));
    const DecoderInfo selfSd = infoOf("self_sd");
    QCOMPARE(selfSd.name, std::string("self_sd"));
    QVERIFY(selfSd.lockedLayers.empty());
}

QTEST_GUILESS_MAIN(SwiftSessionTest)
#include "swift_session_test.moc"
