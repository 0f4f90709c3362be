// SPDX-License-Identifier: Apache-2.0
// What a training begins with and what comes out of it: the numbers of the model, the tokens that
// can be drafted, and the file of the adapter.
#include "engine/loading/drafts/draft_adapter_writer.h"
#include "engine/tuning/model_numbers.h"
#include "engine/tuning/result/trained_adapter.h"
#include "tests/engine/tuning/tuning_rows.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

using namespace engine;
using Ids = std::vector<TokenId>;

namespace {

const std::string kFingerprint = "0123456789abcdef0123456789abcdef";

DraftSizes sizesFor(const ModelConfig& model, int layers = 1, int window = 6) {
    auto made = draftSizesFor(model, layers, window);
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return made.value();
}

/// Random weights by the names of adapter files.
TrainingResult someResult(const DraftSizes& sizes) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0.0F, 0.5F);
    TrainingResult result;
    for (const auto& [network, tensor] : adapterTensors(sizes)) {
        std::vector<float>& values = result.weights[tensor.name];
        for (std::uint64_t i = 0; i < tensor.count(); ++i)
            values.push_back(normal(random));
    }
    result.best = {.step = 300,
                   .rows = 1234,
                   .all = {{100, 50, 20, 4}, {50, 20, 5, 4}},
                   .byTask = {{"code", {{100, 50, 20, 4}, {50, 20, 5, 4}}}}};
    result.steps = 400;
    return result;
}

RunOrigin someOrigin() {
    RunOrigin origin;
    origin.model = "tiny \"model\"";
    origin.fingerprint = kFingerprint;
    origin.dataFiles = {{"prompts.jsonl"}, {"Grüße.jsonl", "CC BY 4.0"}};
    origin.shards = {"aa", "bb"};
    origin.answerTokens = 5678;
    origin.plan = planOfProfile("quick").value();
    origin.plan.seed = 9;
    origin.date = "2026-01-02T03:04:05Z";
    return origin;
}

const HeadList& someHead() {
    static const HeadList head = {{1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 159}, 0.875};
    return head;
}

std::string fileOf(const TrainingResult& result,
                   const DraftSizes& sizes,
                   const RunOrigin& origin = someOrigin()) {
    const DraftAdapter adapter = makeTrainedAdapter(result, sizes, someHead(), origin);
    auto bytes =
        draftAdapterBytes(adapter, adapterDescriptionOf(adapter, result, someHead(), origin));
    ENGINE_CHECK(bytes.hasValue(), "{}", bytes.error().message);
    return std::move(bytes).value();
}

/// A text with these tokens, of which the first two are a prompt's.
AnswerRows textOf(const Ids& tokens, TokenId last) {
    AnswerRows rows = tuning_rows::someRows(static_cast<int>(tokens.size()), 2, 1);
    rows.tokens = tokens;
    rows.last = last;
    return rows;
}

TrainerModel numbersOf(const ModelConfig& model,
                       const support::MemoryWeights& weights,
                       bool wantsLastLayer = true) {
    auto read = readTrainerModel(model, weights, wantsLastLayer);
    ENGINE_CHECK(read.hasValue(), "{}", read.error().message);
    return std::move(read).value();
}

} // namespace

class TrainedAdapterTest : public QObject {
    Q_OBJECT

private slots:
    void theHeadTakesTheMostFrequentTokens();
    void equallyFrequentTokensComeByTheirIds();
    void theHeadLooksAtAnswersOfTrainingAlone();
    void aTrainedAdapterIsReadAndFitsItsModel();
    void itsDescriptionSaysHowItWasMade();
    void equalTrainingsGiveEqualFiles();
    void weightsThatDoNotFitAreABug();
    void weightsThatAreNotFiniteAreNotWritten();
    void draftLayersAreLikeTheModels();
    void anAdapterThatNobodyCouldReadIsRefusedBeforeItIsTrained();
    void trainedWeightsAreCountedByHand();
    void theTrainerReadsTheModelsOwnNumbers();
    void lastLayersOfAnotherKindAreLeftOut();
};

