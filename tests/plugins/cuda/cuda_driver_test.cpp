// SPDX-License-Identifier: Apache-2.0
// Whatever NVIDIA's driver does wrong is one sentence, and the context is given back.
#include "plugins/backend_cuda/device/driver_device.h"
#include "plugins/backend_cuda/device/kernel_image.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using namespace backend_cuda;
using support::says;

namespace {

/// A driver that says what a test wants.
struct MadeUp {
    /// This status, or that by which the context is broken.
    driver::Status inContext(driver::Status status = driver::kSuccess) const {
        return broken != driver::kSuccess ? broken : status;
    }

    int version = 13000;
    driver::Status started = driver::kSuccess;
    std::vector<int> capabilities = {90};
    int sharedBytes = 232448;
    driver::Status opened = driver::kSuccess;
    driver::Status streamed = driver::kSuccess;
    driver::Status loaded = driver::kSuccess;
    driver::Status finished = driver::kSuccess;
    driver::Status broken = driver::kSuccess; // by what the context is, until nobody has it
    int retained = 0;
    int released = 0; // pieces of memory
    int isReachable = 1;
    driver::Status enabled = driver::kSuccess;
    std::size_t handedOver = 0; // bytes
};

MadeUp madeUp;

constexpr std::size_t kRoom = 1000; // bytes

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
        if (madeUp.opened != driver::kSuccess)
            return madeUp.opened;
        *context = reinterpret_cast<driver::Context>(&madeUp);
        ++madeUp.retained;
        return madeUp.opened;
    };
    functions.releasePrimaryContext = [](driver::DeviceNumber) {
        if (--madeUp.retained == 0)
            madeUp.broken = driver::kSuccess;
        return driver::kSuccess;
    };
    functions.setCurrentContext = [](driver::Context) { return driver::kSuccess; };
    functions.streamCreate = [](driver::Stream*, unsigned) {
        return madeUp.inContext(madeUp.streamed);
    };
    functions.streamDestroy = [](driver::Stream) { return driver::kSuccess; };
    functions.moduleLoad = [](driver::Module*, const void*) {
        return madeUp.inContext(madeUp.loaded);
    };
    functions.moduleFunction = [](driver::Function*, driver::Module, const char*) {
        return madeUp.inContext();
    };
    functions.functionSetAttribute = [](driver::Function, int, int) { return madeUp.inContext(); };
    functions.copyToHost = [](void*, driver::Address, std::size_t, driver::Stream) {
        return madeUp.inContext();
    };
    functions.streamSynchronize = [](driver::Stream) { return madeUp.inContext(madeUp.finished); };
    functions.memoryInfo = [](std::size_t* isFree, std::size_t* total) {
        *isFree = *total = kRoom;
        return madeUp.inContext();
    };
    functions.allocate = [](driver::Address* memory, std::size_t bytes) {
        *memory = 4096;
        return madeUp.inContext(bytes > kRoom ? driver::kOutOfMemory : driver::kSuccess);
    };
    functions.release = [](driver::Address) {
        ++madeUp.released;
        return madeUp.inContext();
    };
    functions.canAccessPeer = [](int* can, driver::DeviceNumber, driver::DeviceNumber) {
        *can = madeUp.isReachable;
        return madeUp.inContext();
    };
    functions.enablePeerAccess = [](driver::Context, unsigned) { return madeUp.enabled; };
    functions.copyToPeer = [](driver::Address,
                              driver::Context,
                              driver::Address,
                              driver::Context,
                              std::size_t bytes,
                              driver::Stream) {
        madeUp.handedOver += bytes;
        return madeUp.inContext();
    };
    functions.errorName = [](driver::Status, const char** name) {
        *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
        return driver::kSuccess;
    };
    return functions;
}

} // namespace

class CudaDriverTest : public QObject {
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
    void tooLittleMemoryForTheKernelsIsToldAtLoad();
    void aFailureOfTheDriverNamesItsError();
    void aLostContextIsGivenBackAtOnce_data();
    void aLostContextIsGivenBackAtOnce();
    void aFailureThatKeepsTheContextIsNoLoss();
    void aGpuThatAnotherProgramHasIsToldAtLoad();
    void aGpuReachesAnotherOneIfTheDriverSaysSo();
};

