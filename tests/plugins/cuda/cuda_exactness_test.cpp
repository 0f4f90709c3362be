// SPDX-License-Identifier: Apache-2.0
// A row's numbers are the same bits whatever runs with it, on however many blocks, in whatever
// order their threads take turns.
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/models/stored_weights.h"

#include <QTest>

#include <cmath>
#include <map>
#include <numeric>

using namespace engine;
using backend_cuda::EmulatedDevice;
using backend_cuda::emulation::ThreadOrder;

namespace {

/// A sanitizer sees in few passes all that it can see, and makes each of them ten times slower.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

using Rows = std::vector<std::vector<double>>;

struct Scene {
    ModelConfig config = support::unevenConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    support::StoredWeights fourBit{weights, TensorType::Q4_1};
    LayerPlan plan = LayerPlan::full(config.layerCount);
};

Scene& scene() {
    static Scene only;
    return only;
}

/// `form`: a word of --weights, or "4bit", as which the file has them.
std::unique_ptr<Transformer>
make(const std::string& form, int blocks, ThreadOrder order, const std::string& launch = "pass") {
    const auto device = std::make_shared<EmulatedDevice>(blocks, order);
    if (form == "4bit")
        return support::makeOn(device, scene().config, scene().fourBit, {{"launch", launch}});
    return support::makeOn(
        device, scene().config, scene().weights, {{"weights", form}, {"launch", launch}});
}

/// On two blocks with whole passes, one for all functions.
Transformer& shared(const std::string& form) {
    static std::map<std::string, std::unique_ptr<Transformer>> made;
    std::unique_ptr<Transformer>& one = made[form];
    if (one == nullptr)
        one = make(form, 2, {});
    return *one;
}

Rows runChainIn(Transformer& transformer, int count, std::size_t rowsAtOnce) {
    KvCache cache = transformer.makeCache(80).value();
    return support::runChain(transformer, cache, scene().plan, support::someIds(count), rowsAtOnce);
}

/// What 70 rows in other passes are compared with: each is computed alone, in a sample the last
/// twelve, and under a sanitizer none.
Rows seventyRows(Transformer& transformer, const LayerPlan& plan) {
    const std::size_t few = support::takesAllCases() ? 0 : kIsSanitized ? 70 : 58;
    const std::vector<TokenId> ids = support::someIds(70);
    KvCache cache = support::emptyCache(transformer, 70);
    Rows rows = support::runChain(
        transformer, cache, plan, std::span(ids).first(few), kIsSanitized ? 23 : 8);
    for (auto& row : support::runChain(transformer, cache, plan, std::span(ids).subspan(few), 1))
        rows.push_back(std::move(row));
    return rows;
}

} // namespace

class CudaExactnessTest : public QObject {
    Q_OBJECT

private slots:
    void blocksAndThreadsDecideNoBit_data();
    void blocksAndThreadsDecideNoBit();
    void seventyRowsAreThoseOfSinglePasses_data();
    void seventyRowsAreThoseOfSinglePasses();
    void wideHeadsAreRightAndExact_data();
    void wideHeadsAreRightAndExact();
    void launchesOfSingleOperationsGiveTheSameBits();
    void branchesInOtherSlotsEqualTheirChain();
    void rowsBesideEqualTheChain();
    void aPlanAndAnExitAreResumed();
    void aReadingOfTheMemoryReadsEachPieceOnce();
};

void CudaExactnessTest::blocksAndThreadsDecideNoBit_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<int>("blocks");
    QTest::addColumn<bool>("isDescending");
    QTest::addColumn<unsigned>("seed");
    // In a sample one block goes with one order and three with the other, and forms take turns.
    const bool takesAll = support::takesAllCases();
    std::size_t turn = 0;
    for (const char* form : {"bf16", "int8", "f32", "4bit"}) {
        const bool isFirst = turn++ % 2 == 0;
        for (const int blocks : {1, 3}) {
            if (takesAll || (blocks == 1 && isFirst))
                QTest::addRow("%s, %d blocks, descending", form, blocks)
                    << form << blocks << true << 0U;
            if (takesAll || (blocks == 3 && !isFirst))
                QTest::addRow("%s, %d blocks, shuffled", form, blocks)
                    << form << blocks << false << 7U;
        }
        if (kIsSanitized && !isFirst)
            break;
    }
}

