// SPDX-License-Identifier: Apache-2.0
#include "tests/plugins/torch_support.h"
#include "tests/support/forward_helpers.h"

#include <QTest>

using namespace engine;
using support::emptyCache;
using support::logitsOf;
using support::runChain;
using torch_support::makeTorch;
using torch_support::randomIds;

Q_DECLARE_METATYPE(engine::ModelConfig)

/// A row's numbers must not depend on the rows that run with it: bit for bit, in every precision.
class TorchExactnessTest : public QObject {
    Q_OBJECT

private slots:
    void rowsDoNotDependOnHowManyRunTogether_data();
    void rowsDoNotDependOnHowManyRunTogether();
    void realSizesDoNotDependOnHowManyRunTogether_data();
    void realSizesDoNotDependOnHowManyRunTogether();
    void treeNodesEqualTheirPathsAsChains_data();
    void treeNodesEqualTheirPathsAsChains();
    void longPromptsDoNotDependOnTheirPieces_data();
    void longPromptsDoNotDependOnTheirPieces();
    void theCapacityOfTheCacheDoesNotMatter_data();
    void theCapacityOfTheCacheDoesNotMatter();
};

namespace {

using NamedConfig = std::pair<const char*, ModelConfig>;

/// Sizes that fit no vector register evenly, and the shapes of real families.
std::vector<NamedConfig> smallConfigs() {
    const ModelConfig tiny = support::tinyConfig();
    ModelConfig window = tiny;
    window.layerWindows.assign(3, 16);
    ModelConfig mixedWindows = tiny;
    mixedWindows.layerWindows = {0, 5, 16};
    ModelConfig ownKeys = tiny;
    ownKeys.kvHeadCount = 4;
    ModelConfig headDim20 = tiny;
    headDim20.headCount = 3;
    headDim20.kvHeadCount = 1;
    headDim20.headDim = 20;
    headDim20.qkvBias = headDim20.outputBias = headDim20.mlpBias = true;
    ModelConfig odd = tiny;
    odd.hiddenSize = 50;
    odd.mlpSize = 83;
    odd.vocabSize = 161;
    odd.headDim = 6;
    odd.kvHeadCount = 4;
    odd.tiedHead = true;
    ModelConfig smallest = tiny;
    smallest.hiddenSize = 8;
    smallest.mlpSize = 12;
    smallest.headDim = 2;
    smallest.vocabSize = 160;
    return {{"tiny", tiny},
            {"window of 16", window},
            {"mixed windows", mixedWindows},
            {"own keys for each head", ownKeys},
            {"head size 20, biases", headDim20},
            {"odd sizes", odd},
            {"smallest sizes", smallest},
            {"experts", support::expertConfig()},
            {"soft-caps", support::cappedConfig()},
            {"norms behind", support::normsBehindConfig()}};
}

/// The layers of the default model, two of its thirty, and its vocabulary.
ModelConfig realConfig() {
    ModelConfig config = support::tinyConfig();
    config.layerCount = 2;
    config.hiddenSize = 576;
    config.mlpSize = 1536;
    config.headCount = 9;
    config.kvHeadCount = 3;
    config.headDim = 64;
    config.vocabSize = 49152;
    config.layerWindows.assign(2, 0);
    config.tiedHead = true;
    return config;
}

void addRows(const std::vector<NamedConfig>& configs) {
    QTest::addColumn<Precision>("precision");
    QTest::addColumn<ModelConfig>("config");
    for (const Precision precision : {Precision::F32, Precision::F64, Precision::BF16})
        for (const auto& [name, config] : configs)
            QTest::addRow("%s, %s", precisionName(precision).data(), name) << precision << config;
}

/// The number of rows that differ in any bit.
int differences(const std::vector<std::vector<double>>& left,
                const std::vector<std::vector<double>>& right) {
    int count = 0;
    for (std::size_t row = 0; row < left.size(); ++row)
        count += left[row] != right[row] ? 1 : 0;
    return left.size() == right.size() ? count : -1;
}

} // namespace

void TorchExactnessTest::rowsDoNotDependOnHowManyRunTogether_data() { addRows(smallConfigs()); }

void TorchExactnessTest::rowsDoNotDependOnHowManyRunTogether() {
    QFETCH(Precision, precision);
    QFETCH(ModelConfig, config);
    const auto transformer = makeTorch(config, support::randomWeights(config, 11), precision);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> ids = randomIds(40);
    KvCache single = emptyCache(*transformer, 64);
    const auto expected = runChain(*transformer, single, plan, ids, 1);
    for (const std::size_t rowsAtOnce : {2U, 3U, 7U, 40U}) {
        KvCache cache = emptyCache(*transformer, 64);
        QCOMPARE(differences(runChain(*transformer, cache, plan, ids, rowsAtOnce), expected), 0);
    }
}

void TorchExactnessTest::realSizesDoNotDependOnHowManyRunTogether_data() {
    addRows({{"real sizes", realConfig()}});
}

