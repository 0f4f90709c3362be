// SPDX-License-Identifier: Apache-2.0
// A network whose layers lie on several GPUs gives the bits of one GPU.
#include "plugins/backend_cuda/pipeline/layer_shares.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/stored_weights.h"

#include <QTest>

#include <utility>

using namespace engine;
using namespace backend_cuda;
using support::says;

namespace {

constexpr int kLayers = 5;

/// An emulated GPU with so much memory, which can be lost.
class OneOfSeveral final : public WrappedDevice {
public:
    explicit OneOfSeveral(std::uint64_t isFree)
        : OneOfSeveral(std::make_shared<EmulatedDevice>(2), isFree) {}

    Result<std::uint64_t> freeBytes() override { return m_free; }

    Result<void> upload(std::byte* to, std::span<const std::byte> from) override {
        uploaded += from.size();
        return isLost ? fellOff() : WrappedDevice::upload(to, from);
    }

    Result<void> send(std::byte* to, std::span<const std::byte> from) override {
        return isLost ? fellOff() : WrappedDevice::send(to, from);
    }

    Result<void> download(std::span<std::byte> to, const std::byte* from) override {
        ++downloads;
        return isLost ? fellOff() : WrappedDevice::download(to, from);
    }

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        launches += isLost ? 0 : 1;
        return isLost ? fellOff() : WrappedDevice::launch(kernel, blocks, arguments);
    }

    int heldPieces() const { return m_emulated->heldPieces(); }

    bool isLost = false;
    int launches = 0;
    int downloads = 0;
    std::size_t uploaded = 0;

private:
    OneOfSeveral(const std::shared_ptr<EmulatedDevice>& emulated, std::uint64_t isFree)
        : WrappedDevice(emulated)
        , m_emulated(emulated)
        , m_free(isFree) {}

    static Result<void> fellOff() {
        return Error{ErrorCode::Io, "The GPU fell off.", "Load the model again."};
    }

    std::shared_ptr<EmulatedDevice> m_emulated;
    std::uint64_t m_free;
};

using Gpus = std::vector<std::shared_ptr<OneOfSeveral>>;

Gpus gpusWith(std::initializer_list<std::uint64_t> freeBytes) {
    Gpus gpus;
    for (const std::uint64_t isFree : freeBytes)
        gpus.push_back(std::make_shared<OneOfSeveral>(isFree));
    return gpus;
}

constexpr std::uint64_t kEnough = std::uint64_t{1} << 32U;

Machine machineOf(const Gpus& gpus) {
    return {.list =
                [gpus] {
                    std::vector<DeviceFacts> all;
                    for (const auto& gpu : gpus)
                        all.push_back(gpu->facts());
                    return Result<std::vector<DeviceFacts>>(all);
                },
            .open =
                [gpus](int place) {
                    return Result<std::shared_ptr<Device>>(gpus[static_cast<std::size_t>(place)]);
                },
            .checkedRows = 9};
}

/// Five layers with windows, of which one is skipped by decoders without much harm.
ModelConfig fiveLayers() {
    ModelConfig config = support::layeredConfig(kLayers);
    config.hiddenSize = 64;
    config.headDim = 16;
    config.mlpSize = 96;
    config.layerWindows = {0, 6, 0, 6, 0};
    return config;
}

support::MemoryWeights weightsOf(const ModelConfig& config) {
    support::MemoryWeights weights = support::randomWeights(config, 4);
    for (int layer = 1; layer + 1 < kLayers; ++layer)
        support::quietenLayer(weights, layer, 0.1F);
    return weights;
}

Result<std::unique_ptr<Transformer>> loadOnAll(const Gpus& gpus,
                                               const ModelConfig& config,
                                               const WeightSource& source,
                                               SettingValues settings = {}) {
    BackendRegistry registry("");
    registerBackend(registry, machineOf(gpus));
    TransformerOptions options;
    settings.try_emplace("gpus", static_cast<double>(gpus.size()));
    options.settings = std::move(settings);
    options.cacheSlots = 64;
    return registry.find("cuda").value()(config, source, options);
}

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
    QTest::newRow("bfloat16 on two") << "bf16" << 2 << true;
    QTest::newRow("bfloat16 on three") << "bf16" << 3 << false;
    QTest::newRow("4 bits on two") << "4bit" << 2 << false;
    QTest::newRow("float32 on five") << "f32" << 5 << true;
}

void CudaPipelineTest::severalGpusGiveTheBitsOfOne() {
    QFETCH(const QString, form);
    QFETCH(const int, gpus);
    QFETCH(const bool, isTied);
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
        several.push_back(std::make_shared<OneOfSeveral>(kEnough));
    const auto shared = support::valueOf(loadOnAll(several, config, source, settings));
    QCOMPARE(shared->arithmeticName(), one->arithmeticName());
    const std::vector<Reported> expected = everythingToldBy(*one);
    const std::vector<Reported> found = everythingToldBy(*shared);
    QCOMPARE(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        QVERIFY2(found[i] == expected[i], qPrintable(QString("pass %1").arg(i)));
    for (const auto& gpu : several)
        QVERIFY(gpu->launches > 0);
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

void CudaPipelineTest::aGpuThatIsLostLosesTheModelAndNothingElse() {
    const ModelConfig config = fiveLayers();
    const support::MemoryWeights weights = weightsOf(config);
    const Gpus gpus = gpusWith({kEnough, kEnough});
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
