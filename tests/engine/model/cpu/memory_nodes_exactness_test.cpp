// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/layer_cut.h"
#include "tests/engine/model/cpu/exact_case.h"
#include "tests/support/simulated_nodes.h"

#include <QTest>

#include <algorithm>
#include <cerrno>

using namespace engine;
using support::equalNodes;
using support::SimulatedNodes;

namespace {

constexpr std::size_t kMib = std::size_t{1} << 20U;

ModelConfig shapeOf(int shape) { return support::exactShape(shape); }

/// Logits of a prompt in passes of several rows, and of further tokens one by one.
std::vector<std::vector<double>> answerOf(int shape, int threads, NodeMachine& machine) {
    const ModelConfig config = shapeOf(shape);
    const support::StoredWeights source(support::randomWeights(config, 3), TensorType::F32);
    const auto transformer = support::valueOf(makeCpuTransformer(
        config,
        source,
        cpu::Options{.threads = threads, .weights = WeightForm::F32, .machine = &machine}));
    std::vector<TokenId> ids;
    for (int i = 0; i < 24; ++i)
        ids.push_back(static_cast<TokenId>(i * 37 % config.vocabSize));
    const auto plan = LayerPlan::full(config.layerCount);
    KvCache cache = support::emptyCache(*transformer, 64);
    const std::span all = ids;
    auto logits = support::runChain(*transformer, cache, plan, all.first(16), 5);
    for (auto& row : support::runChain(*transformer, cache, plan, all.subspan(16), 1))
        logits.push_back(std::move(row));
    return logits;
}

/// One layer of large matrices, in a memory that nobody touches.
struct LargeLayer {
    explicit LargeLayer(int size) {
        weights.layers.resize(1);
        cpu::LayerWeights& layer = weights.layers.front();
        layer.mlps.resize(1);
        cpu::GatedMlp& mlp = layer.mlps.front();
        const TileFormat format = tileFormat(TensorType::F32, WeightForm::F32);
        std::size_t bytes = 0;
        for (cpu::Linear* each : {&layer.query,
                                  &layer.key,
                                  &layer.value,
                                  &layer.output,
                                  &mlp.gate,
                                  &mlp.up,
                                  &mlp.down,
                                  &weights.embedding}) {
            each->matrix = outlineMatrix(format, size, size);
            bytes += matrixBytes(each->matrix);
            linears.push_back(each);
        }
        weights.memory = support::valueOf(HugeMemory::make(bytes, "a test"));
        std::byte* next = weights.memory.data();
        for (cpu::Linear* each : linears) {
            each->matrix.data = next;
            next += matrixBytes(each->matrix);
        }
    }

    std::span<std::byte> memory() const { return {weights.memory.data(), weights.memory.size()}; }

    cpu::Weights weights;
    std::vector<cpu::Linear*> linears;
};

} // namespace

class MemoryNodesExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void answersAreTheSameBitsOnAnyNodes_data() {
        QTest::addColumn<int>("shape");
        QTest::addRow("plain") << 0;
        QTest::addRow("a tied head and a large vocabulary") << 2;
        QTest::addRow("experts") << support::kWideShape + 1;
    }

    void answersAreTheSameBitsOnAnyNodes() {
        QFETCH(const int, shape);
        SimulatedNodes one({});
        const auto expected = answerOf(shape, 1, one);
        QVERIFY(answerOf(shape, 3, one) == expected);
        QVERIFY(one.placed().empty() && one.bound().empty());
        for (const int nodes : {2, 4})
            for (const int threads : {2, 3, 5}) {
                SimulatedNodes machine(equalNodes(nodes, 2));
                QVERIFY(answerOf(shape, threads, machine) == expected);
                QVERIFY(!machine.placed().empty());
            }
        SimulatedNodes refusing(equalNodes(2, 2), ENOSYS);
        QVERIFY(answerOf(shape, 2, refusing) == expected);
        QVERIFY(!refusing.note().empty());
    }

    /// All but the table of embeddings, which nobody reads as a matrix where the head is another.
    void everyTileIsReadByTheNodeWhoseThreadsBeginWithIt() {
        const ModelConfig config = shapeOf(1);
        const support::StoredWeights source(support::randomWeights(config, 3), TensorType::F32);
        SimulatedNodes machine(equalNodes(2, 2));
        const cpu::Options options{.threads = 3, .machine = &machine};
        const auto weights = support::valueOf(cpu::packWeights(config, source, options));
        const NodeThreads threads(machine, 3);
        const std::span<const std::byte> memory(weights.memory.data(), weights.memory.size());
        std::size_t bytes = 0;
        for (const NodeBytes& each : cpu::weightReads(weights, memory, threads))
            bytes += each.end - each.first;
        QCOMPARE(bytes, memory.size() - matrixBytes(weights.embedding.matrix));
        const cpu::Linear& down = weights.layers.front().mlps.front().down;
        const cpu::LinearGroup group({&down}, 3);
        std::vector<NodeBytes> reads;
        group.addReads(threads, memory, reads);
        const int pieces = static_cast<int>(group.pieces().size());
        QCOMPARE(static_cast<int>(reads.size()), pieces);
        for (int thread = 0; thread < 3; ++thread) {
            const auto [first, end] = WorkerPool::shareOf(thread, pieces, 3);
            for (int piece = first; piece < end; ++piece)
                QCOMPARE(reads[static_cast<std::size_t>(piece)].node, threads.nodeOf(thread));
        }
        const std::vector<NodeBytes> before = reads;
        group.addReads(threads, memory.first(1), reads); // it lies elsewhere
        QCOMPARE(reads, before);
    }

    void eachExpertIsSharedByAllNodes() {
        const ModelConfig config = shapeOf(support::kWideShape + 1);
        const support::StoredWeights source(support::randomWeights(config, 3), TensorType::F32);
        SimulatedNodes machine(equalNodes(2, 2));
        const cpu::Options options{.threads = 2, .machine = &machine};
        const auto weights = support::valueOf(cpu::packWeights(config, source, options));
        const cpu::GatedMlp& expert = weights.layers.front().mlps.front();
        QVERIFY(tileCount(expert.gate.matrix) >= 2);
        const auto offset =
            static_cast<std::size_t>(expert.gate.matrix.data - weights.memory.data());
        const std::size_t end = offset + matrixBytes(expert.gate.matrix);
        std::vector<int> nodes;
        for (const NodeBytes& each : cpu::weightReads(
                 weights, {weights.memory.data(), weights.memory.size()}, NodeThreads(machine, 2)))
            if (each.first >= offset && each.end <= end)
                nodes.push_back(each.node);
        QCOMPARE(nodes, std::vector<int>({0, 1}));
    }

    /// Each half of a matrix on a node, but for one huge page; of the three that read the same
    /// input all together.
    void largeMatricesAreCutBetweenTheNodes() {
        const LargeLayer layer(2048); // 16 MiB a matrix
        SimulatedNodes machine(equalNodes(2, 2));
        cpu::placeWeights(layer.weights, layer.memory(), NodeThreads(machine, 4));
        for (const cpu::Linear* each : layer.linears) {
            const TileMatrix& matrix = each->matrix;
            std::size_t onFirst = 0;
            for (const auto& [pages, node] : machine.placed()) {
                const std::byte* first = std::max<const std::byte*>(pages.data(), matrix.data);
                const std::byte* end = std::min<const std::byte*>(
                    pages.data() + pages.size(), matrix.data + matrixBytes(matrix));
                if (node == 0 && first < end)
                    onFirst += static_cast<std::size_t>(end - first);
            }
            if (each == layer.linears[0])
                QCOMPARE(onFirst, 16 * kMib); // the query
            else if (each == layer.linears[2])
                QCOMPARE(onFirst, std::size_t{0}); // the value
            else
                QVERIFY(onFirst >= 6 * kMib && onFirst <= 10 * kMib);
        }
        for (const auto& [pages, node] : machine.placed())
            QCOMPARE(static_cast<std::size_t>(pages.data() - layer.memory().data()) % kHugePage,
                     std::size_t{0});
    }

    void headsOfTheCacheLieOnTheNodeThatAttendsThem() {
        SimulatedNodes machine(equalNodes(2, 2));
        const auto storage = support::valueOf(HostKvStorage::make({2, 4, 64, 4096, KvType::F16}));
        cpu::placeCache(*storage, NodeThreads(machine, 2));
        const std::size_t planeBytes = storage->byteSize() / 4; // 2 MiB
        const auto placed = machine.placed();
        QCOMPARE(placed.size(), std::size_t{8});
        for (std::size_t i = 0; i < placed.size(); ++i) {
            QCOMPARE(placed[i].node, static_cast<int>(i % 2));
            QCOMPARE(placed[i].pages.size(), planeBytes / 2);
            QVERIFY(placed[i].pages.data() == storage->keys(0) + i * planeBytes / 2);
        }
    }

    void theNodesAreToldBeforeAndAfterALoad() {
        const ModelConfig config = shapeOf(0);
        const support::StoredWeights source(support::randomWeights(config, 3), TensorType::F32);
        SimulatedNodes one({});
        SimulatedNodes two(equalNodes(2, 2));
        for (auto [machine, nodes] : {std::pair(&one, 1), std::pair(&two, 2)}) {
            const cpu::Options options{.threads = 3, .machine = machine};
            const auto told = support::valueOf(cpu::forecast(config, source, options, 8));
            QCOMPARE(told.memoryNodes, nodes);
            const auto loaded = support::valueOf(makeCpuTransformer(config, source, options));
            QCOMPARE(loaded->memoryNodes(), nodes);
        }
    }
};

QTEST_APPLESS_MAIN(MemoryNodesExactnessTest)
#include "memory_nodes_exactness_test.moc"
