// SPDX-License-Identifier: Apache-2.0
// Whatever a GPU or its memory does wrong is one sentence, and nothing is lost by it.
#include "engine/base/to_size.h"
#include "plugins/backend_cuda/workspaces/workspace.h"
#include "tests/plugins/cuda/cuda_support.h"

#include <QTest>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

using namespace engine;
using namespace backend_cuda;
using support::says;

namespace {

/// An emulated GPU with little memory, one that fails from some call on, or one that finds no
/// memory for a single call.
class FaultyDevice final : public Device {
public:
    explicit FaultyDevice(int callsThatWork, std::uint64_t isFree = std::uint64_t{1} << 32U)
        : m_left(callsThatWork)
        , m_free(isFree) {}

    const DeviceFacts& facts() const override { return m_device.facts(); }

    Result<std::uint64_t> freeBytes() override {
        ENGINE_TRY_DO(work());
        return m_free;
    }

    Result<std::byte*> allocate(std::size_t bytes) override {
        ENGINE_TRY_DO(work());
        ++m_allocations;
        if (allocationsLeft-- <= 0 || bytes > mostBytes)
            return full();
        return m_device.allocate(bytes);
    }

    void release(std::byte* memory) override { m_device.release(memory); }

    Result<void> fillWithZeros(std::byte* memory, std::size_t bytes) override {
        ENGINE_TRY_DO(work());
        return m_device.fillWithZeros(memory, bytes);
    }

    Result<void> upload(std::byte* to, std::span<const std::byte> from) override {
        ENGINE_TRY_DO(work());
        return m_device.upload(to, from);
    }

    Result<void> download(std::span<std::byte> to, const std::byte* from) override {
        ENGINE_TRY_DO(work());
        if (std::exchange(isDownloadRefused, false))
            return full();
        return m_device.download(to, from);
    }

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        ENGINE_TRY_DO(work());
        if (std::exchange(isLaunchRefused, false))
            return full();
        movesMade += arguments.moveCount;
        return m_device.launch(kernel, blocks, arguments);
    }

    void failAfter(int calls) { m_left = calls; }

    int heldPieces() const { return m_device.heldPieces(); }

    int allocations() const { return m_allocations; }

    bool isDownloadRefused = false;                // the next one
    bool isLaunchRefused = false;                  // the same
    int movesMade = 0;                             // by all launches
    int allocationsLeft = 1000000;                 // until others have taken the rest
    std::size_t mostBytes = std::size_t{1} << 32U; // of one piece

private:
    static Error full() { return Error{ErrorCode::NoMemory, "The GPU is full.", "Wait."}; }

    Result<void> work() {
        if (m_left-- > 0)
            return {};
        m_left = 0;
        return Error{ErrorCode::Device, "The GPU fell off.", "Load the model again."};
    }

    EmulatedDevice m_device{1};
    int m_left;
    int m_allocations = 0;
    std::uint64_t m_free;
};

/// A token behind those in the cache, which stays as it is.
Result<void> passOn(Transformer& transformer,
                    KvCache& cache,
                    std::optional<AttentionPlace> attention = std::nullopt) {
    const TokenId token = 5;
    const int row = 0;
    ENGINE_TRY(ForwardResult result,
               transformer.forward({.plan = LayerPlan::full(transformer.config().layerCount),
                                    .layout = AttentionLayout::chain(cache.length(), 1),
                                    .tokens = std::span(&token, 1),
                                    .logitRows = std::span(&row, 1),
                                    .attention = attention},
                                   cache));
    ENGINE_TRY_DO(result.logits.row(0));
    return {};
}

} // namespace

class CudaErrorsTest : public QObject {
    Q_OBJECT

private slots:

    void aGpuThatIsNotThereListsThoseThatAre();
    void tooLittleMemoryTellsBothNumbers();
    void aGpuWithRoomForWeightsAndCacheAloneIsRefused_data();
    void aGpuWithRoomForWeightsAndCacheAloneIsRefused();
    void roomToSpareIsNotNeeded();
    void anAnswerTakesNoMemoryBesidesWhatWasReserved_data();
    void anAnswerTakesNoMemoryBesidesWhatWasReserved();
    void whatKernelsCannotComputeIsRefused();
    void everyFailureAtLoadIsCleanedUp();
    void memoryTakenBehindTheEstimateIsALackOfMemory();
    void aLostGpuStaysLostUntilTheNextLoad();
    void aPassThatIsRefusedCanBeAskedForAgain();
    void movesAreMadeOnceThoughTheirPassFails();
    void theSpeedOfItsMemoryIsMeasuredOrTheFailureTold();
    void whereverAPassFailsTheSentenceIsThatOfTheFailure();
    void anotherPrecisionIsRefused();
};

