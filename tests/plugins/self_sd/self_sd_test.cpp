// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/search/skip_space.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace engine;
using support::registry;
using test_support::TemporaryFolder;

namespace {

constexpr int kLayers = 5;
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9};

constexpr const char* kFingerprint = "0123456789abcdef0123456789abcdef";

/// Five layers of which the middle three hardly matter, so that drafts are often right.
std::unique_ptr<Transformer> quietModel() {
    return support::quietModel(kLayers, 11, {1, kLayers - 1, 0.2F});
}

Transformer& model() {
    static const std::unique_ptr<Transformer> made = quietModel();
    return *made;
}

Result<std::unique_ptr<Decoder>> makeSelfSd(const SettingValues& settings,
                                            SkipSetMemory* memory = nullptr,
                                            Transformer& transformer = model()) {
    return registry().make(
        "self_sd",
        {.transformer = transformer, .contextLength = 200, .settings = settings, .memory = memory});
}

std::unique_ptr<Decoder> decoderWith(const SettingValues& settings,
                                     SkipSetMemory* memory = nullptr) {
    return support::valueOf(makeSelfSd(settings, memory));
}

SettingValues resolved(const SettingValues& settings) {
    return resolveSettings(registry().info("self_sd").value(), settings).value();
}

/// Begins an answer for a task and takes its first step.
DecodeStep firstStep(Decoder& decoder, const std::string& task) {
    const auto begun = decoder.begin({.tokens = kPrompt, .maxTokens = 40, .task = task}, {});
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    return support::valueOf(decoder.step());
}

LayerPlan onlyPlanOf(const DecodeStep& step) {
    ENGINE_CHECK(
        step.search.planChanges.size() == 1, "{} plan changes", step.search.planChanges.size());
    return step.search.planChanges.front().plan;
}

StoredSkipSet storedSet(std::vector<int> attention, std::int64_t savedAt) {
    return {.set = {std::move(attention), {1, 2}},
            .score = 1.2,
            .skipRatio = 0.3,
            .decoder = "self_sd",
            .savedAt = savedAt,
            .trials = 4};
}

/// The numbers of Llama 2 13B, which decide whether a published set fits, on a tiny network.
std::unique_ptr<Transformer> narrowLlama13b() {
    ModelConfig config;
    config.architecture = "llama";
    config.layerCount = 40;
    config.hiddenSize = 5120;
    config.mlpSize = 4;
    config.headCount = config.kvHeadCount = 1;
    config.headDim = 2;
    config.vocabSize = 16;
    config.contextLength = 512;
    config.normEpsilon = 1e-5;
    config.layerWindows.assign(40, 0);
    return makePlainTransformer(config, support::randomWeights(config, 2), {}).value();
}

} // namespace

class SelfSdTest : public QObject {
    Q_OBJECT

private slots:
    void theThresholdFollowsTheAcceptance();
    void theThresholdStaysBetweenZeroAndOne();
    void draftsEndWhereTheThresholdSays_data();
    void draftsEndWhereTheThresholdSays();
    void chainsReachTheirFullLength();
    void dynamicVerificationDraftsTreesUpToEpsilon();
    void withoutAPlanTheUniformOneIsUsedAndSaid();
    void aBrokenMemoryIsANote();
    void storedPlansAreUsedForTheirTask();
    void theSetStoredLastIsUsedForAnyTask();
    void settingsOutOfRangeAreNamed_data();
    void settingsOutOfRangeAreNamed();
    void aPublishedSetOfAnotherModelIsRefused();
    void publishedSetsAreUsedForTheModelsTheyFit();
    void settingsActFromTheNextRound();
    void refusedSettingsChangeNothing();
    void plainStepsDraftNothing();
};

