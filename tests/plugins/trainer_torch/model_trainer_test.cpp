// SPDX-License-Identifier: Apache-2.0
// The trainer of models through its module: it computes what the engine computes, learns, repeats
// itself, goes on from a state, and refuses what it must refuse.
#include "engine/decoding/drafts/exit_drafter.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/plugins/trainer_torch/recipe_support.h"

#include <QTest>

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>

using namespace engine;
using recipe_support::openModelTrainer;
using trainer_support::hitsOn;
using trainer_support::OwnedText;

namespace {

const StepTerms kTerms = {.rate = 4e-3};
constexpr TokenId kMask = 31;
constexpr int kWords = 24; ///< tokens that sentences are made of

ModelConfig learningConfig() {
    ModelConfig config = support::layeredConfig(4);
    config.hiddenSize = 32;
    config.mlpSize = 48;
    config.headCount = 4;
    config.kvHeadCount = 2;
    config.headDim = 8;
    config.vocabSize = 32;
    return config;
}

ModelTrainerPlan planOf(TuningRecipe recipe, bool isFull = false) {
    ModelTrainerPlan plan;
    plan.recipe = recipe;
    plan.isFull = isFull;
    plan.rank = 8;
    plan.averaging = 0.9;
    plan.seed = 17;
    plan.threads = 1;
    plan.judgedExit = 2;
    plan.maskToken = kMask;
    return plan;
}

ModelNumbers numbersOf(const ModelConfig& config, unsigned seed = 9) {
    support::MemoryWeights weights = support::randomWeights(config, seed);
    return recipe_support::numbersOf(config, weights);
}

/// Texts of a circle of words, from several words on.
std::vector<OwnedText> sentences(const ModelConfig& config, int count) {
    const std::vector<TokenId> next = recipe_support::followers(kWords, config.vocabSize);
    std::vector<OwnedText> texts;
    for (int i = 0; i < count; ++i)
        texts.push_back(recipe_support::sentence(next, i * 5 % kWords, 20, 4, config.hiddenSize));
    return texts;
}

std::unique_ptr<Trainer> made(const ModelTrainerPlan& plan, const ModelConfig& config) {
    auto trainer = openModelTrainer(plan, numbersOf(config));
    ENGINE_CHECK(trainer.hasValue(), "{}", trainer.error().message);
    return std::move(trainer).value();
}

StepLosses stepOn(Trainer& trainer, const std::vector<OwnedText>& texts, StepTerms terms = kTerms) {
    const auto losses = trainer.step(trainer_support::shown(texts), terms);
    ENGINE_CHECK(losses.hasValue(), "{}", losses.error().message);
    return losses.value();
}

double shareOf(std::int64_t part, std::int64_t all) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, all));
}

/// What is judged once it is enough, or after many steps.
DraftHits learnt(Trainer& trainer,
                 const std::vector<OwnedText>& texts,
                 const std::function<bool(const DraftHits&)>& isEnough) {
    DraftHits hits = hitsOn(trainer, texts);
    for (int round = 0; round < 40 && !isEnough(hits); ++round) {
        for (int step = 0; step < 10; ++step)
            stepOn(trainer, texts);
        hits = hitsOn(trainer, texts);
    }
    return hits;
}

/// Fills LoRA's parts and adds them to the engine's weights. The numbers are so short that all sums
/// are exact in float32.
void giveLora(support::MemoryWeights& weights,
              ModelNumbers& numbers,
              trainer_torch::WideArrays& trained,
              int rank) {
    std::mt19937 random(12);
    for (auto& [name, down] : trained) {
        if (!name.ends_with(kLoraDown))
            continue;
        const std::string linear = name.substr(0, name.rfind('.'));
        std::vector<double>& up = trained.at(linear + kLoraUp);
        for (std::vector<double>* part : {&down, &up})
            for (double& value : *part)
                value = (static_cast<int>(random() % 5) - 2) / 16.0;
        std::vector<float>& merged = weights.values(linear + ".weight");
        for (float& value : merged)
            value = std::round(value * 1024.0F) / 1024.0F;
        numbers.tensors.at(linear + ".weight") = merged;
        const std::size_t inputs = down.size() / toSize(rank);
        for (std::size_t i = 0; i < merged.size(); ++i) {
            double sum = 0.0;
            for (std::size_t r = 0; r < toSize(rank); ++r)
                sum += up[i / inputs * toSize(rank) + r] * down[r * inputs + i % inputs];
            merged[i] += static_cast<float>(kLoraScale * sum);
        }
    }
}