void CudaErrorsTest::aGpuThatIsNotThereListsThoseThatAre() {
    const auto loaded = support::loadOn(std::make_shared<EmulatedDevice>(),
                                        support::tinyConfig(),
                                        support::randomWeights(support::tinyConfig(), 1),
                                        {{"device", 3.0}});
    QVERIFY(!loaded && says(loaded.error(), {"no GPU 3", "0 (emulated GPU)"}));
    QCOMPARE(loaded.error().code, ErrorCode::InvalidInput);
}

void CudaErrorsTest::tooLittleMemoryTellsBothNumbers() {
    const auto loaded = support::loadOn(std::make_shared<FaultyDevice>(1000000, 20000000),
                                        support::tinyConfig(),
                                        support::randomWeights(support::tinyConfig(), 1));
    QVERIFY(!loaded && says(loaded.error(), {"0.27 GB", "0.02 GB", "emulated GPU"}));
    QCOMPARE(loaded.error().code, ErrorCode::NoMemory);
    QVERIFY(loaded.error().hint.find("--weights int8") != std::string::npos);
}

void CudaErrorsTest::aGpuWithRoomForWeightsAndCacheAloneIsRefused_data() {
    QTest::addColumn<QString>("form");
    QTest::newRow("as in the file") << "auto";
    QTest::newRow("8-bit") << "int8";
}

/// The forecast counts the workspaces, and a load needs as much memory and no more.
void CudaErrorsTest::aGpuWithRoomForWeightsAndCacheAloneIsRefused() {
    QFETCH(const QString, form);
    const SettingValues settings = {{"weights", form.toStdString()}};
    constexpr Position kContext = 300;
    constexpr std::uint64_t kLeftFree = std::uint64_t{256} << 20U;
    const ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    const MemoryNeed need =
        support::memoryOn(std::make_shared<EmulatedDevice>(), config, weights, kContext, settings);
    const std::uint64_t wanted = need.totalBytes() + kLeftFree;
    for (const std::uint64_t missing : {need.passBytes, need.scratchBytes, std::uint64_t{1}}) {
        const auto little = std::make_shared<FaultyDevice>(1000000, wanted - missing);
        const auto refused = support::loadOn(little, config, weights, settings, kContext);
        QVERIFY(!refused && says(refused.error(), {"needs", "emulated GPU"}));
        QCOMPARE(refused.error().code, ErrorCode::NoMemory);
        QCOMPARE(little->allocations(), 0);
    }
    const auto enough = std::make_shared<FaultyDevice>(1000000, wanted);
    const auto loaded = support::loadOn(enough, config, weights, settings, kContext);
    QVERIFY(loaded.hasValue());
    // The scratch is what decoders reserve behind the context.
    const KvCache cache = support::emptyCache(*loaded.value(), kContext + kScratchSlots);
    QCOMPARE(std::uint64_t{cache.storage().byteSize()}, need.cacheBytes + need.scratchBytes);
    QVERIFY(!cache.storage().isInHostMemory());
}

/// A workspace that grows takes more than it is asked for, but not at the price of failing.
void CudaErrorsTest::roomToSpareIsNotNeeded() {
    const auto device = std::make_shared<FaultyDevice>(1000000);
    device->mostBytes = 1200;
    Workspace space;
    QVERIFY(space.reserve<std::byte>(device, 600).hasValue());
    QVERIFY(space.reserve<std::byte>(device, 700).hasValue()); // and 350 to spare
    QVERIFY(space.reserve<std::byte>(device, 1050).hasValue());
    QCOMPARE(device->allocations(), 2);
    QVERIFY(space.reserve<std::byte>(device, 1100).hasValue()); // and nothing to spare
    QCOMPARE(device->heldPieces(), 1);
    const auto full = space.reserve<std::byte>(device, 1300);
    QVERIFY(!full);
    QCOMPARE(full.error().code, ErrorCode::NoMemory);
    QCOMPARE(device->heldPieces(), 0);
    QVERIFY(space.reserve<std::byte>(device, 1000).hasValue()); // less is still to be had
}

void CudaErrorsTest::anAnswerTakesNoMemoryBesidesWhatWasReserved_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<int>("rowsAtOnce");
    QTest::newRow("float32") << "f32" << kMaxRowsF32;
    QTest::newRow("bfloat16") << "bf16" << kMaxRows;
    QTest::newRow("8-bit") << "int8" << kMaxRows;
}

