// SPDX-License-Identifier: Apache-2.0
// The test that a GPU must pass before it is used: who passes, who does not, and when it is run.
#include "plugins/backend_cuda/checks/self_test.h"
#include "plugins/backend_cuda/device/kernel_image.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using namespace backend_cuda;

namespace {

/// An emulated GPU that counts its launches and may spoil what it is sent.
class WatchedDevice final : public WrappedDevice {
public:
    WatchedDevice()
        : WrappedDevice(std::make_shared<EmulatedDevice>(2))
        , m_facts(WrappedDevice::facts()) {}

    const DeviceFacts& facts() const override { return m_facts; }

    Result<void> upload(std::byte* to, std::span<const std::byte> from) override {
        ENGINE_TRY_DO(WrappedDevice::upload(to, from));
        if (isSpoiling && from.size() > 100000) // a matrix
            std::fill_n(to + 50000, 10000, std::byte{0});
        return {};
    }

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        ++launches;
        return WrappedDevice::launch(kernel, blocks, arguments);
    }

    DeviceFacts& changeFacts() { return m_facts; }

    int launches = 0;
    bool isSpoiling = false;

private:
    DeviceFacts m_facts;
};

} // namespace

class CudaSelfTestTest : public QObject {
    Q_OBJECT

private slots:

    void cleanup() { emulation::plantedFault = Fault::None; }

    void aGpuIsTestedOnceForEachDriver();
    void sumsThatDependOnRowsAreFound();
    void whatOnlyLongTextsShowIsFound_data();
    void whatOnlyLongTextsShowIsFound();
    void wrongScalesAreFound_data();
    void wrongScalesAreFound();
    void aLoadRefusesAGpuThatFails();
};

void CudaSelfTestTest::aGpuIsTestedOnceForEachDriver() {
    const test_support::TemporaryFolder folder;
    const auto device = std::make_shared<WatchedDevice>();
    device->changeFacts().uuid = "0123";
    const auto first = testDeviceOnce(device, folder.path() / "gpus", ShapeSample::Few);
    QVERIFY2(first.hasValue(), first ? "" : first.error().message.c_str());
    const int launches = device->launches;
    QVERIFY(launches > 300); // most of them of single operations
    QVERIFY(testDeviceOnce(device, folder.path() / "gpus", ShapeSample::Few).hasValue());
    QCOMPARE(device->launches, launches);
    // Another GPU, driver or build is another file.
    const std::string name = testNameOf(device->facts());
    QVERIFY(name.find(kernelImageMark()) != std::string::npos);
    device->changeFacts().driverBuild = "580.65.06";
    QVERIFY(testNameOf(device->facts()) != name);
    device->changeFacts() = EmulatedDevice().facts();
    QVERIFY(testNameOf(device->facts()) != name);
}

void CudaSelfTestTest::sumsThatDependOnRowsAreFound() {
    emulation::plantedFault = Fault::CutByRows;
    const auto tested = testDevice(std::make_shared<EmulatedDevice>(2));
    QVERIFY(!tested);
    QVERIFY2(tested.error().message.find("emulated GPU fails the test on a made-up network "
                                         "(float32): its rows depend on those") !=
                 std::string::npos,
             tested.error().message.c_str());
    QVERIFY(!tested.error().hint.empty());
}

void CudaSelfTestTest::whatOnlyLongTextsShowIsFound_data() {
    QTest::addColumn<int>("fault");
    QTest::newRow("moves that are not made") << static_cast<int>(Fault::LostMoves);
    if (support::takesAllCases())
        QTest::newRow("sections that are left out") << static_cast<int>(Fault::LostSections);
}

void CudaSelfTestTest::whatOnlyLongTextsShowIsFound() {
    QFETCH(const int, fault);
    emulation::plantedFault = static_cast<Fault>(fault);
    const auto tested = testDevice(std::make_shared<EmulatedDevice>(2));
    QVERIFY(!tested);
    QVERIFY2(tested.error().message.find("fails the test on a made-up network") !=
                 std::string::npos,
             tested.error().message.c_str());
}

void CudaSelfTestTest::wrongScalesAreFound_data() {
    QTest::addColumn<int>("fault");
    QTest::newRow("those of the record before") << static_cast<int>(Fault::StaleScales);
    if (support::takesAllCases())
        QTest::newRow("those of half of a group") << static_cast<int>(Fault::HalfGroups);
}

/// Of quantised weights or of the rows beside them; they, too, are the same in every way.
void CudaSelfTestTest::wrongScalesAreFound() {
    QFETCH(const int, fault);
    emulation::plantedFault = static_cast<Fault>(fault);
    const auto tested = testDevice(std::make_shared<EmulatedDevice>(2));
    QVERIFY(!tested);
    QVERIFY2(tested.error().message.find("its numbers are wrong") != std::string::npos,
             tested.error().message.c_str());
}

/// Its numbers are wrong, and the same in every way of computing them.
void CudaSelfTestTest::aLoadRefusesAGpuThatFails() {
    const test_support::TemporaryFolder folder;
    const auto device = std::make_shared<WatchedDevice>();
    device->isSpoiling = true;
    Machine machine = support::machineOf(device);
    machine.testFolder = folder.path();
    BackendRegistry registry("");
    registerBackend(registry, machine);
    const ModelConfig config = support::tinyConfig();
    const auto loaded =
        registry.find("cuda").value()(config, support::randomWeights(config, 1), {});
    QVERIFY(!loaded);
    QVERIFY2(support::says(loaded.error(), {"fails the test", "its numbers are wrong"}),
             loaded.error().message.c_str());
    QVERIFY(std::filesystem::is_empty(folder.path()));
}

QTEST_GUILESS_MAIN(CudaSelfTestTest)
#include "cuda_self_test_test.moc"