void SelfSdTest::theThresholdFollowsTheAcceptance() {
    AdaptiveStopRule rule({});
    const std::vector<std::pair<double, double>> expected = {
        {0.5, 0.601}, {0.75, 0.602}, {0.875, 0.603}, {0.9375, 0.602}};
    for (const auto& [acceptance, threshold] : expected) {
        rule.learn(4, 4);
        QVERIFY(std::abs(rule.acceptance() - acceptance) < 1e-12);
        QVERIFY(std::abs(rule.threshold() - threshold) < 1e-12);
    }
    rule.learn(12, 12); // at its full length a draft could not have been longer
    QVERIFY(std::abs(rule.threshold() - 0.602) < 1e-12);
    rule.beginAnswer();
    QCOMPARE(rule.acceptance(), 0.0);
    QVERIFY(std::abs(rule.threshold() - 0.602) < 1e-12);
    rule.learn(3, 3); // .5 again: the acceptance of the earlier answer is forgotten
    QVERIFY(std::abs(rule.threshold() - 0.603) < 1e-12);
}

void SelfSdTest::theThresholdStaysBetweenZeroAndOne() {
    AdaptiveStopRule rising({.threshold = 0.9, .stepSize = 1.0, .thresholdMemory = 0.5});
    AdaptiveStopRule falling(
        {.threshold = 0.1, .targetAcceptance = 0.0, .stepSize = 1.0, .thresholdMemory = 0.5});
    for (int round = 0; round < 5; ++round) {
        rising.learn(0, 4);
        falling.learn(4, 4);
    }
    QCOMPARE(rising.threshold(), 1.0);
    QCOMPARE(falling.threshold(), 0.0);
}

void SelfSdTest::draftsEndWhereTheThresholdSays_data() {
    QTest::addColumn<bool>("adapts");
    QTest::newRow("adapting") << true;
    QTest::newRow("staying") << false;
}

/// The rule is run beside the decoder, over answers: each draft must be as long as it says.
void SelfSdTest::draftsEndWhereTheThresholdSays() {
    QFETCH(bool, adapts);
    constexpr int kMaxDraft = 6;
    const auto decoder = decoderWith({{"start", std::string("manual")},
                                      {"skip_set", R"({"attention":[1,2],"mlp":[2]})"},
                                      {"th", 0.3},
                                      {"a", 0.6},
                                      {"step", 0.5},
                                      {"beta2", 0.5},
                                      {"max_draft", double{kMaxDraft}},
                                      {"adapt", adapts ? 1.0 : 0.0}});
    AdaptiveStopRule rule({.threshold = 0.3,
                           .maxSteps = kMaxDraft,
                           .targetAcceptance = 0.6,
                           .stepSize = 0.5,
                           .thresholdMemory = 0.5,
                           .adapts = adapts});
    std::set<double> thresholds;
    std::set<int> lengths;
    for (const TokenId first : {3, 40, 77, 150}) {
        rule.beginAnswer();
        const std::vector<TokenId> prompt = {first, 5, 6};
        QVERIFY(decoder->begin({.tokens = prompt, .maxTokens = 40}, {}).hasValue());
        for (int left = 40; left > 0;) {
            const DecodeStep step = decoder->step().value();
            const auto confidences = step.draft.confidences();
            const int steps = step.draft.draftSteps();
            QVERIFY(steps <= std::min(kMaxDraft, left - 1));
            for (int i = 0; i < steps; ++i) {
                const double confidence = confidences[static_cast<std::size_t>(i)];
                const bool isLast = i + 1 == steps;
                QCOMPARE(rule.stopsAfter(confidence, i + 1) || i + 2 == left, isLast);
            }
            rule.learn(static_cast<int>(step.path.size()), steps);
            thresholds.insert(rule.threshold());
            lengths.insert(steps);
            left -= static_cast<int>(step.tokens.size());
        }
    }
    QVERIFY(lengths.size() >= 3);
    QCOMPARE(thresholds.size() >= 8, adapts);
    QVERIFY(adapts || thresholds.size() == 1);
}

