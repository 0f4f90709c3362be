// SPDX-License-Identifier: Apache-2.0
// What drafts cost when the vocabulary that they choose from changes while an answer is made. Costs
// are invented, so no clock of the machine is asked.
#include "engine/model/weight_share.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace engine;

namespace {

constexpr int kLayers = 12;
constexpr int kKept = 4096; ///< tokens of a draft vocabulary that is set to a smaller share
constexpr double kSmall = 0.1;

const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9, 2, 6};

/// A confident network whose inner layers hardly matter and that names no token behind the first
/// kKept ones.
std::unique_ptr<Transformer> frequentTokens(int vocabSize, int mlpSize) {
    ModelConfig config = support::layeredConfig(kLayers);
    config.vocabSize = vocabSize;
    config.mlpSize = mlpSize;
    support::MemoryWeights weights = support::randomWeights(config, 31);
    for (int layer = 1; layer < kLayers - 1; ++layer)
        support::quietenLayer(weights, layer, 1e-6F);
    support::sharpenHead(weights);
    std::vector<float>& head = weights.values("lm_head.weight");
    std::fill(
        head.begin() + static_cast<std::ptrdiff_t>(kKept) * config.hiddenSize, head.end(), 0.0F);
    return support::plainModel(config, weights);
}

/// A pass takes 10 ms for all weights, less for the share that it reads of layers and head, and a
/// part more for each further row.
class PricedByHead final : public support::WrappingTransformer {
public:
    explicit PricedByHead(std::unique_ptr<Transformer> wrapped)
        : WrappingTransformer(std::move(wrapped)) {}

    bool leavesTokensOut() const override { return true; }

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        double kept = request.headSpans.empty() ? config().vocabSize : 0.0;
        for (const TokenSpan& span : request.headSpans)
            kept += span.end - span.first;
        const double share = weightShare(request.plan, config(), kept / config().vocabSize);
        nowMs += 10.0 * share * (1.0 + rowPart * (request.layout.rowCount() - 1));
        return inner().forwardInto(request, cache, result);
    }

    double nowMs = 0.0;
    double rowPart = 0.0;
};

/// A decoder in the middle of an answer.
struct Answering {
    std::string name;
    SettingValues settings;
    PricedByHead model;
    std::unique_ptr<Decoder> decoder;

    Answering(std::string decoderName,
              SettingValues chosen,
              std::unique_ptr<Transformer> network,
              double rowPart)
        : name(std::move(decoderName))
        , settings(std::move(chosen))
        , model(std::move(network)) {
        model.rowPart = rowPart;
        decoder = support::openDecoder(
            name,
            {.transformer = model, .contextLength = 512, .settings = settings, .clock = [this] {
                 return model.nowMs;
             }});
        ENGINE_CHECK(decoder->begin({.tokens = kPrompt, .maxTokens = 480}, {}).hasValue(),
                     "an answer's beginning");
    }

    DecodeStep step() { return support::valueOf(decoder->step()); }

    void chooseFrom(double share) {
        settings["draft_vocabulary"] = share;
        const SettingValues given = {{"draft_vocabulary", share}};
        const DecoderInfo info = support::registry().info(name).value();
        const SettingValues values = resolveSettings(info, settings).value();
        ENGINE_CHECK(decoder->configure(values, given).hasValue(), "a draft vocabulary");
    }
};

} // namespace

class DraftVocabularyTest : public QObject {
    Q_OBJECT

private slots:
    void swiftDraftsLongerAsSoonAsItsPassesReadLessOfTheHead();
    void autoExpectsOtherCostsAsSoonAsItsPassesReadLessOfTheHead();
};

/// Nearly all weights are the head's. With all of it a draft pass and its row cost more than the
/// token that they give; with a sixth of it they cost less.
void DraftVocabularyTest::swiftDraftsLongerAsSoonAsItsPassesReadLessOfTheHead() {
    Answering swift("swift",
                    {{"start", std::string("uniform")},
                     {"optimise", 0.0},
                     {"weigh", 1.0},
                     {"early_stop", 0.0},
                     {"draft_vocabulary", 1.0}},
                    frequentTokens(6 * kKept, 80),
                    0.4);
    QVERIFY(swift.step().isPlain()); // measures what a plain step costs
    for (int round = 0; round < 20; ++round)
        QCOMPARE(swift.step().draft.draftSteps(), 1);
    swift.chooseFrom(kSmall);
    QVERIFY(swift.step().draft.draftSteps() > 1);
    swift.chooseFrom(1.0);
    QCOMPARE(swift.step().draft.draftSteps(), 1);
}

/// The head is two fifths of the weights, and drafts leave out most of the layers.
void DraftVocabularyTest::autoExpectsOtherCostsAsSoonAsItsPassesReadLessOfTheHead() {
    Answering automatic("auto",
                        {{"lookup", 0.0},
                         {"successors", 0.0},
                         {"early_exit", 0.0},
                         {"low_precision", 0.0},
                         {"search_beside", 0.0},
                         {"probing", 0.2},
                         {"draft_vocabulary", 1.0}},
                        frequentTokens(2 * kKept, 320),
                        0.05);
    DraftChoice last;
    for (int round = 0; round < 300 && automatic.decoder->remainingContext() > 100; ++round)
        last = automatic.step().choice;
    QVERIFY(last.drafter == "skip");
    const double costBefore = last.expectedCost / last.expectedTokens;
    automatic.chooseFrom(kSmall);
    last = automatic.step().choice;
    QVERIFY(last.drafter == "skip");
    QVERIFY2(last.expectedCost / last.expectedTokens < 0.9 * costBefore,
             qPrintable(QString("%1 and %2 plain steps for a token")
                            .arg(costBefore)
                            .arg(last.expectedCost / last.expectedTokens)));
}

QTEST_GUILESS_MAIN(DraftVocabularyTest)
#include "draft_vocabulary_test.moc"
