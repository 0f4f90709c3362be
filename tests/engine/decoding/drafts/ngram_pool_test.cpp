// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/guesses/ngram_pool.h"
#include "engine/decoding/guesses/prompt_filler.h"

#include <QTest>

#include <random>
#include <set>

using namespace engine;

namespace {

using Ids = std::vector<TokenId>;
using Ngrams = std::vector<Ngram>;

Ngrams held(const NgramPool& pool, TokenId key) {
    const auto candidates = pool.candidates(key);
    return {candidates.begin(), candidates.end()};
}

/// Tokens and parents, in order.
std::vector<std::pair<TokenId, int>> shape(const DraftTree& tree) {
    std::vector<std::pair<TokenId, int>> nodes;
    for (const DraftNode& node : tree.nodes())
        nodes.emplace_back(node.token, node.parent);
    return nodes;
}

using Shape = std::vector<std::pair<TokenId, int>>;

Ids pathTo(const DraftTree& tree, int node) {
    Ids path;
    for (; node >= 0; node = tree.node(node).parent)
        path.insert(path.begin(), tree.node(node).token);
    return path;
}

} // namespace

class NgramPoolTest : public QObject {
    Q_OBJECT

private slots:
    void theNewestNgramsOfAKeyAreKept();
    void whatIsThereIsOnlyMoved();
    void theKeysThatWereWrittenLastAreKept();
    void memoryIsBoundedWhateverComes();
    void aTextGivesAllItsNgrams();
    void aLowerLimitTakesTheOldest();
    void equalPrefixesShareNodes();
    void rowsAreSharedOutByTheNgramsThatTakeThem();
    void roomAndEndsAreKept();
    void whatATreeHasIsNotDraftedTwice();
    void randomMergesHoldEveryNgramThatFits();
    void fillersRepeatAndAvoidEnds();
};

void NgramPoolTest::theNewestNgramsOfAKeyAreKept() {
    NgramPool pool(3);
    for (TokenId last = 1; last <= 5; ++last)
        pool.insert(7, Ids{10, last});
    pool.insert(8, Ids{1, 2});
    QCOMPARE(held(pool, 7), (Ngrams{{10, 5}, {10, 4}, {10, 3}}));
    QCOMPARE(held(pool, 8), (Ngrams{{1, 2}}));
    QVERIFY(pool.candidates(9).empty());
    pool.clear();
    QVERIFY(pool.candidates(7).empty());
    QCOMPARE(pool.keyCount(), 0);
}

void NgramPoolTest::whatIsThereIsOnlyMoved() {
    NgramPool pool(3);
    for (const TokenId last : {1, 2, 3, 1})
        pool.insert(7, Ids{last, 0});
    QCOMPARE(held(pool, 7), (Ngrams{{1, 0}, {3, 0}, {2, 0}}));
    pool.insert(7, Ids{4, 0}); // 2 was refreshed longest ago
    QCOMPARE(held(pool, 7), (Ngrams{{4, 0}, {1, 0}, {3, 0}}));
    pool.insert(7, Ids{1, 0});
    pool.insert(7, Ids{1, 0});
    QCOMPARE(held(pool, 7), (Ngrams{{1, 0}, {4, 0}, {3, 0}}));
    pool.insert(7, Ids{1, 0, 5}); // longer: another one
    QCOMPARE(held(pool, 7), (Ngrams{{1, 0, 5}, {1, 0}, {4, 0}}));
}

void NgramPoolTest::theKeysThatWereWrittenLastAreKept() {
    NgramPool pool(2, 3);
    for (const TokenId key : {1, 2, 3, 1, 4}) // 2 was written longest ago
        pool.insert(key, Ids{key, key});
    QCOMPARE(pool.keyCount(), 3);
    QVERIFY(pool.candidates(2).empty());
    for (const TokenId key : {1, 3, 4})
        QCOMPARE(held(pool, key), (Ngrams{{key, key}}));
    pool.insert(2, Ids{9});
    QVERIFY(pool.candidates(3).empty());
    QCOMPARE(held(pool, 2), (Ngrams{{9}})); // nothing is left of what it held before
}