/// Also when that is more than the nodes of a tree that suit the backend.
void SelfSdTest::chainsReachTheirFullLength() {
    const auto decoder = decoderWith({{"start", std::string("manual")},
                                      {"skip_set", R"({"attention":[],"mlp":[]})"},
                                      {"th", 0.0},
                                      {"adapt", 0.0}});
    const DecodeStep step = firstStep(*decoder, "");
    QVERIFY(model().preferredTreeNodes() < 12);
    QCOMPARE(step.draft.draftSteps(), 12);
    QCOMPARE(step.tokens.size(), std::size_t{13}); // with nothing skipped all of it is right
    for (const DraftNode& node : step.draft.nodes())
        QCOMPARE(node.rank, 0);
}

void SelfSdTest::dynamicVerificationDraftsTreesUpToEpsilon() {
    const auto decoder = decoderWith({{"start", std::string("uniform")},
                                      {"dynamic_verification", 1.0},
                                      {"siblings", std::string("2,2,3,4")},
                                      {"epsilon", 0.5},
                                      {"th", 0.0},
                                      {"tree_nodes", 20.0}});
    QVERIFY(decoder->begin({.tokens = kPrompt, .maxTokens = 60}, {}).hasValue());
    int rounds = 0;
    for (int left = 60; left > 1; ++rounds) {
        const DecodeStep step = decoder->step().value();
        QVERIFY(step.draft.size() > step.draft.draftSteps());
        QVERIFY(step.draft.size() <= 20);
        for (const double confidence :
             step.draft.confidences().first(static_cast<std::size_t>(step.draft.draftSteps() - 1)))
            QVERIFY(confidence >= 0.5);
        left -= static_cast<int>(step.tokens.size());
    }
    QVERIFY(rounds > 1);
}

void SelfSdTest::withoutAPlanTheUniformOneIsUsedAndSaid() {
    const TemporaryFolder folder;
    SkipSetMemory empty(folder.path(), kFingerprint, kLayers);
    const LayerPlan uniform = SkipSpace::all(kLayers).uniform(0.43);
    for (const char* start : {"library", "last", "manual"})
        for (SkipSetMemory* memory : {static_cast<SkipSetMemory*>(nullptr), &empty}) {
            const auto decoder = decoderWith({{"start", std::string(start)}}, memory);
            const DecodeStep step = firstStep(*decoder, "story");
            QCOMPARE(step.search.notes.size(), std::size_t{1});
            QVERIFY(step.search.notes.front().find("uniform set at r = 0.43") != std::string::npos);
            QVERIFY(onlyPlanOf(step) == uniform);
            QCOMPARE(step.search.planChanges.front().planId, std::uint64_t{1});
            QCOMPARE(step.search.planChanges.front().reason, std::string("uniform"));
            const DecodeStep again = firstStep(*decoder, "story"); // said once
            QVERIFY(again.search.notes.empty() && again.search.planChanges.empty());
        }
}

void SelfSdTest::aBrokenMemoryIsANote() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), kFingerprint, kLayers);
    std::filesystem::create_directories(memory.path().parent_path());
    std::ofstream(memory.path()) << "{";
    const DecodeStep step = firstStep(*decoderWith({}, &memory), "story");
    QCOMPARE(step.search.notes.size(), std::size_t{1});
    QVERIFY(step.search.notes.front().find(memory.path().string()) != std::string::npos);
    QVERIFY(onlyPlanOf(step) == SkipSpace::all(kLayers).uniform(0.43));
}

