// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "tests/engine/kernels/tiles/tile_fixture.h"
#include "tests/support/few_cases.h"

#include <QTest>

#include <cmath>

using namespace engine;
using namespace support;

namespace {

struct Variant {
    InstructionSet set;
    TileKernel multiply;
};

/// Those that this processor can run.
std::vector<Variant> variants() {
    std::vector<Variant> found = {{InstructionSet::Scalar, multiplyTilesScalar}};
    if (bestInstructionSet() >= InstructionSet::Avx2)
        found.push_back({InstructionSet::Avx2, multiplyTilesAvx2});
    if (bestInstructionSet() >= InstructionSet::Avx512)
        found.push_back({InstructionSet::Avx512, multiplyTilesAvx512});
    if (bestInstructionSet() >= InstructionSet::Amx)
        found.push_back({InstructionSet::Amx, multiplyTilesAmx});
    return found;
}

/// Rows of activations in all three kinds.
struct Rows {
    Rows(int count, const TileMatrix& matrix, int width, unsigned seed)
        : stride(toSize(matrix.columns))
        , groups(stride / kGroupColumns)
        , sumGroups(stride / toSize(matrix.groupColumns))
        , values(toSize(count) * stride)
        , bf16(values.size())
        , rounded(values.size())
        , quants(values.size())
        , scales(toSize(count) * groups)
        , scaledSums(scales.size())
        , scaleColumns(scales.size())
        , sumColumns(scales.size())
        , offsets(toSize(count) * sumGroups)
        , rows(toSize(count)) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        const RowKernels& kernels = scalarRowKernels();
        for (std::size_t row = 0; row < toSize(count); ++row) {
            float* at = values.data() + row * stride;
            for (int i = 0; i < width; ++i)
                at[i] = normal(random);
            kernels.toBf16(at, matrix.columns, bf16.data() + row * stride);
            for (std::size_t i = row * stride; i < (row + 1) * stride; ++i)
                rounded[i] = floatFromBfloat16(bf16[i]);
            const OffsetSums sums{
                matrix.offset, sumGroups != groups, offsets.data() + row * sumGroups};
            kernels.quantizeRow(at,
                                matrix.columns,
                                {quants.data() + row * stride,
                                 scales.data() + row * groups,
                                 scaledSums.data() + row * groups,
                                 &sums,
                                 1});
            for (std::size_t group = 0; group < groups; ++group) {
                scaleColumns[group * rows + row] = scales[row * groups + group];
                sumColumns[group * rows + row] = scaledSums[row * groups + group];
            }
        }
    }

    TileInput input(int first, int count) const {
        const std::size_t at = toSize(first);
        return {.values = values.data() + at * stride,
                .bf16 = bf16.data() + at * stride,
                .rounded = rounded.data() + at * stride,
                .quants = quants.data() + at * stride,
                .scales = scales.data() + at * groups,
                .sums = scaledSums.data() + at * groups,
                .offsets = offsets.data() + at * sumGroups,
                .stride = stride,
                .groupStride = groups,
                .scaleColumns = scaleColumns.data() + at,
                .sumColumns = sumColumns.data() + at,
                .columnStride = rows,
                .offsetStride = sumGroups,
                .rows = count};
    }

    /// What a kernel of this form is given, widened.
    double activation(TileForm form, std::size_t row, std::size_t column) const {
        const std::size_t at = row * stride + column;
        if (form == TileForm::F32 || form == TileForm::F16)
            return values[at];
        if (form == TileForm::Bf16)
            return floatFromBfloat16(bf16[at]);
        return static_cast<double>(quants[at]) * scales[row * groups + column / kGroupColumns];
    }

    std::size_t stride, groups, sumGroups;
    std::vector<float> values;
    std::vector<std::uint16_t> bf16;
    std::vector<float> rounded;
    std::vector<std::int8_t> quants;
    std::vector<float> scales, scaledSums, scaleColumns, sumColumns;
    std::vector<std::int32_t> offsets;
    std::size_t rows;
};

std::vector<float>
product(const Variant& variant, const TileMatrix& matrix, const TileInput& input) {
    const std::size_t stride = toSize(tileCount(matrix) * kTileRows);
    std::vector<float> out(toSize(input.rows) * stride, -1.0F);
    variant.multiply(matrix, input, 0, tileCount(matrix), {out.data(), stride});
    return out;
}

void addTypes() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("wanted");
    for (const TensorType type : kComputedTypes)
        for (const WeightForm wanted : {WeightForm::File, WeightForm::Int8, WeightForm::Bf16})
            QTest::addRow(
                "%s %d", std::string(tensorTypeName(type)).c_str(), static_cast<int>(wanted))
                << static_cast<int>(type) << static_cast<int>(wanted);
}

} // namespace

class TileKernelsTest : public QObject {
    Q_OBJECT

private slots:

    void productsAreThoseOfTheWeights_data() { addTypes(); }