void NgramPoolTest::memoryIsBoundedWhateverComes() {
    std::mt19937 random(3);
    NgramPool pool(4, 50);
    for (int i = 0; i < 20'000; ++i) {
        const auto key = static_cast<TokenId>(random() % 400);
        pool.insert(key,
                    Ids{static_cast<TokenId>(random() % 9), static_cast<TokenId>(random() % 9)});
        QVERIFY(pool.keyCount() <= 50);
        QVERIFY(pool.candidates(key).size() <= 4);
    }
    std::size_t all = 0;
    for (TokenId key = 0; key < 400; ++key)
        all += pool.candidates(key).size();
    QVERIFY(all > 50 && all <= 200);
}

void NgramPoolTest::aTextGivesAllItsNgrams() {
    NgramPool pool(5);
    pool.insertText(Ids{1, 2, 3, 1, 2, 4}, 2);
    QCOMPARE(pool.keyCount(), 3);
    QCOMPARE(held(pool, 1), (Ngrams{{2, 4}, {2, 3}}));
    QCOMPARE(held(pool, 2), (Ngrams{{3, 1}}));
    QCOMPARE(held(pool, 3), (Ngrams{{1, 2}}));
    NgramPool none(5);
    none.insertText(Ids{1, 2}, 2);
    none.insertText({}, 2);
    QCOMPARE(none.keyCount(), 0);
}

void NgramPoolTest::aLowerLimitTakesTheOldest() {
    NgramPool pool(4);
    for (TokenId last = 1; last <= 4; ++last)
        pool.insert(7, Ids{last});
    pool.limitTo(2);
    QCOMPARE(held(pool, 7), (Ngrams{{4}, {3}}));
    pool.insert(7, Ids{5});
    QCOMPARE(held(pool, 7), (Ngrams{{5}, {4}}));
}

void NgramPoolTest::equalPrefixesShareNodes() {
    DraftTree tree;
    const Ngrams ngrams = {{1, 2, 3}, {1, 2, 4}, {5, 2, 3}, {1, 2, 3}, {1, 6, 3}};
    mergeNgrams(tree, ngrams, {.nodes = 20, .depth = 10});
    QCOMPARE(shape(tree),
             (Shape{{1, -1}, {2, 0}, {3, 1}, {4, 1}, {5, -1}, {2, 4}, {3, 5}, {6, 0}, {3, 7}}));
    QCOMPARE(tree.draftSteps(), 3);
}

void NgramPoolTest::rowsAreSharedOutByTheNgramsThatTakeThem() {
    DraftTree tree;
    mergeNgrams(tree, Ngrams{{1, 2}, {1, 3}, {4, 2}, {1}}, {.nodes = 20, .depth = 10});
    QCOMPARE(shape(tree), (Shape{{1, -1}, {2, 0}, {3, 0}, {4, -1}, {2, 3}}));
    const std::vector<double> expected = {0.75, 0.5, 0.5, 0.25, 1.0};
    for (int node = 0; node < tree.size(); ++node)
        QCOMPARE(tree.node(node).probability, expected[static_cast<std::size_t>(node)]);
    const auto confidences = tree.confidences();
    QCOMPARE(std::vector<double>(confidences.begin(), confidences.end()),
             (std::vector<double>{0.75, 0.5}));
}

