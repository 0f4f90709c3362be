// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/drafts/exit_drafter.h"
#include "plugins/layerskip/finite_state_rule.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <set>

using namespace engine;
using layerskip::FiniteStateRule;
using support::registry;

namespace {

constexpr int kLayers = 6;
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9};
const std::vector<std::string> kDecoders = {"layerskip", "layerskip-fs", "layerskip-dv"};

/// Layers of which those behind the second hardly matter, so that exits are often right.
Transformer& model() {
    static const auto made = support::quietModel(kLayers, 11, {2, kLayers, 0.2F});
    return *made;
}

std::unique_ptr<Decoder> decoderWith(const std::string& name,
                                     const SettingValues& settings,
                                     const SamplingOptions& sampling = {}) {
    return support::openDecoder(
        name,
        {.transformer = model(), .sampling = sampling, .contextLength = 200, .settings = settings});
}

SettingValues resolved(const std::string& name, const SettingValues& settings) {
    return resolveSettings(registry().info(name).value(), settings).value();
}

std::vector<DecodeStep>
answer(Decoder& decoder, int maxTokens, const std::vector<TokenId>& prompt = kPrompt) {
    return support::answer(decoder, {.tokens = prompt, .maxTokens = maxTokens});
}

/// A number that a step's table of the exit shows; -1 where it has none of that name.
double shown(const DecodeStep& step, const std::string& what) {
    if (const StepTable* table = support::tableOf(step, "exit"))
        for (const auto& row : table->rows)
            if (row.front() == TableCell(what))
                return std::get<double>(row.back());
    return -1.0;
}

} // namespace

class LayerSkipTest : public QObject {
    Q_OBJECT

private slots:
    void lengthsGrowAndShrinkByOne();
    void lengthsStayWithinTheirBounds();
    void shortenedRoundsLeaveTheLength();
    void eachAnswerStartsWithTheFirstLength();
    void otherBoundsKeepTheLengthWithinThem();
    void draftsHaveTheFixedLength();
    void finiteStatesDecideTheLengthOfDrafts();
    void anEndIdInADraftLeavesTheFiniteState();
    void thresholdsEndDraftsInBothMeanings_data();
    void thresholdsEndDraftsInBothMeanings();
    void profilesAreThePublishedConstants();
    void roundsLoadTheLayersOfThePaper_data();
    void roundsLoadTheLayersOfThePaper();
    void theFirstRoundReadsThePromptOnItsWay();
    void exitsAreToldAsPlans();
    void zeroChoosesAQuarterOfTheLayers();
    void zeroChoosesTheExitThatATrainingJudged();
    void exitsThatTheModelDoesNotHaveAreRefused();
    void aModelOfOneLayerIsRefused();
    void refusedSettingsChangeNothing();
    void settingsOutOfRangeAreNamed();
    void plainStepsDraftNothing();
    void samplingCanBeChanged();
    void everyDecoderExplainsItself();
};

void LayerSkipTest::lengthsGrowAndShrinkByOne() {
    FiniteStateRule rule(3, 18);
    QVERIFY(!rule.stopsAfter(0.0, 2));
    QVERIFY(rule.stopsAfter(1.0, 3));
    rule.learn(3, 3);
    QCOMPARE(rule.length(), 4);
    rule.learn(4, 4);
    QCOMPARE(rule.length(), 5);
    rule.learn(4, 5);
    QCOMPARE(rule.length(), 4);
    rule.learn(0, 4);
    QCOMPARE(rule.length(), 3);
}

void LayerSkipTest::lengthsStayWithinTheirBounds() {
    FiniteStateRule rule(2, 18);
    for (int round = 0; round < 5; ++round)
        rule.learn(0, rule.length());
    QCOMPARE(rule.length(), 1);
    for (int round = 0; round < 30; ++round)
        rule.learn(rule.length(), rule.length());
    QCOMPARE(rule.length(), 18);
    rule.learn(17, 18);
    QCOMPARE(rule.length(), 17);
}

void LayerSkipTest::shortenedRoundsLeaveTheLength() {
    FiniteStateRule rule(5, 18);
    for (const int accepted : {0, 2, 3}) {
        rule.learn(accepted, 3);
        QCOMPARE(rule.length(), 5);
    }
    rule.learn(0, 0); // nothing was drafted
    QCOMPARE(rule.length(), 5);
}

