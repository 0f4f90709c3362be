// SPDX-License-Identifier: Apache-2.0
// What only the cpu backend has: its forms of weights and of keys, sections of attention, reads of
// experts, passes that allocate nothing. What every backend must do: cpu_conformance_test.
#include "engine/base/to_size.h"
#include "engine/kernels/processor.h"
#include "engine/kernels/rows/attention/attend_arguments.h"
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/cpu/cpu_transformer.h"
#include "engine/model/expert_choice.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/few_cases.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/simulated_nodes.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

using namespace engine;
using support::emptyCache;
using support::logitsOf;
using support::relativeError;
using support::runChain;

namespace {

ModelConfig config() {
    ModelConfig made = support::tinyConfig();
    made.hiddenSize = 64;
    made.mlpSize = 96;
    made.headDim = 16;
    made.layerWindows = {0, 16, 0};
    made.qkvBias = made.mlpBias = made.outputBias = true;
    return made;
}

/// Of a text beyond the window, computed by another backend as well.
int textLength() { return support::takesFewCases() ? 20 : 40; }

std::vector<TokenId> someIds(int count) {
    std::mt19937 random(7);
    std::vector<TokenId> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(static_cast<TokenId>(random() % 160));
    return ids;
}

std::unique_ptr<Transformer>
makeCpu(const ModelConfig& network, const WeightSource& source, cpu::Options options = {}) {
    auto made = makeCpuTransformer(network, source, options);
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return std::move(made).value();
}

/// A call of a kernel that multiplies tiles.
struct TileCall {
    const std::byte* matrix;
    int firstTile;
    int tileCount;
    int rows;
    std::vector<float> products; ///< of the first tile, [rows, kTileRows]
};

/// Those of recordTiles(), which one thread makes.
std::vector<TileCall>& tileCalls() {
    static std::vector<TileCall> calls;
    return calls;
}

void recordTiles(const TileMatrix& matrix,
                 const TileInput& input,
                 int firstTile,
                 int tileCount,
                 const TileOutput& out) {
    multiplyTilesScalar(matrix, input, firstTile, tileCount, out);
    TileCall call{matrix.data, firstTile, tileCount, input.rows, {}};
    for (int row = 0; row < input.rows; ++row) {
        const float* const first =
            out.values + toSize(row) * out.stride + toSize(firstTile) * kTileRows;
        call.products.insert(call.products.end(), first, first + kTileRows);
    }
    tileCalls().push_back(std::move(call));
}

/// Of each tile, the number of rows for which it was read, once for each time.
std::vector<std::vector<int>> tileReads(const TileMatrix& matrix) {
    std::vector<std::vector<int>> reads(toSize(tileCount(matrix)));
    for (const TileCall& call : tileCalls())
        if (call.matrix == matrix.data)
            for (int i = 0; i < call.tileCount; ++i)
                reads[toSize(call.firstTile + i)].push_back(call.rows);
    return reads;
}

/// How many rows chose each expert, as the products of the router tell; it has one tile.
std::vector<int> rowsOfExperts(const TileMatrix& router, const ExpertChoice& experts) {
    std::vector<int> rows(toSize(experts.count));
    for (const TileCall& call : tileCalls()) {
        if (call.matrix != router.data)
            continue;
        for (int row = 0; row < call.rows; ++row) {
            const std::span<const float> logits(call.products.data() + toSize(row) * kTileRows,
                                                rows.size());
            for (const ChosenExpert<float>& each : chooseExperts<float>(logits, experts))
                ++rows[toSize(each.expert)];
        }
    }
    return rows;
}

/// The first matrix of a layer's experts of which a tile was read otherwise than once for all rows
/// that chose the expert; empty if there is none.
std::string wronglyRead(const cpu::LayerWeights& layer, const std::vector<int>& rowsOfEach) {
    for (std::size_t expert = 0; expert < rowsOfEach.size(); ++expert) {
        std::vector<int> expected;
        if (rowsOfEach[expert] > 0)
            expected.push_back(rowsOfEach[expert]);
        const cpu::GatedMlp& mlp = layer.mlps[expert];
        for (const cpu::Linear* linear : {&mlp.gate, &mlp.up, &mlp.down}) {
            const std::vector<std::vector<int>> reads = tileReads(linear->matrix);
            if (reads != std::vector<std::vector<int>>(reads.size(), expected))
                return linear->name;
        }
    }
    return {};
}

/// Calls of the kernels of attention.
struct AttendCalls {
    int together = 0;  ///< for rows over all of their keys
    int others = 0;    ///< for one row, or for one section
    int mostHeads = 0; ///< of the others: query heads of one call
};

AttendCalls& attendCalls() {
    static AttendCalls calls;
    return calls;
}

void recordAttend(const AttendArguments& arguments) {
    scalarRowKernels().attend(arguments);
    ++attendCalls().others;
    attendCalls().mostHeads = std::max(attendCalls().mostHeads, arguments.groupSize);
}

void recordAttendRows(const AttendRows& arguments) {
    scalarRowKernels().attendRows(arguments);
    ++attendCalls().together;
}

} // namespace

