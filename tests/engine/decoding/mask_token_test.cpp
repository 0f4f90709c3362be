// SPDX-License-Identifier: Apache-2.0
// A model that names a mask token never emits it, whoever decodes and however tokens are drawn.
#include "engine/decoding/target.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/models/plain_model.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace engine;
using support::Ids;

namespace {

const Ids kPrompt = {3, 1, 4, 1, 5};
constexpr std::size_t kAnswer = 40;

std::unique_ptr<Transformer> model(TokenId maskToken) {
    ModelConfig config = support::tinyConfig();
    config.maskTokenId = maskToken;
    return support::plainModel(config, support::randomWeights(config, 7));
}

Ids answerOf(Transformer& transformer, const SamplingOptions& sampling) {
    return support::vanillaAnswer(transformer, kPrompt, kAnswer, sampling);
}

/// From all logits of fresh passes, the mask's taken out by hand.
Ids answerWithout(Transformer& transformer, const SamplingOptions& sampling, TokenId mask) {
    const Sampler sampler(sampling);
    Ids all = kPrompt;
    while (all.size() < kPrompt.size() + kAnswer) {
        KvCache cache = support::emptyCache(transformer, 100);
        auto logits = support::runChain(
            transformer, cache, LayerPlan::full(transformer.config().layerCount), all, 64);
        if (mask != kNoToken)
            logits.back()[static_cast<std::size_t>(mask)] = std::numeric_limits<double>::lowest();
        all.push_back(
            sampler.choose(logits.back(), static_cast<Position>(all.size() - kPrompt.size())));
    }
    return {all.begin() + static_cast<std::ptrdiff_t>(kPrompt.size()), all.end()};
}

std::vector<SamplingOptions> samplings() {
    return {{},
            {.temperature = 0.9, .seed = 3},
            {.temperature = 0.7, .topK = 5, .seed = 4},
            {.temperature = 1.2, .topP = 0.8, .seed = 5},
            {.temperature = 1.2, .topK = 200, .seed = 6}};
}

} // namespace

class MaskTokenTest : public QObject {
    Q_OBJECT

private slots:
    void vanillaNeverEmitsIt();
    void factsAreThoseOfTheOtherTokens();
    void aDraftedOneIsRejected();
};

void MaskTokenTest::vanillaNeverEmitsIt() {
    const auto free = model(kNoToken);
    for (const SamplingOptions& sampling : samplings()) {
        const Ids expected = answerOf(*free, sampling);
        QCOMPARE(expected, answerWithout(*free, sampling, kNoToken));
        const TokenId mask = expected[5]; // one that would be emitted
        const Ids found = answerOf(*model(mask), sampling);
        QVERIFY(std::find(found.begin(), found.end(), mask) == found.end());
        QCOMPARE(found, answerWithout(*free, sampling, mask));
    }
}

void MaskTokenTest::factsAreThoseOfTheOtherTokens() {
    const auto free = model(kNoToken);
    const TokenId mask = answerOf(*free, {}).front();
    const auto forbidding = model(mask);
    const auto freely = makeVanillaDecoder(*free, {}, 100).value();
    const auto decoder = makeVanillaDecoder(*forbidding, {}, 100).value();
    QVERIFY(freely->begin({kPrompt}, {}).hasValue() && decoder->begin({kPrompt}, {}).hasValue());
    const double lost = freely->step().value().facts.front().targetProbability;
    const DecodeStep step = decoder->step().value();
    KvCache cache = support::emptyCache(*free, 100);
    const HeadSummary summary =
        summarise(support::runChain(*free, cache, LayerPlan::full(3), kPrompt, 64).back());
    const int rank = summary.rankOf(step.tokens.front());
    QCOMPARE(rank, 1);
    QVERIFY(std::abs(step.facts.front().targetProbability -
                     summary.probability(rank) / (1.0 - lost)) < 1e-12);
}

void MaskTokenTest::aDraftedOneIsRejected() {
    const auto free = model(kNoToken);
    const TokenId mask = answerOf(*free, {}).front();
    const auto forbidding = model(mask);
    for (const SamplingOptions& sampling : samplings()) {
        Target target = Target::make(*forbidding, sampling, 100, 4).value();
        QVERIFY(target.begin({kPrompt}, {}).hasValue());
        DraftTree draft;
        draft.add(mask, -1, 1.0);
        draft.setDrawnFrom(-1, {{mask}, {1.0}});
        for (const VerifyRule rule : {VerifyRule::Match, VerifyRule::Rejection}) {
            const DecodeStep step = target.verify(draft, rule).value();
            QVERIFY(step.path.empty() && step.tokens.front() != mask);
        }
    }
}

QTEST_APPLESS_MAIN(MaskTokenTest)
#include "mask_token_test.moc"
