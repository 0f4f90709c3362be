// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/target.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace engine;
using support::firstOf;
using support::Ids;
using support::isCacheFresh;
using support::randomIds;

namespace {

constexpr int kScratch = 16;
constexpr int kAnswer = 24;

Transformer& transformer() {
    static const auto made = support::layeredModel(3, 7);
    return *made;
}

SamplingOptions samplingOf(bool isGreedy) {
    return isGreedy ? SamplingOptions{}
                    : SamplingOptions{.temperature = 0.7, .topK = 40, .topP = 0.95, .seed = 5};
}

Ids vanillaAnswer(const Ids& prompt, const SamplingOptions& sampling, std::size_t count = kAnswer) {
    return support::vanillaAnswer(transformer(), prompt, count, sampling);
}

Target makeTarget(const SamplingOptions& sampling, int contextLength = 128) {
    return Target::make(transformer(), sampling, contextLength, kScratch).value();
}

bool hasChild(const DraftTree& tree, int parent, TokenId token) {
    for (const int child : tree.children(parent))
        if (tree.node(child).token == token)
            return true;
    return false;
}

/// A tree of any shape, not only caterpillars, in which the coming tokens are likely to be found.
DraftTree randomTree(std::mt19937& random, std::span<const TokenId> coming, int nodes) {
    DraftTree tree;
    std::vector<bool> isRight;
    while (tree.size() < nodes) {
        const auto size = static_cast<unsigned>(tree.size());
        const int parent = static_cast<int>(random() % (size + 1)) - 1;
        const auto depth = static_cast<std::size_t>(tree.depth(parent));
        const bool goesOn = parent < 0 || isRight[static_cast<std::size_t>(parent)];
        const bool takesRight = goesOn && depth < coming.size() && random() % 2 == 0;
        const auto token = takesRight ? coming[depth] : static_cast<TokenId>(random() % 160);
        if (hasChild(tree, parent, token))
            continue;
        tree.add(token, parent, 0.5);
        isRight.push_back(goesOn && depth < coming.size() && coming[depth] == token);
    }
    return tree;
}

/// Whether a step's facts say how its tokens came about.
bool isConsistent(const DecodeStep& step) {
    bool isRight =
        step.facts.size() == step.tokens.size() && step.path.size() <= step.tokens.size() &&
        step.tokens.size() <= step.path.size() + 1 && step.verifiedRows == step.draft.size() + 1;
    int parent = -1;
    for (std::size_t i = 0; i < step.path.size(); ++i) {
        const DraftNode& node = step.draft.node(step.path[i]);
        const TokenOrigin origin = node.rank == 0 ? TokenOrigin::Draft : TokenOrigin::Sibling;
        isRight = isRight && node.parent == parent && node.token == step.tokens[i] &&
                  step.facts[i].origin == origin && step.facts[i].rank == node.rank &&
                  step.facts[i].draftProbability == node.probability;
        parent = step.path[i];
    }
    for (const TokenFact& fact : step.facts)
        isRight = isRight && fact.targetProbability > 0.0 && fact.targetProbability <= 1.0;
    if (step.tokens.size() > step.path.size())
        isRight = isRight && step.facts.back().rank == -1 &&
                  step.facts.back().origin ==
                      (step.isPlain() ? TokenOrigin::Vanilla : TokenOrigin::Bonus);
    return isRight;
}

/// Rounds of random trees until the answer is over. Returns whether all of them kept the rules.
bool runRandomRounds(Target& target, const Ids& prompt, const Ids& expected, unsigned seed) {
    std::mt19937 random(seed);
    while (target.output().size() < expected.size() && target.remainingTokens() > 0) {
        const auto coming = std::span(expected).subspan(target.output().size());
        const int nodes = static_cast<int>(random() % 12);
        auto step = target.verify(randomTree(random, coming, nodes), VerifyRule::Match);
        if (!step || !isConsistent(step.value()) || !isCacheFresh(target, prompt))
            return false;
        if (target.outputArgmax().size() != target.output().size())
            return false;
    }
    return true;
}

Ids outputOf(const Target& target) { return {target.output().begin(), target.output().end()}; }

void addSampling() {
    QTest::addColumn<bool>("isGreedy");
    QTest::newRow("greedy") << true;
    QTest::newRow("sampling") << false;
}

} // namespace