class CpuPassesTest : public QObject {
    Q_OBJECT

private slots:

    void numbersEqualThePlainBackends_data() {
        QTest::addColumn<TensorType>("type");
        QTest::addColumn<WeightForm>("form");
        QTest::addColumn<double>("tolerance"); // what activations are rounded to decides it
        QTest::newRow("float32") << TensorType::F32 << WeightForm::File << 3e-6;
        QTest::newRow("widened") << TensorType::Q4_1 << WeightForm::F32 << 3e-6;
        QTest::newRow("bfloat16") << TensorType::BF16 << WeightForm::File << 0.01;
        QTest::newRow("8-bit") << TensorType::Q8_0 << WeightForm::File << 0.04;
        QTest::newRow("4-bit") << TensorType::Q4_1 << WeightForm::File << 0.04;
        QTest::newRow("MXFP4") << TensorType::MXFP4 << WeightForm::File << 0.04;
        QTest::newRow("4-bit as 8-bit") << TensorType::Q4_1 << WeightForm::Int8 << 0.04;
        QTest::newRow("rounded to 8 bits") << TensorType::F32 << WeightForm::Int8 << 0.06;
    }

    void numbersEqualThePlainBackends() {
        QFETCH(const TensorType, type);
        QFETCH(const WeightForm, form);
        QFETCH(const double, tolerance);
        const support::StoredWeights source(support::randomWeights(config(), 3), type);
        cpu::Options options;
        options.weights = form;
        options.kvType = KvType::F32;
        const auto cpu = makeCpu(config(), source, options);
        const auto plain = std::move(makePlainTransformer(config(), source, {})).value();
        LayerPlan plan = LayerPlan::full(3);
        plan.mlp[1] = SublayerAction::Skip;
        const std::vector<int> parents = {-1, 0, 0, 1, -1};
        std::vector<std::vector<double>> numbers[2];
        for (Transformer* transformer : {cpu.get(), plain.get()}) {
            auto& own = numbers[transformer == plain.get()];
            KvCache cache = emptyCache(*transformer, 64);
            own = runChain(*transformer, cache, plan, someIds(textLength()), 13);
            auto tree = logitsOf(*transformer,
                                 cache,
                                 plan,
                                 AttentionLayout::tree(cache.length(), parents),
                                 someIds(5));
            std::move(tree.begin(), tree.end(), std::back_inserter(own));
        }
        const double error = relativeError(numbers[0], numbers[1]);
        QVERIFY2(error <= tolerance, qPrintable(QString::number(error)));
    }

    /// A row whose keys just fill a section stands beside rows that share it.
    void rowsAroundTheEndOfASectionAreWhatLoneOnesAre() {
        const support::MemoryWeights source = support::randomWeights(config(), 3);
        const auto transformer = makeCpu(config(), source);
        const LayerPlan plan = LayerPlan::full(3);
        constexpr int kRows = 5;
        support::FewCases few;
        for (const int section : {1, 2})
            for (int offset = -kRows - 1; offset <= 1; ++offset) {
                if (few.skipsNext())
                    continue;
                const int prefix = section * kAttendSectionKeys + offset;
                const std::vector<TokenId> ids = someIds(prefix + kRows);
                KvCache lone = emptyCache(*transformer, 256);
                auto expected = runChain(*transformer, lone, plan, ids, 1);
                KvCache cache = emptyCache(*transformer, 256);
                runChain(
                    *transformer, cache, plan, std::vector(ids.begin(), ids.end() - kRows), 16);
                const auto found = logitsOf(*transformer,
                                            cache,
                                            plan,
                                            AttentionLayout::chain(prefix, kRows),
                                            std::vector(ids.end() - kRows, ids.end()));
                expected.erase(expected.begin(), expected.end() - kRows);
                QVERIFY2(found == expected, qPrintable(QString::number(prefix)));
            }
    }