void SelfSdTest::storedPlansAreUsedForTheirTask() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), kFingerprint, kLayers);
    const StoredSkipSet code = storedSet({0, 4}, 20);
    const StoredSkipSet story = storedSet({1, 3}, 10);
    QVERIFY(memory.store("code", code).hasValue());
    QVERIFY(memory.store("story", story).hasValue());
    const auto decoder = decoderWith({}, &memory);
    const DecodeStep first = firstStep(*decoder, "code");
    QVERIFY(skipSetOf(onlyPlanOf(first)) == code.set);
    QCOMPARE(first.search.planChanges.front().reason, std::string("library"));
    QCOMPARE(first.search.planChanges.front().skipRatio, 0.4);
    QCOMPARE(first.planId, std::uint64_t{1});
    const DecodeStep second = firstStep(*decoder, "story");
    QVERIFY(skipSetOf(onlyPlanOf(second)) == story.set);
    QCOMPARE(second.planId, std::uint64_t{2});
    const DecodeStep third = firstStep(*decoder, "story");
    QVERIFY(third.search.planChanges.empty());
    QCOMPARE(third.planId, std::uint64_t{2});
}

void SelfSdTest::theSetStoredLastIsUsedForAnyTask() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), kFingerprint, kLayers);
    const StoredSkipSet code = storedSet({0, 4}, 20);
    QVERIFY(memory.store("code", code).hasValue());
    QVERIFY(memory.store("story", storedSet({1, 3}, 10)).hasValue());
    const auto decoder = decoderWith({{"start", std::string("last")}}, &memory);
    QVERIFY(skipSetOf(onlyPlanOf(firstStep(*decoder, "another"))) == code.set);
}

void SelfSdTest::settingsOutOfRangeAreNamed_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("named");
    const auto row = [](const char* name, const char* value, const char* named) {
        QTest::addRow("%s=%s", name, value) << name << value << named;
    };
    row("th", "1.5", "th is 1.5, but must be a number from 0 to 1");
    row("max_draft", "0", "max_draft is 0, but must be a whole number from 1 to 512");
    row("max_draft", "2.5", "max_draft");
    row("a", "-0.1", "a is -0.1");
    row("start", "nowhere", "one of library, last, published, manual, uniform");
    row("tresh", "0.5", "no setting \"tresh\"");
    row("siblings", "1,2", "sibling schedule \"1,2\"");
    row("skip_set", "{", "skip_set");
    row("skip_set", "[1]", "skip_set");
    row("skip_set", R"({"attention":[-1]})", "skip_set");
    row("skip_set", R"({"attention":[5]})", "attention layer 5, but the model has layers 0 to 4");
    row("entry", "llama-3", "\"llama-3\"");
}

void SelfSdTest::settingsOutOfRangeAreNamed() {
    QFETCH(QString, name);
    QFETCH(QString, value);
    QFETCH(QString, named);
    SettingValues settings = {{"start", std::string("manual")}};
    if (name == "entry")
        settings["start"] = std::string("published");
    bool isNumber = false;
    const double number = value.toDouble(&isNumber);
    settings[name.toStdString()] =
        isNumber ? SettingValue(number) : SettingValue(value.toStdString());
    const auto made = makeSelfSd(settings);
    QVERIFY(!made);
    const QString message = QString::fromStdString(made.error().message).remove('"');
    QVERIFY2(message.contains(named.remove('"')), qPrintable(message));
}

void SelfSdTest::aPublishedSetOfAnotherModelIsRefused() {
    const SettingValues settings = {{"start", std::string("published")},
                                    {"entry", std::string("llama-2-13b")}};
    const auto made = makeSelfSd(settings);
    QVERIFY(!made);
    QCOMPARE(made.error().code, ErrorCode::InvalidInput);
    const QString message = QString::fromStdString(made.error().message);
    QVERIFY2(message.contains("\"llama-2-13b\"") &&
                 message.contains("llama with 5 layers of width 48"),
             qPrintable(message));
    const auto unnamed = makeSelfSd({{"start", std::string("published")}});
    QVERIFY(!unnamed);
    QVERIFY(QString::fromStdString(unnamed.error().message).startsWith("No published skip sets"));
}

