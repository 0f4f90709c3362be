// SPDX-License-Identifier: Apache-2.0
// Drafts by early exit that are verified by rejection have vanilla's law, on a network of 8 tokens:
// by running every outcome of the random decisions, and by samples of the three decoders.
#include "engine/decoding/exit_drafter.h"
#include "tests/support/forward_helpers.h"
#include "tests/support/tiny_decoders.h"
#include "tests/support/token_law.h"

#include <QTest>

using namespace engine;
using support::Decisions;
using support::registry;
using support::TokenLaw;
using support::Tokens;

namespace {

constexpr int kVocab = 8;
constexpr int kLayers = 3;
constexpr int kContext = 32;
constexpr double kThreshold = 0.35;
const Tokens kPrompt = {1, 5, 0};

Transformer& model() {
    static const std::unique_ptr<Transformer> made = [] {
        ModelConfig config = support::tinyConfig();
        config.vocabSize = kVocab;
        config.hiddenSize = 16;
        config.mlpSize = 16;
        config.headCount = 2;
        config.kvHeadCount = 1;
        config.headDim = 8;
        config.layerCount = kLayers;
        config.layerWindows.assign(kLayers, 0);
        return std::move(makePlainTransformer(config,
                                              support::randomWeights(config, 5),
                                              {.precision = Precision::F64}))
            .value();
    }();
    return *made;
}

template <typename T> T valueOf(Result<T> result) {
    ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
    return std::move(result).value();
}

/// The law of the next tokens by its definition.
TokenLaw lawOf(const SamplingOptions& sampling, int count) {
    TokenLaw law = {{Tokens(), 1.0}};
    for (int place = 0; place < count; ++place) {
        TokenLaw longer;
        for (const auto& [tokens, probability] : law) {
            Tokens all = kPrompt;
            all.insert(all.end(), tokens.begin(), tokens.end());
            KvCache cache = support::emptyCache(model(), kContext);
            const auto logits =
                support::runChain(model(), cache, LayerPlan::full(kLayers), all, 8).back();
            const Distribution next = Sampler(sampling).distribution(logits);
            for (std::size_t i = 0; i < next.ids.size(); ++i) {
                Tokens more = tokens;
                more.push_back(next.ids[i]);
                longer[more] = probability * next.probabilities[i];
            }
        }
        law = std::move(longer);
    }
    return law;
}

/// The draft without its last token.
DraftTree withoutLast(const DraftTree& draft) {
    DraftTree shorter;
    for (int node = 0; node + 1 < draft.size(); ++node) {
        shorter.setDrawnFrom(node - 1, *draft.drawnFrom(node - 1));
        shorter.add(draft.node(node).token, node - 1, draft.node(node).probability);
    }
    return shorter;
}

/// One round of at most two drafted tokens. Wrong when `dropsUnsure`: a last token is then dropped
/// where its own probability is small.
support::Round exitRounds(const SamplingOptions& sampling, bool dropsUnsure) {
    return [sampling, dropsUnsure](const Tokens& prompt, Decisions& decisions) {
        Target target = valueOf(Target::make(model(), sampling, kContext, 0));
        ENGINE_CHECK(target.begin({prompt, 20}, {}, kPrefillRows).hasValue(), "no prompt");
        ExitDrafter drafter(&decisions);
        ExitDraft made = valueOf(drafter.draft(target,
                                               ConfidenceStopRule(kThreshold, 2),
                                               {.exitLayers = 1, .rule = VerifyRule::Rejection}));
        const bool isUnsure = made.draft.node(made.draft.size() - 1).probability < kThreshold;
        VerifyRequest request;
        if (dropsUnsure && isUnsure)
            request = {.draft = withoutLast(made.draft), .rule = VerifyRule::Rejection};
        else
            request = std::move(made).verification(VerifyRule::Rejection);
        request.draws = &decisions;
        return valueOf(target.verify(std::move(request))).tokens;
    };
}

} // namespace

class LayerSkipLawTest : public QObject {
    Q_OBJECT

private slots:

    void everyOutcomeTogetherIsVanillasLaw_data() { samplings(); }

    void everyOutcomeTogetherIsVanillasLaw();
    void droppingATokenForItsOwnProbabilityIsSeen();
    void samplesHaveVanillasLaw_data();
    void samplesHaveVanillasLaw();

private:
    static void samplings() {
        QTest::addColumn<double>("temperature");
        QTest::addColumn<double>("topP");
        QTest::newRow("temperature 1") << 1.0 << 1.0;
        QTest::newRow("temperature .6, top-p .9") << 0.6 << 0.9;
    }
};

void LayerSkipLawTest::everyOutcomeTogetherIsVanillasLaw() {
    QFETCH(double, temperature);
    QFETCH(double, topP);
    const SamplingOptions sampling{.temperature = temperature, .topP = topP};
    const TokenLaw found = support::enumeratedLaw(exitRounds(sampling, false), kPrompt, 2);
    QVERIFY(support::totalVariation(found, lawOf(sampling, 2)) < 1e-9);
}

void LayerSkipLawTest::droppingATokenForItsOwnProbabilityIsSeen() {
    const SamplingOptions sampling{.temperature = 1.0};
    const TokenLaw found = support::enumeratedLaw(exitRounds(sampling, true), kPrompt, 2);
    QVERIFY(support::totalVariation(found, lawOf(sampling, 2)) > 0.01);
}

void LayerSkipLawTest::samplesHaveVanillasLaw_data() {
    QTest::addColumn<QString>("decoder");
    for (const char* name : {"layerskip", "layerskip-fs", "layerskip-dv"})
        QTest::newRow(name) << name;
}

void LayerSkipLawTest::samplesHaveVanillasLaw() {
    QFETCH(QString, decoder);
    constexpr std::uint64_t kSamples = 8'000;
    constexpr int kCount = 3;
    const SamplingOptions sampling{.temperature = 1.0};
    SettingValues settings = {{"verification", std::string("rejection")}, {"exit_layer", 1.0}};
    if (decoder != "layerskip-dv")
        settings["length"] = decoder == "layerskip" ? 2.0 : 1.0;
    const auto made = valueOf(registry().make(decoder.toStdString(),
                                              {.transformer = model(),
                                               .sampling = sampling,
                                               .contextLength = kContext,
                                               .settings = settings}));
    std::map<Tokens, long> samples;
    int accepted = 0;
    int drafted = 0;
    for (std::uint64_t seed = 1; seed <= kSamples; ++seed) {
        QVERIFY(made->changeSampling({.temperature = 1.0, .seed = seed}).hasValue());
        // The answer ends there or soon after, so that some rounds have little room.
        const int room = kCount + static_cast<int>(seed % 3);
        QVERIFY(made->begin({.tokens = kPrompt, .maxTokens = room}, {}).hasValue());
        Tokens tokens;
        while (tokens.size() < kCount) {
            const DecodeStep step = valueOf(made->step());
            tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
            accepted += static_cast<int>(step.path.size());
            drafted += step.draft.size();
        }
        tokens.resize(kCount);
        ++samples[tokens];
    }
    const support::LawDistance distance =
        support::distanceFromLaw(lawOf(sampling, kCount), samples);
    qInfo("chi-squared %.1f of at most %.1f, %d of %d drafted tokens accepted",
          distance.chiSquared,
          distance.limit,
          accepted,
          drafted);
    QVERIFY(!distance.isFar());
    QVERIFY(accepted > 1000 && accepted < drafted);
}

QTEST_GUILESS_MAIN(LayerSkipLawTest)
#include "layerskip_law_test.moc"