void TrainedAdapterTest::theHeadTakesTheMostFrequentTokens() {
    const test_support::TemporaryFolder folder;
    // In answers: 3 twice, 5 and 1 once. In prompts: 7 twice.
    const RowStore rows = tuning_rows::storeOf(folder.path(), {{textOf({7, 7, 3, 3, 5}, 1)}});
    const auto head = [&](int size) {
        auto made = makeHeadList(rows, size, 9);
        ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
        return std::move(made).value();
    };
    QCOMPARE(head(1).ids, Ids{3});
    QCOMPARE(head(1).coverage, 0.5);
    QCOMPARE(head(2).ids, (Ids{1, 3}));
    QCOMPARE(head(2).coverage, 0.75);
    QCOMPARE(head(3).ids, (Ids{1, 3, 5}));
    QCOMPARE(head(3).coverage, 1.0);
    QCOMPARE(head(4).ids, (Ids{1, 3, 5, 7}));
    QCOMPARE(head(6).ids, (Ids{0, 1, 2, 3, 5, 7}));
    QCOMPARE(head(100).ids, (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    QCOMPARE(head(100).coverage, 1.0);
}

void TrainedAdapterTest::equallyFrequentTokensComeByTheirIds() {
    const test_support::TemporaryFolder folder;
    const RowStore rows = tuning_rows::storeOf(
        folder.path(), {{textOf({0, 0, 8, 6, 4, 2, 4}, 6)}, {textOf({0, 0, 8, 6}, 4)}});
    // 4 and 6 come three times, 8 twice, 2 once.
    QCOMPARE(makeHeadList(rows, 1, 9).value().ids, Ids{4});
    QCOMPARE(makeHeadList(rows, 2, 9).value().ids, (Ids{4, 6}));
    QCOMPARE(makeHeadList(rows, 3, 9).value().ids, (Ids{4, 6, 8}));
    QCOMPARE(makeHeadList(rows, 3, 9).value().coverage, 8.0 / 9.0);
}

void TrainedAdapterTest::theHeadLooksAtAnswersOfTrainingAlone() {
    const test_support::TemporaryFolder folder;
    const RowStore rows =
        tuning_rows::storeOf(folder.path(),
                             {{textOf({1, 2, 3, 3}, kNoToken)},
                              {textOf({5, 5, 5, 5, 5}, 5), RowSplit::Validation},
                              {textOf({2, 2, 3, 200, 200}, 200)}}); // beyond the vocabulary
    const auto head = makeHeadList(rows, 2, 9).value();
    QCOMPARE(head.ids, (Ids{2, 3}));
    QCOMPARE(head.coverage, 1.0);
    const test_support::TemporaryFolder empty;
    const auto none = makeHeadList(tuning_rows::storeOf(empty.path(), {}), 2, 9).value();
    QCOMPARE(none.ids, (Ids{0, 1}));
    QCOMPARE(none.coverage, 0.0);
}

void TrainedAdapterTest::aTrainedAdapterIsReadAndFitsItsModel() {
    const ModelConfig model = support::tinyConfig();
    const DraftSizes sizes = sizesFor(model);
    const TrainingResult result = someResult(sizes);
    const test_support::TemporaryFolder folder;
    const auto path = folder.write("a.safetensors", fileOf(result, sizes));
    const auto read = readDraftAdapter(path);
    QVERIFY2(read.hasValue(), read ? "" : read.error().message.c_str());
    const DraftAdapter& adapter = read.value();
    const auto fits = checkFits(adapter, model, kFingerprint);
    QVERIFY2(fits.hasValue(), fits ? "" : fits.error().message.c_str());
    QVERIFY(!checkFits(adapter, model, std::string(32, 'f')).hasValue());
    QCOMPARE(adapter.headIds, someHead().ids);
    QVERIFY(adapter.about.find("5678") != std::string::npos);
    QCOMPARE(adapter.sizes.window, 6);
    QCOMPARE(adapter.sizes.headDim, model.headDim);
    QCOMPARE(adapter.sizes.normEpsilon, model.normEpsilon);
    QCOMPARE(adapter.sizes.ropeTheta, model.ropeTheta);
    // Only the rows of in.weight are whole groups of 32 numbers, which are stored in 8 bits.
    for (const auto& [network, tensor] : adapterTensors(sizes)) {
        const std::vector<float>& found = adapter.tensors.at(network);
        const std::vector<float>& wanted = result.weights.at(tensor.name);
        QCOMPARE(found.size(), wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            QVERIFY2(std::abs(found[i] - wanted[i]) <= (tensor.name == "in.weight" ? 0.02F : 0.0F),
                     tensor.name.c_str());
    }
}

void TrainedAdapterTest::itsDescriptionSaysHowItWasMade() {
    const DraftSizes sizes = sizesFor(support::tinyConfig());
    const test_support::TemporaryFolder folder;
    const auto path = folder.write("a.safetensors", fileOf(someResult(sizes), sizes));
    const auto text = readDraftDescription(path);
    QVERIFY2(text.hasValue(), text ? "" : text.error().message.c_str());
    const auto said = nlohmann::json::parse(text.value());
    QCOMPARE(said.at("recipe").get<std::string>(), std::string("draft"));
    QCOMPARE(said.at("date").get<std::string>(), std::string("2026-01-02T03:04:05Z"));
    QCOMPARE(said.at("head").at("coverage").get<double>(), 0.875);
    const auto& data = said.at("data");
    QCOMPARE(data.at("answer_tokens").get<int>(), 5678);
    QCOMPARE(data.at("shards").get<std::vector<std::string>>(),
             (std::vector<std::string>{"aa", "bb"}));
    QCOMPARE(data.at("sources").size(), std::size_t{2});
    QCOMPARE(data.at("sources").at(1).at("file").get<std::string>(), std::string("Grüße.jsonl"));
    const auto licence = [&data](int source) {
        return data.at("sources").at(source).at("licence").get<std::string>();
    };
    QCOMPARE(licence(0), std::string("unknown"));
    QCOMPARE(licence(1), std::string("CC BY 4.0"));
    const auto& training = said.at("training");
    QCOMPARE(training.at("seed").get<int>(), 9);
    QCOMPARE(training.at("profile").get<std::string>(), std::string("quick"));
    QCOMPARE(training.at("steps").get<int>(), 400);
    QCOMPARE(training.at("start").get<std::string>(), std::string("last_layer"));
    QCOMPARE(training.at("precision").get<std::string>(), std::string("float32"));
    const auto& metrics = said.at("metrics");
    QCOMPARE(metrics.at("tokens_per_round").get<double>(), 1.75);
    QCOMPARE(metrics.at("acceptance").get<std::vector<double>>(),
             (std::vector<double>{0.5, 0.4, 0.25, 1.0}));
    QVERIFY(metrics.at("held_out").get<bool>());
    QCOMPARE(metrics.at("validation_rows").get<int>(), 1234);
    QCOMPARE(metrics.at("step").get<int>(), 300);
    QCOMPARE(metrics.at("tasks").at("code").at("drafts").get<int>(), 100);
}

void TrainedAdapterTest::equalTrainingsGiveEqualFiles() {
    const DraftSizes sizes = sizesFor(support::tinyConfig());
    const TrainingResult result = someResult(sizes);
    QVERIFY(fileOf(result, sizes) == fileOf(result, sizes));
    RunOrigin later = someOrigin();
    later.date = "2027-01-02T03:04:05Z";
    std::string file = fileOf(result, sizes, later);
    QVERIFY(file != fileOf(result, sizes));
    const std::size_t at = file.find("2027-01-02");
    QVERIFY(at != std::string::npos);
    file[at + 3] = '6'; // the date alone differs
    QVERIFY(file == fileOf(result, sizes));
}

void TrainedAdapterTest::weightsThatDoNotFitAreABug() {
    const DraftSizes sizes = sizesFor(support::tinyConfig());
    TrainingResult missing = someResult(sizes);
    missing.weights.erase("norm.out");
    QVERIFY_THROWS_EXCEPTION(EngineBug,
                             makeTrainedAdapter(missing, sizes, someHead(), someOrigin()));
    TrainingResult shorter = someResult(sizes);
    shorter.weights.at("layer.0.attn.q").pop_back();
    QVERIFY_THROWS_EXCEPTION(EngineBug,
                             makeTrainedAdapter(shorter, sizes, someHead(), someOrigin()));
}

void TrainedAdapterTest::weightsThatAreNotFiniteAreNotWritten() {
    const DraftSizes sizes = sizesFor(support::tinyConfig());
    for (const char* tensor : {"norm.out", "in.weight"}) {
        TrainingResult result = someResult(sizes);
        result.weights.at(tensor)[7] = std::nanf("");
        const DraftAdapter adapter = makeTrainedAdapter(result, sizes, someHead(), someOrigin());
        const auto refused = draftAdapterBytes(adapter, "{}");
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::Numeric);
        QVERIFY(refused.error().message.find(tensor) != std::string::npos);
    }
}

void TrainedAdapterTest::draftLayersAreLikeTheModels() {
    const DraftSizes sizes = sizesFor(support::tinyConfig(), 2, 0);
    QCOMPARE(sizes.hiddenSize, 48);
    QCOMPARE(sizes.headCount, 4);
    QCOMPARE(sizes.kvHeadCount, 2);
    QCOMPARE(sizes.headDim, 12);
    QCOMPARE(sizes.mlpSize, 80);
    QCOMPARE(sizes.layerCount, 2);
    QCOMPARE(sizes.window, 0);
    ModelConfig experts = support::expertConfig();
    QCOMPARE(sizesFor(experts).mlpSize, experts.mlpSize); // of its whole MLPs
    experts.mlpSize = 0;
    QCOMPARE(sizesFor(experts).mlpSize, 2 * 32); // of the experts that a row has
    experts.experts.size = 0;
    const auto refused = draftSizesFor(experts, 1, 6);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
}

void TrainedAdapterTest::anAdapterThatNobodyCouldReadIsRefusedBeforeItIsTrained() {
    ModelConfig model = support::tinyConfig(); // as wide as one of eight billion weights
    model.hiddenSize = 4096;
    model.headCount = 32;
    model.kvHeadCount = 8;
    model.headDim = 128;
    model.mlpSize = 14'336;
    QVERIFY(draftSizesFor(model, 1, 256).hasValue()); // 271 MB
    QVERIFY(draftSizesFor(model, 4, 256).hasValue()); // 966 MB
    model.hiddenSize = 8192;                          // of 70 billion
    model.headCount = 64;
    model.mlpSize = 28'672;
    const auto refused = draftSizesFor(model, 1, 256);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    QVERIFY(refused.error().message.find("1000000000") != std::string::npos);
    QVERIFY(!refused.error().hint.empty());
}

void TrainedAdapterTest::trainedWeightsAreCountedByHand() {
    const std::int64_t input = 48 * 96 + 3 * 48; // in.weight and three norms
    const std::int64_t attention = 48 * 48 + 2 * 24 * 48 + 48 * 48;
    const std::int64_t layer = attention + 3 * 80 * 48 + 2 * 48;
    QCOMPARE(layer, std::int64_t{18'528});
    QCOMPARE(trainedWeights(sizesFor(support::tinyConfig(), 1)), input + layer);
    QCOMPARE(trainedWeights(sizesFor(support::tinyConfig(), 3)), input + 3 * layer);
}

void TrainedAdapterTest::theTrainerReadsTheModelsOwnNumbers() {
    ModelConfig model = support::tinyConfig();
    model.logitScale = 0.5;
    model.logitSoftCap = 6.0;
    support::MemoryWeights weights = support::randomWeights(model, 5);
    const TrainerModel read = numbersOf(model, weights);
    QCOMPARE(read.vocabSize, 160);
    QCOMPARE(read.normEpsilon, 1e-5);
    QCOMPARE(read.logitScale, 0.5);
    QCOMPARE(read.logitSoftCap, 6.0);
    QVERIFY(read.embedding == weights.values("model.embed_tokens.weight"));
    QVERIFY(read.head == weights.values("lm_head.weight"));
    QVERIFY(read.finalNorm == weights.values("model.norm.weight"));
    const std::map<std::string, std::string> names = {{"norm.attn", "input_layernorm"},
                                                      {"attn.q", "self_attn.q_proj"},
                                                      {"attn.k", "self_attn.k_proj"},
                                                      {"attn.v", "self_attn.v_proj"},
                                                      {"attn.o", "self_attn.o_proj"},
                                                      {"norm.mlp", "post_attention_layernorm"},
                                                      {"mlp.gate", "mlp.gate_proj"},
                                                      {"mlp.up", "mlp.up_proj"},
                                                      {"mlp.down", "mlp.down_proj"}};
    QCOMPARE(read.lastLayer.size(), names.size());
    const auto tensors = adapterTensors(sizesFor(model));
    for (const auto& [adapter, network] : names) {
        const auto& values = weights.values("model.layers.2." + network + ".weight");
        QVERIFY2(read.lastLayer.at("layer.0." + adapter) == values, adapter.c_str());
        // The layer of the adapter takes it as it is.
        const AdapterTensor& tensor = tensors.at("model.layers.0." + network + ".weight");
        QCOMPARE(tensor.name, "layer.0." + adapter);
        QCOMPARE(tensor.shape, weights.find("model.layers.2." + network + ".weight")->shape);
    }
    model.tiedHead = true;
    QVERIFY(numbersOf(model, weights).head.empty());
}

void TrainedAdapterTest::lastLayersOfAnotherKindAreLeftOut() {
    ModelConfig windowed = support::tinyConfig(); // a window is no other kind
    windowed.layerWindows = {0, 0, 24};
    QVERIFY(!numbersOf(windowed, support::randomWeights(windowed, 5)).lastLayer.empty());
    QVERIFY(numbersOf(windowed, support::randomWeights(windowed, 5), false).lastLayer.empty());
    for (const ModelConfig& model :
         {support::expertConfig(), support::cappedConfig(), support::normsBehindConfig()}) {
        const TrainerModel read = numbersOf(model, support::randomWeights(model, 5));
        QVERIFY(read.lastLayer.empty());
        QCOMPARE(read.embedding.size(), std::size_t{160 * 64});
    }
}

QTEST_GUILESS_MAIN(TrainedAdapterTest)
#include "trained_adapter_test.moc"