void LayerSkipTest::eachAnswerStartsWithTheFirstLength() {
    FiniteStateRule rule(5, 18);
    rule.learn(5, 5);
    rule.beginAnswer();
    QCOMPARE(rule.length(), 5);
}

void LayerSkipTest::otherBoundsKeepTheLengthWithinThem() {
    FiniteStateRule rule(5, 18);
    rule.learn(5, 5);
    rule.adopt(5, 10);
    QCOMPARE(rule.length(), 6);
    rule.adopt(3, 10);
    QCOMPARE(rule.length(), 3);
    rule.adopt(3, 2);
    QCOMPARE(rule.length(), 2);
}

void LayerSkipTest::draftsHaveTheFixedLength() {
    const auto decoder = decoderWith("layerskip", {{"exit_layer", 3.0}, {"length", 4.0}});
    int left = 40;
    std::set<std::size_t> accepted;
    for (const DecodeStep& step : answer(*decoder, 40)) {
        QCOMPARE(step.draft.size(), std::min(4, left - 1));
        QCOMPARE(shown(step, "Draft length"), 4.0);
        QCOMPARE(shown(step, "Exit layer E"), 3.0);
        left -= static_cast<int>(step.tokens.size());
        accepted.insert(step.path.size());
    }
    QVERIFY(accepted.size() >= 2);
}

void LayerSkipTest::finiteStatesDecideTheLengthOfDrafts() {
    const auto decoder = decoderWith("layerskip-fs", {{"exit_layer", 3.0}, {"length", 2.0}});
    std::set<int> lengths;
    for (const std::vector<TokenId>& prompt : {kPrompt, std::vector<TokenId>{40, 2}}) {
        int left = 60;
        int length = 2; // anew in each answer
        for (const DecodeStep& step : answer(*decoder, 60, prompt)) {
            QCOMPARE(step.draft.size(), std::min(length, left - 1));
            QCOMPARE(shown(step, "Draft length"), static_cast<double>(length));
            lengths.insert(length);
            if (step.draft.size() == length)
                length += static_cast<int>(step.path.size()) == length ? 1 : length > 1 ? -1 : 0;
            left -= static_cast<int>(step.tokens.size());
        }
    }
    QVERIFY(lengths.size() >= 3);
}

/// The draft ends at the id: it is shorter than its length and no failure, though it was rejected.
void LayerSkipTest::anEndIdInADraftLeavesTheFiniteState() {
    const SettingValues settings = {{"exit_layer", 1.0}, {"length", 8.0}};
    int shortened = 0;
    for (TokenId first = 0; first < 40; ++first) {
        const std::vector<TokenId> prompt = {first, 5};
        const DecodeStep whole = answer(*decoderWith("layerskip", settings), 20, prompt).front();
        const auto accepted = static_cast<int>(whole.path.size());
        if (accepted > 6)
            continue;
        const std::vector<TokenId> ends = {whole.draft.node(accepted).token}; // the rejected one
        const auto decoder = decoderWith("layerskip-fs", settings);
        QVERIFY(decoder->begin({.tokens = prompt, .maxTokens = 40, .endIds = ends}, {}).hasValue());
        const DecodeStep step = decoder->step().value();
        if (step.draft.size() != accepted + 1) // it was also drafted before, and ends the answer
            continue;
        QCOMPARE(step.draft.node(accepted).token, ends.front());
        QCOMPARE(static_cast<int>(step.path.size()), accepted);
        QCOMPARE(shown(decoder->step().value(), "Draft length"), 8.0);
        ++shortened;
    }
    QVERIFY(shortened > 5);
}

void LayerSkipTest::thresholdsEndDraftsInBothMeanings_data() {
    QTest::addColumn<QString>("acceptance");
    QTest::addColumn<double>("temperature");
    for (const char* name : {"cumulative", "per_round"})
        for (const double temperature : {0.0, 0.8})
            QTest::addRow("%s at %.1f", name, temperature) << name << temperature;
}