class TargetTest : public QObject {
    Q_OBJECT

private slots:

    void anyTreeGivesVanillasTokensAndLeavesAFreshCache_data() { addSampling(); }

    void anyTreeGivesVanillasTokensAndLeavesAFreshCache();

    void anEndIdInsideADraftEndsTheAnswer_data() { addSampling(); }

    void anEndIdInsideADraftEndsTheAnswer();
    void theMaximumInsideADraftEndsTheAnswer();
    void theContextsEndInsideADraftEndsTheAnswer();
    void aPromptOfOneTokenWorks();

    void plainStepsAreVanillas_data() { addSampling(); }

    void plainStepsAreVanillas();
    void rejectionLeavesAFreshCacheToo();
    void theArgmaxOfEachTokenIsKnown();
    void theNextPromptReusesTheCache();
    void aCancelledRoundCanBeBegunAgain();
    void aCancelledPromptCanBeBegunAgain();
    void wrongInputIsRefused();
    void influenceIsGathered();
    void greedyPassesAskForNoLogits();
    void everyRowOfAPassIsSeen();
    void anotherPromptForgetsTheRowsSeen();
};

void TargetTest::anyTreeGivesVanillasTokensAndLeavesAFreshCache() {
    QFETCH(bool, isGreedy);
    std::mt19937 random(1);
    for (unsigned seed = 0; seed < 12; ++seed) {
        const Ids prompt = randomIds(random, 1 + random() % 20);
        const Ids expected = vanillaAnswer(prompt, samplingOf(isGreedy));
        Target target = makeTarget(samplingOf(isGreedy));
        QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
        QVERIFY(runRandomRounds(target, prompt, expected, seed));
        QCOMPARE(outputOf(target), expected);
        QCOMPARE(target.remainingTokens(), 0);
    }
}

void TargetTest::anEndIdInsideADraftEndsTheAnswer() {
    QFETCH(bool, isGreedy);
    std::mt19937 random(2);
    for (std::size_t at = 0; at < 8; ++at) {
        const Ids prompt = randomIds(random, 6);
        const Ids vanilla = vanillaAnswer(prompt, samplingOf(isGreedy));
        const Ids endIds = {vanilla[at], 160};
        const auto end = std::find(vanilla.begin(), vanilla.end(), endIds.front());
        Target target = makeTarget(samplingOf(isGreedy));
        QVERIFY(target.begin({prompt, kAnswer, endIds}, {}).hasValue());
        DraftTree chain; // reaches beyond the end
        for (std::size_t i = 0; i < 10; ++i)
            chain.add(vanilla[i], static_cast<int>(i) - 1, 0.5);
        const auto step = target.verify(chain, VerifyRule::Match);
        QVERIFY(step.hasValue() && isConsistent(step.value()));
        QCOMPARE(step.value().tokens, Ids(vanilla.begin(), end + 1));
        QCOMPARE(step.value().path.size(), step.value().tokens.size()); // no bonus
        QVERIFY(isCacheFresh(target, prompt));
    }
}

void TargetTest::theMaximumInsideADraftEndsTheAnswer() {
    std::mt19937 random(3);
    const Ids prompt = randomIds(random, 5);
    const Ids vanilla = vanillaAnswer(prompt, {});
    for (std::size_t most = 1; most <= 12; ++most) {
        Target target = makeTarget({});
        QVERIFY(target.begin({prompt, static_cast<int>(most)}, {}).hasValue());
        const Ids expected = firstOf(vanilla, most);
        DraftTree chain;
        for (std::size_t i = 0; i < 6; ++i)
            chain.add(vanilla[i], static_cast<int>(i) - 1, 0.5);
        const auto step = target.verify(chain, VerifyRule::Match);
        QVERIFY(step.hasValue());
        QCOMPARE(step.value().tokens, firstOf(vanilla, std::min<std::size_t>(most, 7)));
        QVERIFY(isCacheFresh(target, prompt));
        QVERIFY(runRandomRounds(target, prompt, vanilla, static_cast<unsigned>(most)));
        QCOMPARE(outputOf(target), expected);
        QVERIFY_THROWS_EXCEPTION(EngineBug, (void)target.plainStep());
    }
}

