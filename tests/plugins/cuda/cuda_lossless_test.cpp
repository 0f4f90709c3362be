// SPDX-License-Identifier: Apache-2.0
// Every decoder there is gives vanilla's tokens on an emulated GPU.
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;

namespace {

constexpr int kAnswerTokens = 24;

const std::vector<TokenId> kPrompts[] = {{3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4}, {7, 7, 8, 7, 7, 8}};

/// The tokens that a decoder answers, and how many of them it had drafted.
struct Answer {
    std::vector<TokenId> tokens;
    std::size_t drafted = 0;
};

Answer answerOf(Transformer& transformer, const std::string& decoder, double temperature) {
    SamplingOptions sampling;
    sampling.temperature = temperature;
    sampling.seed = 5;
    const auto made = support::openDecoder(decoder,
                                           {.transformer = transformer,
                                            .sampling = sampling,
                                            .contextLength = 96,
                                            .settings = support::neededSettings(decoder)});
    Answer answer;
    for (const std::vector<TokenId>& prompt : kPrompts)
        for (const DecodeStep& step :
             support::answer(*made, {.tokens = prompt, .maxTokens = kAnswerTokens})) {
            answer.tokens.insert(answer.tokens.end(), step.tokens.begin(), step.tokens.end());
            answer.drafted += step.draft.nodes().size();
        }
    return answer;
}

} // namespace

class CudaLosslessTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void everyDecoderGivesVanillasTokens_data();
    void everyDecoderGivesVanillasTokens();

private:
    std::unique_ptr<Transformer> m_transformer;
};

void CudaLosslessTest::initTestCase() {
    ModelConfig config = support::layeredConfig(6);
    support::MemoryWeights weights = support::randomWeights(config, 4);
    for (int layer = 1; layer < 5; ++layer)
        support::quietenLayer(weights, layer, 0.1F); // or no draft would ever be accepted
    m_transformer = support::makeOn(std::make_shared<backend_cuda::EmulatedDevice>(1),
                                    config,
                                    weights,
                                    {{"weights", std::string("bf16")}});
}

void CudaLosslessTest::everyDecoderGivesVanillasTokens_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<double>("temperature");
    for (const std::string& name : support::decoderNames())
        // This backend has no draft adapters and no copies.
        if (name != "vanilla" && name != "tuned" && name != "low_precision")
            for (const double temperature : {0.0, 0.8})
                QTest::addRow("%s, temperature %.1f", name.c_str(), temperature)
                    << QString::fromStdString(name) << temperature;
}

void CudaLosslessTest::everyDecoderGivesVanillasTokens() {
    QFETCH(const QString, decoder);
    QFETCH(const double, temperature);
    const Answer vanilla = answerOf(*m_transformer, "vanilla", temperature);
    const Answer found = answerOf(*m_transformer, decoder.toStdString(), temperature);
    QCOMPARE(found.tokens, vanilla.tokens);
    QVERIFY(found.drafted > 0);
}

QTEST_GUILESS_MAIN(CudaLosslessTest)
#include "cuda_lossless_test.moc"