void SelfSdTest::publishedSetsAreUsedForTheModelsTheyFit() {
    const auto transformer = narrowLlama13b();
    auto made = makeSelfSd(
        {{"start", std::string("published")}, {"entry", std::string("llama-2-13b-chat")}},
        nullptr,
        *transformer);
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    const SkipSet set = skipSetOf(onlyPlanOf(firstStep(*made.value(), "any")));
    QCOMPARE(set.attention.size(), std::size_t{24});
    QCOMPARE(set.mlp.size(), std::size_t{10});
    const auto unnamed = makeSelfSd({{"start", std::string("published")}}, nullptr, *transformer);
    QVERIFY(!unnamed);
    QVERIFY(unnamed.error().hint.find("llama-2-13b_cnndm") != std::string::npos);
    QVERIFY(unnamed.error().hint.find("70b") == std::string::npos);
}

void SelfSdTest::settingsActFromTheNextRound() {
    SettingValues settings = {{"start", std::string("uniform")}, {"max_draft", 2.0}, {"th", 0.0}};
    settings["adapt"] = 0.0;
    const auto decoder = decoderWith(settings);
    QCOMPARE(firstStep(*decoder, "").draft.draftSteps(), 2);
    settings["max_draft"] = 5.0;
    QVERIFY(decoder->configure(resolved(settings), settings).hasValue());
    DecodeStep step = decoder->step().value();
    QCOMPARE(step.draft.draftSteps(), 5);
    QVERIFY(step.search.planChanges.empty());
    settings["start"] = std::string("manual");
    settings["skip_set"] = std::string(R"({"attention":[0]})");
    const auto report = decoder->configure(resolved(settings), settings);
    QCOMPARE(report.value().planChanges.size(), std::size_t{1});
    const PlanChange& change = report.value().planChanges.front();
    QVERIFY(skipSetOf(change.plan) == (SkipSet{{0}, {}}));
    QCOMPARE(change.reason, std::string("manual"));
    QCOMPARE(change.skipRatio, 0.1);
    step = decoder->step().value();
    QVERIFY(step.search.planChanges.empty());
    QCOMPARE(step.planId, std::uint64_t{2});
    settings["th"] = 1.0;
    QVERIFY(decoder->configure(resolved(settings), settings).hasValue());
    QCOMPARE(decoder->step().value().draft.draftSteps(), 1);
}

void SelfSdTest::refusedSettingsChangeNothing() {
    SettingValues settings = {{"start", std::string("uniform")}, {"max_draft", 2.0}, {"th", 0.0}};
    settings["adapt"] = 0.0;
    const auto decoder = decoderWith(settings);
    firstStep(*decoder, "");
    settings["max_draft"] = 5.0;
    settings["start"] = std::string("manual");
    settings["skip_set"] = std::string(R"({"attention":[99]})");
    const auto configured = decoder->configure(resolved(settings), settings);
    QVERIFY(!configured);
    QCOMPARE(configured.error().code, ErrorCode::InvalidInput);
    const DecodeStep step = decoder->step().value();
    QCOMPARE(step.draft.draftSteps(), 2);
    QVERIFY(step.search.planChanges.empty());
}

void SelfSdTest::plainStepsDraftNothing() {
    const auto decoder = decoderWith({});
    QVERIFY(decoder->begin({.tokens = kPrompt, .maxTokens = 4}, {}).hasValue());
    const DecodeStep step = decoder->plainStep().value();
    QVERIFY(step.isPlain());
    QCOMPARE(step.planId, std::uint64_t{0});
    QCOMPARE(step.tokens.size(), std::size_t{1});
    QCOMPARE(step.search.phase, DecoderPhase::Plain);
    QCOMPARE(step.search.planChanges.size(), std::size_t{1}); // told, if not yet used
    QCOMPARE(decoder->cachedTokens(), static_cast<int>(kPrompt.size()));
    QVERIFY(decoder->endAnswer().value().planChanges.empty());
}

QTEST_GUILESS_MAIN(SelfSdTest)
#include "self_sd_test.moc"