void TargetTest::theContextsEndInsideADraftEndsTheAnswer() {
    std::mt19937 random(4);
    const Ids prompt = randomIds(random, 9);
    const Ids vanilla = vanillaAnswer(prompt, {});
    for (int room = 1; room <= 9; ++room) {
        Target target = makeTarget({}, 9 + room);
        QVERIFY(target.begin({prompt}, {}).hasValue());
        QCOMPARE(target.remainingContext(), room);
        QCOMPARE(target.remainingTokens(), room);
        QVERIFY(runRandomRounds(target, prompt, vanilla, static_cast<unsigned>(room)));
        QCOMPARE(outputOf(target), firstOf(vanilla, static_cast<std::size_t>(room)));
        QCOMPARE(target.remainingContext(), 0);
    }
}

void TargetTest::aPromptOfOneTokenWorks() {
    const Ids prompt = {17};
    const Ids vanilla = vanillaAnswer(prompt, {});
    Target target = makeTarget({});
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    QCOMPARE(target.length(), 0);
    QCOMPARE(target.pending(), 17);
    QVERIFY(runRandomRounds(target, prompt, vanilla, 3));
    QCOMPARE(outputOf(target), vanilla);
}

void TargetTest::plainStepsAreVanillas() {
    QFETCH(bool, isGreedy);
    std::mt19937 random(5);
    const Ids prompt = randomIds(random, 8);
    const Ids vanilla = vanillaAnswer(prompt, samplingOf(isGreedy));
    Target target = makeTarget(samplingOf(isGreedy));
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    while (target.output().size() < vanilla.size()) {
        const bool isPlain = random() % 3 != 0;
        const auto coming = std::span(vanilla).subspan(target.output().size());
        const auto step = isPlain ? target.plainStep()
                                  : target.verify(randomTree(random, coming, 6), VerifyRule::Match);
        QVERIFY(step.hasValue() && isConsistent(step.value()));
        QCOMPARE(step.value().isPlain(), isPlain);
        QVERIFY(!isPlain || step.value().tokens.size() == 1);
        QVERIFY(isCacheFresh(target, prompt));
    }
    QCOMPARE(outputOf(target), vanilla);
}

void TargetTest::rejectionLeavesAFreshCacheToo() {
    std::mt19937 random(6);
    LayerPlan plan = LayerPlan::full(3);
    plan.attention[1] = SublayerAction::Skip;
    for (unsigned seed = 0; seed < 6; ++seed) {
        const Ids prompt = randomIds(random, 1 + random() % 10);
        Target target = makeTarget({.temperature = 0.9, .seed = seed});
        QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
        SelfDrafter drafter;
        drafter.use(plan, 1);
        const ConfidenceStopRule rule(0.1, 4);
        const DraftTerms terms{.siblings = {{1, 2, 3, 4}},
                               .maxNodes = 10,
                               .rule = VerifyRule::Rejection,
                               .stopRule = &rule};
        while (target.remainingTokens() > 0) {
            auto draft = drafter.draft(target, terms);
            QVERIFY(draft.hasValue());
            const auto step = target.verify(std::move(draft).value(), VerifyRule::Rejection);
            QVERIFY(step.hasValue() && isConsistent(step.value()));
            QVERIFY(isCacheFresh(target, prompt));
        }
        QCOMPARE(target.output().size(), static_cast<std::size_t>(kAnswer));
    }
}

