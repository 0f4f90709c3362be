// SPDX-License-Identifier: Apache-2.0
// Drafts of a 4-bit copy give vanilla's own tokens, whatever the copy holds. The default run takes
// a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "engine/model/cpu/cpu_backend.h"
#include "tests/support/lossless/lossless_case.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/tabular_transformer.h"

#include <QTest>

#include <set>

using namespace engine;
using support::BigramTable;
using support::CaseRandom;
using support::registry;
using support::TabularTransformer;

namespace {

constexpr const char* kName = "low_precision";

double noMemory() { return 0.0; }

std::unique_ptr<Transformer>
cpuModel(const ModelConfig& config, const WeightSource& weights, const cpu::Options& options) {
    return support::valueOf(makeCpuTransformer(config, weights, options));
}

/// Networks whose copies are right sometimes, hardly ever for unsure ones.
std::vector<support::CaseModel> copiedModels() {
    std::vector<support::CaseModel> models;
    const ModelConfig config = support::layeredConfig(3);
    for (const WeightForm form : {WeightForm::F32, WeightForm::Bf16}) {
        const cpu::Options options{.threads = 2, .weights = form};
        support::MemoryWeights weights = support::randomWeights(config, 7);
        models.push_back({"random", cpuModel(config, weights, options)});
        support::sharpenHead(weights);
        models.push_back({"sure", cpuModel(config, weights, options)});
    }
    const ModelConfig experts = support::expertConfig();
    models.push_back(
        {"experts", cpuModel(experts, support::randomWeights(experts, 3), {.threads = 2})});
    return models;
}

SettingValues randomSettings(CaseRandom& random, int /*layers*/) {
    return {{"max_draft", static_cast<double>(random.whole(1, 32))},
            {"epsilon", random.oneIn(3) ? random.part() : 0.0}};
}

std::vector<DecodeStep> answerOf(const char* decoder, Transformer& model, int count) {
    const auto made = support::openDecoder(decoder, {.transformer = model, .contextLength = 256});
    const std::vector<TokenId> prompt = {3, 1, 4};
    return support::answer(*made, {.tokens = prompt, .maxTokens = count});
}

/// All notes of an answer.
std::vector<std::string> notesOf(const std::vector<DecodeStep>& steps) {
    std::vector<std::string> notes;
    for (const DecodeStep& step : steps)
        notes.insert(notes.end(), step.search.notes.begin(), step.search.notes.end());
    return notes;
}

} // namespace

class LowPrecisionExactnessTest : public QObject {
    Q_OBJECT

private slots:
    void randomCasesEqualVanilla_data();
    void randomCasesEqualVanilla();
    void settingsChangedWhileRunningChangeNoToken();
    void aCopyThatEqualsTheWeightsIsAlwaysAccepted();
    void aCopyOfNoiseChangesNoToken();
    void tooLittleMemoryIsToldOnceAndStepsArePlain();
    void aBackendWithoutCopiesIsToldOnceAndStepsArePlain();
    void narrowWeightsAreToldOnceAndStepsArePlain();
    void stepsTellWhoDraftedAndWhatItRead();
    void thePauseCompletesTheCopy();
    void theCopyGoesWithTheLastDecoderThatUsesIt();

private:
    static support::LosslessRun run(bool samples, bool hasLaw) {
        return {.decoder = kName,
                .allCases = samples ? 1000 : 2000,
                .sampleCases = 30,
                .samples = samples,
                .hasLaw = hasLaw,
                .firstSeed = 95'000'000U + (samples ? 1'000'000U : 0U),
                .leastDrafted = 10,
                .settings = randomSettings};
    }

    std::vector<support::CaseModel> m_models = copiedModels();
};

void LowPrecisionExactnessTest::randomCasesEqualVanilla_data() {
    QTest::addColumn<bool>("samples");
    QTest::addColumn<bool>("hasLaw");
    QTest::newRow("greedy") << false << false;
    QTest::newRow("sampled") << true << false;
    QTest::newRow("greedy under any law") << false << true;
    QTest::newRow("sampled under any law") << true << true;
}

void LowPrecisionExactnessTest::randomCasesEqualVanilla() {
    QFETCH(const bool, samples);
    QFETCH(const bool, hasLaw);
    const std::string fault = support::runLosslessCases(registry(), m_models, run(samples, hasLaw));
    QVERIFY2(fault.empty(), fault.c_str());
}

void LowPrecisionExactnessTest::settingsChangedWhileRunningChangeNoToken() {
    const std::string fault = support::changeSettingsWhileRunning(
        registry(), *m_models.front().transformer, run(false, false));
    QVERIFY2(fault.empty(), fault.c_str());
}

void LowPrecisionExactnessTest::aCopyThatEqualsTheWeightsIsAlwaysAccepted() {
    const BigramTable table(24, 5, 3.0);
    TabularTransformer model(table, table);
    model.makesCopies = true;
    const auto decoder = support::openDecoder(kName,
                                              {.transformer = model,
                                               .contextLength = 256,
                                               .settings = {{"max_draft", 4.0}, {"epsilon", 0.0}}});
    const std::vector<TokenId> prompt = {3, 1, 4};
    const std::vector<DecodeStep> steps =
        support::answer(*decoder, {.tokens = prompt, .maxTokens = 50});
    QCOMPARE(steps.size(), std::size_t{10});
    for (const DecodeStep& step : steps) {
        QCOMPARE(step.tokens.size(), std::size_t{5});
        QCOMPARE(step.path.size(), std::size_t{4});
    }
    QCOMPARE(support::tokensOf(steps), support::tokensOf(answerOf("vanilla", model, 50)));
}