void CudaExactnessTest::blocksAndThreadsDecideNoBit() {
    QFETCH(const QString, form);
    QFETCH(const int, blocks);
    QFETCH(const bool, isDescending);
    QFETCH(const unsigned, seed);
    Transformer& plain = shared(form.toStdString());
    const auto other = make(form.toStdString(), blocks, {isDescending, seed});
    const int count = support::takesAllCases() ? 9 : kIsSanitized ? 2 : 5;
    for (const int rows : {1, count})
        QVERIFY(runChainIn(*other, count, static_cast<std::size_t>(rows)) ==
                runChainIn(plain, count, static_cast<std::size_t>(rows)));
}

void CudaExactnessTest::seventyRowsAreThoseOfSinglePasses_data() {
    QTest::addColumn<QString>("form");
    for (const char* form : {"bf16", "int8", "4bit"})
        QTest::newRow(form) << form;
    // Under a sanitizer wide heads have float32, and one more conversion is not worth the time.
    for (const char* form : {"f16", "f32"})
        if (!kIsSanitized)
            QTest::newRow(form) << form;
}

/// More than a launch takes, over two sections of attention.
void CudaExactnessTest::seventyRowsAreThoseOfSinglePasses() {
    QFETCH(const QString, form);
    Transformer& transformer = shared(form.toStdString());
    const Rows expected = seventyRows(transformer, scene().plan);
    // The passes of the expected rows have the smallest kernel.
    support::FewCases few(3, kIsSanitized);
    for (const std::size_t rows : {70U, 17U, 33U})
        QVERIFY(few.skipsNext() || runChainIn(transformer, 70, rows) == expected);
    QVERIFY(!support::takesAllCases() || runChainIn(transformer, 70, 5) == expected);
}

void CudaExactnessTest::wideHeadsAreRightAndExact_data() {
    QTest::addColumn<QString>("kv");
    QTest::addColumn<int>("headDim");
    QTest::addColumn<double>("tolerance");
    QTest::newRow("float16, 256") << "f16" << 256 << 1e-3;
    if (!kIsSanitized) {
        QTest::newRow("bfloat16, 256") << "bf16" << 256 << 1e-2;
        QTest::newRow("float32, 256") << "f32" << 256 << 1e-5;
        QTest::newRow("float16, 200") << "f16" << 200 << 1e-3;
    }
    QTest::newRow("float32, 136") << "f32" << 136 << 1e-5;
}

/// Heads above 128 numbers, over two sections of attention, against the reference in float64.
void CudaExactnessTest::wideHeadsAreRightAndExact() {
    QFETCH(const QString, kv);
    QFETCH(const int, headDim);
    QFETCH(const double, tolerance);
    ModelConfig config = support::layeredConfig(2);
    config.headDim = headDim;
    const support::MemoryWeights weights = support::randomWeights(config, 3);
    const auto own = support::makeOn(std::make_shared<EmulatedDevice>(2),
                                     config,
                                     weights,
                                     {{"weights", std::string("f32")}, {"kv", kv.toStdString()}});
    const auto reference = support::plainModel(config, weights);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const auto run = [&](Transformer& transformer, std::size_t rowsAtOnce) {
        KvCache cache = support::emptyCache(transformer, 70);
        return support::runChain(transformer, cache, plan, support::someIds(70), rowsAtOnce);
    };
    const Rows found = run(*own, 70);
    QVERIFY(found == seventyRows(*own, plan));
    const Rows expected = run(*reference, 70);
    const double relative = support::relativeError(found, expected);
    QVERIFY2(relative <= tolerance, qPrintable(QString::number(relative)));
}

void CudaExactnessTest::launchesOfSingleOperationsGiveTheSameBits() {
    const int count = kIsSanitized ? 10 : 20;
    for (const char* form : {"4bit", "bf16"}) {
        const auto operations = make(form, 2, {}, "operation");
        QVERIFY(runChainIn(shared(form), count, 7) == runChainIn(*operations, count, 7));
        if (kIsSanitized)
            break;
    }
}

