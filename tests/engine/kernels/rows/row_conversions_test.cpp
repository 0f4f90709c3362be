// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/rows/narrow_floats.h"
#include "tests/engine/kernels/rows/row_variants.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace engine;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Finite numbers of every size, with many ties between neighbours of 16 bits among them.
std::vector<float> manyNumbers(int count, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<float> numbers;
    while (static_cast<int>(numbers.size()) < count) {
        std::uint32_t bits = static_cast<std::uint32_t>(generator());
        if (generator() % 2 == 0)
            bits &= 0xFFFFF000U;  // what float16 or bfloat16 must round is one bit, or nothing
        if (generator() % 2 == 0) // near the range of float16
            bits = (bits & 0x807FFFFFU) | (100U + bits % 48U) << 23;
        const float number = std::bit_cast<float>(bits);
        if (std::isfinite(number))
            numbers.push_back(number);
    }
    return numbers;
}

/// Whether `code` is the number of 16 bits nearest to `value`, of two the even one. The largest
/// finite code's upper neighbour stands for infinity and counts as the next power of two.
bool isNearest(std::uint16_t code, float value, double (*decode)(std::uint16_t)) {
    const auto distance = [&](int other) {
        return std::abs(decode(static_cast<std::uint16_t>(other)) - static_cast<double>(value));
    };
    const double own = distance(code);
    for (const int other : {code - 1, code + 1}) {
        if ((code & 0x7FFF) == 0 && other < code)
            continue; // below zero's code lies the other sign's largest
        if (distance(other) < own || (distance(other) == own && (code & 1) != 0))
            return false;
    }
    return std::signbit(value) == ((code & 0x8000) != 0);
}

double decodeF16(std::uint16_t code) {
    const int exponent = code >> 10 & 31;
    const double fraction = code & 1023;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
    return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

double decodeBf16(std::uint16_t code) {
    const int exponent = code >> 7 & 255;
    const double fraction = code & 127;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -133) : std::ldexp(128.0 + fraction, exponent - 134);
    return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

std::vector<std::uint16_t>
stored(const RowKernels& kernels, const std::vector<float>& row, KvElement element) {
    EdgeRow<float> in(row);
    EdgeRow<std::uint16_t> out(static_cast<int>(row.size()));
    kernels.storeKeyValue(in.data(), static_cast<int>(row.size()), element, out.data());
    return out.values();
}

struct Quantized {
    std::vector<std::int8_t> values;
    std::vector<float> scales;
    std::vector<float> scaledSums;
    std::vector<std::int32_t> halfSums;  // times -5
    std::vector<std::int32_t> groupSums; // times -128
};

Quantized quantized(const RowKernels& kernels, const std::vector<float>& row) {
    const int width = static_cast<int>(row.size());
    const int groups = (width + kQuantGroup - 1) / kQuantGroup;
    EdgeRow<float> in(row);
    EdgeRow<std::int8_t> values(groups * kQuantGroup);
    EdgeRow<float> scales(groups);
    EdgeRow<float> scaledSums(groups);
    EdgeRow<std::int32_t> halfSums(2 * groups);
    EdgeRow<std::int32_t> groupSums(groups);
    const OffsetSums kinds[] = {{5, true, halfSums.data()}, {128, false, groupSums.data()}};
    kernels.quantizeRow(
        in.data(), width, {values.data(), scales.data(), scaledSums.data(), kinds, 2});
    return {values.values(),
            scales.values(),
            scaledSums.values(),
            halfSums.values(),
            groupSums.values()};
}

} // namespace

class RowConversionsTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase_data() { addVariants(); }

    void narrowNumbersAreDecodedExactly();
    void narrowNumbersAreTheNearestOnes();
    void narrowNumbersComeBackUnchanged();
    void everyTailIsConvertedAlike();
    void whatIsNotFiniteStaysSo();
    void quantisedValuesAreTheNearestOnes();
    void quantisedRowsAreTheSameInEverySet();
    void keysOfEightBitsAreQuantisedRows();
    void aGroupThatIsNotFiniteIsMarked();
    void aGroupOfNearlyNothingBecomesZero();
};

void RowConversionsTest::narrowNumbersAreDecodedExactly() {
    for (int code = 0; code < 65536; ++code) {
        const auto narrow = static_cast<std::uint16_t>(code);
        if ((code & 0x7C00) != 0x7C00)
            QCOMPARE(static_cast<double>(floatOfF16(narrow)), decodeF16(narrow));
        if ((code & 0x7F80) != 0x7F80)
            QCOMPARE(static_cast<double>(floatOfBf16(narrow)), decodeBf16(narrow));
    }
    QCOMPARE(floatOfF16(0x7C00), kInfinity);
    QCOMPARE(floatOfF16(0xFC00), -kInfinity);
    QVERIFY(std::isnan(floatOfF16(0x7C01)) && std::isnan(floatOfF16(0xFFFF)));
}

