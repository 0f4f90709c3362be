// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conformance/backend_conformance.h"
#include "tests/support/transformers/forward_helpers.h"

#include <algorithm>

namespace support {

using namespace engine;

namespace {

ModelConfig configOfRow() {
    const int index = *static_cast<int*>(QTest::qData("config", qMetaTypeId<int>()));
    return conformanceConfigs()[static_cast<std::size_t>(index)].second;
}

/// The number of rows that differ in any bit.
int differences(const std::vector<std::vector<double>>& left,
                const std::vector<std::vector<double>>& right) {
    int count = 0;
    for (std::size_t row = 0; row < std::min(left.size(), right.size()); ++row)
        count += left[row] != right[row] ? 1 : 0;
    return left.size() == right.size() ? count : -1;
}

/// The layers of the default model, two of its thirty, and its vocabulary.
ModelConfig realConfig() {
    ModelConfig config = tinyConfig();
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

/// The last layer's stream for all rows, but the logits for only some, because the head is most of
/// the work.
std::pair<std::vector<double>, std::vector<double>>
numbersInPieces(Transformer& transformer, std::span<const TokenId> ids, std::size_t atOnce) {
    const int rowsAtOnce = static_cast<int>(atOnce);
    const int all = static_cast<int>(ids.size());
    const std::vector<int> logitRows = {1, 13, all - 1};
    HiddenRows hidden;
    const HandOut handOut{transformer.config().layerCount - 1, &hidden};
    KvCache cache = emptyCache(transformer, all);
    std::pair<std::vector<double>, std::vector<double>> numbers;
    for (int first = 0; first < all; first += rowsAtOnce) {
        const int count = std::min(rowsAtOnce, all - first);
        std::vector<int> asked;
        for (const int row : logitRows)
            if (row >= first && row < first + count)
                asked.push_back(row - first);
        auto result = transformer.forward({.plan = LayerPlan::full(transformer.config().layerCount),
                                           .layout = AttentionLayout::chain(first, count),
                                           .tokens = ids.subspan(static_cast<std::size_t>(first),
                                                                 static_cast<std::size_t>(count)),
                                           .logitRows = asked,
                                           .handOuts = {&handOut, 1}},
                                          cache);
        ENGINE_CHECK(result.hasValue(), "a pass failed: {}", result.error().message);
        const std::vector<double> logits = allLogits(result.value());
        numbers.second.insert(numbers.second.end(), logits.begin(), logits.end());
    }
    numbers.first = numbersOf(hidden, transformer.config().hiddenSize);
    return numbers;
}

} // namespace

void BackendConformance::rowsDoNotDependOnHowManyRunTogether() {
    const ModelConfig config = configOfRow();
    const auto transformer = make(variant(), config, randomWeights(config, 11));
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> ids = conformanceIds(rowCount());
    KvCache single = emptyCache(*transformer, 64);
    const auto expected = runChain(*transformer, single, plan, ids, 1);
    for (const std::size_t rowsAtOnce : sampled({2U, 40U, 3U, 7U})) {
        KvCache cache = emptyCache(*transformer, 64);
        QCOMPARE(differences(runChain(*transformer, cache, plan, ids, rowsAtOnce), expected), 0);
    }
}

void BackendConformance::realSizesDoNotDependOnHowManyRunTogether() {
    static const MemoryWeights weights = randomWeights(realConfig(), 11);
    const auto transformer = make(variant(), realConfig(), weights);
    const std::vector<TokenId> ids = conformanceIds(rowCount(), realConfig().vocabSize);
    const auto expected = numbersInPieces(*transformer, ids, 1);
    for (const std::size_t rowsAtOnce : sampled({7U, 40U, 2U, 3U}))
        QVERIFY(numbersInPieces(*transformer, ids, rowsAtOnce) == expected);
}

void BackendConformance::longPromptsDoNotDependOnTheirPieces() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::size_t length = m_takesFewRows ? 140 : 420;
    const std::size_t few = m_takesSample ? length - 20 : 0; // of which few are computed at a time
    const auto capacity = static_cast<Position>(length);
    const std::vector<TokenId> ids = conformanceIds(length);
    KvCache single = emptyCache(*transformer, capacity);
    auto expected = runChain(*transformer, single, plan, std::span(ids).first(few), 6);
    for (auto& row : runChain(*transformer, single, plan, std::span(ids).subspan(few), 1))
        expected.push_back(std::move(row));
    for (const std::size_t rowsAtOnce : {length * 3 / 5, length / 4 + 6}) {
        KvCache cache = emptyCache(*transformer, capacity);
        QCOMPARE(differences(runChain(*transformer, cache, plan, ids, rowsAtOnce), expected), 0);
    }
}

void BackendConformance::treeNodesEqualTheirPathsAsChains() {
    const ModelConfig config = configOfRow();
    const auto transformer = make(variant(), config, randomWeights(config, 11));
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> prefix = conformanceIds(19);
    // A spine of four, then siblings that share more and less of it.
    const std::vector<TokenId> nodes = {3, 99, 40, 7, 150, 12, 88, 31, 5};
    const std::vector<int> parents = {-1, 0, 1, 2, -1, 0, 2, 4, 7};
    KvCache cache = emptyCache(*transformer, 64);
    runChain(*transformer, cache, plan, prefix, 7);
    KvCache own = emptyCache(*transformer, 64);
    runChain(*transformer, own, plan, prefix, 1);
    std::vector<std::vector<double>> expected;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        std::vector<TokenId> path;
        for (int at = static_cast<int>(node); at >= 0; at = parents[static_cast<std::size_t>(at)])
            path.insert(path.begin(), nodes[static_cast<std::size_t>(at)]);
        expected.push_back(runChain(*transformer, own, plan, path, 1).back());
        own.truncate(cache.length());
    }
    for (const Position firstSlot : {cache.length(), cache.length() + 13})
        QCOMPARE(logitsOf(*transformer,
                          cache,
                          plan,
                          AttentionLayout::tree(cache.length(), parents, 0, firstSlot),
                          nodes),
                 expected);
}

