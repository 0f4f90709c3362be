// SPDX-License-Identifier: Apache-2.0
// What the host makes of plans and layouts before anything is launched.
#include "engine/kernels/aligned_buffer.h"
#include "plugins/backend_cuda/transformer/operation_list.h"
#include "plugins/backend_cuda/transformer/pass_tables.h"
#include "plugins/backend_cuda/transformer/weight_packing.h"
#include "tests/plugins/cuda/cuda_support.h"

#include <QTest>

using namespace engine;
using namespace backend_cuda;

namespace {

/// Parts as "row+rows@section".
QStringList textOf(const std::vector<Part>& parts) {
    QStringList texts;
    for (const Part& part : parts)
        texts << QString("%1+%2@%3").arg(part.row).arg(part.rows).arg(part.section);
    return texts;
}

int countOf(const std::vector<Operation>& operations, Kind kind) {
    return static_cast<int>(
        std::count_if(operations.begin(), operations.end(), [kind](const Operation& each) {
            return each.kind == kind;
        }));
}

std::vector<Operation> listOf(const ModelConfig& config,
                              const DeviceWeights& weights,
                              const ForwardRequest& request,
                              int headCount) {
    return makeOperations(config, weights, request, headCount, false, 4);
}

} // namespace

class CudaTablesTest : public QObject {
    Q_OBJECT

private slots:
    void rowsOfAChainShareTheirSections();
    void branchesShareWhatLiesInFrontOfThem();
    void rowsBesideShareOnlyWholeSections();
    void aSkippedSublayerIsNotInTheList();
    void aRangeOfLayersHasNoOthers();
    void aStreamThatGoesOnHasTheFirstPlace();
    void aMatrixThatOverflowsIsNotPacked();
};

void CudaTablesTest::rowsOfAChainShareTheirSections() {
    const LayoutTables tables = tablesOf(AttentionLayout::chain(60, 8), 0, 8);
    QCOMPARE(tables.mostSections, 2);
    QCOMPARE(tables.counts.front(), 61);
    QCOMPARE(tables.counts.back(), 68);
    QCOMPARE(textOf(tables.parts), (QStringList{"0+8@0", "4+4@1"}));
    // The second half of the same chain, as a piece of its own.
    QCOMPARE(textOf(tablesOf(AttentionLayout::chain(60, 8), 4, 4).parts),
             (QStringList{"0+4@0", "0+4@1"}));
}

void CudaTablesTest::branchesShareWhatLiesInFrontOfThem() {
    // Two branches of two nodes behind 64 tokens.
    const std::vector<int> parents = {-1, 0, -1, 2};
    const LayoutTables tables = tablesOf(AttentionLayout::tree(64, parents), 0, 4);
    QCOMPARE(textOf(tables.parts), (QStringList{"0+4@0", "0+2@1", "2+2@1"}));
    QCOMPARE(tables.pathSlots, (std::vector<int>{64, 64, 65, 66, 66, 67}));
}

void CudaTablesTest::rowsBesideShareOnlyWholeSections() {
    const LayoutTables tables = tablesOf(AttentionLayout::beside(63, 3, 80), 0, 3);
    QCOMPARE(textOf(tables.parts), (QStringList{"0+1@0", "1+2@0", "1+1@1", "2+1@1"}));
}

void CudaTablesTest::aSkippedSublayerIsNotInTheList() {
    const ModelConfig config = support::tinyConfig();
    const auto weights =
        outlineWeights(config, support::randomWeights(config, 1), Form::Bf16, allLayers(config))
            .value();
    const AttentionLayout layout = AttentionLayout::chain(0, 1);
    const TokenId token = 1;
    LayerPlan plan = LayerPlan::full(3);
    const auto whole =
        listOf(config, weights, {.plan = plan, .layout = layout, .tokens = {&token, 1}}, 1);
    QCOMPARE(countOf(whole, Kind::Attend), 3);
    QCOMPARE(countOf(whole, Kind::Linear), 3 * 4 + 1);
    plan.attention[1] = SublayerAction::Skip;
    plan.mlp[2] = SublayerAction::Skip;
    const auto draft =
        listOf(config, weights, {.plan = plan, .layout = layout, .tokens = {&token, 1}}, 1);
    QCOMPARE(countOf(draft, Kind::Attend), 2);
    QCOMPARE(countOf(draft, Kind::Linear), 2 * 2 + 2 * 2 + 1);
    for (const Operation& operation : draft)
        QVERIFY(operation.kind != Kind::Attend || operation.layer != 1);
}

