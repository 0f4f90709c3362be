// SPDX-License-Identifier: Apache-2.0
// Whatever a GPU, its driver or its memory does wrong is one sentence, and nothing is lost by it.
#include "engine/base/to_size.h"
#include "plugins/backend_cuda/device/driver_device.h"
#include "plugins/backend_cuda/device/kernel_image.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace engine;
using namespace backend_cuda;

namespace {

/// A driver that says what a test wants.
struct MadeUp {
    int version = 13000;
    driver::Status started = driver::kSuccess;
    std::vector<int> capabilities = {90};
    int sharedBytes = 232448;
    driver::Status loaded = driver::kSuccess;
    driver::Status finished = driver::kSuccess;
    int retained = 0;
};

MadeUp madeUp;

driver::Functions madeUpFunctions() {
    driver::Functions functions;
    functions.init = [](unsigned) { return madeUp.started; };
    functions.driverVersion = [](int* version) {
        *version = madeUp.version;
        return driver::kSuccess;
    };
    functions.deviceCount = [](int* count) {
        *count = static_cast<int>(madeUp.capabilities.size());
        return driver::kSuccess;
    };
    functions.deviceGet = [](driver::DeviceNumber* device, int ordinal) {
        *device = ordinal;
        return driver::kSuccess;
    };
    functions.deviceName = [](char* name, int, driver::DeviceNumber device) {
        name[0] = 'G';
        name[1] = static_cast<char>('0' + device);
        return driver::kSuccess;
    };
    functions.deviceUuid = [](unsigned char* uuid, driver::DeviceNumber device) {
        std::fill_n(uuid, driver::kUuidBytes, static_cast<unsigned char>(0xa0 + device));
        return driver::kSuccess;
    };
    functions.deviceAttribute = [](int* value, int attribute, driver::DeviceNumber device) {
        const int capability = madeUp.capabilities[static_cast<std::size_t>(device)];
        *value = attribute == driver::kCapabilityMajor   ? capability / 10
                 : attribute == driver::kCapabilityMinor ? capability % 10
                 : attribute == driver::kMaxSharedBytes  ? madeUp.sharedBytes
                                                         : 1;
        return driver::kSuccess;
    };
    functions.deviceTotalMemory = [](std::size_t* bytes, driver::DeviceNumber) {
        *bytes = 1 << 20;
        return driver::kSuccess;
    };
    functions.retainPrimaryContext = [](driver::Context* context, driver::DeviceNumber) {
        *context = reinterpret_cast<driver::Context>(&madeUp);
        ++madeUp.retained;
        return driver::kSuccess;
    };
    functions.releasePrimaryContext = [](driver::DeviceNumber) {
        --madeUp.retained;
        return driver::kSuccess;
    };
    functions.setCurrentContext = [](driver::Context) { return driver::kSuccess; };
    functions.streamCreate = [](driver::Stream*, unsigned) { return driver::kSuccess; };
    functions.streamDestroy = [](driver::Stream) { return driver::kSuccess; };
    functions.moduleLoad = [](driver::Module*, const void*) { return madeUp.loaded; };
    functions.moduleFunction = [](driver::Function*, driver::Module, const char*) {
        return driver::kSuccess;
    };
    functions.functionSetAttribute = [](driver::Function, int, int) { return driver::kSuccess; };
    functions.copyToHost = [](void*, driver::Address, std::size_t, driver::Stream) {
        return driver::kSuccess;
    };
    functions.streamSynchronize = [](driver::Stream) { return madeUp.finished; };
    functions.memoryInfo = [](std::size_t* isFree, std::size_t* total) {
        *isFree = *total = 1000;
        return driver::kSuccess;
    };
    functions.allocate = [](driver::Address*, std::size_t) { return driver::kOutOfMemory; };
    functions.errorName = [](driver::Status, const char** name) {
        *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
        return driver::kSuccess;
    };
    return functions;
}

bool says(const Error& error, std::initializer_list<const char*> words) {
    for (const char* word : words)
        if (error.message.find(word) == std::string::npos) {
            qWarning("%s", error.message.c_str());
            return false;
        }
    return !error.hint.empty();
}

/// An emulated GPU with little memory, or one that fails from some call on.
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
        return m_device.download(to, from);
    }

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        ENGINE_TRY_DO(work());
        return m_device.launch(kernel, blocks, arguments);
    }

    void failAfter(int calls) { m_left = calls; }

    int heldPieces() const { return m_device.heldPieces(); }

    int allocations() const { return m_allocations; }