/// Logits of the plain backend behind the first `layers` layers. [tokens, vocab]
std::vector<double> engineLogits(const ModelConfig& config,
                                 const support::MemoryWeights& weights,
                                 std::span<const TokenId> tokens,
                                 int layers,
                                 Precision precision) {
    auto model = makePlainTransformer(config, weights, {.precision = precision});
    ENGINE_CHECK(model.hasValue(), "{}", model.error().message);
    const int count = static_cast<int>(tokens.size());
    const LayerPlan plan =
        layers == config.layerCount ? LayerPlan::full(layers) : exitPlan(config.layerCount, layers);
    const AttentionLayout layout = AttentionLayout::chain(0, count);
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    KvCache cache = model.value()->makeCache(count).value();
    auto result = model.value()->forward(
        {.plan = plan, .layout = layout, .tokens = tokens, .logitRows = rows}, cache);
    ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
    std::vector<double> logits;
    for (int row = 0; row < count; ++row) {
        const auto found = result.value().logits.row(row);
        ENGINE_CHECK(found.hasValue(), "no logits");
        logits.insert(logits.end(), found.value().begin(), found.value().end());
    }
    return logits;
}

} // namespace

class ModelTrainerTest : public QObject {
    Q_OBJECT

private slots:
    void itComputesWhatTheEngineComputes_data();
    void itComputesWhatTheEngineComputes();
    void untouchedItIsTheModelItself();
    void exitsLearnSentences_data();
    void exitsLearnSentences();
    void masksLearnSentences_data();
    void masksLearnSentences();
    void twoRunsHaveTheSameBits_data();
    void twoRunsHaveTheSameBits();
    void aRestoredStateGoesOnWithTheSameBits();
    void textsWithoutAnswersChangeNothing();
    void aLossThatIsNotFiniteChangesNothing();
    void aStepThatIsStoppedChangesNothing();
    void foreignStatesAreRefused();
    void modelsThatCannotBeComputedAreRefused_data();
    void modelsThatCannotBeComputedAreRefused();
    void plansThatDoNotFitAreRefused();
};

void ModelTrainerTest::itComputesWhatTheEngineComputes_data() {
    QTest::addColumn<bool>("isSmall");
    QTest::addColumn<bool>("isTied");
    QTest::addColumn<int>("layers");
    QTest::addColumn<bool>("isWide");
    QTest::addColumn<bool>("hasLora");
    for (const int layers : {1, 2, 4})
        for (const bool hasLora : {false, true}) {
            const char* with = hasLora ? ", LoRA" : "";
            QTest::addRow("windows, biases, norms of heads; %d layers%s", layers, with)
                << true << true << layers << true << hasLora;
            QTest::addRow("a LLaMA, %d layers%s", layers, with)
                << false << false << layers << true << hasLora;
        }
    QTest::newRow("float32") << false << false << 4 << false << false;
    QTest::newRow("float32, LoRA") << false << false << 4 << false << true;
}

