// SPDX-License-Identifier: Apache-2.0
// A network whose layers lie on several GPUs gives the bits of one GPU.
#include "plugins/backend_cuda/pipeline/layer_shares.h"
#include "tests/plugins/cuda/several_gpus.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/stored_weights.h"

#include <QTest>

#include <utility>

using namespace engine;
using namespace backend_cuda;
using namespace several_gpus;
using support::says;

namespace {

/// All that a pass tells.
struct Reported {
    std::vector<std::vector<double>> logits;
    std::vector<double> streams;
    std::vector<double> influence;
    std::vector<double> attention;
    std::vector<int> best;

    bool operator==(const Reported&) const = default;
};

Reported toldBy(Transformer& transformer, KvCache& cache, ForwardRequest request) {
    HiddenRows hidden[2];
    std::vector<HandOut> handOuts;
    for (const int layer : {1, 3})
        if (layer >= request.firstLayer && layer < request.layersEnd())
            handOuts.push_back({layer, &hidden[layer / 2]});
    request.handOuts = handOuts;
    ForwardResult result = support::valueOf(transformer.forward(request, cache));
    Reported told;
    for (int row = 0; row < static_cast<int>(request.logitRows.size()); ++row)
        told.logits.push_back(support::rowOf(result, row));
    for (const HandOut& handOut : handOuts) {
        std::vector<double> rows(static_cast<std::size_t>(handOut.to->count()) *
                                 static_cast<std::size_t>(transformer.config().hiddenSize));
        if (!handOut.to->read(0, rows))
            return {};
        told.streams.insert(told.streams.end(), rows.begin(), rows.end());
    }
    told.influence = result.influence;
    told.attention = result.attention;
    for (const HeadSummary& summary : result.summaries)
        told.best.push_back(summary.ids[0]);
    return told;
}

/// A prompt, a tree of which a path is kept, a plan that skips, exits, and passes that go on from
/// handed out streams: everything that decoders and views ask for.
std::vector<Reported> everythingToldBy(Transformer& transformer) {
    std::vector<Reported> all;
    KvCache cache = support::valueOf(transformer.makeCache(64));
    const LayerPlan full = LayerPlan::full(kLayers);
    const std::vector<TokenId> ids = support::someIds(30);
    const std::span<const TokenId> tokens(ids);
    const std::vector<int> rows = {0, 4, 8};
    const std::vector<int> last = {8};
    for (const int layer : {0, 2, 4})
        all.push_back(toldBy(transformer,
                             cache,
                             {.plan = full,
                              .layout = AttentionLayout::chain(0, 9),
                              .tokens = tokens.first(9),
                              .logitRows = rows,
                              .summaryRows = last,
                              .wantsInfluence = true,
                              .attention = AttentionPlace{layer, 7}}));
    cache.commit(9);
    const std::vector<int> parents = {-1, -1, 1, 2, 0};
    const std::vector<int> nodes = {0, 1, 2, 3, 4};
    all.push_back(toldBy(transformer,
                         cache,
                         {.plan = full,
                          .layout = AttentionLayout::tree(9, parents),
                          .tokens = tokens.subspan(9, 5),
                          .logitRows = nodes}));
    const std::vector<Position> path = {10, 11, 12};
    cache.keepPath(path);
    LayerPlan skips = full;
    skips.attention[1] = skips.mlp[2] = skips.attention[3] = skips.mlp[3] = SublayerAction::Skip;
    for (int exit = -1; exit < kLayers; ++exit) {
        LayerPlan plan = skips;
        plan.exitAfterLayer = exit < 0 ? kLayers - 1 : exit;
        const std::vector<int> first = {0};
        all.push_back(toldBy(transformer,
                             cache,
                             {.plan = plan,
                              .layout = AttentionLayout::chain(cache.length(), 2),
                              .tokens = tokens.subspan(20, 2),
                              .endLayer = exit < 0 ? 0 : -1,
                              .logitRows = first,
                              .wantsInfluence = true}));
        // Without a head, and then on from where it ended.
        HiddenRows hidden;
        if (exit < 0 || exit + 1 >= kLayers)
            continue;
        const HandOut handOut{exit, &hidden};
        support::valueOf(transformer.forward({.plan = plan,
                                              .layout = AttentionLayout::chain(cache.length(), 2),
                                              .tokens = tokens.subspan(20, 2),
                                              .handOuts = std::span(&handOut, 1)},
                                             cache));
        const HiddenPiece piece(hidden);
        all.push_back(toldBy(transformer,
                             cache,
                             {.plan = skips,
                              .layout = AttentionLayout::chain(cache.length(), 2),
                              .hidden = std::span(&piece, 1),
                              .firstLayer = exit + 1,
                              .logitRows = first}));
        all.push_back(toldBy(transformer,
                             cache,
                             {.plan = plan,
                              .layout = AttentionLayout::chain(cache.length(), 2),
                              .hidden = std::span(&piece, 1),
                              .firstLayer = exit + 1,
                              .logitRows = first}));
    }
    return all;
}

} // namespace

