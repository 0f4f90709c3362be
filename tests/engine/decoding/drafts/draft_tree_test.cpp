// SPDX-License-Identifier: Apache-2.0
#include "engine/base/result.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/decoding/round/draft_tree.h"
#include "engine/model/cache/attention_layout.h"

#include <QTest>

#include <random>

using namespace engine;

namespace {

/// Levels whose token ids tell their place: 10 * depth + rank.
std::vector<DraftLevel> levelsOf(const std::vector<int>& widths) {
    std::vector<DraftLevel> levels;
    for (std::size_t depth = 0; depth < widths.size(); ++depth) {
        DraftLevel level;
        for (int rank = 0; rank < widths[depth]; ++rank)
            level.choices.push_back(
                {static_cast<TokenId>(10 * (depth + 1)) + rank, 0.5 / (1.0 + rank)});
        levels.push_back(level);
    }
    return levels;
}

std::vector<TokenId> tokensOf(const DraftTree& tree) {
    std::vector<TokenId> tokens;
    for (const DraftNode& node : tree.nodes())
        tokens.push_back(node.token);
    return tokens;
}

DraftTree randomTree(std::mt19937& random, int nodes) {
    DraftTree tree;
    for (int i = 0; i < nodes; ++i)
        tree.add(i, static_cast<int>(random() % static_cast<unsigned>(i + 1)) - 1, 0.5);
    return tree;
}

int keyCount(const AttentionLayout& layout, int row) {
    int count = 0;
    layout.forEachKey(row, 0, [&count](Position) { ++count; });
    return count;
}

using Ids = std::vector<TokenId>;
using Nodes = std::vector<int>;

} // namespace

class DraftTreeTest : public QObject {
    Q_OBJECT

private slots:
    void aCaterpillarHasItsSpineFirstThenSiblingsByDepth();
    void onlyTheSpineHasChildren();
    void theDeepestSiblingsAreLeftOutFirst();
    void aSpineEndsAtTheMostNodes();
    void confidencesCountEveryPass();
    void eachSpineNodeKnowsWhatItsChildrenWereDrawnFrom();
    void ranksCountSiblingsInOrder();
    void layoutParentsAreOneHigherWithTheRootInFront();
    void everyRowSeesThePrefixAndItsOwnPath();
    void aParentMustBeThere();
    void anEmptyTreeIsTheRootAlone();
    void aCutStepKeepsWhatBelongsToItsTokens();
    void namesAreWhatRecordingsHold();
};

void DraftTreeTest::aCaterpillarHasItsSpineFirstThenSiblingsByDepth() {
    const DraftTree tree = makeCaterpillar(levelsOf({2, 1, 3}), 100);
    QCOMPARE(tokensOf(tree), (Ids{10, 20, 30, 11, 31, 32}));
    QCOMPARE(tree.layoutParents(), (Nodes{-1, 0, 1, 2, 0, 2, 2}));
    const Nodes depths = {1, 2, 3, 1, 3, 3};
    const Nodes ranks = {0, 0, 0, 1, 1, 2};
    for (int i = 0; i < tree.size(); ++i) {
        QCOMPARE(tree.depth(i), depths[static_cast<std::size_t>(i)]);
        QCOMPARE(tree.node(i).rank, ranks[static_cast<std::size_t>(i)]);
        QCOMPARE(tree.node(i).probability, 0.5 / (1.0 + tree.node(i).rank));
    }
}

void DraftTreeTest::onlyTheSpineHasChildren() {
    const DraftTree tree = makeCaterpillar(levelsOf({3, 2, 4}), 100);
    QCOMPARE(tree.children(-1), (Nodes{0, 3, 4}));
    QCOMPARE(tree.children(0), (Nodes{1, 5}));
    QCOMPARE(tree.children(1), (Nodes{2, 6, 7, 8}));
    for (int leaf = 2; leaf < tree.size(); ++leaf)
        QVERIFY(tree.children(leaf).empty());
}

void DraftTreeTest::theDeepestSiblingsAreLeftOutFirst() {
    QCOMPARE(tokensOf(makeCaterpillar(levelsOf({3, 3, 3}), 6)), (Ids{10, 20, 30, 11, 12, 21}));
    QCOMPARE(tokensOf(makeCaterpillar(levelsOf({3, 3, 3}), 3)), (Ids{10, 20, 30}));
}

void DraftTreeTest::aSpineEndsAtTheMostNodes() {
    const DraftTree tree = makeCaterpillar(levelsOf({2, 2, 2, 2}), 2);
    QCOMPARE(tokensOf(tree), (Ids{10, 20}));
    QCOMPARE(makeCaterpillar(levelsOf({2, 2}), 0).size(), 0);
}

void DraftTreeTest::confidencesCountEveryPass() {
    const DraftTree tree = makeCaterpillar(levelsOf({2, 3, 1}), 100);
    QCOMPARE(tree.draftSteps(), 3);
    for (const double confidence : tree.confidences())
        QCOMPARE(confidence, 0.5);
}

