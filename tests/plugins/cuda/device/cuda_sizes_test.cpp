// SPDX-License-Identifier: Apache-2.0
// The test of a GPU reaches heads of every width, keys and values of every type, and experts; the
// check at load reaches the whole head of the model itself.
#include "plugins/backend_cuda/checks/self_test.h"
#include "tests/plugins/cuda/cuda_support.h"

#include <QTest>

#include <set>
#include <utility>

using namespace engine;
using namespace backend_cuda;

namespace {

/// An emulated GPU that notes what it computes, and computes wrongly, always in the same way, with
/// experts or whatever it computes.
class NotingDevice final : public WrappedDevice {
public:
    NotingDevice()
        : WrappedDevice(std::make_shared<EmulatedDevice>(2)) {}

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        heads.emplace(arguments.headWidth, static_cast<int>(arguments.kvForm));
        PassArguments own = arguments;
        if (arguments.experts > 0 || isWrong)
            own.logitScale *= isWrong ? 2.0F : 1.01F;
        return WrappedDevice::launch(kernel, blocks, own);
    }

    std::set<std::pair<int, int>> heads; // width and type of keys
    bool isWrong = false;
};

} // namespace

class CudaSizesTest : public QObject {
    Q_OBJECT

private slots:
    void everyWidthOfHeadsIsTestedAndExpertsAreToo();
    void theCheckAtLoadComparesTheHeadWithTheModelsWeights();
};

void CudaSizesTest::everyWidthOfHeadsIsTestedAndExpertsAreToo() {
    const auto device = std::make_shared<NotingDevice>();
    const auto tested = testSizes(device);
    QVERIFY(!tested);
    QVERIFY2(support::says(tested.error(), {"float32, experts", "its numbers are wrong"}),
             tested.error().message.c_str());
    QCOMPARE(tested.error().code, ErrorCode::Device);
    for (const int width : {128, 256})
        for (const Form form : {Form::F32, Form::Bf16, Form::F16})
            QVERIFY2(device->heads.contains({width, static_cast<int>(form)}),
                     qPrintable(QString::number(width)));
}

void CudaSizesTest::theCheckAtLoadComparesTheHeadWithTheModelsWeights() {
    const ModelConfig config = support::cappedConfig(); // its logits have a scale and a cap
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    const auto device = std::make_shared<NotingDevice>();
    for (const char* form : {"f32", "int8"}) {
        const SettingValues settings = {{"weights", std::string(form)}};
        device->isWrong = false;
        const auto right = support::loadOn(device, config, weights, settings);
        QVERIFY2(right.hasValue(), right ? "" : right.error().message.c_str());
        device->isWrong = true;
        const auto wrong = support::loadOn(device, config, weights, settings);
        QVERIFY(!wrong &&
                support::says(wrong.error(), {"emulated GPU", "the output head wrongly"}));
        QCOMPARE(wrong.error().code, ErrorCode::Device);
    }
}

QTEST_GUILESS_MAIN(CudaSizesTest)
#include "cuda_sizes_test.moc"