class CudaPipelineTest : public QObject {
    Q_OBJECT

private slots:
    void layersAreSharedByRoom();
    void severalGpusGiveTheBitsOfOne_data();
    void severalGpusGiveTheBitsOfOne();
    void decodersGiveTheTokensOfOneGpu();
    void aModelThatFitsOnNoGpuFitsOnTwo();
    void eachGpuHoldsAndReadsItsShareAlone();
    void aPassWaitsOnceForEachGpu();
    void linkedGpusHandTheStreamOnThemselves();
    void aLinkThatLosesNumbersIsNotUsed();
    void aGpuThatIsLostLosesTheModelAndNothingElse_data();
    void aGpuThatIsLostLosesTheModelAndNothingElse();
    void moreGpusThanThereAreOrThanLayersAreRefused();
};

void CudaPipelineTest::layersAreSharedByRoom() {
    const auto spansOf = [](std::vector<std::uint64_t> layers, std::vector<std::uint64_t> rooms) {
        std::vector<int> ends;
        for (const LayerSpan span : shareLayers(layers, rooms))
            ends.push_back(span.end);
        return ends;
    };
    QCOMPARE(spansOf({2, 2, 2, 2}, {10}), std::vector<int>({4}));
    QCOMPARE(spansOf({2, 2, 2, 2}, {10, 10}), std::vector<int>({2, 4}));
    QCOMPARE(spansOf({2, 2, 2, 2}, {30, 10}), std::vector<int>({3, 4}));
    QCOMPARE(spansOf({9, 1, 1, 1, 9}, {10, 10, 10}), std::vector<int>({1, 4, 5}));
    QCOMPARE(spansOf({1, 1}, {1000, 1}), std::vector<int>({1, 2}));
}

void CudaPipelineTest::severalGpusGiveTheBitsOfOne_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<int>("gpus");
    QTest::addColumn<bool>("isTied");
    QTest::addColumn<int>("linked"); // bit i: GPU i reaches the others
    QTest::newRow("bfloat16 on two") << "bf16" << 2 << true << 0;
    QTest::newRow("bfloat16 on three, linked") << "bf16" << 3 << false << 7;
    QTest::newRow("4 bits on two, linked") << "4bit" << 2 << false << 3;
    QTest::newRow("float32 on five, some linked") << "f32" << 5 << true << 5;
}

void CudaPipelineTest::severalGpusGiveTheBitsOfOne() {
    QFETCH(const QString, form);
    QFETCH(const int, gpus);
    QFETCH(const bool, isTied);
    QFETCH(const int, linked);
    ModelConfig config = fiveLayers();
    config.tiedHead = isTied;
    const support::MemoryWeights weights = weightsOf(config);
    const support::StoredWeights fourBit(weights, TensorType::Q4_1);
    const bool isFourBit = form == "4bit";
    const WeightSource& source = isFourBit ? static_cast<const WeightSource&>(fourBit) : weights;
    SettingValues settings;
    if (!isFourBit)
        settings["weights"] = form.toStdString();
    const auto one = support::valueOf(loadOnAll(gpusWith({kEnough}), config, source, settings));
    Gpus several;
    for (int i = 0; i < gpus; ++i)
        several.push_back(std::make_shared<OneOfSeveral>(kEnough, (linked >> i) % 2 == 1));
    const auto shared = support::valueOf(loadOnAll(several, config, source, settings));
    QCOMPARE(shared->arithmeticName(), one->arithmeticName());
    for (const auto& gpu : several)
        gpu->handedOver = 0; // links are tried at load
    const std::vector<Reported> expected = everythingToldBy(*one);
    const std::vector<Reported> found = everythingToldBy(*shared);
    QCOMPARE(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        QVERIFY2(found[i] == expected[i], qPrintable(QString("pass %1").arg(i)));
    for (int i = 0; i < gpus; ++i) {
        const OneOfSeveral& gpu = *several[static_cast<std::size_t>(i)];
        QVERIFY(gpu.launches > 0);
        QCOMPARE(gpu.handedOver > 0, (linked >> i) % 2 == 1 && i + 1 < gpus);
    }
}

/// Those that exit early, resume, skip and read hidden states.
void CudaPipelineTest::decodersGiveTheTokensOfOneGpu() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const SettingValues settings = {{"weights", std::string("bf16")}};
    const auto one = support::valueOf(loadOnAll(gpusWith({kEnough}), config, weights, settings));
    const auto two =
        support::valueOf(loadOnAll(gpusWith({kEnough, kEnough}), config, weights, settings));
    const auto answerOf = [](Transformer& transformer, const std::string& decoder) {
        const auto made = support::openDecoder(decoder,
                                               {.transformer = transformer,
                                                .contextLength = 64,
                                                .settings = support::neededSettings(decoder)});
        const std::vector<TokenId> prompt = {3, 1, 4, 1, 5, 9, 2, 6};
        std::vector<TokenId> tokens;
        for (const DecodeStep& step : support::answer(*made, {.tokens = prompt, .maxTokens = 16}))
            tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
        return tokens;
    };
    const std::vector<TokenId> expected = answerOf(*one, "vanilla");
    for (const char* decoder : {"vanilla", "swift", "layerskip", "del"})
        QCOMPARE(answerOf(*two, decoder), expected);
}