    /// Behind a window, each row of a prompt begins with another key.
    void rowsBehindAWindowAreAttendedTogether() {
        ModelConfig network = config();
        network.layerWindows = {16, 150, 150};
        cpu::Options options;
        options.threads = 1;
        const support::MemoryWeights source = support::randomWeights(network, 3);
        RowKernels rows = scalarRowKernels();
        rows.attend = recordAttend;
        rows.attendRows = recordAttendRows;
        const KernelSet kernels{InstructionSet::Scalar, rows, multiplyTilesScalar};
        cpu::CpuTransformer transformer(
            network,
            support::valueOf(cpu::packWeights(network, source, options)),
            options,
            kernels);
        KvCache cache = emptyCache(transformer, 256);
        const LayerPlan plan = LayerPlan::full(network.layerCount);
        runChain(transformer, cache, plan, someIds(200), 200);
        attendCalls() = {};
        runChain(transformer, cache, plan, someIds(17), 17);
        QVERIFY(attendCalls().together > 0);
        QCOMPARE(attendCalls().others, 0);
        runChain(transformer, cache, plan, someIds(8), 8);
        QCOMPARE(attendCalls().mostHeads, 8 * network.headCount / network.kvHeadCount);
    }

    /// Rows 0 and 1 are equal, and so are 3 and 4: they choose the same of 16 experts, and all six
    /// at most eight. The matrices are cut into several pieces.
    void onlyChosenExpertsAreReadAndOnceForAllRows() {
        ModelConfig network = support::expertConfig();
        network.experts = {.count = kTileRows, .used = 2, .size = 288};
        cpu::Options options;
        options.threads = 1;
        const support::MemoryWeights source = support::randomWeights(network, 3);
        cpu::Weights weights = support::valueOf(cpu::packWeights(network, source, options));
        const std::vector<cpu::LayerWeights> layers = weights.layers; // the tiles stay in place
        const KernelSet kernels{InstructionSet::Scalar, scalarRowKernels(), recordTiles};
        cpu::CpuTransformer transformer(network, std::move(weights), options, kernels);
        KvCache cache = emptyCache(transformer, 16);
        const LayerPlan plan = LayerPlan::full(network.layerCount);
        runChain(transformer, cache, plan, someIds(3), 3);
        tileCalls().clear();
        const std::vector<int> parents = {-1, -1, -1, 0, 1, 2};
        const std::vector<TokenId> ids = {5, 5, 9, 7, 7, 7};
        const AttentionLayout layout = AttentionLayout::tree(cache.length(), parents);
        logitsOf(transformer, cache, plan, layout, ids);
        for (const int layer : {0, 2}) {
            QVERIFY(network.hasExperts(layer));
            const cpu::LayerWeights& each = layers[toSize(layer)];
            const std::vector<int> rows = rowsOfExperts(each.router.matrix, network.experts);
            QCOMPARE(std::accumulate(rows.begin(), rows.end(), 0), 6 * network.experts.used);
            QVERIFY(*std::max_element(rows.begin(), rows.end()) >= 2);
            QVERIFY(std::count(rows.begin(), rows.end(), 0) >= 8);
            QCOMPARE(wronglyRead(each, rows), std::string());
        }
    }

