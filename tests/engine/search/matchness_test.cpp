// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/sampler.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_space.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/programs/live_bytes.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <cstring>
#include <random>

using namespace engine;

namespace {

constexpr int kLayers = 6;
constexpr Position kPromptLength = 9;
constexpr int kAnswerLength = 20;
constexpr int kWindowLength = 12;

using Logits = std::vector<std::vector<double>>;

/// Keeps the logits of the last pass of the transformer behind it, or refuses to run at all.
class WatchedTransformer : public support::WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        if (isBroken)
            return nonFiniteError("a test", "none", 3);
        ++passCount;
        ForwardRequest watched = request;
        if (!request.summaryRows.empty())
            watched.logitRows = request.summaryRows;
        auto ran = inner().forwardInto(watched, cache, result);
        lastLogits.clear();
        for (int row = 0; ran && row < result.logits.count(); ++row)
            lastLogits.push_back(support::rowOf(result, row));
        return ran;
    }

    Logits lastLogits;
    int passCount = 0;
    bool isBroken = false;
};

WatchedTransformer makeTransformer() {
    return WatchedTransformer(support::layeredModel(kLayers, 3));
}

std::vector<TokenId> randomPrompt() {
    std::mt19937 random(9);
    std::vector<TokenId> ids(kPromptLength);
    for (TokenId& id : ids)
        id = static_cast<TokenId>(random() % 160);
    return ids;
}

/// A greedy answer and the cache it left: prompt + answer - 1 rows, the newest token pending.
struct Answer {
    KvCache cache;
    std::vector<TokenId> tokens;

    MatchnessWindow window() const {
        return {kPromptLength,
                {tokens.begin(), tokens.begin() + kWindowLength},
                {tokens.begin() + 1, tokens.begin() + kWindowLength + 1}};
    }
};

Answer answerGreedily(Transformer& transformer) {
    const LayerPlan full = LayerPlan::full(kLayers);
    Answer answer{support::emptyCache(transformer, 64), {}};
    const auto prompt = randomPrompt();
    auto logits = support::runChain(transformer, answer.cache, full, prompt, 64);
    answer.tokens.push_back(argmax(logits.back()));
    while (answer.tokens.size() < kAnswerLength) {
        const std::vector<TokenId> newest = {answer.tokens.back()};
        logits = support::runChain(transformer, answer.cache, full, newest, 1);
        answer.tokens.push_back(argmax(logits.back()));
    }
    return answer;
}

/// Plans that skip more and more, by a seed.
LayerPlan randomPlan(unsigned seed) {
    std::mt19937 random(seed);
    const SkipSpace space = SkipSpace::all(kLayers);
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(space.dims()));
    for (std::uint8_t& bit : bits)
        bit = random() % 20 < seed ? 1 : 0;
    return space.plan(bits);
}

} // namespace

class MatchnessTest : public QObject {
    Q_OBJECT

private slots:
    void skippingNothingScoresOneOnGreedyOutput();
    void theScoreCountsTheMatches();
    void scratchSlotsGiveTheLogitsOfASnapshot();
    void targetKeysAreThoseOfTheFullModel();
    void theLiveCacheStaysAsItWas();
    void windowsMayBeOneTokenLong();
    void faultsOfAPassAreHandedOn();
    void wrongWindowsAreBugs();
};

void MatchnessTest::skippingNothingScoresOneOnGreedyOutput() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    for (const MatchnessKeys keys : {MatchnessKeys::PromptOnly, MatchnessKeys::Target}) {
        const int passesBefore = transformer.passCount;
        const auto found =
            matchness(transformer, answer.cache, LayerPlan::full(kLayers), answer.window(), keys);
        QVERIFY(found.hasValue());
        QCOMPARE(found.value().score, 1.0);
        QCOMPARE(found.value().matches, std::vector<std::uint8_t>(kWindowLength, 1));
        QCOMPARE(transformer.passCount, passesBefore + 1);
    }
}

void MatchnessTest::theScoreCountsTheMatches() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    MatchnessWindow window = answer.window();
    for (const std::size_t wrong : {2, 7, 11})
        window.expected[wrong] = (window.expected[wrong] + 1) % 160;
    const auto found = matchness(transformer, answer.cache, LayerPlan::full(kLayers), window);
    QCOMPARE(found.value().score, 0.75);
    QCOMPARE(found.value().matches,
             (std::vector<std::uint8_t>{1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0}));
}