void ModelTrainerTest::itComputesWhatTheEngineComputes() {
    QFETCH(const bool, isSmall);
    QFETCH(const bool, isTied);
    QFETCH(const int, layers);
    QFETCH(const bool, isWide);
    QFETCH(const bool, hasLora);
    ModelConfig config = isSmall ? recipe_support::smallConfig(isTied) : learningConfig();
    config.ropeScaling.kind = RopeScalingKind::Linear;
    config.ropeScaling.factor = 2.0;
    support::MemoryWeights weights = support::randomWeights(config, 4);
    ModelNumbers numbers = recipe_support::numbersOf(config, weights);
    const ModelTrainerPlan plan = planOf(TuningRecipe::LayerSkip);
    const trainer_torch::TrainerChecks& checks = trainer_support::trainerChecks();
    trainer_torch::WideArrays trained = checks.trainedStart(plan, numbers);
    if (hasLora)
        giveLora(weights, numbers, trained, plan.rank);
    const std::vector<TokenId> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    const auto found = checks.modelLogits({plan, numbers, trained}, tokens, layers, isWide);
    const auto wanted =
        engineLogits(config, weights, tokens, layers, isWide ? Precision::F64 : Precision::F32);
    QCOMPARE(found.size(), wanted.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i)
        worst = std::max(worst, std::abs(found[i] - wanted[i]));
    QVERIFY2(worst < (isWide ? 1e-9 : 1e-4), fmt::format("off by {}", worst).c_str());
}

void ModelTrainerTest::untouchedItIsTheModelItself() {
    const ModelConfig config = learningConfig();
    const ModelNumbers numbers = numbersOf(config);
    for (const auto& [name, values] : made(planOf(TuningRecipe::LayerSkip), config)->result())
        QVERIFY2(!name.ends_with(kLoraUp) || values == std::vector<float>(values.size(), 0.0F),
                 name.c_str());
    const NamedArrays all = made(planOf(TuningRecipe::LayerSkip, true), config)->result();
    QVERIFY(all == numbers.tensors);
    const NamedArrays masked = made(planOf(TuningRecipe::Space, true), config)->result();
    const std::vector<float>& embedding = masked.at("model.embed_tokens.weight");
    const std::vector<float>& before = numbers.tensors.at("model.embed_tokens.weight");
    for (std::size_t i = 0; i < embedding.size(); ++i)
        QCOMPARE(embedding[i] == before[i], i / 32 != toSize(kMask)); // the mask's row alone is new
}

void ModelTrainerTest::exitsLearnSentences_data() {
    QTest::addColumn<bool>("isFull");
    QTest::newRow("LoRA") << false;
    QTest::newRow("all weights") << true;
}

void ModelTrainerTest::exitsLearnSentences() {
    QFETCH(const bool, isFull);
    const ModelConfig config = learningConfig();
    const std::vector<OwnedText> texts = sentences(config, 8);
    const auto trainer = made(planOf(TuningRecipe::LayerSkip, isFull), config);
    const DraftHits before = hitsOn(*trainer, texts);
    QCOMPARE(before.tried[0], std::int64_t{8 * 16}); // each token of an answer
    QCOMPARE(before.exits.size(), std::size_t{3});
    QCOMPARE(before.exits[1], before.hits[0]); // the exit that is judged
    QVERIFY(shareOf(before.hits[0], before.tried[0]) < 0.3);
    const StepLosses losses = stepOn(*trainer, texts);
    const auto isLearnt = [&](const DraftHits& hits) {
        return shareOf(hits.hits[0], hits.tried[0]) > 0.9 &&
               shareOf(hits.hits[3], hits.tried[3]) > 0.9;
    };
    const DraftHits after = learnt(*trainer, texts, isLearnt);
    QVERIFY2(isLearnt(after), fmt::format("{} of {}", after.hits, after.tried).c_str());
    QVERIFY(after.exits[2] > before.exits[2]);
    QVERIFY(losses.gradientNorm > 0.0 && losses.drafting > 0.0);
}

void ModelTrainerTest::masksLearnSentences_data() { exitsLearnSentences_data(); }

