// SPDX-License-Identifier: Apache-2.0
// Every decoder there is gives vanilla's tokens on an emulated GPU.
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/stored_weights.h"

#include <QTest>

#include <map>

using namespace engine;

namespace {

struct Question {
    std::vector<TokenId> prompt;
    int tokens = 24; ///< of the answer, and so many in a sample
    int few = 24;
};

const Question kQuestions[] = {{{3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4}}, {{7, 7, 8, 7, 7, 8}, 24, 8}};

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
    for (const Question& question : kQuestions)
        for (const DecodeStep& step : support::answer(
                 *made,
                 {.tokens = question.prompt,
                 .maxTokens = support::takesAllCases() ? question.tokens : question.few})) {
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
    std::map<QString, std::unique_ptr<Transformer>> m_transformers;       // by form
    std::map<std::pair<QString, double>, std::vector<TokenId>> m_vanilla; // by form and temperature
};

void CudaLosslessTest::initTestCase() {
    ModelConfig config = support::layeredConfig(6);
    config.hiddenSize = 64; // whole groups, as files with 4-bit numbers have them
    config.headDim = 16;
    config.mlpSize = 96;
    support::MemoryWeights weights = support::randomWeights(config, 4);
    for (int layer = 1; layer < 5; ++layer)
        support::quietenLayer(weights, layer, 0.1F); // or no draft would ever be accepted
    const auto device = std::make_shared<backend_cuda::EmulatedDevice>(1);
    for (const char* form : {"bf16", "int8"})
        m_transformers[form] =
            support::makeOn(device, config, weights, {{"weights", std::string(form)}});
    m_transformers["4bit"] =
        support::makeOn(device, config, support::StoredWeights(weights, TensorType::Q4_1));
}

void CudaLosslessTest::everyDecoderGivesVanillasTokens_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<QString>("form");
    QTest::addColumn<double>("temperature");
    const bool takesAll = support::takesAllCases();
    int turn = 0;
    for (const std::string& name : support::decoderNames())
        // This backend has no draft adapters and no copies.
        if (name != "vanilla" && name != "tuned" && name != "low_precision") {
            int way = 0;
            for (const auto& [form, temperature] :
                 std::initializer_list<std::pair<const char*, double>>{
                     {"bf16", 0.0}, {"bf16", 0.8}, {"4bit", 0.8}, {"int8", 0.0}})
                // In a sample each decoder takes one of them, and its neighbour the next.
                if (way++ == turn % 4 || takesAll)
                    QTest::addRow("%s, %s, temperature %.1f", name.c_str(), form, temperature)
                        << QString::fromStdString(name) << form << temperature;
            ++turn;
        }
}

void CudaLosslessTest::everyDecoderGivesVanillasTokens() {
    QFETCH(const QString, decoder);
    QFETCH(const double, temperature);
    QFETCH(const QString, form);
    Transformer& transformer = *m_transformers.at(form);
    const auto [kept, isNew] = m_vanilla.try_emplace({form, temperature});
    if (isNew)
        kept->second = answerOf(transformer, "vanilla", temperature).tokens;
    const Answer found = answerOf(transformer, decoder.toStdString(), temperature);
    QCOMPARE(found.tokens, kept->second);
    QVERIFY(found.drafted > 0);
}

QTEST_GUILESS_MAIN(CudaLosslessTest)
#include "cuda_lossless_test.moc"