/// The rule is run beside the decoder, over answers: each draft must be as long as it says, and the
/// threshold goes on from answer to answer.
void LayerSkipTest::thresholdsEndDraftsInBothMeanings() {
    QFETCH(QString, acceptance);
    QFETCH(double, temperature);
    const auto decoder = decoderWith("layerskip-dv",
                                     {{"exit_layer", 3.0},
                                      {"th", 0.1},
                                      {"a", 0.8},
                                      {"step", 0.06},
                                      {"beta1", 0.4},
                                      {"beta2", 0.5},
                                      {"max_draft", 5.0},
                                      {"acceptance", acceptance.toStdString()}},
                                     {.temperature = temperature, .seed = 3});
    AdaptiveStopRule rule({.threshold = 0.1,
                           .maxSteps = 5,
                           .targetAcceptance = 0.8,
                           .stepSize = 0.06,
                           .acceptanceMemory = 0.4,
                           .thresholdMemory = 0.5,
                           .acceptance = acceptance == "cumulative" ? AcceptanceMeaning::Cumulative
                                                                    : AcceptanceMeaning::PerRound});
    std::set<double> thresholds;
    std::set<int> lengths;
    for (const TokenId first : {3, 40, 77, 150}) {
        rule.beginAnswer();
        int left = 40;
        for (const DecodeStep& step : answer(*decoder, 40, {first, 5, 6})) {
            QCOMPARE(shown(step, "Confidence threshold"), rule.threshold());
            QCOMPARE(shown(step, "Smoothed acceptance"), rule.acceptance());
            const int steps = step.draft.draftSteps();
            for (int i = 0; i < steps; ++i) {
                const double confidence = step.draft.confidences()[static_cast<std::size_t>(i)];
                QCOMPARE(rule.stopsAfter(confidence, i + 1) || i + 2 == left, i + 1 == steps);
            }
            rule.learn(static_cast<int>(step.path.size()), steps);
            thresholds.insert(rule.threshold());
            lengths.insert(steps);
            left -= static_cast<int>(step.tokens.size());
        }
    }
    QVERIFY(lengths.size() >= 2);
    QVERIFY(thresholds.size() >= 8);
}

void LayerSkipTest::profilesAreThePublishedConstants() {
    const SettingValues del = resolved("layerskip-dv", {});
    QCOMPARE(textOf(del, "acceptance"), std::string("cumulative"));
    QCOMPARE(numberOf(del, "th"), 0.6);
    QCOMPARE(numberOf(del, "a"), 0.8);
    QCOMPARE(numberOf(del, "step"), 0.01);
    QCOMPARE(numberOf(del, "beta1"), 0.5);
    QCOMPARE(numberOf(del, "beta2"), 0.9);
    QCOMPARE(integerOf(del, "max_draft"), 18);
    const SettingValues other =
        resolved("layerskip-dv", {{"profile", std::string("draft_and_verify")}});
    QCOMPARE(textOf(other, "acceptance"), std::string("per_round"));
    QCOMPARE(numberOf(other, "a"), 0.9);
    QCOMPARE(integerOf(other, "max_draft"), 12);
}