void MatchnessTest::scratchSlotsGiveTheLogitsOfASnapshot() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    const MatchnessWindow window = answer.window();
    int imperfect = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        const LayerPlan plan = randomPlan(seed);
        const auto found = matchness(transformer, answer.cache, plan, window);
        const Logits logits = transformer.lastLogits;
        KvCache snapshot = support::emptyCache(transformer, 64);
        support::runChain(
            transformer, snapshot, LayerPlan::full(kLayers), randomPrompt(), kPromptLength);
        const Logits wanted =
            support::runChain(transformer, snapshot, plan, window.inputs, kWindowLength);
        QVERIFY(logits == wanted);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            QCOMPARE(found.value().matches[i] != 0, argmax(wanted[i]) == window.expected[i]);
            QCOMPARE(found.value().guesses[i], argmax(wanted[i]));
        }
        imperfect += found.value().score < 1.0 ? 1 : 0;
    }
    QVERIFY(imperfect > 5); // else nothing was compared but full plans
}

void MatchnessTest::targetKeysAreThoseOfTheFullModel() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    const MatchnessWindow window = answer.window();
    const LayerPlan plan = randomPlan(8);
    QVERIFY(matchness(transformer, answer.cache, plan, window).hasValue());
    const Logits withOwnKeys = transformer.lastLogits;
    QVERIFY(matchness(transformer, answer.cache, plan, window, MatchnessKeys::Target).hasValue());
    const Logits logits = transformer.lastLogits;
    KvCache target = support::emptyCache(transformer, 64);
    const LayerPlan full = LayerPlan::full(kLayers);
    support::runChain(transformer, target, full, randomPrompt(), kPromptLength);
    for (std::size_t i = 0; i < window.inputs.size(); ++i) {
        const std::span<const TokenId> token = std::span(window.inputs).subspan(i, 1);
        const Logits wanted = support::logitsOf(
            transformer, target, plan, AttentionLayout::chain(target.length(), 1), token);
        QVERIFY(logits[i] == wanted.front());
        support::runChain(transformer, target, full, token, 1);
    }
    QVERIFY(logits.front() == withOwnKeys.front()); // sees the prompt alone either way
    QVERIFY(logits.back() != withOwnKeys.back());
}

void MatchnessTest::theLiveCacheStaysAsItWas() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    const Position length = answer.cache.length();
    const std::vector<std::byte> before = support::liveBytes(answer.cache);
    QCOMPARE(length, kPromptLength + kAnswerLength - 1);
    for (const MatchnessKeys keys : {MatchnessKeys::PromptOnly, MatchnessKeys::Target})
        for (const unsigned seed : {0U, 6U, 15U}) {
            QVERIFY(matchness(transformer, answer.cache, randomPlan(seed), answer.window(), keys)
                        .hasValue());
            QCOMPARE(answer.cache.length(), length);
            QVERIFY(support::liveBytes(answer.cache) == before);
        }
}

void MatchnessTest::windowsMayBeOneTokenLong() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    const MatchnessWindow window{kPromptLength, {answer.tokens[0]}, {answer.tokens[1]}};
    const auto found = matchness(transformer, answer.cache, LayerPlan::full(kLayers), window);
    QCOMPARE(found.value().score, 1.0);
}

void MatchnessTest::faultsOfAPassAreHandedOn() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    transformer.isBroken = true;
    const auto found =
        matchness(transformer, answer.cache, LayerPlan::full(kLayers), answer.window());
    QVERIFY(!found.hasValue());
    QCOMPARE(found.error().code, ErrorCode::Numeric);
}

void MatchnessTest::wrongWindowsAreBugs() {
    WatchedTransformer transformer = makeTransformer();
    Answer answer = answerGreedily(transformer);
    const LayerPlan full = LayerPlan::full(kLayers);
    const auto measure = [&](const MatchnessWindow& window, MatchnessKeys keys) {
        return matchness(transformer, answer.cache, full, window, keys).hasValue();
    };
    MatchnessWindow uneven = answer.window();
    uneven.expected.pop_back();
    QVERIFY_EXCEPTION_THROWN(measure(uneven, MatchnessKeys::PromptOnly), EngineBug);
    QVERIFY_EXCEPTION_THROWN(measure({kPromptLength, {}, {}}, MatchnessKeys::Target), EngineBug);
    const std::vector<TokenId> tooMany(40, 1);
    QVERIFY_EXCEPTION_THROWN(measure({kPromptLength, tooMany, tooMany}, MatchnessKeys::PromptOnly),
                             EngineBug);
    // Target keys of rows that the cache does not hold.
    QVERIFY_EXCEPTION_THROWN(measure({25, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}}, MatchnessKeys::Target),
                             EngineBug);
}

QTEST_APPLESS_MAIN(MatchnessTest)
#include "matchness_test.moc"