void CudaPipelineTest::aModelThatFitsOnNoGpuFitsOnTwo() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    BackendRegistry registry("");
    registerBackend(registry, machineOf(gpusWith({kEnough, kEnough})));
    TransformerOptions options;
    options.cacheSlots = 64;
    const auto needOn = [&](int gpus) {
        options.settings = {{"gpus", static_cast<double>(gpus)}};
        return registry.info("cuda")
            .value()
            .forecast(config, weights, options, 64)
            .value()
            .memory.totalBytes();
    };
    const std::uint64_t reserve = std::uint64_t{256} << 20U;
    const std::uint64_t room = reserve + needOn(1) - 1;
    const auto refused = loadOnAll(gpusWith({room}), config, weights);
    QVERIFY(!refused && says(refused.error(), {"GB on the GPU emulated GPU", "are free"}));
    QVERIFY(refused.error().hint.find("--gpus") != std::string::npos);
    QVERIFY(loadOnAll(gpusWith({room, room}), config, weights).hasValue());
    QVERIFY(needOn(2) > needOn(1)); // the embedding twice, and workspaces for each
}

void CudaPipelineTest::eachGpuHoldsAndReadsItsShareAlone() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const Gpus one = gpusWith({kEnough});
    const Gpus two = gpusWith({kEnough, kEnough});
    const auto whole = support::valueOf(loadOnAll(one, config, weights));
    const auto shared = support::valueOf(loadOnAll(two, config, weights));
    for (const auto& gpu : two)
        QVERIFY(gpu->uploaded < one.front()->uploaded * 4 / 5);
    // An exit before the border asks nothing of the second GPU.
    KvCache cache = support::valueOf(shared->makeCache(8));
    LayerPlan exit = LayerPlan::full(kLayers);
    exit.exitAfterLayer = 0;
    const TokenId token = 5;
    HiddenRows hidden;
    const HandOut handOut{0, &hidden};
    const int before = two.back()->launches;
    support::valueOf(shared->forward({.plan = exit,
                                      .layout = AttentionLayout::chain(0, 1),
                                      .tokens = std::span(&token, 1),
                                      .handOuts = std::span(&handOut, 1)},
                                     cache));
    QCOMPARE(two.back()->launches, before);
    QCOMPARE(hidden.count(), 1);
}

/// Whatever is asked for besides: logits that somebody reads are the only further wait.
void CudaPipelineTest::aPassWaitsOnceForEachGpu() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const Gpus gpus = gpusWith({kEnough, kEnough});
    const auto loaded = support::valueOf(loadOnAll(gpus, config, weights));
    QCOMPARE(loaded->deviceName(), std::string("emulated GPU and emulated GPU"));
    KvCache cache = support::valueOf(loaded->makeCache(16));
    const std::vector<TokenId> ids = support::someIds(3);
    const std::vector<int> rows = {0, 2};
    HiddenRows hidden[2];
    const std::vector<HandOut> handOuts = {{0, &hidden[0]}, {3, &hidden[1]}};
    std::vector<int> before;
    for (const auto& gpu : gpus)
        before.push_back(gpu->downloads);
    const auto result = support::valueOf(loaded->forward({.plan = LayerPlan::full(kLayers),
                                                          .layout = AttentionLayout::chain(0, 3),
                                                          .tokens = ids,
                                                          .logitRows = rows,
                                                          .summaryRows = rows,
                                                          .handOuts = handOuts,
                                                          .wantsInfluence = true},
                                                         cache));
    for (std::size_t i = 0; i < gpus.size(); ++i)
        QCOMPARE(gpus[i]->downloads, before[i] + 1);
    QCOMPARE(result.summaries.size(), std::size_t{2});
    QCOMPARE(hidden[1].count(), 3);
}