void RowConversionsTest::narrowNumbersAreTheNearestOnes() {
    FETCH_KERNELS;
    const std::vector<float> numbers = manyNumbers(100003, 1);
    const std::vector<std::uint16_t> halves = stored(kernels, numbers, KvElement::F16);
    const std::vector<std::uint16_t> brains = stored(kernels, numbers, KvElement::BF16);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (std::abs(numbers[i]) < 65536.0F)
            QVERIFY2(isNearest(halves[i], numbers[i], decodeF16),
                     qPrintable(QString::number(numbers[i])));
        else
            QCOMPARE(halves[i] & 0x7FFF, 0x7C00);
        QVERIFY2(isNearest(brains[i], numbers[i], decodeBf16),
                 qPrintable(QString::number(numbers[i])));
    }
}

void RowConversionsTest::narrowNumbersComeBackUnchanged() {
    FETCH_KERNELS;
    std::vector<float> halves;
    std::vector<float> brains;
    for (int code = 0; code < 65536; ++code) {
        halves.push_back(floatOfF16(static_cast<std::uint16_t>(code)));
        brains.push_back(floatOfBf16(static_cast<std::uint16_t>(code)));
    }
    const std::vector<std::uint16_t> halfCodes = stored(kernels, halves, KvElement::F16);
    const std::vector<std::uint16_t> brainCodes = stored(kernels, brains, KvElement::BF16);
    for (std::size_t code = 0; code < 65536; ++code) {
        const std::size_t quietHalf = (code & 0x7FFF) > 0x7C00 ? code | 0x200 : code;
        const std::size_t quietBrain = (code & 0x7FFF) > 0x7F80 ? code | 0x40 : code;
        QCOMPARE(halfCodes[code], quietHalf);
        QCOMPARE(brainCodes[code], quietBrain);
    }
}

void RowConversionsTest::everyTailIsConvertedAlike() {
    FETCH_KERNELS;
    const RowKernels& scalar = scalarRowKernels();
    for (const int width : testedWidths()) {
        const std::vector<float> row = manyNumbers(width, static_cast<unsigned>(width));
        for (const KvElement element : {KvElement::BF16, KvElement::F16})
            QVERIFY(hasSameBits(stored(kernels, row, element), stored(scalar, row, element)));
        EdgeRow<float> in(row);
        EdgeRow<float> copy(width);
        kernels.storeKeyValue(in.data(), width, KvElement::F32, copy.data());
        QVERIFY(hasSameBits(copy.values(), row));
        EdgeRow<std::uint16_t> brains(width);
        kernels.toBf16(in.data(), width, brains.data());
        QVERIFY(hasSameBits(brains.values(), stored(scalar, row, KvElement::BF16)));
    }
}

void RowConversionsTest::whatIsNotFiniteStaysSo() {
    FETCH_KERNELS;
    // A NaN whose set bits are all among those that are cut off must not become infinity.
    const float hidden = std::bit_cast<float>(0x7F800001U);
    for (const KvElement element : {KvElement::BF16, KvElement::F16}) {
        const std::vector<std::uint16_t> codes =
            stored(kernels, {kInfinity, -kInfinity, kNan, -kNan, hidden}, element);
        const auto decode = element == KvElement::BF16 ? floatOfBf16 : floatOfF16;
        QCOMPARE(decode(codes[0]), kInfinity);
        QCOMPARE(decode(codes[1]), -kInfinity);
        for (std::size_t i = 2; i < codes.size(); ++i)
            QVERIFY(std::isnan(decode(codes[i])));
    }
}