void TargetTest::theArgmaxOfEachTokenIsKnown() {
    std::mt19937 random(7);
    const Ids prompt = randomIds(random, 6);
    const Ids vanilla = vanillaAnswer(prompt, samplingOf(false));
    Target target = makeTarget(samplingOf(false));
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    QVERIFY(runRandomRounds(target, prompt, vanilla, 1));
    Ids sequence = prompt;
    sequence.insert(sequence.end(), vanilla.begin(), vanilla.end());
    KvCache cache = support::emptyCache(transformer(), 64);
    const auto logits = support::runChain(transformer(), cache, LayerPlan::full(3), sequence, 16);
    for (std::size_t i = 0; i < vanilla.size(); ++i)
        QCOMPARE(target.outputArgmax()[i], argmax(logits[prompt.size() - 1 + i]));
    QVERIFY(outputOf(target) != Ids(target.outputArgmax().begin(), target.outputArgmax().end()));
}

void TargetTest::theNextPromptReusesTheCache() {
    std::mt19937 random(8);
    Ids prompt = randomIds(random, 7);
    Target target = makeTarget({});
    for (int turn = 0; turn < 3; ++turn) {
        const Ids vanilla = vanillaAnswer(prompt, {}, 10);
        QVERIFY(target.begin({prompt, 10}, {}).hasValue());
        QVERIFY(target.output().empty());
        QCOMPARE(target.promptLength(), static_cast<Position>(prompt.size()));
        QVERIFY(runRandomRounds(target, prompt, vanilla, 20));
        QCOMPARE(outputOf(target), vanilla);
        prompt.insert(prompt.end(), vanilla.begin(), vanilla.end() - 2); // as if it were edited
        prompt.push_back(3);
    }
}

void TargetTest::aCancelledRoundCanBeBegunAgain() {
    std::mt19937 random(9);
    const Ids prompt = randomIds(random, 7);
    const Ids vanilla = vanillaAnswer(prompt, {});
    std::stop_source source;
    Target target = makeTarget({});
    QVERIFY(target.begin({prompt, kAnswer}, {.stop = source.get_token()}).hasValue());
    QVERIFY(target.plainStep().hasValue());
    source.request_stop();
    const auto stopped = target.verify(randomTree(random, vanilla, 4), VerifyRule::Match);
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    QCOMPARE(target.plainStep().error().code, ErrorCode::Cancelled);
    SelfDrafter drafter;
    drafter.use(LayerPlan::full(3), 1);
    const auto draft = drafter.draft(target, {.maxDepth = 3});
    QVERIFY(!draft.hasValue());
    QCOMPARE(draft.error().code, ErrorCode::Cancelled);
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    QVERIFY(runRandomRounds(target, prompt, vanilla, 2));
    QCOMPARE(outputOf(target), vanilla);
}

void TargetTest::aCancelledPromptCanBeBegunAgain() {
    std::mt19937 random(10);
    const Ids prompt = randomIds(random, 40);
    std::stop_source source;
    source.request_stop();
    Target target = makeTarget({});
    const auto begun = target.begin({prompt, kAnswer}, {.stop = source.get_token()});
    QVERIFY(!begun.hasValue());
    QCOMPARE(begun.error().code, ErrorCode::Cancelled);
    QVERIFY_THROWS_EXCEPTION(EngineBug, (void)target.plainStep()); // there is no prompt
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    const Ids vanilla = vanillaAnswer(prompt, {});
    QVERIFY(runRandomRounds(target, prompt, vanilla, 2));
    QCOMPARE(outputOf(target), vanilla);
}

void TargetTest::wrongInputIsRefused() {
    const auto hot = Target::make(transformer(), {.temperature = -1.0}, 64, 4);
    QVERIFY(!hot.hasValue());
    QCOMPARE(hot.error().code, ErrorCode::InvalidInput);
    Target target = makeTarget({}, 8);
    QCOMPARE(target.pending(), kNoToken);
    QCOMPARE(target.begin(Prompt(), {}).error().code, ErrorCode::InvalidInput);
    QCOMPARE(target.begin({Ids{1, 160}}, {}).error().code, ErrorCode::InvalidInput);
    QCOMPARE(target.begin({Ids(8, 1)}, {}).error().code, ErrorCode::InvalidInput);
    QVERIFY(target.begin({Ids(7, 1)}, {}).hasValue());
    QCOMPARE(target.remainingTokens(), 1);
}

