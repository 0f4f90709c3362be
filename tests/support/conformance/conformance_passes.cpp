// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conformance/backend_conformance.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/programs/live_bytes.h"
#include "tests/support/transformers/forward_helpers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace support {

using namespace engine;

namespace {

/// The error allowed for rounding to the narrowest numbers of a pass.
double toleranceOf(const Transformer& transformer) {
    const auto isHeldAs = [&](std::string_view name) {
        return transformer.arithmeticName() == name && transformer.kvTypeName() == name;
    };
    if (isHeldAs("float64"))
        return 1e-12;
    return isHeldAs("float32") ? 1e-5 : 0.08;
}

} // namespace

void BackendConformance::numbersAreThoseOfTheReference() {
    ModelConfig config = tinyConfig();
    config.layerWindows = {0, 16, 0};
    config.qkvBias = config.mlpBias = true;
    config.ropeScaling = {.kind = RopeScalingKind::Llama3, .factor = 8.0};
    config.ropeScaling.originalContextLength = 64.0;
    const MemoryWeights weights = randomWeights(config, 3);
    const auto own = make(variant(), config, weights);
    const auto reference = plainModel(config, weights);
    LayerPlan plan = LayerPlan::full(config.layerCount);
    plan.mlp[1] = SublayerAction::Skip;
    const std::vector<int> parents = {-1, 0, 0, 1, -1};
    const auto numbersOf = [&](Transformer& transformer) {
        KvCache cache = emptyCache(transformer, 64);
        auto numbers = runChain(transformer, cache, plan, conformanceIds(40), 13);
        auto tree = logitsOf(transformer,
                             cache,
                             plan,
                             AttentionLayout::tree(cache.length(), parents),
                             conformanceIds(5));
        std::move(tree.begin(), tree.end(), std::back_inserter(numbers));
        return numbers;
    };
    const double error = support::relativeError(numbersOf(*own), numbersOf(*reference));
    QVERIFY2(error <= toleranceOf(*own), qPrintable(QString::number(error)));
}

/// The weights of a row in the middle of a pass, at a layer with a window and at one without.
void BackendConformance::attentionIsThatOfTheReference() {
    ModelConfig config = cappedConfig();
    const MemoryWeights weights = randomWeights(config, 3);
    const auto own = make(variant(), config, weights);
    const auto reference = plainModel(config, weights);
    QVERIFY(own->tellsAttention());
    const auto weightsOf = [&](Transformer& transformer, int layer) {
        KvCache cache = emptyCache(transformer, 64);
        const LayerPlan plan = LayerPlan::full(config.layerCount);
        runChain(transformer, cache, plan, conformanceIds(30), 13);
        const std::vector<TokenId> ids = conformanceIds(5);
        const auto result =
            valueOf(transformer.forward({.plan = plan,
                                         .layout = AttentionLayout::chain(cache.length(), 5),
                                         .tokens = ids,
                                         .attention = AttentionPlace{.layer = layer, .row = 2}},
                                        cache));
        return result.attention;
    };
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const int window = config.layerWindows[static_cast<std::size_t>(layer)];
        const std::size_t keys = window > 0 ? static_cast<std::size_t>(window) : 33;
        const std::vector<double> found = weightsOf(*own, layer);
        QCOMPARE(found.size(), static_cast<std::size_t>(config.headCount) * keys);
        const double error = support::relativeError({found}, {weightsOf(*reference, layer)});
        QVERIFY2(error <= toleranceOf(*own), qPrintable(QString::number(error)));
        for (auto head = found.begin(); head != found.end(); head += static_cast<long>(keys))
            QVERIFY(std::abs(std::accumulate(head, head + static_cast<long>(keys), -1.0)) < 1e-9);
    }
}

void BackendConformance::layerRangesChainedEqualTheWhole() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = conformanceIds(5);
    const AttentionLayout layout = AttentionLayout::chain(0, 5);
    KvCache whole = emptyCache(*transformer, 8);
    const auto expected = logitsOf(*transformer, whole, plan, layout, ids);
    KvCache cache = emptyCache(*transformer, 8);
    HiddenRows first;
    HiddenRows second;
    const std::vector<HandOut> handOuts = {{0, &first}, {1, &second}};
    const auto lower = transformer->forward(
        {.plan = plan, .layout = layout, .tokens = ids, .endLayer = 2, .handOuts = handOuts},
        cache);
    QVERIFY(lower.hasValue());
    QCOMPARE(first.count(), 5);
    QCOMPARE(second.count(), 5);
    const int lastRow = 4;
    const HiddenPiece hidden(second);
    auto upper = transformer->forward({.plan = plan,
                                       .layout = layout,
                                       .hidden = {&hidden, 1},
                                       .firstLayer = 2,
                                       .logitRows = std::span(&lastRow, 1)},
                                      cache);
    QVERIFY(upper.hasValue());
    QCOMPARE(allLogits(upper.value()), expected[4]);
}