    void keysAndValuesMayBeNarrower() {
        const support::MemoryWeights source = support::randomWeights(config(), 3);
        const auto plain = std::move(makePlainTransformer(config(), source, {})).value();
        KvCache reference = emptyCache(*plain, 64);
        const auto expected =
            runChain(*plain, reference, LayerPlan::full(3), someIds(textLength()), 8);
        std::map<KvType, std::size_t> bytes;
        for (const auto& [type, tolerance] : {std::pair{KvType::F16, 1e-3},
                                              std::pair{KvType::BF16, 6e-3},
                                              std::pair{KvType::Int8, 3e-2}}) {
            cpu::Options options;
            options.kvType = type;
            const auto cpu = makeCpu(config(), source, options);
            KvCache cache = emptyCache(*cpu, 64);
            bytes[type] = cache.storage().byteSize();
            const auto found = runChain(*cpu, cache, LayerPlan::full(3), someIds(textLength()), 8);
            const double error = relativeError(found, expected);
            QVERIFY2(error <= tolerance, qPrintable(QString::number(error)));
        }
        QCOMPARE(2 * bytes[KvType::F16], reference.storage().byteSize());
        QCOMPARE(bytes[KvType::F16], bytes[KvType::BF16]);
        const std::size_t dim = static_cast<std::size_t>(config().headDim);
        QCOMPARE(bytes[KvType::Int8] * 4 * dim,
                 reference.storage().byteSize() * kvRowBytes(KvType::Int8, config().headDim));
    }

    void influenceIsThePlainBackends() {
        const support::MemoryWeights source = support::randomWeights(config(), 3);
        const auto cpu = makeCpu(config(), source);
        const auto plain = std::move(makePlainTransformer(config(), source, {})).value();
        std::vector<double> influence[2];
        for (Transformer* transformer : {cpu.get(), plain.get()}) {
            KvCache cache = emptyCache(*transformer, 16);
            influence[transformer == plain.get()] =
                transformer
                    ->forward({.plan = LayerPlan::full(3),
                               .layout = AttentionLayout::chain(0, 9),
                               .tokens = someIds(9),
                               .wantsInfluence = true},
                              cache)
                    .value()
                    .influence;
        }
        QCOMPARE(influence[0].size(), std::size_t{6});
        for (std::size_t i = 0; i < 6; ++i)
            QVERIFY(std::abs(influence[0][i] / influence[1][i] - 1.0) < 1e-5);
    }

    /// With several memory nodes it notes where its caller could run before.
    void aPassAllocatesNothing() {
        const support::StoredWeights source(support::randomWeights(config(), 3), TensorType::Q4_1);
        support::SimulatedNodes oneNode({});
        cpu::Options options;
        options.machine = &oneNode;
        options.weights = WeightForm::File;
        const auto cpu = makeCpu(config(), source, options);
        KvCache cache = emptyCache(*cpu, 64);
        const LayerPlan plan = LayerPlan::full(3);
        const std::vector<TokenId> ids = someIds(8);
        const std::vector<int> rows = {0, 1, 2, 3, 4, 5, 6, 7};
        const AttentionLayout layout = AttentionLayout::chain(3, 8);
        const AttentionLayout one = AttentionLayout::chain(5, 1);
        ForwardResult result;
        const ForwardRequest verify{.plan = plan,
                                    .layout = layout,
                                    .tokens = ids,
                                    .summaryRows = rows,
                                    .wantsInfluence = true};
        const ForwardRequest draft{.plan = plan,
                                   .layout = one,
                                   .tokens = std::span(ids).first(1),
                                   .summaryRows = std::span(rows).first(1)};
        for (int round = 0; round < 2; ++round) {
            QVERIFY(cpu->forwardInto(verify, cache, result).hasValue());
            QVERIFY(cpu->forwardInto(draft, cache, result).hasValue());
        }
        const test_support::PeakAllocation peak;
        const bool isDone = cpu->forwardInto(verify, cache, result).hasValue() &&
                            cpu->forwardInto(draft, cache, result).hasValue();
        const std::size_t bytes = peak.bytes();
        QVERIFY(isDone);
        QCOMPARE(bytes, std::size_t{0});
    }