void CudaTablesTest::aRangeOfLayersHasNoOthers() {
    const ModelConfig config = support::tinyConfig();
    const auto weights =
        outlineWeights(config, support::randomWeights(config, 1), Form::F32, allLayers(config))
            .value();
    const LayerPlan plan = LayerPlan::full(3);
    const AttentionLayout layout = AttentionLayout::chain(0, 1);
    HiddenRows hidden;
    const HandOut handOut{1, &hidden};
    const auto list = listOf(
        config,
        weights,
        {.plan = plan, .layout = layout, .firstLayer = 1, .endLayer = 2, .handOuts = {&handOut, 1}},
        0);
    QCOMPARE(countOf(list, Kind::Linear), 4);
    QCOMPARE(countOf(list, Kind::HeadJoin), 0);
    QVERIFY(list.front().kind == Kind::Begin);
    QVERIFY(list.back().kind == Kind::HandOut);
    QCOMPARE(placeOf(config, list[2], 1).tensor,
             std::string("model.layers.1.self_attn.k_proj.weight"));
}

/// So that the others can come to the computer without it.
void CudaTablesTest::aStreamThatGoesOnHasTheFirstPlace() {
    const ModelConfig config = support::tinyConfig();
    const auto weights =
        outlineWeights(config, support::randomWeights(config, 1), Form::F32, {0, 2}).value();
    const LayerPlan plan = LayerPlan::full(3);
    const AttentionLayout layout = AttentionLayout::chain(0, 1);
    const TokenId token = 1;
    HiddenRows hidden;
    const HandOut handOut{0, &hidden};
    const auto list = makeOperations(config,
                                     weights,
                                     {.plan = plan,
                                      .layout = layout,
                                      .tokens = {&token, 1},
                                      .endLayer = 2,
                                      .handOuts = {&handOut, 1}},
                                     0,
                                     true,
                                     4);
    std::vector<int> places;
    for (const Operation& operation : list)
        if (operation.kind == Kind::HandOut)
            places.push_back(operation.index);
    QCOMPARE(places, std::vector<int>({1, 0}));
    QVERIFY(list.back().kind == Kind::HandOut);
}

void CudaTablesTest::aMatrixThatOverflowsIsNotPacked() {
    support::MemoryWeights weights;
    weights.add("large", {1, 2}, {1.0F, 70000.0F});
    const auto pack = [&](const TileFormat& format) {
        TileMatrix tiles = engine::outlineMatrix(format, 1, 2);
        AlignedBuffer<std::byte> memory;
        memory.reserve(engine::matrixBytes(tiles));
        tiles.data = memory.data();
        ENGINE_CHECK(engine::packMatrix(weights, *weights.find("large"), format, memory.data()),
                     "packed tiles");
        engine::WorkerPool pool(2);
        return backend_cuda::packMatrix(
            backend_cuda::outlineMatrix(1, 2, format),
            [&tiles](int) {
                return TileRow{&tiles, 0};
            },
            pool);
    };
    const TileFormat bf16{.form = TileForm::Bf16};
    QVERIFY(pack({.form = TileForm::F16}).empty());
    QCOMPARE(pack(bf16).size(), backend_cuda::matrixBytes(backend_cuda::outlineMatrix(1, 2, bf16)));
    QCOMPARE(backend_cuda::matrixBytes(backend_cuda::outlineMatrix(129, 65, bf16)),
             std::size_t{2 * 2 * 8 * 2048});
}

QTEST_GUILESS_MAIN(CudaTablesTest)
#include "cuda_tables_test.moc"