void LayerSkipTest::roundsLoadTheLayersOfThePaper_data() {
    QTest::addColumn<QString>("decoder");
    for (const std::string& name : kDecoders)
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void LayerSkipTest::roundsLoadTheLayersOfThePaper() {
    QFETCH(QString, decoder);
    for (int exit = 1; exit < kLayers; ++exit) {
        const auto made =
            decoderWith(decoder.toStdString(), {{"exit_layer", static_cast<double>(exit)}});
        for (const DecodeStep& step : answer(*made, 30)) {
            const int drafted = step.draft.size();
            QCOMPARE(step.draftLayers + step.verifyLayers,
                     static_cast<double>(drafted * exit + kLayers));
            QCOMPARE(step.draftLayers,
                     drafted == 0 ? 0.0 : static_cast<double>((drafted + 1) * exit));
        }
    }
}

void LayerSkipTest::theFirstRoundReadsThePromptOnItsWay() {
    for (const bool isFused : {true, false}) {
        const auto decoder = decoderWith("layerskip", {{"fused_start", isFused ? 1.0 : 0.0}});
        QVERIFY(decoder->begin({.tokens = kPrompt, .maxTokens = 20}, {}).hasValue());
        QCOMPARE(decoder->cachedTokens(), isFused ? 0 : 5);
        const DecodeStep step = decoder->step().value();
        QCOMPARE(decoder->cachedTokens(), 5 + static_cast<int>(step.tokens.size()));
        QCOMPARE(step.verifiedRows, 1 + step.draft.size());
    }
}

void LayerSkipTest::exitsAreToldAsPlans() {
    SettingValues settings = {{"exit_layer", 2.0}};
    const auto decoder = decoderWith("layerskip", settings);
    std::vector<DecodeStep> steps = answer(*decoder, 10);
    QCOMPARE(steps.front().search.planChanges.size(), std::size_t{1});
    const PlanChange& start = steps.front().search.planChanges.front();
    QVERIFY(start.plan == exitPlan(kLayers, 2));
    QCOMPARE(start.planId, std::uint64_t{1});
    QCOMPARE(start.reason, std::string("start"));
    QCOMPARE(start.skipRatio, 1.0 - 2.0 / 6.0);
    QCOMPARE(steps.front().planId, std::uint64_t{1});
    steps = answer(*decoder, 10);
    QVERIFY(steps.front().search.planChanges.empty());
    QVERIFY(decoder->begin({.tokens = kPrompt, .maxTokens = 20}, {}).hasValue());
    settings["exit_layer"] = 4.0;
    const auto report = decoder->configure(resolved("layerskip", settings), settings);
    QCOMPARE(report.value().planChanges.size(), std::size_t{1});
    QVERIFY(report.value().planChanges.front().plan == exitPlan(kLayers, 4));
    const DecodeStep step = decoder->step().value();
    QVERIFY(step.search.planChanges.empty());
    QCOMPARE(step.planId, std::uint64_t{2});
    QCOMPARE(shown(step, "Exit layer E"), 4.0);
}

void LayerSkipTest::zeroChoosesAQuarterOfTheLayers() {
    for (const auto& [layers, exit] : {std::pair(2, 1), {3, 1}, {8, 2}, {12, 3}}) {
        const auto transformer = support::layeredModel(layers, 3);
        auto decoder =
            registry().make("layerskip", {.transformer = *transformer, .contextLength = 60});
        QVERIFY(decoder.hasValue());
        QCOMPARE(shown(answer(*decoder.value(), 5).front(), "Exit layer E"),
                 static_cast<double>(exit));
    }
}

/// An exit that the user names wins.
void LayerSkipTest::zeroChoosesTheExitThatATrainingJudged() {
    ModelConfig config = support::layeredConfig(8);
    config.tunedExit = 5;
    const auto tuned = support::plainModel(config, support::randomWeights(config, 3));
    for (const std::string& name : kDecoders)
        for (const auto& [setting, exit] : {std::pair(0.0, 5.0), {3.0, 3.0}}) {
            auto decoder = registry().make(name,
                                           {.transformer = *tuned,
                                            .contextLength = 60,
                                            .settings = {{"exit_layer", setting}}});
            QVERIFY(decoder.hasValue());
            QCOMPARE(shown(answer(*decoder.value(), 5).front(), "Exit layer E"), exit);
        }
}

void LayerSkipTest::exitsThatTheModelDoesNotHaveAreRefused() {
    for (const std::string& name : kDecoders)
        for (const double exit : {6.0, 7.0, 900.0}) {
            const auto made = registry().make(
                name,
                {.transformer = model(), .contextLength = 60, .settings = {{"exit_layer", exit}}});
            QVERIFY(!made.hasValue());
            QCOMPARE(made.error().code, ErrorCode::InvalidInput);
            QCOMPARE(made.error().message,
                     fmt::format("exit_layer is {}, but the model has 6 layers: an early exit "
                                 "is behind layer 1 to 5.",
                                 exit));
            QVERIFY(!made.error().hint.empty());
        }
}

void LayerSkipTest::aModelOfOneLayerIsRefused() {
    const auto transformer = support::layeredModel(1, 3);
    const auto made =
        registry().make("layerskip-fs", {.transformer = *transformer, .contextLength = 60});
    QVERIFY(!made.hasValue());
    QVERIFY(made.error().message.find("only one layer") != std::string::npos);
}

void LayerSkipTest::refusedSettingsChangeNothing() {
    SettingValues settings = {{"exit_layer", 2.0}, {"length", 3.0}};
    const auto decoder = decoderWith("layerskip", settings);
    QVERIFY(decoder->begin({.tokens = kPrompt, .maxTokens = 40}, {}).hasValue());
    settings = {{"exit_layer", 6.0}, {"length", 5.0}};
    QVERIFY(!decoder->configure(resolved("layerskip", settings), settings).hasValue());
    const DecodeStep step = decoder->step().value();
    QCOMPARE(step.draft.size(), 3);
    QCOMPARE(shown(step, "Exit layer E"), 2.0);
}

void LayerSkipTest::settingsOutOfRangeAreNamed() {
    const std::vector<std::pair<std::string, SettingValues>> wrong = {
        {"layerskip", {{"length", 0.0}}},
        {"layerskip", {{"length", 65.0}}},
        {"layerskip", {{"exit_layer", -1.0}}},
        {"layerskip", {{"th", 0.5}}}, // one of another registration
        {"layerskip-fs", {{"max_draft", 0.0}}},
        {"layerskip-dv", {{"th", 1.5}}},
        {"layerskip-dv", {{"acceptance", std::string("always")}}},
        {"layerskip-dv", {{"length", 3.0}}}};
    for (const auto& [name, settings] : wrong) {
        const auto made = registry().make(
            name, {.transformer = model(), .contextLength = 60, .settings = settings});
        QVERIFY(!made.hasValue());
        QVERIFY2(made.error().message.find(settings.begin()->first) != std::string::npos,
                 made.error().message.c_str());
    }
}

void LayerSkipTest::plainStepsDraftNothing() {
    for (const std::string& name : kDecoders) {
        const auto decoder = decoderWith(name, {});
        QVERIFY(decoder->begin({.tokens = kPrompt, .maxTokens = 4}, {}).hasValue());
        const DecodeStep step = decoder->plainStep().value();
        QVERIFY(step.isPlain());
        QCOMPARE(step.planId, std::uint64_t{0});
        QCOMPARE(step.tokens.size(), std::size_t{1});
        QCOMPARE(step.draftLayers, 0.0);
        QCOMPARE(step.verifyLayers, static_cast<double>(kLayers));
        QCOMPARE(decoder->cachedTokens(), static_cast<int>(kPrompt.size()));
        QVERIFY(decoder->endAnswer().hasValue());
    }
}

void LayerSkipTest::samplingCanBeChanged() {
    const SamplingOptions sampling{.temperature = 1.2, .seed = 9};
    for (const std::string& name : kDecoders) {
        const auto changed = decoderWith(name, {{"exit_layer", 3.0}});
        answer(*changed, 10);
        QVERIFY(!changed->changeSampling({.temperature = -1.0}).hasValue());
        QVERIFY(changed->changeSampling(sampling).hasValue());
        std::vector<TokenId> tokens;
        for (const DecodeStep& step : answer(*changed, 20))
            tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
        const auto vanilla = makeVanillaDecoder(model(), sampling, 200).value();
        QVERIFY(vanilla->begin({.tokens = kPrompt, .maxTokens = 20}, {}).hasValue());
        for (const TokenId token : tokens)
            QCOMPARE(token, vanilla->step().value().tokens.front());
    }
}

void LayerSkipTest::everyDecoderExplainsItself() {
    std::set<std::string> texts;
    for (const std::string& name : kDecoders) {
        const DecoderInfo info = registry().info(name).value();
        QCOMPARE(info.name, name);
        QVERIFY(info.explanation.size() > 400);
        texts.insert(info.explanation);
        texts.insert(info.summary);
        for (const SettingInfo& setting : info.settings)
            QVERIFY(!setting.meaning.empty() && setting.meaning.back() == '.');
    }
    QCOMPARE(texts.size(), std::size_t{6});
}

QTEST_GUILESS_MAIN(LayerSkipTest)
#include "layerskip_test.moc"