private:
    Result<void> work() {
        if (m_left-- > 0)
            return {};
        m_left = 0;
        return Error{ErrorCode::Io, "The GPU fell off.", "Load the model again."};
    }

    EmulatedDevice m_device{1};
    int m_left;
    int m_allocations = 0;
    std::uint64_t m_free;
};

Result<void> passOn(Transformer& transformer, KvCache& cache) {
    const TokenId token = 5;
    const int row = 0;
    ENGINE_TRY(ForwardResult result,
               transformer.forward({.plan = LayerPlan::full(transformer.config().layerCount),
                                    .layout = AttentionLayout::chain(0, 1),
                                    .tokens = std::span(&token, 1),
                                    .logitRows = std::span(&row, 1)},
                                   cache));
    ENGINE_TRY_DO(result.logits.row(0));
    return {};
}

} // namespace

class CudaErrorsTest : public QObject {
    Q_OBJECT

private slots:

    void init() { madeUp = {}; }

    void aMissingDriverIsToldByItsLibrary();
    void anOldDriverIsToldByItsVersion();
    void aDriverThatDoesNotStartIsToldByItsError();
    void withoutGpusTheHiddenOnesAreMentioned();
    void anOldGpuIsToldByName();
    void kernelsThatAreMissingOrForeignAreTold();
    void aGpuWithoutCodeIsTold();
    void tooLittleSharedMemoryIsToldAtLoad();
    void aFailureOfTheDriverNamesItsError();
    void aGpuThatIsNotThereListsThoseThatAre();
    void tooLittleMemoryTellsBothNumbers();
    void aGpuWithRoomForWeightsAndCacheAloneIsRefused_data();
    void aGpuWithRoomForWeightsAndCacheAloneIsRefused();
    void anAnswerTakesNoMemoryBesidesWhatWasReserved_data();
    void anAnswerTakesNoMemoryBesidesWhatWasReserved();
    void whatKernelsCannotComputeIsRefused();
    void everyFailureAtLoadIsCleanedUp();
    void aLostGpuStaysLostUntilTheNextLoad();
};

void CudaErrorsTest::aMissingDriverIsToldByItsLibrary() {
    const auto opened = driver::open("libthere_is_no_such_driver.so.1");
    QVERIFY(!opened);
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
    QVERIFY(says(opened.error(), {"No NVIDIA driver", "libthere_is_no_such_driver.so.1"}));
    // Any other library has not its functions.
    const auto foreign = driver::open("libm.so.6");
    QVERIFY(!foreign && says(foreign.error(), {"too old", "cuInit"}));
}

void CudaErrorsTest::anOldDriverIsToldByItsVersion() {
    madeUp.version = 12020;
    const auto started = driver::start(madeUpFunctions());
    QVERIFY(!started);
    QCOMPARE(started.error().code, ErrorCode::Unsupported);
    QVERIFY(says(started.error(), {"12.2", "13.0", "580", "535"}));
}

void CudaErrorsTest::aDriverThatDoesNotStartIsToldByItsError() {
    madeUp.started = 999;
    const auto started = driver::start(madeUpFunctions());
    QVERIFY(!started && says(started.error(), {"does not start", "CUDA_ERROR"}));
    madeUp.started = driver::kNoDevice;
    QVERIFY(driver::start(madeUpFunctions()).hasValue()); // the list says it
}