    /// Whichever thread takes the one piece of this head: it could not tell of missing memory.
    void eachThreadHasRoomForLogitsBeforeItBegins() {
        const support::MemoryWeights source = support::randomWeights(config(), 3);
        const LayerPlan plan = LayerPlan::full(3);
        const std::vector<TokenId> ids = someIds(8);
        const std::vector<int> rows = {0, 1, 2, 3, 4, 5, 6, 7};
        const AttentionLayout layout = AttentionLayout::chain(0, 8);
        const auto bytesOfFirstPass = [&](int threads) {
            cpu::Options options;
            options.threads = threads;
            const auto cpu = makeCpu(config(), source, options);
            KvCache cache = emptyCache(*cpu, 64);
            ForwardResult result;
            const ForwardRequest request{
                .plan = plan, .layout = layout, .tokens = ids, .logitRows = rows};
            const test_support::PeakAllocation peak;
            const bool isDone = cpu->forwardInto(request, cache, result).hasValue();
            return isDone ? peak.bytes() : std::size_t{0};
        };
        const std::size_t alone = bytesOfFirstPass(1);
        const std::size_t logits = rows.size() * 160 * sizeof(float); // of a thread
        QVERIFY(alone > logits);
        QVERIFY(bytesOfFirstPass(4) >= alone + 3 * logits);
    }

    /// All passes work in one memory: a piece of a prompt, rows with logits, and a draft tree at
    /// the context's end.
    void passesTakeTheMemoryThatWasForecast() {
        if (support::takesFewCases())
            QSKIP("what passes take hangs on no kernel, and large ones are slow here");
        constexpr int kContext = 16384;
        ModelConfig network = support::layeredConfig(1);
        network.hiddenSize = 256;
        network.mlpSize = 1024;
        network.headCount = 8;
        network.headDim = 32;
        network.vocabSize = 2048;
        const support::MemoryWeights source = support::randomWeights(network, 3);
        cpu::Options options;
        options.threads = 1;
        const auto told = cpu::forecast(network, source, options, kContext);
        QVERIFY(told.hasValue());
        const auto transformer = makeCpu(network, source, options);
        KvCache cache = emptyCache(*transformer, kContext);
        const LayerPlan plan = LayerPlan::full(1);
        const std::vector<TokenId> ids = someIds(128);
        std::vector<int> rows(64);
        std::iota(rows.begin(), rows.end(), 0);
        ForwardResult result;
        const test_support::PeakAllocation peak;
        for (const auto& [first, count, logits] :
             {std::array{0, 128, 0}, std::array{128, 64, 64}, std::array{kContext - 8, 8, 0}}) {
            const AttentionLayout layout = AttentionLayout::chain(first, count);
            const ForwardRequest request{
                .plan = plan,
                .layout = layout,
                .tokens = std::span(ids).first(static_cast<std::size_t>(count)),
                .logitRows = std::span(rows).first(static_cast<std::size_t>(logits))};
            QVERIFY(transformer->forwardInto(request, cache, result).hasValue());
            for (int row = 0; row < logits; ++row)
                QVERIFY(result.logits.row(row).hasValue());
        }
        const double part =
            static_cast<double>(peak.bytes()) / static_cast<double>(told.value().memory.passBytes);
        QVERIFY2(part > 0.9 && part < 1.1, qPrintable(QString::number(part)));
    }

    void whatItCannotDoIsRefusedInASentence() {
        const support::MemoryWeights source = support::randomWeights(config(), 3);
        const auto wide = cpu::optionsOf({.precision = Precision::F64});
        QVERIFY(!wide && wide.error().code == ErrorCode::Unsupported);
        const auto other = cpu::optionsOf({.settings = {{"device", 1.0}}});
        QVERIFY(!other && other.error().code == ErrorCode::InvalidInput);
        cpu::Options options;
        options.instructionSet = "sse9";
        const auto unknown = makeCpuTransformer(config(), source, options);
        QVERIFY(!unknown && unknown.error().code == ErrorCode::InvalidInput);
    }

    void aModelThatFitsTheCachesIsHeldInFloat32() {
        const support::StoredWeights source(support::randomWeights(config(), 3), TensorType::Q4_1);
        QCOMPARE(makeCpu(config(), source)->arithmeticName(), std::string("float32"));
        cpu::Options options;
        options.weights = WeightForm::File;
        QCOMPARE(makeCpu(config(), source, options)->arithmeticName(),
                 std::string("4-bit, scale and minimum per 32"));
    }
};

QTEST_GUILESS_MAIN(CpuPassesTest)
#include "cpu_passes_test.moc"
