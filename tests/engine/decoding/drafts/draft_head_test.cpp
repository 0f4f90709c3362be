// SPDX-License-Identifier: Apache-2.0
// The tokens that drafts choose from, and that answers do not depend on them.
#include "engine/decoding/round/draft_head.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

constexpr int kVocabSize = 6000;
constexpr int kKept = 4096; ///< first tokens, whatever smaller share is asked for
constexpr double kShare = 0.1;

const std::vector<TokenId> kPrompt = {5900, 3, 41, 5000, 9, 4200};

Transformer& transformer() {
    static const std::unique_ptr<Transformer> made = [] {
        ModelConfig config = support::tinyConfig();
        config.vocabSize = kVocabSize;
        support::MemoryWeights weights = support::randomWeights(config, 8);
        support::sharpenHead(weights);
        for (int layer = 0; layer < config.layerCount; ++layer)
            support::quietenLayer(weights, layer, 0.3F); // drafts are often right
        return support::plainModel(config, weights);
    }();
    return *made;
}

bool isKept(std::span<const TokenSpan> spans, TokenId token) {
    return std::ranges::any_of(
        spans, [token](const TokenSpan& span) { return token >= span.first && token < span.end; });
}

struct Drafted {
    std::vector<TokenId> tokens;
    int drafted = 0;
    int accepted = 0;
    int outside = 0; ///< drafted tokens that are neither among the first nor of the text
};

Drafted answerOf(const std::string& decoder, SettingValues settings, double temperature) {
    SamplingOptions sampling;
    sampling.temperature = temperature;
    sampling.seed = 3;
    const auto made = support::openDecoder(decoder,
                                           {.transformer = transformer(),
                                            .sampling = sampling,
                                            .contextLength = 128,
                                            .settings = std::move(settings)});
    Drafted answer;
    std::vector<bool> isOfText(kVocabSize / kHeadBlock);
    const auto note = [&](TokenId token) {
        isOfText[static_cast<std::size_t>(token / kHeadBlock)] = true;
    };
    std::ranges::for_each(kPrompt, note);
    for (const DecodeStep& step : support::answer(*made, {.tokens = kPrompt, .maxTokens = 60})) {
        for (const auto& node : step.draft.nodes()) {
            ++answer.drafted;
            answer.outside +=
                node.token >= kKept && !isOfText[static_cast<std::size_t>(node.token / kHeadBlock)];
        }
        answer.accepted += static_cast<int>(step.path.size());
        answer.tokens.insert(answer.tokens.end(), step.tokens.begin(), step.tokens.end());
        std::ranges::for_each(step.tokens, note);
    }
    return answer;
}

} // namespace

class DraftHeadTest : public QObject {
    Q_OBJECT

private slots:
    void smallVocabulariesAreKeptWhole();
    void firstTokensThoseOfTheTextAndTheEndAreKept();
    void anotherTextBeginsAnew();
    void answersDoNotDependOnIt_data();
    void answersDoNotDependOnIt();
};

void DraftHeadTest::smallVocabulariesAreKeptWhole() {
    QCOMPARE(DraftHead::keptShare(transformer(), kShare), double{kKept} / kVocabSize);
    QCOMPARE(DraftHead::keptShare(transformer(), 0.9), 5408.0 / kVocabSize); // whole blocks
    QCOMPARE(DraftHead::keptShare(transformer(), 1.0), 1.0);
    const support::WrappingTransformer whole(transformer()); // leaves no tokens out
    QCOMPARE(DraftHead::keptShare(whole, kShare), 1.0);
    const ModelConfig config = support::tinyConfig(); // has 160 tokens
    const auto tiny = makePlainTransformer(config, support::randomWeights(config, 1), {});
    QCOMPARE(DraftHead::keptShare(*tiny.value(), kShare), 1.0);
}

void DraftHeadTest::firstTokensThoseOfTheTextAndTheEndAreKept() {
    Target target = Target::make(transformer(), {}, 64, 16).value();
    const std::vector<TokenId> ends = {5999, 6000, 90000, kNoToken}; // some have no row
    QVERIFY(target.begin({.tokens = kPrompt, .maxTokens = 20, .endIds = ends}, {}).hasValue());
    DraftHead head;
    QVERIFY(head.spans(target).empty()); // nobody has asked for less
    head.use(kShare);
    auto spans = head.spans(target);
    QCOMPARE(spans.front().first, 0);
    for (const TokenId token : {0, 4095, 4200, 5000, 5900, 5999, 5001})
        QVERIFY2(isKept(spans, token), qPrintable(QString::number(token)));
    QVERIFY(!isKept(spans, 4500));
    for (std::size_t i = 1; i < spans.size(); ++i)
        QVERIFY(spans[i].first > spans[i - 1].end);
    QCOMPARE(spans.back().end, kVocabSize);
    for (int step = 0; step < 10; ++step)
        QVERIFY(target.plainStep().hasValue());
    spans = head.spans(target);
    for (const TokenId token : target.output())
        QVERIFY2(isKept(spans, token), qPrintable(QString::number(token)));
}

void DraftHeadTest::anotherTextBeginsAnew() {
    Target target = Target::make(transformer(), {}, 64, 16).value();
    QVERIFY(target.begin({.tokens = kPrompt, .maxTokens = 20}, {}).hasValue());
    DraftHead head;
    head.use(kShare);
    QVERIFY(isKept(head.spans(target), 5900));
    const std::vector<TokenId> other = {7, 5500};
    QVERIFY(target.begin({.tokens = other, .maxTokens = 20}, {}).hasValue());
    QVERIFY(!isKept(head.spans(target), 5900));
    QVERIFY(isKept(head.spans(target), 5500));
    const std::vector<TokenId> longer = {5400, 5300, 7, 8, 9, 10, 11, 5200, 12};
    QVERIFY(target.begin({.tokens = longer, .maxTokens = 20}, {}).hasValue());
    const auto spans = head.spans(target);
    QVERIFY(isKept(spans, 5400) && isKept(spans, 5300) && isKept(spans, 5200));
    QVERIFY(!isKept(spans, 5500));
    head.use(1.0);
    QVERIFY(head.spans(target).empty());
}

void DraftHeadTest::answersDoNotDependOnIt_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<double>("temperature");
    for (const char* decoder : {"swift", "layerskip", "auto"})
        for (const double temperature : {0.0, 0.8})
            QTest::addRow("%s at %g", decoder, temperature) << QString(decoder) << temperature;
}

void DraftHeadTest::answersDoNotDependOnIt() {
    QFETCH(const QString, decoder);
    QFETCH(const double, temperature);
    const Drafted vanilla = answerOf("vanilla", {}, temperature);
    const std::string name = decoder.toStdString();
    const Drafted some = answerOf(name, {{"draft_vocabulary", kShare}}, temperature);
    const Drafted all = answerOf(name, {{"draft_vocabulary", 1.0}}, temperature);
    QCOMPARE(some.tokens, vanilla.tokens);
    QCOMPARE(all.tokens, vanilla.tokens);
    if (decoder == QLatin1String("auto"))
        return; // whether it drafts depends on the machine
    QVERIFY(some.drafted > 0);
    QCOMPARE(some.outside, 0);
    QVERIFY(all.outside > 0);
}

QTEST_APPLESS_MAIN(DraftHeadTest)

#include "draft_head_test.moc"
