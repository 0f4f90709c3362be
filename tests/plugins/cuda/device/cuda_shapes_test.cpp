// SPDX-License-Identifier: Apache-2.0
// The test of a GPU reaches the widths of real models and the groups of their heads, and finds what
// is wrong there alone.
#include "plugins/backend_cuda/checks/shapes/shape_check.h"
#include "plugins/backend_cuda/checks/shapes/whole_number_weights.h"
#include "tests/plugins/cuda/cuda_support.h"

#include <QTest>

#include <cmath>
#include <set>
#include <utility>

using namespace engine;
using namespace backend_cuda;

namespace {

/// An emulated GPU that notes what it computes. It may have little memory, keep half of what it is
/// sent, or lose the last token of the best ones.
class ShapeDevice final : public WrappedDevice {
public:
    ShapeDevice()
        : WrappedDevice(std::make_shared<EmulatedDevice>(2)) {}

    Result<std::uint64_t> freeBytes() override { return isFree; }

    Result<void> upload(std::byte* to, std::span<const std::byte> from) override {
        ENGINE_TRY_DO(WrappedDevice::upload(to, from));
        if (isSpoiling && from.size() > 100000) // of a matrix
            std::fill_n(to + from.size() / 2, from.size() / 2, std::byte{0});
        return {};
    }

    Result<void> launch(Kernel kernel, int blocks, const PassArguments& arguments) override {
        ++launches;
        const Operation& first = arguments.operations[0]; // its memory is the processor's
        if (first.kind == Kind::Linear) {
            kernels.insert(kernel);
            forms.insert(first.matrix.form);
            widths.emplace(first.matrix.outputs, first.matrix.columns);
        } else {
            heads.emplace(arguments.headDim, arguments.heads / arguments.kvHeads);
        }
        ENGINE_TRY_DO(WrappedDevice::launch(kernel, blocks, arguments));
        if (isForgetful && arguments.headResults != nullptr)
            --arguments.headResults[0].ids[kTop - 1];
        return {};
    }

    std::uint64_t isFree = std::uint64_t{4} << 30U;
    bool isSpoiling = false;
    bool isForgetful = false;
    int launches = 0;
    std::set<Kernel> kernels;
    std::set<Form> forms;
    std::set<std::pair<int, int>> widths;
    std::set<std::pair<int, int>> heads; // numbers of a head, and queries to a key
};

} // namespace

class CudaShapesTest : public QObject {
    Q_OBJECT

private slots:

    void cleanup() { emulation::plantedFault = Fault::None; }

    void madeUpMatricesAreSmallWholeNumbers_data();
    void madeUpMatricesAreSmallWholeNumbers();
    void matricesOfRealWidthsAreExactInEachForm();
    void aMatrixThatIsWrongIsNamed();
    void aHeadWithAnotherBestTokenIsFound();
    void aMatrixThatHasNoRoomIsLeftOut();
    void headsOfEachWidthAndGroupAreRight();
    void sectionsThatAreLeftOutAreFound();
};

void CudaShapesTest::madeUpMatricesAreSmallWholeNumbers_data() {
    QTest::addColumn<int>("type");
    for (const TensorType type : {TensorType::F32,
                                  TensorType::F16,
                                  TensorType::BF16,
                                  TensorType::Q8_0,
                                  TensorType::Q5_1,
                                  TensorType::Q6_K,
                                  TensorType::Q4_0,
                                  TensorType::Q4_1,
                                  TensorType::Q4_K})
        QTest::newRow(std::string(tensorTypeName(type)).c_str()) << static_cast<int>(type);
}