void ModelTrainerTest::masksLearnSentences() {
    QFETCH(const bool, isFull);
    const ModelConfig config = learningConfig();
    const std::vector<OwnedText> texts = sentences(config, 8);
    const auto trainer = made(planOf(TuningRecipe::Space, isFull), config);
    const DraftHits before = hitsOn(*trainer, texts);
    QVERIFY(before.tried[0] > 50 && before.exits.empty());
    QVERIFY(shareOf(before.hits[0], before.tried[0]) < 0.3);
    const auto isLearnt = [&](const DraftHits& hits) {
        return shareOf(hits.hits[0], hits.tried[0]) > 0.9 &&
               shareOf(hits.hits[1], hits.tried[1]) > 0.9;
    };
    const DraftHits after = learnt(*trainer, texts, isLearnt);
    QVERIFY2(isLearnt(after), fmt::format("{} of {}", after.hits, after.tried).c_str());
    QCOMPARE(after.tried[2], std::int64_t{0}); // two masks
}

void ModelTrainerTest::twoRunsHaveTheSameBits_data() {
    QTest::addColumn<int>("recipe");
    QTest::newRow("layerskip") << static_cast<int>(TuningRecipe::LayerSkip);
    QTest::newRow("space") << static_cast<int>(TuningRecipe::Space);
}

void ModelTrainerTest::twoRunsHaveTheSameBits() {
    QFETCH(const int, recipe);
    const ModelConfig config = learningConfig();
    const std::vector<OwnedText> texts = sentences(config, 6);
    const auto run = [&](std::uint64_t seed) {
        ModelTrainerPlan plan = planOf(static_cast<TuningRecipe>(recipe));
        plan.seed = seed;
        plan.threads = 2;
        const auto trainer = made(plan, config);
        for (int step = 0; step < 6; ++step)
            stepOn(*trainer, texts);
        return trainer->state();
    };
    const NamedArrays first = run(17);
    QVERIFY(first == run(17));
    QVERIFY(first != run(18));
}

void ModelTrainerTest::aRestoredStateGoesOnWithTheSameBits() {
    const ModelConfig config = learningConfig();
    const std::vector<OwnedText> texts = sentences(config, 6);
    for (const TuningRecipe recipe : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        const auto trainer = made(planOf(recipe), config);
        for (int step = 0; step < 5; ++step) // in the middle of a rotation
            stepOn(*trainer, texts);
        const NamedArrays state = trainer->state();
        const auto other = made(planOf(recipe), config);
        stepOn(*other, texts);
        QVERIFY(other->restore(state).hasValue());
        for (int step = 0; step < 4; ++step) {
            const StepLosses a = stepOn(*trainer, texts);
            hitsOn(*other, texts); // evaluation changes nothing
            const StepLosses b = stepOn(*other, texts);
            QCOMPARE(a.likelihood, b.likelihood);
            QCOMPARE(a.drafting, b.drafting);
        }
        QVERIFY(trainer->state() == other->state());
        QVERIFY(trainer->result() == other->result());
    }
}

void ModelTrainerTest::textsWithoutAnswersChangeNothing() {
    const ModelConfig config = learningConfig();
    std::vector<OwnedText> texts = sentences(config, 2);
    for (OwnedText& text : texts)
        std::fill(text.answers.begin(), text.answers.end(), std::uint8_t{0});
    texts.emplace_back(); // not even a token
    for (const TuningRecipe recipe : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        const auto trainer = made(planOf(recipe), config);
        const NamedArrays before = trainer->state();
        QCOMPARE(stepOn(*trainer, texts).likelihood, 0.0);
        QVERIFY(trainer->state() == before);
        QCOMPARE(hitsOn(*trainer, texts).tried[0], std::int64_t{0});
    }
}

void ModelTrainerTest::aLossThatIsNotFiniteChangesNothing() {
    const ModelConfig config = learningConfig();
    const std::vector<OwnedText> texts = sentences(config, 4);
    const auto trainer = made(planOf(TuningRecipe::LayerSkip), config);
    stepOn(*trainer, texts);
    const NamedArrays before = trainer->state();
    std::vector<OwnedText> broken = texts;
    broken.back().teacher[7].logProbabilities[0] = std::numeric_limits<float>::quiet_NaN();
    const auto refused = trainer->step(trainer_support::shown(broken), kTerms);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Numeric);
    QVERIFY(trainer->state() == before);
    // Nothing of the broken step is left in the next one.
    const auto fresh = made(planOf(TuningRecipe::LayerSkip), config);
    stepOn(*fresh, texts);
    stepOn(*fresh, texts);
    stepOn(*trainer, texts);
    QVERIFY(trainer->state() == fresh->state());
}

