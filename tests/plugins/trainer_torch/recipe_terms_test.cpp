// SPDX-License-Identifier: Apache-2.0
// The closed forms of the recipes that change the model, and which rows see and say what.
#include "plugins/trainer_torch/recipes/layerskip_terms.h"
#include "plugins/trainer_torch/recipes/space_rows.h"
#include "tests/plugins/trainer_torch/trainer_support.h"

#include <QTest>

#include <cmath>
#include <map>
#include <set>

using namespace engine;
using namespace trainer_torch;
using trainer_support::OwnedText;

namespace {

constexpr TokenId kMask = 99;

/// A prompt of two tokens and an answer of six: the tokens are 10, 11, 20 .. 25.
OwnedText handMade() {
    std::mt19937 random(1);
    OwnedText text = trainer_support::randomText(8, 2, 1, 50, random);
    text.tokens = {10, 11, 20, 21, 22, 23, 24, 25};
    return text;
}

ModelTrainerPlan spacePlan(int masks, int places, double plainShare) {
    ModelTrainerPlan plan;
    plan.recipe = TuningRecipe::Space;
    plan.maskToken = kMask;
    plan.masks = masks;
    plan.places = places;
    plan.plainShare = plainShare;
    return plan;
}

} // namespace

class RecipeTermsTest : public QObject {
    Q_OBJECT

private slots:
    void dropoutGrowsFromTheFirstLayerToTheLast();
    void exitsWeighAsThePaperSays();
    void sharesSumUpToOne();
    void eachExitHasItsTurnOnceInARotation_data();
    void eachExitHasItsTurnOnceInARotation();
    void rowsOfAGroupSeeTheTextBeforeThemAndTheirOwn();
    void windowsCountPositions();
    void masksForetellTheTokenBehindTheNextOne();
    void plainTextsSayWhatFollowsEachAnswerRow();
    void answersTooShortForMasksArePlain();
    void placesAreDrawnFromAllThatHaveRoom();
};

void RecipeTermsTest::dropoutGrowsFromTheFirstLayerToTheLast() {
    constexpr int kLayers = 30;
    QCOMPARE(layerDropout(0, kLayers), 0.0);
    QVERIFY(std::abs(layerDropout(kLayers - 1, kLayers) - 1.0) < 1e-12);
    for (int layer = 1; layer < kLayers; ++layer)
        QVERIFY(layerDropout(layer, kLayers) > layerDropout(layer - 1, kLayers));
    QVERIFY(std::abs(layerDropout(1, 3) - (std::sqrt(2.0) - 1.0)) < 1e-12); // half way
}

/// The figures that the paper's formula gives for 32 layers and a scale of .2.
void RecipeTermsTest::exitsWeighAsThePaperSays() {
    QCOMPARE(exitWeight(0, 32, 0.2), 0.0);
    QVERIFY(std::abs(exitWeight(15, 32, 0.2) - 24.0) < 1e-12);
    QVERIFY(std::abs(exitWeight(30, 32, 0.2) - 93.0) < 1e-12);
    QVERIFY(std::abs(exitWeight(31, 32, 0.2) - 124.0) < 1e-12);
}

void RecipeTermsTest::sharesSumUpToOne() {
    for (int exit = -1; exit < 11; ++exit) {
        const ExitShares shares = exitShares(exit, 12, 0.7);
        QVERIFY(std::abs(shares.exit + shares.last - 1.0) < 1e-12);
        QVERIFY(shares.exit >= 0.0 && shares.last > 0.0);
    }
    QCOMPARE(exitShares(-1, 12, 0.7).last, 1.0);
}

void RecipeTermsTest::eachExitHasItsTurnOnceInARotation_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("rotation");
    QTest::newRow("30 layers, every eighth") << 30 << 8;
    QTest::newRow("four layers, every eighth") << 4 << 8;
    QTest::newRow("three layers") << 3 << 8;
    QTest::newRow("all on at once") << 12 << 1;
    QTest::newRow("every third") << 12 << 3;
}

void RecipeTermsTest::eachExitHasItsTurnOnceInARotation() {
    QFETCH(const int, layers);
    QFETCH(const int, rotation);
    const int exits = layers - 2;
    const int period = std::min(rotation, exits);
    std::set<int> seen;
    for (std::int64_t step = 0; step < 1000; ++step) {
        const int exit = exitOfStep(step, layers, rotation);
        QVERIFY(exit >= 1 && exit <= layers - 2);
        QCOMPARE((exit - 1) % period, static_cast<int>(step % period)); // one that is on
        seen.insert(exit);
    }
    QCOMPARE(static_cast<int>(seen.size()), exits);
    QCOMPARE(exitOfStep(5, 2, rotation), -1);
}