void TargetTest::influenceIsGathered() {
    Target target = makeTarget({});
    const Ids prompt = {1, 2, 3, 4};
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    QCOMPARE(target.influence().rows(), 3L);
    DraftTree tree;
    tree.add(1, -1, 0.5);
    tree.add(2, -1, 0.5);
    QVERIFY(target.verify(tree, VerifyRule::Match).hasValue());
    QCOMPARE(target.influence().rows(), 6L);
    const std::vector<double> means = target.influence().means();
    QCOMPARE(means.size(), std::size_t{6});
    for (const double mean : means)
        QVERIFY(mean > 0.0 && std::isfinite(mean));
}

namespace {

/// Counts the rows whose logits are asked for.
class AskedTransformer final : public support::WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        logitRows += request.logitRows.size();
        summaryRows += request.summaryRows.size();
        return inner().forwardInto(request, cache, result);
    }

    std::size_t logitRows = 0;
    std::size_t summaryRows = 0;
};

} // namespace

void TargetTest::greedyPassesAskForNoLogits() {
    for (const bool isGreedy : {true, false}) {
        AskedTransformer asked(transformer());
        Target target = Target::make(asked, samplingOf(isGreedy), 128, kScratch).value();
        const Ids prompt = {1, 2, 3};
        QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
        DraftTree tree;
        tree.add(4, -1, 0.5);
        QVERIFY(target.verify(tree, VerifyRule::Match).hasValue());
        QVERIFY(target.plainStep().hasValue());
        QCOMPARE(asked.logitRows, isGreedy ? std::size_t{0} : std::size_t{3});
        QCOMPARE(asked.summaryRows, std::size_t{3});
    }
}

void TargetTest::everyRowOfAPassIsSeen() {
    for (const bool isGreedy : {true, false}) {
        Target target = makeTarget(samplingOf(isGreedy));
        const Ids prompt = {9, 2, 5, 7};
        QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
        QVERIFY(target.lastSummaries().empty());
        DraftTree tree; // 7 -> 11 -> 13, 7 -> 11 -> 14, 7 -> 12
        tree.add(11, -1, 0.5);
        tree.add(13, 0, 0.5);
        tree.add(14, 0, 0.5);
        tree.add(12, -1, 0.5);
        QVERIFY(target.verify(tree, VerifyRule::Match).hasValue());
        const std::vector<Ids> rows = {
            prompt, {9, 2, 5, 7, 11}, {9, 2, 5, 7, 11, 13}, {9, 2, 5, 7, 11, 14}, {9, 2, 5, 7, 12}};
        QCOMPARE(target.lastSummaries().size(), rows.size());
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const SeenRow seen = target.seenRow(static_cast<int>(row));
            KvCache cache = support::emptyCache(transformer(), 16);
            const auto logits =
                support::runChain(transformer(), cache, LayerPlan::full(3), rows[row], 16).back();
            QCOMPARE(seen.token, rows[row].back());
            QCOMPARE(seen.previous, rows[row][rows[row].size() - 2]);
            const HeadSummary wanted = summarise(logits);
            QCOMPARE(seen.summary.ids, wanted.ids);
            QCOMPARE(seen.summary.logits, wanted.logits);
            QVERIFY(seen.summary.logSumExp == wanted.logSumExp);
        }
    }
}

void TargetTest::anotherPromptForgetsTheRowsSeen() {
    Target target = makeTarget({});
    const Ids prompt = {17};
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    QVERIFY(target.plainStep().hasValue());
    QCOMPARE(target.seenRow(0).token, 17);
    QCOMPARE(target.seenRow(0).previous, kNoToken);
    QVERIFY(target.begin({prompt, kAnswer}, {}).hasValue());
    QVERIFY(target.lastSummaries().empty());
}

QTEST_APPLESS_MAIN(TargetTest)

#include "target_test.moc"