void TorchExactnessTest::realSizesDoNotDependOnHowManyRunTogether() {
    QFETCH(Precision, precision);
    QFETCH(ModelConfig, config);
    static const support::MemoryWeights weights = support::randomWeights(realConfig(), 11);
    const auto transformer = makeTorch(config, weights, precision);
    const std::vector<TokenId> ids = randomIds(40, config.vocabSize);
    // The last layer's stream of all rows, and the logits of some: the head is most of the work.
    const std::vector<int> logitRows = {1, 13, 39};
    const std::vector<int> hiddenLayers = {config.layerCount - 1};
    const auto run = [&](int rowsAtOnce) {
        KvCache cache = emptyCache(*transformer, 40);
        std::pair<std::vector<double>, std::vector<double>> numbers; // hidden, logits
        for (int first = 0; first < 40; first += rowsAtOnce) {
            const int count = std::min(rowsAtOnce, 40 - first);
            std::vector<int> asked;
            for (const int row : logitRows)
                if (row >= first && row < first + count)
                    asked.push_back(row - first);
            const auto result = transformer->forward(
                {.plan = LayerPlan::full(config.layerCount),
                 .layout = AttentionLayout::chain(first, count),
                 .tokens = std::span(ids).subspan(static_cast<std::size_t>(first),
                                                  static_cast<std::size_t>(count)),
                 .logitRows = asked,
                 .hiddenLayers = hiddenLayers},
                cache);
            ENGINE_CHECK(result.hasValue(), "a pass failed: {}", result.error().message);
            const ForwardResult& values = result.value();
            numbers.first.insert(numbers.first.end(), values.hidden.begin(), values.hidden.end());
            numbers.second.insert(numbers.second.end(), values.logits.begin(), values.logits.end());
        }
        return numbers;
    };
    const auto expected = run(1);
    for (const int rowsAtOnce : {2, 3, 7, 40})
        QVERIFY(run(rowsAtOnce) == expected);
}

void TorchExactnessTest::treeNodesEqualTheirPathsAsChains_data() { addRows(smallConfigs()); }

void TorchExactnessTest::treeNodesEqualTheirPathsAsChains() {
    QFETCH(Precision, precision);
    QFETCH(ModelConfig, config);
    const auto transformer = makeTorch(config, support::randomWeights(config, 11), precision);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> prefix = randomIds(19);
    // A spine of four, then siblings that share more and less of it.
    const std::vector<TokenId> nodes = {3, 99, 40, 7, 150, 12, 88, 31, 5};
    const std::vector<int> parents = {-1, 0, 1, 2, -1, 0, 2, 4, 7};
    KvCache cache = emptyCache(*transformer, 64);
    runChain(*transformer, cache, plan, prefix, 7);
    KvCache own = emptyCache(*transformer, 64);
    runChain(*transformer, own, plan, prefix, 1);
    for (const Position firstSlot : {cache.length(), cache.length() + 13}) {
        const auto tree = logitsOf(*transformer,
                                   cache,
                                   plan,
                                   AttentionLayout::tree(cache.length(), parents, 0, firstSlot),
                                   nodes);
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            std::vector<TokenId> path;
            for (int at = static_cast<int>(node); at >= 0;
                 at = parents[static_cast<std::size_t>(at)])
                path.insert(path.begin(), nodes[static_cast<std::size_t>(at)]);
            QCOMPARE(tree[node], runChain(*transformer, own, plan, path, 1).back());
            own.truncate(cache.length());
        }
    }
}

void TorchExactnessTest::longPromptsDoNotDependOnTheirPieces_data() {
    addRows({{"tiny", support::tinyConfig()}});
}

void TorchExactnessTest::longPromptsDoNotDependOnTheirPieces() {
    QFETCH(Precision, precision);
    QFETCH(ModelConfig, config);
    const auto transformer = makeTorch(config, support::randomWeights(config, 11), precision);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> ids = randomIds(420);
    KvCache single = emptyCache(*transformer, 420);
    const auto expected = runChain(*transformer, single, plan, ids, 1);
    for (const std::size_t rowsAtOnce : {256U, 111U}) {
        KvCache cache = emptyCache(*transformer, 420);
        QCOMPARE(differences(runChain(*transformer, cache, plan, ids, rowsAtOnce), expected), 0);
    }
}

void TorchExactnessTest::theCapacityOfTheCacheDoesNotMatter_data() { addRows(smallConfigs()); }

void TorchExactnessTest::theCapacityOfTheCacheDoesNotMatter() {
    QFETCH(Precision, precision);
    QFETCH(ModelConfig, config);
    const auto transformer = makeTorch(config, support::randomWeights(config, 11), precision);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> ids = randomIds(40);
    KvCache tight = emptyCache(*transformer, 40);
    KvCache wide = emptyCache(*transformer, 67);
    QCOMPARE(differences(runChain(*transformer, tight, plan, ids, 1),
                         runChain(*transformer, wide, plan, ids, 1)),
             0);
}

QTEST_GUILESS_MAIN(TorchExactnessTest)
#include "torch_exactness_test.moc"
