// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/processor.h"
#include "engine/model/cpu/activation_rows.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace engine;
using namespace engine::cpu;

namespace {

constexpr int kRows = 3;
constexpr int kWidth = 150; // the last group of 32 is filled up with zeros
constexpr int kStride = 160;
constexpr int kGroups = kStride / kGroupColumns;

TileMatrix quants(int offset, int groupColumns) {
    TileMatrix matrix;
    matrix.form = TileForm::Int8;
    matrix.offset = offset;
    matrix.groupColumns = groupColumns;
    return matrix;
}

TileMatrix bf16() {
    TileMatrix matrix;
    matrix.form = TileForm::Bf16;
    return matrix;
}

ActivationRows randomRows() {
    ActivationRows rows;
    rows.reserve(kRows, kWidth, true);
    std::mt19937 random(5);
    std::normal_distribution<float> numbers;
    for (int row = 0; row < kRows; ++row)
        std::generate_n(rows.row(row), kWidth, [&] { return numbers(random); });
    return rows;
}

template <typename Number>
void compare(
    const Number* a, std::size_t strideA, const Number* b, std::size_t strideB, int count) {
    for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
            QCOMPARE(a[row * strideA + i], b[row * strideB + i]);
}

/// Scales and sums stand there a second time, column by column.
void compareTurned(const TileInput& input) {
    for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t group = 0; group < kGroups; ++group) {
            const std::size_t at = group * input.columnStride + row;
            QCOMPARE(input.scaleColumns[at], input.scales[row * input.groupStride + group]);
            QCOMPARE(input.sumColumns[at], input.sums[row * input.groupStride + group]);
        }
}

} // namespace

class ActivationRowsTest : public QObject {
    Q_OBJECT

private slots:

    void aRowThatIsPreparedInPiecesHasTheFormsOfAWholeOne_data() {
        QTest::addColumn<QList<int>>("ends");
        QTest::newRow("groups") << QList<int>{32, 64, 96, 128, kWidth};
        QTest::newRow("last first") << QList<int>{128, kWidth};
        QTest::newRow("whole") << QList<int>{kWidth};
    }

    void aRowThatIsPreparedInPiecesHasTheFormsOfAWholeOne() {
        QFETCH(const QList<int>, ends);
        const std::vector<TileMatrix> matrices = {quants(8, 32), quants(128, 16), bf16()};
        InputForms forms;
        for (const TileMatrix& matrix : matrices)
            forms.add(matrix);
        const RowKernels& kernels = kernelSet(bestInstructionSet()).rows;
        ActivationRows whole = randomRows();
        ActivationRows pieces = randomRows();
        for (int row = 0; row < kRows; ++row) {
            whole.prepare(row, forms, kernels);
            // From the last piece to the first one: no piece builds on another.
            for (auto at = ends.rbegin(); at != ends.rend(); ++at) {
                const int first = std::next(at) == ends.rend() ? 0 : *std::next(at);
                pieces.prepareColumns(row, {first, *at - first}, forms, kernels);
            }
        }
        for (const TileMatrix& matrix : matrices) {
            const TileInput a = whole.input(matrix, forms, kRows);
            const TileInput b = pieces.input(matrix, forms, kRows);
            if (matrix.form == TileForm::Bf16) {
                compare(a.bf16, a.stride, b.bf16, b.stride, kStride);
                compare(a.rounded, a.stride, b.rounded, b.stride, kStride);
                continue;
            }
            compare(a.quants, a.stride, b.quants, b.stride, kStride);
            compare(a.scales, a.groupStride, b.scales, b.groupStride, kGroups);
            compare(a.sums, a.groupStride, b.sums, b.groupStride, kGroups);
            for (const TileInput& input : {a, b})
                compareTurned(input);
            compare(a.offsets,
                    a.offsetStride,
                    b.offsets,
                    b.offsetStride,
                    kStride / matrix.groupColumns);
        }
    }
};

QTEST_GUILESS_MAIN(ActivationRowsTest)
#include "activation_rows_test.moc"