void BackendConformance::aTreeDraftedNodeByNodeEqualsOnePass() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> nodes = {3, 99, 40, 7};
    const std::vector<int> parents = {-1, 0, 0, 2};
    KvCache cache = emptyCache(*transformer, 64);
    runChain(*transformer, cache, plan, conformanceIds(9), 9);
    const auto whole =
        logitsOf(*transformer, cache, plan, AttentionLayout::tree(cache.length(), parents), nodes);
    for (int node = 0; node < 4; ++node) {
        const auto count = static_cast<std::size_t>(node) + 1;
        const auto layout = AttentionLayout::tree(
            cache.length(), std::span(parents).first(count), node, cache.length());
        const auto one =
            logitsOf(*transformer, cache, plan, layout, std::span(nodes).subspan(count - 1, 1));
        QCOMPARE(one[0], whole[count - 1]);
    }
}

void BackendConformance::theCapacityOfTheCacheDoesNotMatter() {
    const ModelConfig config = configOfRow();
    const auto transformer = make(variant(), config, randomWeights(config, 11));
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    const std::vector<TokenId> ids = conformanceIds(rowCount());
    const auto count = static_cast<Position>(ids.size());
    KvCache tight = emptyCache(*transformer, count);
    KvCache wide = emptyCache(*transformer, count + 27);
    QCOMPARE(differences(runChain(*transformer, tight, plan, ids, 1),
                         runChain(*transformer, wide, plan, ids, 7)),
             0);
}

void BackendConformance::draftRowsAreOverwrittenByVerification() {
    Transformer* const transformer = tiny();
    const LayerPlan full = LayerPlan::full(3);
    LayerPlan draft = full;
    draft.attention[1] = SublayerAction::Skip;
    draft.mlp[0] = SublayerAction::Skip;
    const std::vector<TokenId> ids = conformanceIds(12);
    KvCache clean = emptyCache(*transformer, 16);
    const auto expected = runChain(*transformer, clean, full, ids, 1);
    KvCache cache = emptyCache(*transformer, 16);
    runChain(*transformer, cache, full, std::span(ids).first(8), 8);
    runChain(*transformer, cache, draft, std::span(ids).subspan(8), 1); // skewed keys and values
    cache.truncate(8);
    const auto verified = runChain(*transformer, cache, full, std::span(ids).subspan(8), 4);
    QCOMPARE(verified, std::vector(expected.begin() + 8, expected.end()));
}

void BackendConformance::rowsOutsideThePathAreNotSeen() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = conformanceIds(10);
    KvCache cache = emptyCache(*transformer, 32);
    runChain(*transformer, cache, plan, ids, 10);
    // The tokens 6 to 9 again after the first six, in slots beyond the cache's end.
    const std::vector<int> parents = {-1, 0, 1, 2};
    const auto again = logitsOf(*transformer,
                                cache,
                                plan,
                                AttentionLayout::tree(6, parents, 0, 20),
                                std::span(ids).subspan(6));
    KvCache fresh = emptyCache(*transformer, 32);
    QCOMPARE(again.back(), runChain(*transformer, fresh, plan, ids, 1).back());
}

void BackendConformance::aKeptPathIsTheChainOfItsTokens() {
    Transformer* const transformer = tiny();
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> nodes = {3, 99, 40, 7, 12};
    const std::vector<int> parents = {-1, 0, 0, 2, 3};
    KvCache cache = emptyCache(*transformer, 64);
    runChain(*transformer, cache, plan, conformanceIds(9), 9);
    logitsOf(*transformer, cache, plan, AttentionLayout::tree(9, parents), nodes);
    cache.keepPath(std::vector<Position>{9, 11, 12}); // the nodes 0, 2, 3
    QCOMPARE(cache.length(), Position{12});
    KvCache chain = emptyCache(*transformer, 64);
    runChain(*transformer, chain, plan, conformanceIds(9), 9);
    runChain(*transformer, chain, plan, std::vector<TokenId>{3, 40, 7}, 1);
    const std::vector<TokenId> next = {61, 8};
    QCOMPARE(runChain(*transformer, cache, plan, next, 2),
             runChain(*transformer, chain, plan, next, 2));
}

} // namespace support