/// Rows of several launches, none of whose streams comes by.
void CudaPipelineTest::linkedGpusHandTheStreamOnThemselves() {
    constexpr int kRows = 70;
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const std::vector<TokenId> ids = support::someIds(kRows);
    const std::vector<int> rows = {0, kRows - 1};
    std::vector<std::vector<double>> logits;
    std::vector<std::size_t> downloaded;
    for (const Gpus& gpus : {gpusWith({kEnough, kEnough}), linkedGpus(2)}) {
        const auto loaded =
            support::valueOf(loadOnAll(gpus, config, weights, {{"weights", std::string("bf16")}}));
        KvCache cache = support::valueOf(loaded->makeCache(kRows));
        const std::size_t before = gpus.front()->downloaded;
        ForwardResult result =
            support::valueOf(loaded->forward({.plan = LayerPlan::full(kLayers),
                                              .layout = AttentionLayout::chain(0, kRows),
                                              .tokens = ids,
                                              .logitRows = rows},
                                             cache));
        downloaded.push_back(gpus.front()->downloaded - before);
        for (const int row : {0, 1})
            logits.push_back(support::rowOf(result, row));
    }
    QCOMPARE(logits[2], logits[0]);
    QCOMPARE(logits[3], logits[1]);
    QCOMPARE(downloaded[0] - downloaded[1],
             static_cast<std::size_t>(kRows * config.hiddenSize) * sizeof(float));
}

/// The driver says that it is there, and each copy succeeds.
void CudaPipelineTest::aLinkThatLosesNumbersIsNotUsed() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const TokenId token = 5;
    const int row = 0;
    std::vector<std::vector<double>> logits;
    for (const bool isDead : {false, true}) {
        const Gpus gpus = linkedGpus(2);
        gpus.front()->isLinkDead = isDead;
        const auto loaded = support::valueOf(loadOnAll(gpus, config, weights));
        QVERIFY(gpus.front()->handedOver > 0); // tried
        gpus.front()->handedOver = 0;
        KvCache cache = support::valueOf(loaded->makeCache(8));
        ForwardResult result =
            support::valueOf(loaded->forward({.plan = LayerPlan::full(kLayers),
                                              .layout = AttentionLayout::chain(0, 1),
                                              .tokens = std::span(&token, 1),
                                              .logitRows = std::span(&row, 1)},
                                             cache));
        logits.push_back(support::rowOf(result, 0));
        QCOMPARE(gpus.front()->handedOver > 0, !isDead);
    }
    QCOMPARE(logits[1], logits[0]);
}

void CudaPipelineTest::aGpuThatIsLostLosesTheModelAndNothingElse_data() {
    QTest::addColumn<bool>("areLinked");
    QTest::newRow("by way of the computer") << false;
    QTest::newRow("linked") << true;
}

void CudaPipelineTest::aGpuThatIsLostLosesTheModelAndNothingElse() {
    QFETCH(const bool, areLinked);
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const Gpus gpus = areLinked ? linkedGpus(2) : gpusWith({kEnough, kEnough});
    {
        const auto loaded = support::valueOf(loadOnAll(gpus, config, weights));
        KvCache cache = support::valueOf(loaded->makeCache(8));
        const TokenId token = 5;
        const ForwardRequest request{.plan = LayerPlan::full(kLayers),
                                     .layout = AttentionLayout::chain(0, 1),
                                     .tokens = std::span(&token, 1)};
        QVERIFY(loaded->forward(request, cache).hasValue());
        gpus.back()->isLost = true;
        const auto failed = loaded->forward(request, cache);
        QVERIFY(!failed && says(failed.error(), {"fell off"}));
        QCOMPARE(failed.error().code, ErrorCode::Device);
        gpus.back()->isLost = false;
        const int before = gpus.front()->launches;
        const auto again = loaded->forward(request, cache);
        QVERIFY(!again && says(again.error(), {"fell off"}));
        QCOMPARE(gpus.front()->launches, before);
    }
    for (const auto& gpu : gpus)
        QCOMPARE(gpu->heldPieces(), 0);
    QVERIFY(loadOnAll(gpus, config, weights).hasValue());
}

void CudaPipelineTest::moreGpusThanThereAreOrThanLayersAreRefused() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const auto missing = loadOnAll(gpusWith({kEnough, kEnough}), config, weights, {{"gpus", 3.0}});
    QVERIFY(!missing && says(missing.error(), {"no GPU 2", "1 (emulated GPU)"}));
    QCOMPARE(missing.error().code, ErrorCode::InvalidInput);
    const auto behind =
        loadOnAll(gpusWith({kEnough, kEnough}), config, weights, {{"device", 1.0}, {"gpus", 2.0}});
    QVERIFY(!behind && says(behind.error(), {"no GPU 2"}));
    Gpus six;
    for (int i = 0; i < kLayers + 1; ++i)
        six.push_back(std::make_shared<OneOfSeveral>(kEnough));
    const auto tooMany = loadOnAll(six, config, weights);
    QVERIFY(!tooMany && says(tooMany.error(), {"5 layers", "6 GPUs"}));
}

QTEST_GUILESS_MAIN(CudaPipelineTest)
#include "cuda_pipeline_test.moc"