/// A prompt in pieces, then a draft of as many rows as run at once, at the end of the context.
void CudaErrorsTest::anAnswerTakesNoMemoryBesidesWhatWasReserved() {
    QFETCH(const QString, form);
    QFETCH(const int, rowsAtOnce);
    constexpr Position kContext = 192;
    const ModelConfig config = support::tinyConfig();
    const auto device = std::make_shared<FaultyDevice>(1000000);
    const auto loaded = support::loadOn(device,
                                        config,
                                        support::randomWeights(config, 1),
                                        {{"weights", form.toStdString()}},
                                        kContext);
    QVERIFY(loaded.hasValue());
    Transformer& transformer = *loaded.value();
    KvCache cache = support::emptyCache(transformer, kContext);
    const int before = device->allocations();
    const std::vector<TokenId> ids = support::someIds(kContext);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    HiddenRows first;
    HiddenRows last;
    const std::vector<HandOut> handOuts = {{0, &first}, {config.layerCount - 1, &last}};
    for (const int rows : {int{kContext} - rowsAtOnce, rowsAtOnce}) {
        std::vector<int> headRows(static_cast<std::size_t>(rowsAtOnce));
        std::iota(headRows.begin(), headRows.end(), rows - rowsAtOnce);
        const auto at = static_cast<std::size_t>(cache.length());
        const AttentionLayout layout = AttentionLayout::chain(cache.length(), rows);
        const auto result = transformer.forward({.plan = plan,
                                                 .layout = layout,
                                                 .tokens = std::span(ids).subspan(at, toSize(rows)),
                                                 .logitRows = headRows,
                                                 .summaryRows = headRows,
                                                 .handOuts = handOuts,
                                                 .wantsInfluence = true},
                                                cache);
        QVERIFY(result.hasValue());
        cache.commit(rows);
    }
    QCOMPARE(device->allocations(), before);
}

void CudaErrorsTest::whatKernelsCannotComputeIsRefused() {
    ModelConfig config = support::tinyConfig();
    config.headDim = 258;
    const auto wide = support::loadOn(
        std::make_shared<EmulatedDevice>(), config, support::randomWeights(config, 1));
    QVERIFY(!wide && says(wide.error(), {"heads of up to 256", "258"}));
    QCOMPARE(wide.error().code, ErrorCode::Unsupported);
    // Experts beyond the room that the routing has; no weight is asked for before.
    config = support::expertConfig();
    config.experts.count = kMostExperts + 1;
    const auto many =
        support::loadOn(std::make_shared<EmulatedDevice>(), config, support::MemoryWeights());
    QVERIFY(!many && says(many.error(), {"up to 256 experts", "257"}));
    QCOMPARE(many.error().code, ErrorCode::Unsupported);
    // Numbers that float16 does not hold.
    support::MemoryWeights weights = support::randomWeights(support::tinyConfig(), 1);
    weights.values("lm_head.weight")[3] = 70000.0F;
    const auto large = support::loadOn(std::make_shared<EmulatedDevice>(),
                                       support::tinyConfig(),
                                       weights,
                                       {{"weights", std::string("f16")}});
    QVERIFY(!large && says(large.error(), {"lm_head.weight", "float16"}));
}

/// Every call that a load makes fails once.
void CudaErrorsTest::everyFailureAtLoadIsCleanedUp() {
    ModelConfig config = support::layeredConfig(1);
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    int calls = 0;
    for (bool isLoaded = false; !isLoaded; ++calls) {
        const auto device = std::make_shared<FaultyDevice>(calls);
        const auto loaded = support::loadOn(device, config, weights);
        isLoaded = loaded.hasValue();
        if (!isLoaded) {
            QCOMPARE(loaded.error().message, std::string("The GPU fell off."));
            QCOMPARE(device->heldPieces(), 0);
        }
        QVERIFY(calls < 1000);
    }
    QVERIFY(calls > 30);
}

/// By another program, at whatever moment of the load: the session then frees the earlier model and
/// tries again.
void CudaErrorsTest::memoryTakenBehindTheEstimateIsALackOfMemory() {
    const ModelConfig config = support::layeredConfig(1);
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    const auto device = std::make_shared<FaultyDevice>(1000000);
    QVERIFY(support::memoryOn(device, config, weights, 8).totalBytes() > 0);
    int taken = 0;
    for (bool isLoaded = false; !isLoaded; ++taken) {
        device->allocationsLeft = taken;
        const auto loaded = support::loadOn(device, config, weights);
        isLoaded = loaded.hasValue();
        if (!isLoaded) {
            QCOMPARE(loaded.error().code, ErrorCode::NoMemory);
            QCOMPARE(loaded.error().message, std::string("The GPU is full."));
            QCOMPARE(device->heldPieces(), 0);
        }
        QVERIFY(taken < 1000);
    }
    QVERIFY(taken > 5); // weights, workspaces, the cache of the check
}