void BackendConformance::anExitIsTheHiddenStateOfItsLayer() {
    Transformer* const transformer = tiny();
    LayerPlan plan = LayerPlan::full(3);
    plan.exitAfterLayer = 1;
    const std::vector<TokenId> ids = conformanceIds(4);
    const AttentionLayout layout = AttentionLayout::chain(0, 4);
    KvCache cache = emptyCache(*transformer, 8);
    const auto exited = logitsOf(*transformer, cache, plan, layout, ids);
    const int lastRow = 3;
    auto cut = transformer->forward({.plan = LayerPlan::full(3),
                                     .layout = layout,
                                     .tokens = ids,
                                     .endLayer = 2,
                                     .logitRows = std::span(&lastRow, 1)},
                                    cache);
    QVERIFY(cut.hasValue());
    QCOMPARE(allLogits(cut.value()), exited[3]);
}

void BackendConformance::aPassWithoutLayersIsTheHead() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = conformanceIds(4);
    const AttentionLayout layout = AttentionLayout::chain(0, 4);
    const std::vector<int> rows = {0, 1, 2, 3};
    HiddenRows states;
    const HandOut handOut{1, &states};
    KvCache cache = emptyCache(*transformer, 8);
    auto cut = transformer->forward({.plan = plan,
                                     .layout = layout,
                                     .tokens = ids,
                                     .endLayer = 2,
                                     .logitRows = rows,
                                     .handOuts = {&handOut, 1}},
                                    cache);
    QVERIFY(cut.hasValue());
    const std::vector<double> expected = allLogits(cut.value());
    const HeadSummary last = summarise(rowOf(cut.value(), 3));
    cache.commit(4);
    const std::vector<std::byte> before = liveBytes(cache);
    const HiddenPiece hidden(states);
    auto head = transformer->forward({.plan = plan,
                                      .layout = layout,
                                      .hidden = {&hidden, 1},
                                      .firstLayer = 1,
                                      .endLayer = 1,
                                      .logitRows = rows,
                                      .summaryRows = rows},
                                     cache);
    QVERIFY(head.hasValue());
    QCOMPARE(allLogits(head.value()), expected);
    QCOMPARE(head.value().summaries[3].best(), last.best());
    QVERIFY(liveBytes(cache) == before);
}

/// A network whose output weights are zero at two sublayers is the network without these.
void BackendConformance::skippedSublayersAddNothing() {
    const ModelConfig config = tinyConfig();
    MemoryWeights weights = randomWeights(config, 11);
    const auto whole = make(variant(), config, weights);
    for (const char* name :
         {"model.layers.1.self_attn.o_proj.weight", "model.layers.2.mlp.down_proj.weight"})
        std::fill(weights.values(name).begin(), weights.values(name).end(), 0.0F);
    const auto muted = make(variant(), config, weights);
    LayerPlan plan = LayerPlan::full(3);
    plan.attention[1] = SublayerAction::Skip;
    plan.mlp[2] = SublayerAction::Skip;
    const std::vector<TokenId> ids = conformanceIds(12);
    KvCache left = emptyCache(*whole, 16);
    KvCache right = emptyCache(*muted, 16);
    QCOMPARE(runChain(*whole, left, plan, ids, 12),
             runChain(*muted, right, LayerPlan::full(3), ids, 12));
}