void RowConversionsTest::quantisedValuesAreTheNearestOnes() {
    FETCH_KERNELS;
    for (const int width : testedWidths()) {
        const std::vector<float> row = randomRow(width, static_cast<unsigned>(width), 7.0F);
        const Quantized result = quantized(kernels, row);
        for (std::size_t group = 0; group < result.scales.size(); ++group) {
            double highest = 0.0;
            int sum = 0;
            int lowSum = 0;
            for (std::size_t i = group * kQuantGroup; i < (group + 1) * kQuantGroup; ++i) {
                const double value = i < row.size() ? row[i] : 0.0;
                highest = std::max(highest, std::abs(value));
                sum += result.values[i];
                lowSum += i % kQuantGroup < kQuantGroup / 2 ? result.values[i] : 0;
                const double error = std::abs(value - result.values[i] * result.scales[group]);
                QVERIFY(error <= 0.50004 * result.scales[group]);
            }
            QVERIFY(relativeError(result.scales[group], highest / 127.0) < 1e-7);
            QCOMPARE(result.scaledSums[group], result.scales[group] * static_cast<float>(sum));
            QCOMPARE(result.halfSums[2 * group], -5 * lowSum);
            QCOMPARE(result.halfSums[2 * group + 1], -5 * (sum - lowSum));
            QCOMPARE(result.groupSums[group], -128 * sum);
        }
        for (std::size_t i = row.size(); i < result.values.size(); ++i)
            QCOMPARE(result.values[i], std::int8_t(0));
    }
}

void RowConversionsTest::quantisedRowsAreTheSameInEverySet() {
    FETCH_KERNELS;
    for (int trial = 0; trial < 400; ++trial) {
        const float spread = std::ldexp(1.0F, trial % 200 - 100);
        std::vector<float> row = randomRow(1 + trial, static_cast<unsigned>(trial), spread);
        row[row.size() / 2] = 127.0F * spread; // many values now lie on whole and half steps
        for (std::size_t i = 0; i < row.size(); i += 3)
            row[i] = std::round(row[i] * 2.0F / spread) * 0.5F * spread;
        const Quantized result = quantized(kernels, row);
        const Quantized expected = quantized(scalarRowKernels(), row);
        QVERIFY(hasSameBits(result.values, expected.values));
        QVERIFY(hasSameBits(result.scales, expected.scales));
        QVERIFY(hasSameBits(result.scaledSums, expected.scaledSums));
        QVERIFY(hasSameBits(result.halfSums, expected.halfSums));
        QVERIFY(hasSameBits(result.groupSums, expected.groupSums));
    }
}

void RowConversionsTest::keysOfEightBitsAreQuantisedRows() {
    FETCH_KERNELS;
    for (int width = 1; width <= 130; ++width) {
        const std::vector<float> row = randomRow(width, static_cast<unsigned>(width), 3.0F);
        const Quantized expected = quantized(scalarRowKernels(), row);
        EdgeRow<float> in(row);
        EdgeRow<std::byte> slot(kvRowBytes(KvElement::Int8, width));
        kernels.storeKeyValue(in.data(), width, KvElement::Int8, slot.data());
        for (int i = 0; i < width; ++i) {
            const float number = kvNumber(slot.data(), KvElement::Int8, width, i);
            const auto at = static_cast<std::size_t>(i);
            QCOMPARE(number, expected.values[at] * expected.scales[at / kQuantGroup]);
            QVERIFY(std::abs(number - row[at]) <= 0.5001F * expected.scales[at / kQuantGroup]);
        }
    }
}

void RowConversionsTest::aGroupThatIsNotFiniteIsMarked() {
    FETCH_KERNELS;
    for (const float bad : {kNan, -kNan, kInfinity, -kInfinity})
        for (std::size_t place = 32; place < 64; ++place) {
            std::vector<float> row = randomRow(70, 5);
            row[place] = bad;
            const Quantized result = quantized(kernels, row);
            QVERIFY(std::isnan(result.scales[1]) && std::isnan(result.scaledSums[1]));
            QVERIFY(std::isfinite(result.scales[0]) && std::isfinite(result.scales[2]));
            for (std::size_t i = 32; i < 64; ++i)
                QCOMPARE(result.values[i], std::int8_t(0));
        }
}

void RowConversionsTest::aGroupOfNearlyNothingBecomesZero() {
    FETCH_KERNELS;
    for (const float tiny : {0.0F, -0.0F, 1e-45F, -1e-40F, 9e-37F}) {
        const Quantized result = quantized(kernels, std::vector<float>(33, tiny));
        QCOMPARE(result.scales, (std::vector<float>{0.0F, 0.0F}));
        QCOMPARE(result.scaledSums, (std::vector<float>{0.0F, 0.0F}));
        QCOMPARE(result.values, std::vector<std::int8_t>(64, 0));
    }
    const Quantized small = quantized(kernels, std::vector<float>(32, -1.1e-36F));
    QCOMPARE(small.values, std::vector<std::int8_t>(32, -127));
}

QTEST_GUILESS_MAIN(RowConversionsTest)
#include "row_conversions_test.moc"