void RecipeTermsTest::rowsOfAGroupSeeTheTextBeforeThemAndTheirOwn() {
    const OwnedText text = handMade();
    RowPlan plan(text.tokens);
    const int first = plan.addGroup(3, kMask, 2);
    const int second = plan.addGroup(5, kMask, 2);
    QCOMPARE(first, 8);
    QCOMPARE(second, 10);
    QCOMPARE(plan.count(), 12);
    QCOMPARE(plan.positions()[toSize(first)], 4);
    QCOMPARE(plan.positions()[toSize(first + 1)], 5);
    QCOMPARE(plan.positions()[toSize(second)], 6);
    QCOMPARE(plan.tokens()[toSize(second)], kMask);
    const auto seenBy = [&](int row) {
        std::vector<int> seen;
        for (int other = 0; other < plan.count(); ++other)
            if (plan.sees(row, other, 0))
                seen.push_back(other);
        return seen;
    };
    QVERIFY(seenBy(2) == (std::vector{0, 1, 2}));
    QVERIFY(seenBy(7) == (std::vector{0, 1, 2, 3, 4, 5, 6, 7})); // no row of a text sees a mask
    QVERIFY(seenBy(first) == (std::vector{0, 1, 2, 3, 8}));
    QVERIFY(seenBy(first + 1) == (std::vector{0, 1, 2, 3, 8, 9}));
    QVERIFY(seenBy(second) == (std::vector{0, 1, 2, 3, 4, 5, 10}));
}

void RecipeTermsTest::windowsCountPositions() {
    RowPlan plan(handMade().tokens);
    const int group = plan.addGroup(3, kMask, 2); // positions 4 and 5
    QVERIFY(plan.sees(group, 3, 2));
    QVERIFY(!plan.sees(group, 2, 2));
    QVERIFY(plan.sees(group + 1, group, 2));
    QVERIFY(!plan.sees(group + 1, 3, 2));
    QVERIFY(plan.sees(group + 1, group + 1, 1));
}

/// Behind the row that reads 21 stands 22 in the text; the first mask takes its place and says 23.
void RecipeTermsTest::masksForetellTheTokenBehindTheNextOne() {
    const OwnedText text = handMade();
    const ModelTrainerPlan plan = spacePlan(2, 1, 0.0);
    for (std::uint64_t key = 0; key < 40; ++key) {
        const SpaceRows made = spaceRows(text.shown(), plan, key);
        QCOMPARE(made.labels.size(), std::size_t{3});
        const int row = made.labels[0].row;
        QCOMPARE(made.plan.count(), row + 1 + 2); // the text is cut off behind it
        QCOMPARE(made.labels[0].token, text.tokens[toSize(row + 1)]);
        QVERIFY(!made.labels[0].isMask);
        for (int mask = 1; mask <= 2; ++mask) {
            const RowLabel& label = made.labels[toSize(mask)];
            QVERIFY(label.isMask);
            QCOMPARE(made.plan.tokens()[toSize(label.row)], kMask);
            QCOMPARE(made.plan.positions()[toSize(label.row)], row + mask);
            QCOMPARE(label.token, text.tokens[toSize(row + 1 + mask)]);
        }
    }
}

void RecipeTermsTest::plainTextsSayWhatFollowsEachAnswerRow() {
    const OwnedText text = handMade();
    const SpaceRows made = spaceRows(text.shown(), spacePlan(2, 3, 1.0), 7);
    QCOMPARE(made.plan.count(), 8);
    QCOMPARE(made.labels.size(), std::size_t{6});
    QCOMPARE(made.labels.front().row, 1); // the prompt's last row
    QCOMPARE(made.labels.front().token, 20);
    QCOMPARE(made.labels.back().token, 25);
}

void RecipeTermsTest::answersTooShortForMasksArePlain() {
    const OwnedText text = handMade();
    QVERIFY(!spaceRows(text.shown(), spacePlan(6, 1, 0.0), 1).labels.front().isMask);
    QCOMPARE(spaceRows(text.shown(), spacePlan(6, 1, 0.0), 1).labels.size(), std::size_t{6});
    QCOMPARE(spaceRows(text.shown(), spacePlan(5, 1, 0.0), 1).labels.size(), std::size_t{6});
    QVERIFY(spaceRows(text.shown(), spacePlan(5, 1, 0.0), 1).labels.back().isMask);
    OwnedText silent = text;
    std::fill(silent.answers.begin(), silent.answers.end(), std::uint8_t{0});
    QVERIFY(spaceRows(silent.shown(), spacePlan(1, 1, 0.0), 1).labels.empty());
}

void RecipeTermsTest::placesAreDrawnFromAllThatHaveRoom() {
    const OwnedText text = handMade();
    std::map<int, int> drawn;
    int plain = 0;
    for (std::uint64_t key = 0; key < 2000; ++key) {
        const SpaceRows made = spaceRows(text.shown(), spacePlan(2, 1, 0.5), key);
        if (made.labels.size() == 3)
            ++drawn[made.labels[0].row];
        else
            ++plain;
    }
    QCOMPARE(drawn.size(), std::size_t{4}); // behind rows 1 to 4 two tokens follow the next one
    for (const auto& [row, count] : drawn)
        QVERIFY2(row >= 1 && row <= 4 && count > 180 && count < 320,
                 qPrintable(QString::number(count)));
    QVERIFY(plain > 900 && plain < 1100);
    const SpaceRows many = spaceRows(text.shown(), spacePlan(2, 64, 0.0), 3);
    QCOMPARE(many.labels.size(), std::size_t{12}); // each place once
}

QTEST_GUILESS_MAIN(RecipeTermsTest)
#include "recipe_terms_test.moc"