    void productsAreThoseOfTheWeights() {
        QFETCH(const int, type);
        QFETCH(const int, wanted);
        const int rows = 53;
        const BlockSource source(static_cast<TensorType>(type), rows, 512, 11);
        const PackedTensor packed(source, static_cast<WeightForm>(wanted));
        const TileMatrix& matrix = packed.matrix;
        const Rows activations(3, matrix, 512, 5);
        std::vector<float> weights(toSize(matrix.columns));
        for (const Variant& variant : variants()) {
            const std::vector<float> out = product(variant, matrix, activations.input(0, 3));
            for (int row = 0; row < rows; ++row) {
                readPackedRow(matrix, row, weights);
                for (std::size_t m = 0; m < 3; ++m) {
                    double expected = 0.0;
                    double size = 0.0;
                    for (std::size_t i = 0; i < weights.size(); ++i) {
                        const double term = weights[i] * activations.activation(matrix.form, m, i);
                        expected += term;
                        size += std::fabs(term);
                    }
                    const double got = out[m * toSize(tileCount(matrix) * kTileRows) + toSize(row)];
                    QVERIFY2(std::fabs(got - expected) <= 2e-6 * size + 1e-6,
                             instructionSetName(variant.set).data());
                }
            }
        }
    }

    void aRowsProductDoesNotDependOnItsCompany_data() { addTypes(); }

    void aRowsProductDoesNotDependOnItsCompany() {
        QFETCH(const int, type);
        QFETCH(const int, wanted);
        const BlockSource source(static_cast<TensorType>(type), 100, 256, 13);
        const PackedTensor packed(source, static_cast<WeightForm>(wanted));
        const int most = 37; // two blocks of the widest kernels and some more
        const Rows activations(most, packed.matrix, 256, 6);
        const std::size_t stride = toSize(tileCount(packed.matrix) * kTileRows);
        support::FewCases few;
        for (const Variant& variant : variants()) {
            std::vector<std::vector<float>> alone;
            for (int row = 0; row < most; ++row)
                alone.push_back(product(variant, packed.matrix, activations.input(row, 1)));
            for (int count = 2; count <= most; count += count < 19 ? 1 : 6) {
                if (few.skipsNext())
                    continue;
                const std::vector<float> out =
                    product(variant, packed.matrix, activations.input(0, count));
                for (std::size_t row = 0; row < toSize(count); ++row)
                    QVERIFY2(std::memcmp(out.data() + row * stride,
                                         alone[row].data(),
                                         stride * sizeof(float)) == 0,
                             instructionSetName(variant.set).data());
            }
        }
    }

    void tilesMayBeTakenInAnyPieces() {
        const BlockSource source(TensorType::Q4_1, 16 * 13, 128, 17);
        const PackedTensor packed(source, WeightForm::File);
        const Rows activations(5, packed.matrix, 128, 8);
        for (const Variant& variant : variants()) {
            const std::vector<float> whole =
                product(variant, packed.matrix, activations.input(0, 5));
            std::vector<float> pieces(whole.size());
            int first = 0;
            for (const int count : {1, 5, 2, 4, 1}) {
                variant.multiply(
                    packed.matrix, activations.input(0, 5), first, count, {pieces.data(), 16 * 13});
                first += count;
            }
            QCOMPARE(pieces, whole);
        }
    }

    void allSetsGiveTheSameBitsButForBfloat16() {
        for (const TensorType type : kComputedTypes) {
            const BlockSource source(type, 40, 256, 19);
            const PackedTensor packed(source, WeightForm::File);
            if (packed.matrix.form == TileForm::Bf16)
                continue; // the processor's own dot product rounds in its own way
            const Rows activations(4, packed.matrix, 256, 9);
            const std::vector<float> expected =
                product(variants().front(), packed.matrix, activations.input(0, 4));
            for (const Variant& variant : variants()) {
                const std::vector<float> out =
                    product(variant, packed.matrix, activations.input(0, 4));
                QVERIFY2(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0,
                         std::string(tensorTypeName(type)).c_str());
            }
        }
    }

    void theLargestNumbersDoNotOverflow() {
        for (const TensorType type : {TensorType::Q8_0, TensorType::Q4_1, TensorType::Q5_1}) {
            BlockSource source(type, 16, 64, 23);
            const BlockLayout block = blockLayout(type);
            const std::size_t head = block.bytes - (type == TensorType::Q8_0 ? 32 : 16);
            for (std::size_t at = 0; at < source.bytes().size(); at += block.bytes)
                for (std::size_t i = head; i < block.bytes; ++i)
                    source.bytes()[at + i] =
                        type == TensorType::Q8_0 ? std::byte{0x80} : std::byte{0xFF};
            const PackedTensor packed(source, WeightForm::File);
            Rows activations(1, packed.matrix, 64, 10);
            std::fill(activations.quants.begin(), activations.quants.end(), std::int8_t(127));
            for (std::int32_t& offset : activations.offsets)
                offset = -packed.matrix.offset * 127 * 32;
            const std::vector<float> expected =
                product(variants().front(), packed.matrix, activations.input(0, 1));
            for (const Variant& variant : variants())
                QCOMPARE(product(variant, packed.matrix, activations.input(0, 1)), expected);
        }
    }
};

QTEST_GUILESS_MAIN(TileKernelsTest)
#include "tile_kernels_test.moc"
