// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/round/cached_sequence.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <random>

using namespace engine;

namespace {

/// Counts rows and passes of the transformer behind it.
class CountingTransformer : public support::WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        rows += request.layout.rowCount();
        largestPass = std::max(largestPass, request.layout.rowCount());
        return inner().forwardInto(request, cache, result);
    }

    int rows = 0;
    int largestPass = 0;
};

CountingTransformer makeTransformer() {
    const ModelConfig config = support::tinyConfig();
    return CountingTransformer(
        makePlainTransformer(config, support::randomWeights(config, 3), {}).value());
}

std::vector<TokenId> randomIds(std::size_t count) {
    std::mt19937 random(9);
    std::vector<TokenId> ids(count);
    for (TokenId& id : ids)
        id = static_cast<TokenId>(random() % 160);
    return ids;
}

std::vector<TokenId> answer(Decoder& decoder, const std::vector<TokenId>& prompt, int count) {
    GenerationRequest request;
    request.prompt = prompt;
    request.limits.maxTokens = count;
    return generate(decoder, request).value().tokens;
}

} // namespace

class VanillaDecoderTest : public QObject {
    Q_OBJECT

private slots:
    void greedyTakesTheArgmaxOfEveryPass();
    void sameSeedSameTokens();
    void longPromptsRunInPieces();
    void theNextPromptReusesWhatTheCacheHolds();
    void aReusedCacheChangesNothing();
    void aFullContextEndsTheAnswer();
    void badPromptsAreRefused();
    void aCancelledPromptCanBeBegunAgain();
};

void VanillaDecoderTest::greedyTakesTheArgmaxOfEveryPass() {
    CountingTransformer transformer = makeTransformer();
    const auto decoder = makeVanillaDecoder(transformer, {}, 64).value();
    std::vector<TokenId> sequence = randomIds(9);
    const std::vector<TokenId> tokens = answer(*decoder, sequence, 12);
    sequence.insert(sequence.end(), tokens.begin(), tokens.end());
    KvCache cache = support::emptyCache(transformer, 64);
    const auto logits = support::runChain(transformer, cache, LayerPlan::full(3), sequence, 5);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        QCOMPARE(tokens[i], argmax(logits[8 + i]));
}

void VanillaDecoderTest::sameSeedSameTokens() {
    CountingTransformer transformer = makeTransformer();
    const std::vector<TokenId> prompt = randomIds(9);
    const auto run = [&](std::uint64_t seed) {
        const SamplingOptions sampling{.temperature = 1.0, .topK = 40, .topP = 0.95, .seed = seed};
        return answer(*makeVanillaDecoder(transformer, sampling, 64).value(), prompt, 20);
    };
    QCOMPARE(run(1), run(1));
    QVERIFY(run(1) != run(2));
}

void VanillaDecoderTest::longPromptsRunInPieces() {
    CountingTransformer transformer = makeTransformer();
    const auto decoder = makeVanillaDecoder(transformer, {}, 400).value();
    const std::vector<TokenId> prompt = randomIds(300);
    std::vector<double> parts;
    QVERIFY(decoder->begin({prompt}, {{}, [&](double part) { parts.push_back(part); }}).hasValue());
    QCOMPARE(parts.size(), std::size_t{3});
    QCOMPARE(parts.back(), 1.0);
    QCOMPARE(transformer.rows, 299); // the last prompt token is left to the first step
    QCOMPARE(transformer.largestPass, kPrefillRows);
}

void VanillaDecoderTest::theNextPromptReusesWhatTheCacheHolds() {
    CountingTransformer transformer = makeTransformer();
    const auto decoder = makeVanillaDecoder(transformer, {}, 128).value();
    std::vector<TokenId> prompt = randomIds(20);
    const std::vector<TokenId> tokens = answer(*decoder, prompt, 10);
    prompt.insert(prompt.end(), tokens.begin(), tokens.end());
    prompt.insert(prompt.end(), {1, 2, 3});
    transformer.rows = 0;
    QVERIFY(decoder->begin({prompt}, {}).hasValue());
    // The cache held 29 of the 33 tokens: all but the pending one, the new ones and the last.
    QCOMPARE(transformer.rows, 32 - 29);
}

void VanillaDecoderTest::aReusedCacheChangesNothing() {
    CountingTransformer transformer = makeTransformer();
    const auto reused = makeVanillaDecoder(transformer, {}, 128).value();
    std::vector<TokenId> prompt = randomIds(20);
    answer(*reused, prompt, 10);
    prompt[12] = 77;
    const auto fresh = makeVanillaDecoder(transformer, {}, 128).value();
    QCOMPARE(answer(*reused, prompt, 15), answer(*fresh, prompt, 15));
}

void VanillaDecoderTest::aFullContextEndsTheAnswer() {
    CountingTransformer transformer = makeTransformer();
    const auto decoder = makeVanillaDecoder(transformer, {}, 16).value();
    QCOMPARE(answer(*decoder, randomIds(10), 100).size(), std::size_t{6});
}

void VanillaDecoderTest::badPromptsAreRefused() {
    CountingTransformer transformer = makeTransformer();
    const auto decoder = makeVanillaDecoder(transformer, {}, 16).value();
    for (const std::vector<TokenId>& prompt :
         {std::vector<TokenId>{}, {1, 160}, {-1}, randomIds(16)}) {
        const auto begun = decoder->begin({prompt}, {});
        QVERIFY(!begun);
        QCOMPARE(begun.error().code, ErrorCode::InvalidInput);
    }
    QVERIFY(decoder->begin({randomIds(15)}, {}).hasValue());
}

void VanillaDecoderTest::aCancelledPromptCanBeBegunAgain() {
    CountingTransformer transformer = makeTransformer();
    const auto decoder = makeVanillaDecoder(transformer, {}, 400).value();
    const std::vector<TokenId> prompt = randomIds(300);
    std::stop_source source;
    source.request_stop();
    QCOMPARE(decoder->begin({prompt}, {source.get_token(), {}}).error().code, ErrorCode::Cancelled);
    const auto fresh = makeVanillaDecoder(transformer, {}, 400).value();
    QCOMPARE(answer(*decoder, prompt, 5), answer(*fresh, prompt, 5));
}

QTEST_GUILESS_MAIN(VanillaDecoderTest)
#include "vanilla_decoder_test.moc"