void CudaExactnessTest::branchesInOtherSlotsEqualTheirChain() {
    Transformer* const transformer = &shared("bf16");
    const std::vector<TokenId> ids = support::someIds(40);
    KvCache cache = transformer->makeCache(80).value();
    support::runChain(*transformer, cache, scene().plan, std::span(ids).first(30), 30);
    // Two branches with the same tokens, the second one among the slots of the first.
    std::vector<int> parents;
    std::vector<TokenId> nodes;
    for (int i = 0; i < 5; ++i)
        for (int branch = 0; branch < 2; ++branch) {
            parents.push_back(i == 0 ? -1 : 2 * (i - 1) + branch);
            nodes.push_back(ids[30 + static_cast<std::size_t>(i)]);
        }
    const Rows tree = support::logitsOf(
        *transformer, cache, scene().plan, AttentionLayout::tree(30, parents, 0, 45), nodes);
    const Rows chain = runChainIn(*transformer, 35, 35);
    for (std::size_t i = 0; i < 10; ++i)
        QVERIFY(tree[i] == chain[30 + i / 2]);
}

void CudaExactnessTest::rowsBesideEqualTheChain() {
    Transformer* const transformer = &shared("bf16");
    const std::vector<TokenId> ids = support::someIds(24);
    KvCache cache = transformer->makeCache(80).value();
    const Rows chain = support::runChain(*transformer, cache, scene().plan, ids, 24);
    const Rows beside = support::logitsOf(*transformer,
                                          cache,
                                          scene().plan,
                                          AttentionLayout::beside(10, 12, 30),
                                          std::span(ids).subspan(10, 12));
    QVERIFY(beside == Rows(chain.begin() + 10, chain.begin() + 22));
}

void CudaExactnessTest::aPlanAndAnExitAreResumed() {
    const auto transformer = make("bf16", 3, {});
    const std::vector<TokenId> ids = support::someIds(12);
    LayerPlan plan = scene().plan;
    plan.mlp[0] = SublayerAction::Skip;
    KvCache cache = transformer->makeCache(80).value();
    const Rows whole =
        support::logitsOf(*transformer, cache, plan, AttentionLayout::chain(0, 12), ids);
    LayerPlan exit = plan;
    exit.exitAfterLayer = 0;
    HiddenRows hidden;
    const HandOut handOut{0, &hidden};
    KvCache resumed = transformer->makeCache(80).value();
    QVERIFY(transformer
                ->forward({.plan = exit,
                           .layout = AttentionLayout::chain(0, 12),
                           .tokens = ids,
                           .handOuts = std::span(&handOut, 1)},
                          resumed)
                .hasValue());
    const HiddenPiece piece(hidden);
    const int last = 11;
    auto rest = transformer->forward({.plan = plan,
                                      .layout = AttentionLayout::chain(0, 12),
                                      .hidden = std::span(&piece, 1),
                                      .firstLayer = 1,
                                      .logitRows = std::span(&last, 1)},
                                     resumed);
    QVERIFY(rest.hasValue());
    QVERIFY(support::rowOf(rest.value(), 0) == whole.back());
}

/// For the speed of a GPU's memory: more pieces than one round of all threads, and no whole round.
void CudaExactnessTest::aReadingOfTheMemoryReadsEachPieceOnce() {
    constexpr int blocks = 3;
    EmulatedDevice device(blocks);
    std::vector<unsigned> words(4 * 7001);
    unsigned expected = 0;
    for (std::size_t i = 0; i < words.size(); ++i)
        expected += words[i] = static_cast<unsigned>(i * i) + 1;
    const auto bytes = std::as_bytes(std::span(words));
    std::byte* const memory = device.allocate(bytes.size()).value();
    QVERIFY(device.upload(memory, bytes).hasValue());
    std::vector<unsigned> sums(blocks * backend_cuda::kThreads);
    unsigned counter = 0;
    backend_cuda::Operation operation;
    operation.kind = backend_cuda::Kind::Read;
    operation.index = 7001;
    operation.matrix.weights = memory;
    backend_cuda::PassArguments arguments;
    arguments.operations = &operation;
    arguments.end = 1;
    arguments.barrier = &counter;
    arguments.partials = reinterpret_cast<float*>(sums.data());
    QVERIFY(device.launch(backend_cuda::Kernel::Pass8, blocks, arguments).hasValue());
    QCOMPARE(std::accumulate(sums.begin(), sums.end(), 0U), expected);
    device.release(memory);
}

QTEST_GUILESS_MAIN(CudaExactnessTest)
#include "cuda_exactness_test.moc"
