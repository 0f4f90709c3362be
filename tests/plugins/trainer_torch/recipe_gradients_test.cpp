// SPDX-License-Identifier: Apache-2.0
// Gradients of the losses of layerskip and space against central differences, in float64.
#include "tests/plugins/trainer_torch/recipe_support.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using trainer_support::OwnedText;
using trainer_support::trainerChecks;
using trainer_torch::CheckedRecipeLoss;
using trainer_torch::WideArrays;

namespace {

constexpr TokenId kMask = 15;

/// A model, a plan, texts, and numbers of which none is 0.
struct RecipeCase {
    ModelTrainerPlan plan;
    ModelNumbers model;
    WideArrays trained;
    std::vector<OwnedText> texts;
    std::int64_t step = 1;
};

RecipeCase recipeCase(TuningRecipe recipe, bool isFull, bool isTied) {
    RecipeCase made;
    made.plan.recipe = recipe;
    made.plan.isFull = isFull;
    made.plan.rank = 2;
    made.plan.seed = 3;
    made.plan.dropout = 0.5;
    made.plan.judgedExit = 2;
    made.plan.maskToken = kMask;
    made.plan.places = 3;
    made.plan.plainShare = 0.4;
    const ModelConfig config = recipe_support::smallConfig(isTied);
    support::MemoryWeights weights = support::randomWeights(config, 4);
    made.model = recipe_support::numbersOf(config, weights);
    std::mt19937 random(8);
    std::normal_distribution<double> normal(0.0, 0.3);
    made.trained = trainerChecks().trainedStart(made.plan, made.model);
    for (auto& [name, values] : made.trained)
        for (double& value : values)
            value += normal(random);
    for (const int rows : {9, 7, 12})
        made.texts.push_back(
            trainer_support::randomText(rows, 3, config.hiddenSize, kMask, random));
    return made;
}

CheckedRecipeLoss lossOf(const RecipeCase& tried, bool hasGradients, bool keepsLayers = true) {
    const auto texts = trainer_support::shown(tried.texts);
    return trainerChecks().recipeLoss(
        {tried.plan, tried.model, tried.trained, keepsLayers}, texts, tried.step, hasGradients);
}

} // namespace

class RecipeGradientsTest : public QObject {
    Q_OBJECT

private slots:
    void gradientsAreThoseOfCentralDifferences_data();
    void gradientsAreThoseOfCentralDifferences();
    void layersThatAreComputedTwiceHaveTheSameGradients();
    void aPlaceWithoutATokenCountsNothing();
    void lossesAreMeansOfTheirRows();
};

void RecipeGradientsTest::gradientsAreThoseOfCentralDifferences_data() {
    QTest::addColumn<int>("recipe");
    QTest::addColumn<bool>("isFull");
    QTest::addColumn<bool>("isTied");
    QTest::addColumn<bool>("isSoft");
    const int layerskip = static_cast<int>(TuningRecipe::LayerSkip);
    const int space = static_cast<int>(TuningRecipe::Space);
    QTest::newRow("layerskip, LoRA") << layerskip << false << true << true;
    QTest::newRow("layerskip, all weights") << layerskip << true << false << true;
    QTest::newRow("layerskip, all weights, tied head") << layerskip << true << true << true;
    QTest::newRow("space, LoRA") << space << false << false << true;
    QTest::newRow("space, LoRA, tied head") << space << false << true << true;
    QTest::newRow("space, all weights, tied head") << space << true << true << true;
    QTest::newRow("space, tokens as labels") << space << false << true << false;
}

void RecipeGradientsTest::gradientsAreThoseOfCentralDifferences() {
    QFETCH(const int, recipe);
    QFETCH(const bool, isFull);
    QFETCH(const bool, isTied);
    QFETCH(const bool, isSoft);
    constexpr double kStep = 1e-5;
    RecipeCase tried = recipeCase(static_cast<TuningRecipe>(recipe), isFull, isTied);
    tried.plan.isSoft = isSoft;
    for (tried.step = 1; tried.step <= 2; ++tried.step) { // two exits, other draws
        const CheckedRecipeLoss found = lossOf(tried, true);
        QVERIFY(found.likelihood > 0.0 && found.drafting > 0.0);
        double largest = 0.0;
        for (const auto& [name, gradients] : found.gradients)
            for (const double gradient : gradients)
                largest = std::max(largest, std::abs(gradient));
        QVERIFY(largest > 1e-3);
        std::size_t number = 0;
        for (auto& [name, values] : tried.trained)
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (++number % 13 != 0)
                    continue;
                const double before = values[i];
                values[i] = before + kStep;
                const double above = lossOf(tried, false).total;
                values[i] = before - kStep;
                const double below = lossOf(tried, false).total;
                values[i] = before;
                const double wanted = (above - below) / (2.0 * kStep);
                const double difference = std::abs(found.gradients.at(name)[i] - wanted);
                QVERIFY2(
                    difference <= 1e-6 * std::max(largest, std::abs(wanted)),
                    fmt::format(
                        "{}[{}]: {} instead of {}", name, i, found.gradients.at(name)[i], wanted)
                        .c_str());
            }
    }
}

void RecipeGradientsTest::layersThatAreComputedTwiceHaveTheSameGradients() {
    for (const TuningRecipe recipe : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        const RecipeCase tried = recipeCase(recipe, false, true);
        const CheckedRecipeLoss kept = lossOf(tried, true, true);
        const CheckedRecipeLoss twice = lossOf(tried, true, false);
        QCOMPARE(twice.total, kept.total);
        QVERIFY(twice.gradients == kept.gradients); // every bit
    }
}

/// Whichever token stands in the place that a teacher of nine tokens has none for.
void RecipeGradientsTest::aPlaceWithoutATokenCountsNothing() {
    for (const TuningRecipe recipe : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        RecipeCase tried = recipeCase(recipe, false, true);
        const auto lossBeside = [&](int place) {
            for (OwnedText& text : tried.texts)
                for (TeacherRow& row : text.teacher) {
                    row.ids.back() = row.ids[toSize(place)];
                    row.logProbabilities.back() = kNoLogProbability;
                }
            return lossOf(tried, false).total;
        };
        QCOMPARE(lossBeside(0), lossBeside(4));
    }
}

/// Texts twice in a step change no mean, if nothing is drawn.
void RecipeGradientsTest::lossesAreMeansOfTheirRows() {
    RecipeCase tried = recipeCase(TuningRecipe::LayerSkip, false, false);
    tried.plan.dropout = 0.0;
    const CheckedRecipeLoss once = lossOf(tried, false);
    const std::vector<OwnedText> texts = tried.texts;
    tried.texts.insert(tried.texts.end(), texts.begin(), texts.end());
    const CheckedRecipeLoss both = lossOf(tried, false);
    QVERIFY(std::abs(both.total - once.total) < 1e-12);
    QVERIFY(std::abs(both.likelihood - once.likelihood) < 1e-12);
    QVERIFY(std::abs(both.drafting - once.drafting) < 1e-12);
}

QTEST_GUILESS_MAIN(RecipeGradientsTest)
#include "recipe_gradients_test.moc"