void NgramPoolTest::roomAndEndsAreKept() {
    const Ngrams ngrams = {{1, 2, 3}, {1, 4, 3}, {5, 2, 3}};
    DraftTree few;
    mergeNgrams(few, ngrams, {.nodes = 4, .depth = 10});
    QCOMPARE(shape(few), (Shape{{1, -1}, {2, 0}, {3, 1}, {4, 0}}));
    DraftTree flat;
    mergeNgrams(flat, ngrams, {.nodes = 10, .depth = 1});
    QCOMPARE(shape(flat), (Shape{{1, -1}, {5, -1}}));
    DraftTree none;
    mergeNgrams(none, ngrams, {.nodes = 10, .depth = 0});
    mergeNgrams(none, ngrams, {.nodes = 10, .depth = -1});
    mergeNgrams(none, ngrams, {.nodes = 0, .depth = 5});
    QCOMPARE(none.size(), 0);
    QCOMPARE(none.draftSteps(), 0);
    const Ids ends = {9, 4};
    DraftTree ended;
    mergeNgrams(ended, ngrams, {.nodes = 10, .depth = 10, .endIds = ends});
    QCOMPARE(shape(ended), (Shape{{1, -1}, {2, 0}, {3, 1}, {4, 0}, {5, -1}, {2, 4}, {3, 5}}));
}

void NgramPoolTest::whatATreeHasIsNotDraftedTwice() {
    DraftTree tree;
    tree.add(1, -1, 0.9);
    tree.add(2, 0, 0.8);
    tree.add(7, -1, 0.1);
    tree.addConfidence(0.9);
    tree.addConfidence(0.8);
    mergeNgrams(tree, Ngrams{{1, 2, 3}, {7, 8}}, {.nodes = 10, .depth = 10});
    QCOMPARE(shape(tree), (Shape{{1, -1}, {2, 0}, {7, -1}, {3, 1}, {8, 2}}));
    QCOMPARE(tree.node(0).probability, 0.9);
    QCOMPARE(tree.draftSteps(), 3); // the third level is new
}

void NgramPoolTest::randomMergesHoldEveryNgramThatFits() {
    std::mt19937 random(5);
    for (int turn = 0; turn < 300; ++turn) {
        Ngrams ngrams(1 + random() % 8);
        std::set<Ids> prefixes;
        for (Ngram& ngram : ngrams) {
            ngram.resize(1 + random() % 4);
            for (TokenId& token : ngram)
                token = static_cast<TokenId>(random() % 3);
            for (std::size_t length = 1; length <= ngram.size(); ++length)
                prefixes.insert({ngram.begin(), ngram.begin() + static_cast<int>(length)});
        }
        DraftTree tree;
        mergeNgrams(tree, ngrams, {.nodes = 100, .depth = 10});
        std::set<Ids> paths;
        for (int node = 0; node < tree.size(); ++node)
            paths.insert(pathTo(tree, node));
        QCOMPARE(static_cast<int>(paths.size()), tree.size()); // no sibling twice
        QVERIFY(paths == prefixes);
        double firstLevel = 0.0;
        for (const int child : tree.children(-1))
            firstLevel += tree.node(child).probability;
        QVERIFY(std::abs(firstLevel - 1.0) < 1e-12);
    }
}

void NgramPoolTest::fillersRepeatAndAvoidEnds() {
    PromptFiller filler;
    const Ids prompt = {3, 9, 5, 7};
    const Ids ends = {9};
    Ids first;
    filler.begin(prompt, ends, 4);
    QCOMPARE(filler.probability(), 1.0 / 3.0);
    for (int i = 0; i < 60; ++i)
        first.push_back(filler.next());
    QCOMPARE(std::set<TokenId>(first.begin(), first.end()), (std::set<TokenId>{3, 5, 7}));
    filler.begin(prompt, ends, 4);
    for (const TokenId token : first)
        QCOMPARE(filler.next(), token);
    filler.begin(prompt, ends, 5);
    Ids other;
    for (int i = 0; i < 60; ++i)
        other.push_back(filler.next());
    QVERIFY(other != first);
    filler.begin(ends, ends, 4); // nothing else to choose from
    QCOMPARE(filler.next(), 9);
}

QTEST_APPLESS_MAIN(NgramPoolTest)
#include "ngram_pool_test.moc"