void CudaErrorsTest::withoutGpusTheHiddenOnesAreMentioned() {
    madeUp.capabilities.clear();
    qunsetenv("CUDA_VISIBLE_DEVICES");
    const auto none = listDevices(madeUpFunctions());
    QVERIFY(!none && says(none.error(), {"finds no GPU"}));
    qputenv("CUDA_VISIBLE_DEVICES", "");
    const auto hidden = listDevices(madeUpFunctions());
    qunsetenv("CUDA_VISIBLE_DEVICES");
    QVERIFY(!hidden && says(hidden.error(), {"CUDA_VISIBLE_DEVICES is \"\""}));
    QCOMPARE(hidden.error().code, ErrorCode::Unsupported);
}

void CudaErrorsTest::anOldGpuIsToldByName() {
    madeUp.capabilities = {75};
    const auto old = listDevices(madeUpFunctions());
    QVERIFY(!old && says(old.error(), {"G0", "7.5", "8.0"}));
    madeUp.capabilities = {75, 90}; // the other one is used
    const auto one = listDevices(madeUpFunctions());
    QVERIFY(one.hasValue());
    QCOMPARE(one.value().size(), std::size_t{1});
    QCOMPARE(one.value().front().name, std::string("G1"));
    QCOMPARE(one.value().front().uuid, std::string("a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"));
}

void CudaErrorsTest::kernelsThatAreMissingOrForeignAreTold() {
    const test_support::TemporaryFolder folder;
    const auto missing = readKernelImage(folder.path());
    QVERIFY(!missing && says(missing.error(), {"without kernels", kImageName}));
    folder.write(kImageName, "code of another build");
    const auto foreign = readKernelImage(folder.path());
    QVERIFY(!foreign && says(foreign.error(), {"another build", kImageName}));
    folder.write(kImageName, "code" + std::string(kernelImageMark()));
    const auto own = readKernelImage(folder.path());
    QVERIFY(own.hasValue());
    QCOMPARE(std::string(own.value().begin(), own.value().end()), std::string("code"));
}

void CudaErrorsTest::aGpuWithoutCodeIsTold() {
    madeUp.loaded = driver::kNoBinaryForGpu;
    const auto opened = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(!opened && says(opened.error(), {"no code", "G0", "9.0"}));
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
    QCOMPARE(madeUp.retained, 0);
}

void CudaErrorsTest::tooLittleSharedMemoryIsToldAtLoad() {
    madeUp.sharedBytes = 101376; // of 8.6; for 9.0 the kernels take more
    const auto opened = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(!opened && says(opened.error(), {"G0", "shared memory", "101376"}));
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
    QCOMPARE(madeUp.retained, 0);
    madeUp.capabilities = {86};
    QVERIFY(DriverDevice::open(madeUpFunctions(), 0, {}).hasValue());
}

void CudaErrorsTest::aFailureOfTheDriverNamesItsError() {
    const auto device = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(device.hasValue());
    const auto full = device.value()->allocate(4000);
    QVERIFY(!full && says(full.error(), {"4000", "1000", "G0"}));
    QCOMPARE(full.error().code, ErrorCode::NoMemory);
    madeUp.finished = 700;
    std::byte number;
    const auto failed = device.value()->download({&number, 1}, nullptr);
    QVERIFY(!failed && says(failed.error(), {"G0", "a pass", "CUDA_ERROR_ILLEGAL_ADDRESS"}));
    QCOMPARE(failed.error().code, ErrorCode::Io);
}

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
    const std::uint64_t wanted = need.weightBytes + need.cacheBytes + need.passBytes + kLeftFree;
    for (const std::uint64_t missing : {need.passBytes, std::uint64_t{1}}) {
        const auto little = std::make_shared<FaultyDevice>(1000000, wanted - missing);
        const auto refused = support::loadOn(little, config, weights, settings, kContext);
        QVERIFY(!refused && says(refused.error(), {"needs", "emulated GPU"}));
        QCOMPARE(refused.error().code, ErrorCode::NoMemory);
        QCOMPARE(little->allocations(), 0);
    }
    const auto enough = std::make_shared<FaultyDevice>(1000000, wanted);
    QVERIFY(support::loadOn(enough, config, weights, settings, kContext).hasValue());
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

QTEST_GUILESS_MAIN(CudaErrorsTest)
#include "cuda_errors_test.moc"