void CudaErrorsTest::aLostGpuStaysLostUntilTheNextLoad() {
    const auto device = std::make_shared<FaultyDevice>(1000000);
    const ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    {
        const auto transformer = support::makeOn(device, config, weights);
        KvCache cache = support::emptyCache(*transformer, 8);
        QVERIFY(passOn(*transformer, cache).hasValue());
        device->failAfter(1);
        const auto failed = passOn(*transformer, cache);
        QVERIFY(!failed);
        QCOMPARE(failed.error().code, ErrorCode::Device);
        device->failAfter(1000000);
        const auto again = passOn(*transformer, cache);
        QVERIFY(!again);
        QCOMPARE(again.error().message, failed.error().message);
    }
    QCOMPARE(device->heldPieces(), 0);
    const auto anew = support::makeOn(device, config, weights);
    KvCache cache = support::emptyCache(*anew, 8);
    QVERIFY(passOn(*anew, cache).hasValue());
}

/// A launch that never was has not moved the barrier.
void CudaErrorsTest::aPassThatIsRefusedCanBeAskedForAgain() {
    const auto device = std::make_shared<FaultyDevice>(1000000);
    const ModelConfig config = support::tinyConfig();
    const auto transformer = support::makeOn(device, config, support::randomWeights(config, 1));
    KvCache cache = support::emptyCache(*transformer, 8);
    device->isLaunchRefused = true;
    const auto refused = passOn(*transformer, cache);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    const auto again = passOn(*transformer, cache);
    QVERIFY2(again.hasValue(), again ? "" : again.error().message.c_str());
}

/// What is moved twice may have been written to in between.
void CudaErrorsTest::movesAreMadeOnceThoughTheirPassFails() {
    const auto device = std::make_shared<FaultyDevice>(1000000);
    const ModelConfig config = support::tinyConfig();
    const auto transformer = support::makeOn(device, config, support::randomWeights(config, 1));
    KvCache cache = support::emptyCache(*transformer, 8);
    const Position kept = 1;
    cache.keepPath(std::span(&kept, 1));
    device->isDownloadRefused = true; // of the attention, behind the first of two launches
    const auto refused = passOn(*transformer, cache, AttentionPlace{0, 0});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    QCOMPARE(device->movesMade, 1);
    QVERIFY(passOn(*transformer, cache).hasValue());
    QCOMPARE(device->movesMade, 1);
}

void CudaErrorsTest::theSpeedOfItsMemoryIsMeasuredOrTheFailureTold() {
    const auto device = std::make_shared<FaultyDevice>(1000000);
    const auto transformer = support::makeOn(
        device, support::tinyConfig(), support::randomWeights(support::tinyConfig(), 1));
    {
        const auto roof = support::valueOf(transformer->makeReadRoof(1U << 16U, 1));
        QCOMPARE(roof->byteSize(), std::size_t{1} << 16U);
        for (int reading = 0; reading < 3; ++reading)
            QVERIFY(support::valueOf(roof->readGbps()) > 0.0);
        const auto times = support::valueOf(roof->timesUs());
        QVERIFY(times.at("launch") > 0.0 && times.contains("barrier"));
        QVERIFY(support::valueOf(roof->readGbps()) > 0.0); // the barrier goes on
        device->failAfter(1);
        const auto failed = roof->readGbps();
        QVERIFY(!failed && says(failed.error(), {"fell off"}));
    }
    const auto none = transformer->makeReadRoof(1U << 16U, 1);
    QVERIFY(!none && says(none.error(), {"fell off"}));
}

void CudaErrorsTest::whereverAPassFailsTheSentenceIsThatOfTheFailure() {
    const auto weights = support::randomWeights(support::tinyConfig(), 1);
    int calls = 0;
    for (bool fails = true; fails; ++calls) {
        const auto device = std::make_shared<FaultyDevice>(1000000);
        const auto transformer = support::makeOn(device, support::tinyConfig(), weights);
        KvCache cache = transformer->makeCache(8).value();
        device->failAfter(calls);
        const auto first = passOn(*transformer, cache);
        fails = !first;
        if (!fails)
            break;
        QVERIFY(says(first.error(), {"fell off"}));
        device->failAfter(1000000);
        const auto second = passOn(*transformer, cache); // of a read logit the pass was right
        QVERIFY(second || says(second.error(), {"fell off"}));
    }
    QVERIFY(calls >= 4); // tables, launch, results, logits
}

void CudaErrorsTest::anotherPrecisionIsRefused() {
    BackendRegistry registry("");
    registerBackend(registry, support::machineOf(std::make_shared<EmulatedDevice>()));
    TransformerOptions options;
    options.precision = Precision::F64;
    const ModelConfig config = support::tinyConfig();
    const auto loaded =
        registry.find("cuda").value()(config, support::randomWeights(config, 1), options);
    QVERIFY(!loaded && says(loaded.error(), {"float32", "not in float64"}));
}

QTEST_GUILESS_MAIN(CudaErrorsTest)
#include "cuda_errors_test.moc"
