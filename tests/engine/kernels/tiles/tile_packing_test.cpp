// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/kernels/tiles/tile_fixture.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace engine;
using namespace support;

class TilePackingTest : public QObject {
    Q_OBJECT

private slots:

    void aPackedRowIsTheFilesOwn_data() {
        QTest::addColumn<int>("type");
        for (const TensorType type : kComputedTypes)
            QTest::addRow("%s", std::string(tensorTypeName(type)).c_str())
                << static_cast<int>(type);
    }

    void aPackedRowIsTheFilesOwn() {
        QFETCH(const int, type);
        const BlockSource source(static_cast<TensorType>(type), 37, 512, 7);
        const PackedTensor packed(source, WeightForm::File);
        QVERIFY(packed.packed.hasValue());
        std::vector<float> expected(512);
        std::vector<float> row(512);
        for (int i = 0; i < 37; ++i) {
            QVERIFY(source.readRows(source.tensor(), static_cast<std::uint64_t>(i), 1, expected));
            readPackedRow(packed.matrix, i, row);
            QCOMPARE(row, expected);
        }
    }

    void fourBitWeightsAreWidenedWithoutLoss() {
        for (const TensorType type : {TensorType::Q4_0, TensorType::Q4_1, TensorType::Q4_K}) {
            const BlockSource source(type, 20, 256, 3);
            const PackedTensor narrow(source, WeightForm::File);
            const PackedTensor wide(source, WeightForm::Int8);
            QVERIFY(narrow.matrix.form == TileForm::Int4 && wide.matrix.form == TileForm::Int8);
            std::vector<float> a(256);
            std::vector<float> b(256);
            for (int i = 0; i < 20; ++i) {
                readPackedRow(narrow.matrix, i, a);
                readPackedRow(wide.matrix, i, b);
                QCOMPARE(a, b);
            }
        }
    }

    void plainWeightsAreRoundedToEightBitsWhenAskedFor() {
        const BlockSource source(TensorType::BF16, 18, 70, 5); // columns that fill no group
        const PackedTensor packed(source, WeightForm::Int8);
        QCOMPARE(packed.matrix.columns, 96);
        std::vector<float> expected(70);
        std::vector<float> row(96);
        for (int i = 0; i < 18; ++i) {
            QVERIFY(source.readRows(source.tensor(), static_cast<std::uint64_t>(i), 1, expected));
            readPackedRow(packed.matrix, i, row);
            for (std::size_t column = 0; column < 96; ++column) {
                const float value = column < 70 ? expected[column] : 0.0F;
                QVERIFY(std::fabs(row[column] - value) <= 0.51F / 127.0F);
            }
        }
    }

    void tinyWeightsKeepTheirLargestMagnitude() {
        for (const float largest : {1e-6F, 3e-6F, 1.3e-5F, 0x1.6p-17F, 5e-5F, 2e-4F, 1e-3F}) {
            BlockSource source(TensorType::F32, 1, 32, 11);
            std::vector<float> weights(32);
            for (int i = 0; i < 32; ++i)
                weights[static_cast<std::size_t>(i)] = largest * static_cast<float>(i - 31) / 31.0F;
            std::memcpy(source.bytes().data(), weights.data(), 32 * sizeof(float));
            const PackedTensor packed(source, WeightForm::Int8);
            QVERIFY(packed.packed.hasValue());
            std::vector<float> row(32);
            readPackedRow(packed.matrix, 0, row);
            // Neighbouring scales lie at least 2^-24 apart.
            const float step = std::max(largest / 127.0F * 1.001F, 0x1p-24F);
            for (std::size_t i = 0; i < 32; ++i)
                QVERIFY(std::fabs(row[i] - weights[i]) <= 0.51F * (step + 0x1p-24F));
        }
    }

    void memoryIsWhatTheFileTakesAndLittleMore() {
        const auto bytesPerWeight = [](TensorType type) {
            const TileMatrix matrix = outlineMatrix(tileFormat(type, WeightForm::File), 512, 2048);
            return static_cast<double>(matrixBytes(matrix)) / (512.0 * 2048.0);
        };
        QCOMPARE(bytesPerWeight(TensorType::Q4_0), 18.0 / 32.0);
        QCOMPARE(bytesPerWeight(TensorType::Q4_1), 20.0 / 32.0);
        QCOMPARE(bytesPerWeight(TensorType::Q8_0), 34.0 / 32.0);
        QCOMPARE(bytesPerWeight(TensorType::BF16), 2.0);
        QCOMPARE(bytesPerWeight(TensorType::F16), 2.0);
        QCOMPARE(bytesPerWeight(TensorType::F32), 4.0);
    }

    void weightsThatAreNotFiniteAreRefusedByName() {
        for (const TensorType type : {TensorType::F32, TensorType::BF16, TensorType::Q4_1}) {
            BlockSource source(type, 17, 64, 9);
            const std::size_t rowBytes = source.bytes().size() / 17;
            // The upper bytes of a number or of a scale: infinity or not a number in all of them.
            source.bytes()[16 * rowBytes + blockLayout(type).bytes % 4 + 0] = std::byte{0xFF};
            for (std::size_t i = 0; i < 4; ++i)
                source.bytes()[16 * rowBytes + i] = i % 2 == 0 ? std::byte{0xFF} : std::byte{0x7F};
            if (type == TensorType::F32)
                source.bytes()[16 * rowBytes + 2] = std::byte{0x80};
            const PackedTensor packed(source, WeightForm::File);
            QVERIFY(!packed.packed.hasValue());
            QVERIFY(packed.packed.error().code == ErrorCode::Numeric);
            QVERIFY(packed.packed.error().message.find("weight") != std::string::npos);
            QVERIFY(packed.packed.error().message.find("row 16") != std::string::npos);
        }
    }

    void halvesAndBfloat16RoundToNearestEven() {
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const float value = floatFromHalf(half);
            if (!std::isnan(value))
                QCOMPARE(halfFromFloat(value), half);
            else
                QVERIFY(std::isnan(floatFromHalf(halfFromFloat(value))));
        }
        QCOMPARE(halfFromFloat(65519.0F), std::uint16_t(0x7BFF));
        QCOMPARE(halfFromFloat(65520.0F), std::uint16_t(0x7C00));
        QCOMPARE(halfFromFloat(1.0F + 0x1p-11F), std::uint16_t(0x3C00)); // a tie, to even
        QCOMPARE(halfFromFloat(1.0F + 0x3p-11F), std::uint16_t(0x3C02));
        QCOMPARE(halfFromFloat(0x1p-25F), std::uint16_t(0));
        QCOMPARE(halfFromFloat(0x3p-25F), std::uint16_t(2));
        QCOMPARE(bfloat16FromFloat(1.0F + 0x1p-8F), std::uint16_t(0x3F80));
        QCOMPARE(bfloat16FromFloat(1.0F + 0x3p-8F), std::uint16_t(0x3F82));
        QVERIFY(
            std::isnan(floatFromBfloat16(bfloat16FromFloat(std::bit_cast<float>(0x7F800001U)))));
    }
};

QTEST_GUILESS_MAIN(TilePackingTest)
#include "tile_packing_test.moc"