void ModelTrainerTest::aStepThatIsStoppedChangesNothing() {
    const ModelConfig config = learningConfig();
    const std::vector<OwnedText> texts = sentences(config, 4);
    std::stop_source source;
    source.request_stop();
    StepTerms terms = kTerms;
    terms.stop = source.get_token();
    for (const TuningRecipe recipe : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        const auto trainer = made(planOf(recipe), config);
        const NamedArrays before = trainer->state();
        const auto stopped = trainer->step(trainer_support::shown(texts), terms);
        QVERIFY(!stopped.hasValue());
        QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
        QVERIFY(trainer->state() == before);
    }
}

void ModelTrainerTest::foreignStatesAreRefused() {
    const ModelConfig config = learningConfig();
    const auto trainer = made(planOf(TuningRecipe::LayerSkip), config);
    const NamedArrays before = trainer->state();
    const auto full = made(planOf(TuningRecipe::LayerSkip, true), config);
    const auto refused = trainer->restore(full->state());
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    QVERIFY(trainer->state() == before);
}

void ModelTrainerTest::modelsThatCannotBeComputedAreRefused_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("named");
    QTest::newRow("experts") << 0 << "experts";
    QTest::newRow("soft-caps") << 1 << "caps";
    QTest::newRow("norms behind") << 2 << "norms behind";
    QTest::newRow("LongRope") << 3 << "LongRope";
    QTest::newRow("partial rotation") << 4 << "a part is turned";
    QTest::newRow("lesson model") << 5 << "files store it";
}

void ModelTrainerTest::modelsThatCannotBeComputedAreRefused() {
    QFETCH(const int, kind);
    QFETCH(const QString, named);
    ModelConfig config = learningConfig();
    if (kind == 0)
        config = support::expertConfig();
    if (kind == 1)
        config = support::cappedConfig();
    if (kind == 2)
        config.normPlace = NormPlace::Behind;
    if (kind == 3)
        config.ropeScaling.kind = RopeScalingKind::LongRope;
    if (kind == 4)
        config.rotatedDim = 4;
    if (kind == 5)
        config.isPlanted = true;
    ModelNumbers numbers;
    numbers.config = config;
    const auto refused = openModelTrainer(planOf(TuningRecipe::LayerSkip), std::move(numbers));
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    const QString message = QString::fromStdString(refused.error().message);
    QVERIFY2(message.contains(named) && message.endsWith('.'), qPrintable(message));
    QVERIFY(!refused.error().hint.empty());
}

void ModelTrainerTest::plansThatDoNotFitAreRefused() {
    const std::vector<void (*)(ModelTrainerPlan&, ModelConfig&)> faults = {
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.recipe = TuningRecipe::Draft; },
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.rank = 0; },
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.threads = 0; },
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.averaging = 1.0; },
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.judgedExit = 4; },
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.dropout = 1.0; },
        [](ModelTrainerPlan& plan, ModelConfig&) { plan.rotation = 0; },
        [](ModelTrainerPlan& plan, ModelConfig& config) {
            config.layerCount = 2;
            plan.judgedExit = 1;
        },
        [](ModelTrainerPlan& plan, ModelConfig&) {
            plan.recipe = TuningRecipe::Space;
            plan.maskToken = 32;
        },
        [](ModelTrainerPlan& plan, ModelConfig&) {
            plan.recipe = TuningRecipe::Space;
            plan.masks = 0;
        }};
    for (const auto fault : faults) {
        ModelTrainerPlan plan = planOf(TuningRecipe::LayerSkip);
        ModelNumbers numbers = numbersOf(learningConfig());
        fault(plan, numbers.config);
        const auto refused = openModelTrainer(plan, std::move(numbers));
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    }
}

QTEST_GUILESS_MAIN(ModelTrainerTest)
#include "model_trainer_test.moc"