/// Not all of them are alike, nor is one row like another.
void CudaShapesTest::madeUpMatricesAreSmallWholeNumbers() {
    QFETCH(const int, type);
    constexpr int kColumns = 512;
    const WholeNumberWeights weights(static_cast<TensorType>(type), 3, kColumns);
    std::vector<float> rows(3 * kColumns);
    QVERIFY(weights.readRows(weights.matrix(), 0, 3, rows).hasValue());
    for (const float number : rows)
        QVERIFY(number == std::round(number) && std::abs(number) <= 64.0F);
    QVERIFY(std::set<float>(rows.begin(), rows.end()).size() >= 16);
    const auto rowOf = [&rows](std::size_t row) {
        const auto numbers = std::span(rows).subspan(row * kColumns, kColumns);
        return std::vector<float>(numbers.begin(), numbers.end());
    };
    QVERIFY(rowOf(0) != rowOf(1) && rowOf(1) != rowOf(2));
    std::vector<float> alone(kColumns);
    QVERIFY(weights.readRows(weights.matrix(), 2, 1, alone).hasValue());
    QVERIFY(alone == rowOf(2));
}

void CudaShapesTest::matricesOfRealWidthsAreExactInEachForm() {
    const auto device = std::make_shared<ShapeDevice>();
    const auto tested = testMatrices(device, ShapeSample::Few);
    QVERIFY2(tested.hasValue(), tested ? "" : tested.error().message.c_str());
    QCOMPARE(device->kernels.size(), std::size_t{4});
    QCOMPARE(device->forms.size(), std::size_t{5});
    for (const auto& shape : {std::pair{2048, 8192},
                              std::pair{4096, 14336},
                              std::pair{576, 1536},
                              std::pair{32000, 576},
                              std::pair{152000, 192}})
        QVERIFY2(device->widths.contains(shape), qPrintable(QString::number(shape.first)));
}

void CudaShapesTest::aMatrixThatIsWrongIsNamed() {
    const auto device = std::make_shared<ShapeDevice>();
    device->isSpoiling = true;
    const auto tested = testMatrices(device, ShapeSample::Few);
    QVERIFY(!tested);
    QVERIFY(support::says(tested.error(),
                          {"emulated GPU", "960 x 576 numbers (float16; rows at once: 1)"}));
    QCOMPARE(tested.error().code, ErrorCode::Device);
    QCOMPARE(device->launches, 1);
}

/// Its logits are right.
void CudaShapesTest::aHeadWithAnotherBestTokenIsFound() {
    const auto device = std::make_shared<ShapeDevice>();
    device->isForgetful = true;
    const auto tested = testMatrices(device, ShapeSample::Few);
    QVERIFY(!tested && support::says(tested.error(), {"32000 x 576 numbers (4-bit"}));
}

void CudaShapesTest::aMatrixThatHasNoRoomIsLeftOut() {
    const auto device = std::make_shared<ShapeDevice>();
    device->isFree = 100000;
    QVERIFY(testMatrices(device, ShapeSample::Few).hasValue());
    QCOMPARE(device->launches, 0);
}

void CudaShapesTest::headsOfEachWidthAndGroupAreRight() {
    const auto device = std::make_shared<ShapeDevice>();
    const auto tested = testAttention(device, ShapeSample::Few);
    QVERIFY2(tested.hasValue(), tested ? "" : tested.error().message.c_str());
    std::set<int> widths;
    std::set<int> groups;
    for (const auto& [width, group] : device->heads) {
        widths.insert(width);
        groups.insert(group);
    }
    QVERIFY((widths == std::set<int>{64, 96, 128, 256}));
    QVERIFY((groups == std::set<int>{1, 3, 4, 7, 8}));
}

void CudaShapesTest::sectionsThatAreLeftOutAreFound() {
    emulation::plantedFault = Fault::LostSections;
    const auto tested = testAttention(std::make_shared<EmulatedDevice>(2), ShapeSample::Few);
    QVERIFY(!tested);
    QVERIFY(support::says(tested.error(),
                          {"attention wrongly", "heads of 64 numbers, 3 queries to a key"}));
}

QTEST_GUILESS_MAIN(CudaShapesTest)
#include "cuda_shapes_test.moc"