void DraftTreeTest::eachSpineNodeKnowsWhatItsChildrenWereDrawnFrom() {
    auto levels = levelsOf({2, 1, 2});
    levels[0].drawnFrom = {{10, 11}, {0.5, 0.5}};
    levels[2].drawnFrom = {{30, 31}, {0.25, 0.75}};
    const DraftTree tree = makeCaterpillar(levels, 100);
    QVERIFY(tree.drawnFrom(-1) != nullptr);
    QCOMPARE(tree.drawnFrom(-1)->ids, (Ids{10, 11}));
    QVERIFY(tree.drawnFrom(0) == nullptr);
    QVERIFY(tree.drawnFrom(1) != nullptr);
    QCOMPARE(tree.drawnFrom(1)->probabilities, (std::vector<double>{0.25, 0.75}));
    QVERIFY(tree.drawnFrom(2) == nullptr);
}

void DraftTreeTest::ranksCountSiblingsInOrder() {
    DraftTree tree;
    QCOMPARE(tree.add(5, -1, 0.5), 0);
    QCOMPARE(tree.add(6, 0, 0.5), 1);
    QCOMPARE(tree.add(7, -1, 0.25), 2);
    QCOMPARE(tree.add(8, -1, 0.125), 3);
    QCOMPARE(tree.add(9, 0, 0.125), 4);
    const Nodes ranks = {0, 0, 1, 2, 1};
    for (int i = 0; i < tree.size(); ++i)
        QCOMPARE(tree.node(i).rank, ranks[static_cast<std::size_t>(i)]);
    QCOMPARE(tree.children(-1), (Nodes{0, 2, 3}));
}

void DraftTreeTest::layoutParentsAreOneHigherWithTheRootInFront() {
    DraftTree tree;
    tree.add(5, -1, 1.0);
    tree.add(6, 0, 1.0);
    tree.add(7, 0, 1.0);
    tree.add(8, 2, 1.0);
    QCOMPARE(tree.layoutParents(), (Nodes{-1, 0, 1, 1, 3}));
}

void DraftTreeTest::everyRowSeesThePrefixAndItsOwnPath() {
    std::mt19937 random(4);
    for (int round = 0; round < 50; ++round) {
        const DraftTree tree = randomTree(random, 12);
        constexpr Position kPrefix = 7;
        const AttentionLayout layout = AttentionLayout::tree(kPrefix, tree.layoutParents());
        QCOMPARE(layout.rowCount(), tree.size() + 1);
        QCOMPARE(keyCount(layout, 0), kPrefix + 1);
        for (int node = 0; node < tree.size(); ++node) {
            QCOMPARE(layout.position(node + 1), kPrefix + tree.depth(node));
            QCOMPARE(keyCount(layout, node + 1), kPrefix + tree.depth(node) + 1);
        }
    }
}

void DraftTreeTest::aParentMustBeThere() {
    DraftTree tree;
    QVERIFY_THROWS_EXCEPTION(EngineBug, tree.add(1, 0, 1.0));
    tree.add(1, -1, 1.0);
    QVERIFY_THROWS_EXCEPTION(EngineBug, tree.add(1, -2, 1.0));
    QVERIFY_THROWS_EXCEPTION(EngineBug, tree.add(1, 1, 1.0));
    QVERIFY_THROWS_EXCEPTION(EngineBug, makeCaterpillar(std::vector<DraftLevel>(1), 4));
}

void DraftTreeTest::anEmptyTreeIsTheRootAlone() {
    const DraftTree tree;
    QCOMPARE(tree.size(), 0);
    QCOMPARE(tree.draftSteps(), 0);
    QCOMPARE(tree.layoutParents(), (Nodes{-1}));
    QVERIFY(tree.children(-1).empty());
}

void DraftTreeTest::aCutStepKeepsWhatBelongsToItsTokens() {
    DecodeStep step;
    step.tokens = {1, 2, 3};
    step.facts.resize(3);
    step.path = {0, 1};
    step.cutTo(5);
    QCOMPARE(step.tokens, (Ids{1, 2, 3}));
    QCOMPARE(step.path, (Nodes{0, 1}));
    step.cutTo(1);
    QCOMPARE(step.tokens, (Ids{1}));
    QCOMPARE(step.facts.size(), std::size_t{1});
    QCOMPARE(step.path, (Nodes{0}));
}

void DraftTreeTest::namesAreWhatRecordingsHold() {
    QVERIFY(tokenOriginName(TokenOrigin::Vanilla) == "vanilla");
    QVERIFY(tokenOriginName(TokenOrigin::Draft) == "draft");
    QVERIFY(tokenOriginName(TokenOrigin::Sibling) == "sibling");
    QVERIFY(tokenOriginName(TokenOrigin::Bonus) == "bonus");
    QVERIFY(decoderPhaseName(DecoderPhase::Plain) == "plain");
    QVERIFY(decoderPhaseName(DecoderPhase::Accumulate) == "accumulate");
    QVERIFY(decoderPhaseName(DecoderPhase::Optimise) == "optimise");
    QVERIFY(decoderPhaseName(DecoderPhase::Accelerate) == "accelerate");
}

QTEST_APPLESS_MAIN(DraftTreeTest)

#include "draft_tree_test.moc"