void LowPrecisionExactnessTest::aCopyOfNoiseChangesNoToken() {
    TabularTransformer model(BigramTable(24, 5, 3.0), BigramTable(24, 6, 3.0));
    model.makesCopies = true;
    const std::vector<DecodeStep> steps = answerOf(kName, model, 60);
    int drafted = 0;
    int accepted = 0;
    for (const DecodeStep& step : steps) {
        drafted += step.draft.size();
        accepted += static_cast<int>(step.path.size());
    }
    QVERIFY(drafted > 60);
    QVERIFY(accepted < drafted / 4);
    QCOMPARE(support::tokensOf(steps), support::tokensOf(answerOf("vanilla", model, 60)));
}

void LowPrecisionExactnessTest::tooLittleMemoryIsToldOnceAndStepsArePlain() {
    const ModelConfig config = support::layeredConfig(3);
    const auto model = cpuModel(
        config, support::randomWeights(config, 7), {.threads = 1, .freeMemory = &noMemory});
    const auto decoder = support::openDecoder(kName, {.transformer = *model, .contextLength = 256});
    const std::vector<TokenId> prompt = {3, 1, 4};
    std::vector<std::string> notes;
    for (int answer = 0; answer < 2; ++answer) {
        const auto steps = support::answer(*decoder, {.tokens = prompt, .maxTokens = 12});
        QVERIFY(std::ranges::all_of(steps, &DecodeStep::isPlain));
        QCOMPARE(support::tokensOf(steps), support::tokensOf(answerOf("vanilla", *model, 12)));
        const auto told = notesOf(steps);
        notes.insert(notes.end(), told.begin(), told.end());
    }
    QCOMPARE(notes.size(), std::size_t{1});
    QVERIFY(notes.front().starts_with("There is too little free memory for a 4-bit copy"));
}

void LowPrecisionExactnessTest::aBackendWithoutCopiesIsToldOnceAndStepsArePlain() {
    const auto model = support::layeredModel(3, 7);
    const std::vector<DecodeStep> steps = answerOf(kName, *model, 12);
    QVERIFY(std::ranges::all_of(steps, &DecodeStep::isPlain));
    QCOMPARE(notesOf(steps),
             std::vector<std::string>{
                 "This backend makes no 4-bit copy of the weights, so none drafts."});
}

void LowPrecisionExactnessTest::narrowWeightsAreToldOnceAndStepsArePlain() {
    const ModelConfig config = support::layeredConfig(3);
    const auto model = cpuModel(
        config, support::randomWeights(config, 7), {.threads = 1, .weights = WeightForm::Int8});
    const std::vector<DecodeStep> steps = answerOf(kName, *model, 12);
    QVERIFY(std::ranges::all_of(steps, &DecodeStep::isPlain));
    QCOMPARE(notesOf(steps),
             std::vector<std::string>{"The weights are held as 8-bit already, beside which a copy "
                                      "in 4 bits saves too little to draft with."});
}

void LowPrecisionExactnessTest::stepsTellWhoDraftedAndWhatItRead() {
    const BigramTable table(24, 5, 3.0);
    TabularTransformer model(table, table);
    model.makesCopies = true;
    const std::vector<DecodeStep> steps = answerOf(kName, model, 40);
    QCOMPARE(steps.front().search.planChanges.size(), std::size_t{1});
    const PlanChange& change = steps.front().search.planChanges.front();
    QCOMPARE(change.reason, std::string("copy"));
    QCOMPARE(change.plan.weights, WeightSet::Copy);
    const int layers = model.config().layerCount;
    for (const DecodeStep& step : steps)
        if (const int passes = step.draft.draftSteps(); passes > 0) {
            QCOMPARE(step.choice.drafter, std::string_view("copy"));
            QCOMPARE(step.planId, change.planId);
            QCOMPARE(step.draftLayers, 0.3 * layers * passes);
        }
}

/// Between begin() and the first step.
void LowPrecisionExactnessTest::thePauseCompletesTheCopy() {
    TabularTransformer model(BigramTable(24, 5, 3.0), BigramTable(24, 5, 3.0));
    model.makesCopies = true;
    const auto decoder = support::openDecoder(kName, {.transformer = model, .contextLength = 256});
    const std::vector<TokenId> prompt = {3, 1, 4};
    QVERIFY(decoder->begin({.tokens = prompt, .maxTokens = 12}, {}).hasValue());
    const auto worked = decoder->idle({});
    QVERIFY(worked.hasValue() && worked.value().has_value());
    QCOMPARE(model.copyShare(), 0.3);
    const auto over = decoder->idle({});
    QVERIFY(over.hasValue() && !over.value().has_value());
    const auto step = decoder->step();
    QVERIFY(step.hasValue() && !step.value().isPlain());
}

void LowPrecisionExactnessTest::theCopyGoesWithTheLastDecoderThatUsesIt() {
    TabularTransformer model(BigramTable(24, 5, 3.0), BigramTable(24, 5, 3.0));
    model.makesCopies = true;
    const std::vector<TokenId> prompt = {3, 1, 4};
    const auto make = [&](const char* name) {
        return support::openDecoder(name, {.transformer = model, .contextLength = 256});
    };
    auto first = make(kName);
    QVERIFY(!support::answer(*first, {.tokens = prompt, .maxTokens = 12}).empty());
    QCOMPARE(model.copyShare(), 0.3);
    auto second = make("auto"); // as a session does it: the next one is made before this one goes
    first.reset();
    QCOMPARE(model.copyShare(), 0.3);
    auto third = make("vanilla");
    second.reset();
    QCOMPARE(model.copyShare(), 1.0);
}

QTEST_GUILESS_MAIN(LowPrecisionExactnessTest)
#include "low_precision_exactness_test.moc"