void BackendConformance::onlyAskedLogitsAreGiven() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = conformanceIds(100); // more rows than the head may process at
                                                          // once
    const AttentionLayout layout = AttentionLayout::chain(0, 100);
    KvCache cache = emptyCache(*transformer, 100);
    const auto all = logitsOf(*transformer, cache, plan, layout, ids);
    const std::vector<int> rows = {97, 2, 66};
    auto some = transformer->forward(
        {.plan = plan, .layout = layout, .tokens = ids, .logitRows = rows}, cache);
    QVERIFY(some.hasValue());
    QCOMPARE(some.value().logits.count(), 3);
    for (int i = 0; i < 3; ++i)
        QCOMPARE(rowOf(some.value(), i),
                 all[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
    const auto none = transformer->forward({.plan = plan, .layout = layout, .tokens = ids}, cache);
    QVERIFY(none.hasValue() && none.value().logits.count() == 0);
}

void BackendConformance::onlyAskedSummariesAreGiven() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = conformanceIds(100);
    const AttentionLayout layout = AttentionLayout::chain(0, 100);
    KvCache cache = emptyCache(*transformer, 100);
    const auto all = logitsOf(*transformer, cache, plan, layout, ids);
    const std::vector<int> rows = {97, 2, 50};
    const std::vector<int> logitRows = {66, 97};
    ForwardResult result;
    for (int round = 0; round < 2; ++round) { // the second one with the memory that the first one
                                              // left
        QVERIFY(transformer
                    ->forwardInto({.plan = plan,
                                   .layout = layout,
                                   .tokens = ids,
                                   .logitRows = logitRows,
                                   .summaryRows = rows},
                                  cache,
                                  result)
                    .hasValue());
        QCOMPARE(result.summaries.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const HeadSummary wanted = summarise(all[static_cast<std::size_t>(rows[i])]);
            QCOMPARE(result.summaries[i].ids, wanted.ids);
            QCOMPARE(result.summaries[i].logits, wanted.logits);
            QVERIFY(std::abs(result.summaries[i].logSumExp - wanted.logSumExp) < 1e-5);
        }
        for (int i = 0; i < 2; ++i)
            QCOMPARE(rowOf(result, i),
                     all[static_cast<std::size_t>(logitRows[static_cast<std::size_t>(i)])]);
    }
}

void BackendConformance::tokensThatAreLeftOutAreNotChosen() {
    const auto transformer = makeTiny(variant());
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = conformanceIds(20);
    const AttentionLayout layout = AttentionLayout::chain(0, 20);
    KvCache cache = emptyCache(*transformer, 20);
    const auto all = logitsOf(*transformer, cache, plan, layout, ids);
    const std::vector<TokenSpan> spans = {{16, 48}, {64, 80}, {144, 160}};
    const std::vector<int> logitRows = {4, 19};
    const std::vector<int> rows = {0, 19};
    auto found = transformer->forward({.plan = plan,
                                       .layout = layout,
                                       .tokens = ids,
                                       .logitRows = logitRows,
                                       .summaryRows = rows,
                                       .headSpans = spans},
                                      cache);
    QVERIFY(found.hasValue());
    const auto kept = [&](int row) {
        std::vector<double> logits = all[static_cast<std::size_t>(row)];
        for (int id = 0; id < 160 && transformer->leavesTokensOut(); ++id)
            if (std::ranges::none_of(
                    spans, [id](TokenSpan span) { return id >= span.first && id < span.end; }))
                logits[static_cast<std::size_t>(id)] = -std::numeric_limits<double>::infinity();
        return logits;
    };
    for (int i = 0; i < 2; ++i) {
        const auto place = static_cast<std::size_t>(i);
        QCOMPARE(rowOf(found.value(), i), kept(logitRows[place]));
        const HeadSummary wanted = summarise(kept(rows[place]));
        QCOMPARE(found.value().summaries[place].ids, wanted.ids);
        QCOMPARE(found.value().summaries[place].logits, wanted.logits);
        QVERIFY(std::abs(found.value().summaries[place].logSumExp - wanted.logSumExp) < 1e-5);
    }
    // The next pass has its whole head again.
    auto whole = transformer->forward(
        {.plan = plan, .layout = layout, .tokens = ids, .logitRows = logitRows}, cache);
    QVERIFY(whole.hasValue());
    for (int i = 0; i < 2; ++i)
        QCOMPARE(rowOf(whole.value(), i),
                 all[static_cast<std::size_t>(logitRows[static_cast<std::size_t>(i)])]);
    for (const TokenSpan wrong : {TokenSpan{8, 32}, {16, 30}, {16, 16}, {144, 176}}) {
        const std::vector<TokenSpan> wrongs = {wrong};
        QVERIFY_EXCEPTION_THROWN(
            (void)transformer->forward(
                {.plan = plan, .layout = layout, .tokens = ids, .headSpans = wrongs}, cache),
            EngineBug);
    }
}

void BackendConformance::wrongRequestsAreBugs() {
    const auto transformer = makeTiny(m_variants.front());
    KvCache cache = emptyCache(*transformer, 4);
    const auto run = [&](const LayerPlan& plan, int rows, const std::vector<TokenId>& ids) {
        logitsOf(*transformer, cache, plan, AttentionLayout::chain(0, rows), ids);
    };
    const LayerPlan plan = LayerPlan::full(3);
    QVERIFY_EXCEPTION_THROWN(run(plan, 1, {160}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(plan, 1, {-1}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(plan, 2, {1}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(plan, 5, {1, 2, 3, 4, 5}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(LayerPlan::full(4), 1, {1}), EngineBug);
}

} // namespace support