void CudaDriverTest::aMissingDriverIsToldByItsLibrary() {
    const auto opened = driver::open("libthere_is_no_such_driver.so.1");
    QVERIFY(!opened);
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
    QVERIFY(says(opened.error(), {"No NVIDIA driver", "libthere_is_no_such_driver.so.1"}));
    // Any other library has not its functions.
    const auto foreign = driver::open("libm.so.6");
    QVERIFY(!foreign && says(foreign.error(), {"too old", "cuInit"}));
}

void CudaDriverTest::anOldDriverIsToldByItsVersion() {
    madeUp.version = 12020;
    const auto started = driver::start(madeUpFunctions());
    QVERIFY(!started);
    QCOMPARE(started.error().code, ErrorCode::Unsupported);
    QVERIFY(says(started.error(), {"12.2", "13.0", "580", "535"}));
}

void CudaDriverTest::aDriverThatDoesNotStartIsToldByItsError() {
    madeUp.started = 999;
    const auto started = driver::start(madeUpFunctions());
    QVERIFY(!started && says(started.error(), {"does not start", "CUDA_ERROR"}));
    madeUp.started = driver::kNoDevice;
    QVERIFY(driver::start(madeUpFunctions()).hasValue()); // the list says it
}

void CudaDriverTest::withoutGpusTheHiddenOnesAreMentioned() {
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

void CudaDriverTest::anOldGpuIsToldByName() {
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

void CudaDriverTest::kernelsThatAreMissingOrForeignAreTold() {
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

void CudaDriverTest::aGpuWithoutCodeIsTold() {
    madeUp.loaded = driver::kNoBinaryForGpu;
    const auto opened = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(!opened && says(opened.error(), {"no code", "G0", "9.0"}));
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
    QCOMPARE(madeUp.retained, 0);
}

void CudaDriverTest::tooLittleSharedMemoryIsToldAtLoad() {
    madeUp.sharedBytes = 101376; // of 8.6; for 9.0 the kernels take more
    const auto opened = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(!opened && says(opened.error(), {"G0", "shared memory", "101376"}));
    QCOMPARE(opened.error().code, ErrorCode::Unsupported);
    QCOMPARE(madeUp.retained, 0);
    madeUp.capabilities = {86};
    QVERIFY(DriverDevice::open(madeUpFunctions(), 0, {}).hasValue());
}

/// So that the model that is loaded already is freed, and the load tried again.
void CudaDriverTest::tooLittleMemoryForTheKernelsIsToldAtLoad() {
    for (driver::Status MadeUp::*const call :
         {&MadeUp::opened, &MadeUp::streamed, &MadeUp::loaded}) {
        madeUp = {};
        madeUp.*call = driver::kOutOfMemory;
        const auto opened = DriverDevice::open(madeUpFunctions(), 0, {});
        QVERIFY(!opened && says(opened.error(), {"G0", "no room for the kernels"}));
        QCOMPARE(opened.error().code, ErrorCode::NoMemory);
        QCOMPARE(madeUp.retained, 0);
    }
}

void CudaDriverTest::aFailureOfTheDriverNamesItsError() {
    const auto device = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(device.hasValue());
    const auto full = device.value()->allocate(4000);
    QVERIFY(!full && says(full.error(), {"4000", "1000", "G0"}));
    QCOMPARE(full.error().code, ErrorCode::NoMemory);
    madeUp.broken = 700;
    std::byte number;
    const auto failed = device.value()->download({&number, 1}, nullptr);
    QVERIFY(!failed && says(failed.error(), {"G0", "a pass", "CUDA_ERROR_ILLEGAL_ADDRESS"}));
    QCOMPARE(failed.error().code, ErrorCode::Device);
}

/// What is left of the lost model still has the device when the next one is loaded.
void CudaDriverTest::aLostContextIsGivenBackAtOnce_data() {
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("hint");
    QTest::newRow("a kernel that went wrong") << 719 << "start the program again";
    QTest::newRow("a GPU that another program has") << 46 << "Another program may have it";
    QTest::newRow("a GPU that is gone") << 999 << "start the program again";
}

void CudaDriverTest::aLostContextIsGivenBackAtOnce() {
    QFETCH(const int, status);
    QFETCH(const QString, hint);
    const auto lost = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(lost.hasValue());
    std::byte number;
    std::string message;
    {
        const auto memory = DeviceMemory::make(lost.value(), 100);
        QVERIFY(memory.hasValue());
        madeUp.broken = status;
        const auto failed = lost.value()->download({&number, 1}, memory.value().data());
        QVERIFY(!failed);
        QVERIFY(QString::fromStdString(failed.error().hint).contains(hint));
        message = failed.error().message;
        QCOMPARE(madeUp.retained, 0);
    }
    QCOMPARE(madeUp.released, 0); // it went with the context
    const auto next = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(next.hasValue());
    QVERIFY(next.value()->freeBytes().hasValue());
    QCOMPARE(madeUp.retained, 1);
    const auto again = lost.value()->freeBytes();
    QVERIFY(!again);
    QCOMPARE(again.error().message, message);
    QVERIFY(!lost.value()->download({&number, 1}, nullptr));
}

void CudaDriverTest::aFailureThatKeepsTheContextIsNoLoss() {
    const auto device = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(device.hasValue());
    QVERIFY(!device.value()->allocate(2 * kRoom));
    std::byte number;
    madeUp.finished = 701; // a launch that asks for too much
    QVERIFY(!device.value()->download({&number, 1}, nullptr));
    QCOMPARE(madeUp.retained, 1);
    madeUp.finished = driver::kSuccess;
    QVERIFY(device.value()->download({&number, 1}, nullptr).hasValue());
}

/// One that lets a single process in.
void CudaDriverTest::aGpuThatAnotherProgramHasIsToldAtLoad() {
    madeUp.opened = driver::kUnavailable;
    const auto opened = DriverDevice::open(madeUpFunctions(), 0, {});
    QVERIFY(!opened && says(opened.error(), {"G0", "opening it"}));
    QCOMPARE(opened.error().code, ErrorCode::Device);
    QVERIFY(opened.error().hint.find("Another program may have it") != std::string::npos);
    QCOMPARE(madeUp.retained, 0);
    madeUp.opened = driver::kSuccess; // that one has ended
    QVERIFY(DriverDevice::open(madeUpFunctions(), 0, {}).hasValue());
}

void CudaDriverTest::aGpuReachesAnotherOneIfTheDriverSaysSo() {
    madeUp.capabilities = {90, 90};
    const auto first = DriverDevice::open(madeUpFunctions(), 0, {});
    const auto second = DriverDevice::open(madeUpFunctions(), 1, {});
    QVERIFY(first.hasValue() && second.hasValue());
    Device& from = *first.value();
    Device& to = *second.value();
    QVERIFY(from.reaches(to));
    madeUp.enabled = driver::kPeerAccessAlreadyEnabled; // by another library of the program
    QVERIFY(from.reaches(to));
    madeUp.enabled = 711; // too many of them
    QVERIFY(!from.reaches(to));
    madeUp.enabled = driver::kSuccess;
    madeUp.isReachable = 0;
    QVERIFY(!from.reaches(to));
    std::byte number{};
    QVERIFY(from.copyTo(to, &number, &number, 24).hasValue());
    QCOMPARE(madeUp.handedOver, std::size_t{24});
    madeUp.broken = 220; // their link
    const auto failed = from.copyTo(to, &number, &number, 24);
    QVERIFY(!failed && says(failed.error(), {"G0", "handing on"}));
    QCOMPARE(failed.error().code, ErrorCode::Device);
    QVERIFY(!from.reaches(to) && !to.reaches(from)); // the first one is lost
    QVERIFY(says(to.copyTo(from, &number, &number, 24).error(), {"G0", "handing on"}));
}

QTEST_GUILESS_MAIN(CudaDriverTest)
#include "cuda_driver_test.moc"
