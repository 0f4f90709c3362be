// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/kernels/rows/row_variants.h"

#include <cmath>
#include <limits>

using namespace engine;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double squareSum(const std::vector<float>& row) {
    double sum = 0.0;
    for (const float value : row)
        sum += static_cast<double>(value) * value;
    return sum;
}

double silu(double x) { return x / (1.0 + std::exp(-x)); }

/// One row through siluMultiply with ones as the second factor.
std::vector<float> siluOf(const RowKernels& kernels, const std::vector<float>& gate) {
    const int width = static_cast<int>(gate.size());
    EdgeRow<float> in(gate);
    EdgeRow<float> up(std::vector<float>(gate.size(), 1.0F));
    EdgeRow<float> out(width);
    kernels.siluMultiply(in.data(), up.data(), width, out.data());
    return out.values();
}

} // namespace

class RowKernelsTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase_data() { addVariants(); }

    void normsAgreeWithDoublePrecision();
    void aNormMayBeWrittenOverItsInput();
    void rotationsAgreeWithDoublePrecision();
    void sumsAreThoseOfSingleNumbers();
    void oneNumberThatIsNotFiniteIsTold();
    void squareSumsAgreeWithDoublePrecision();
    void gatesAgreeWithDoublePrecision();
    void gatesBeyondTheRangeOfTheExponentialHaveTheirLimits();
    void aGateIsTheSameInEveryLaneAndTail();
    void numbersThatAreNotFiniteStayInTheirPlace();
    void bothVectorSetsGiveTheSameBits();
};

void RowKernelsTest::normsAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    for (const int width : testedWidths()) {
        EdgeRow<float> in(randomRow(width, 1, 3.0F));
        EdgeRow<float> weight(randomRow(width, 2));
        EdgeRow<float> out(width);
        kernels.rmsNorm(in.data(), weight.data(), 1e-5F, width, out.data());
        const double scale =
            1.0 / std::sqrt(squareSum(in.values()) / width + static_cast<double>(1e-5F));
        for (int i = 0; i < width; ++i)
            QVERIFY2(relativeError(out[i], in[i] * scale * weight[i]) < 6e-7,
                     qPrintable(QString("width %1, place %2").arg(width).arg(i)));
    }
}

void RowKernelsTest::aNormMayBeWrittenOverItsInput() {
    FETCH_KERNELS;
    const int width = 83;
    EdgeRow<float> in(randomRow(width, 3));
    EdgeRow<float> weight(randomRow(width, 4));
    EdgeRow<float> out(width);
    kernels.rmsNorm(in.data(), weight.data(), 1e-6F, width, out.data());
    kernels.rmsNorm(in.data(), weight.data(), 1e-6F, width, in.data());
    QVERIFY(hasSameBits(in.values(), out.values()));
}

void RowKernelsTest::rotationsAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    for (int half = 1; half <= 70; ++half) {
        const std::vector<float> before = randomRow(2 * half, 5);
        EdgeRow<float> head(before);
        EdgeRow<float> cosines(half);
        EdgeRow<float> sines(half);
        for (int i = 0; i < half; ++i) {
            cosines[i] = std::cos(0.37F * static_cast<float>(i + 1));
            sines[i] = std::sin(0.37F * static_cast<float>(i + 1));
        }
        kernels.rotate(head.data(), cosines.data(), sines.data(), half);
        for (int i = 0; i < half; ++i) {
            const double first = before[static_cast<std::size_t>(i)];
            const double second = before[static_cast<std::size_t>(i + half)];
            const double size = std::hypot(first, second);
            QVERIFY(std::abs(head[i] - (first * cosines[i] - second * sines[i])) < 2e-7 * size);
            QVERIFY(std::abs(head[i + half] - (second * cosines[i] + first * sines[i])) <
                    2e-7 * size);
        }
    }
}

void RowKernelsTest::sumsAreThoseOfSingleNumbers() {
    FETCH_KERNELS;
    for (const int width : testedWidths()) {
        const std::vector<float> before = randomRow(width, 6);
        EdgeRow<float> stream(before);
        EdgeRow<float> added(randomRow(width, 7));
        QVERIFY(kernels.addTo(stream.data(), added.data(), width));
        for (int i = 0; i < width; ++i)
            QCOMPARE(stream[i], before[static_cast<std::size_t>(i)] + added[i]);
    }
}

void RowKernelsTest::oneNumberThatIsNotFiniteIsTold() {
    FETCH_KERNELS;
    for (const int width : {1, 15, 16, 17, 40, 64, 65})
        for (int place = 0; place < width; ++place)
            for (const float bad : {kInfinity, -kInfinity, kNan, 3e38F}) {
                EdgeRow<float> stream(randomRow(width, 8));
                EdgeRow<float> added(randomRow(width, 9));
                stream[place] = added[place] = bad; // 3e38 + 3e38 is infinite
                QVERIFY(!kernels.addTo(stream.data(), added.data(), width));
            }
}

void RowKernelsTest::squareSumsAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    for (const int width : testedWidths()) {
        EdgeRow<float> added(randomRow(width, 10, 0.1F));
        EdgeRow<float> stream(randomRow(width, 11, 20.0F));
        const SquareSums sums = kernels.squareSums(added.data(), stream.data(), width);
        QVERIFY(relativeError(sums.added, squareSum(added.values())) < 2e-6);
        QVERIFY(relativeError(sums.stream, squareSum(stream.values())) < 2e-6);
    }
}

void RowKernelsTest::gatesAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    std::vector<float> gate;
    for (int i = -87000; i <= 90000; i += 13)
        gate.push_back(static_cast<float>(i) * 1e-3F);
    const std::vector<float> out = siluOf(kernels, gate);
    for (std::size_t i = 0; i < gate.size(); ++i)
        QVERIFY2(relativeError(out[i], silu(gate[i])) < 2.5e-7,
                 qPrintable(QString("silu of %1 is %2").arg(gate[i]).arg(out[i])));
    for (const int width : testedWidths()) {
        EdgeRow<float> in(randomRow(width, 12, 4.0F));
        EdgeRow<float> up(randomRow(width, 13));
        EdgeRow<float> both(width);
        kernels.siluMultiply(in.data(), up.data(), width, both.data());
        for (int i = 0; i < width; ++i)
            QVERIFY(relativeError(both[i], silu(in[i]) * up[i]) < 3e-7);
    }
}

void RowKernelsTest::gatesBeyondTheRangeOfTheExponentialHaveTheirLimits() {
    FETCH_KERNELS;
    const std::vector<float> out = siluOf(
        kernels, {-3e38F, -1000.0F, -104.0F, -89.5F, 0.0F, -0.0F, 1000.0F, 3e38F, kInfinity});
    for (int i = 0; i < 4; ++i)
        QVERIFY(std::abs(out[static_cast<std::size_t>(i)]) < 2e-37F);
    QCOMPARE(out[4], 0.0F);
    QCOMPARE(out[5], 0.0F);
    QCOMPARE(out[6], 1000.0F);
    QCOMPARE(out[7], 3e38F);
    QCOMPARE(out[8], kInfinity);
}

void RowKernelsTest::aGateIsTheSameInEveryLaneAndTail() {
    FETCH_KERNELS;
    for (const float x : randomRow(20, 14, 5.0F)) {
        const float alone = siluOf(kernels, {x}).front();
        for (const int width : {2, 15, 16, 17, 31, 33, 47}) {
            const std::vector<float> row(static_cast<std::size_t>(width), x);
            QVERIFY(hasSameBits(siluOf(kernels, row),
                                std::vector<float>(static_cast<std::size_t>(width), alone)));
        }
    }
}

void RowKernelsTest::numbersThatAreNotFiniteStayInTheirPlace() {
    FETCH_KERNELS;
    for (const int width : {1, 16, 37})
        for (int place = 0; place < width; ++place) {
            std::vector<float> gate = randomRow(width, 15);
            gate[static_cast<std::size_t>(place)] = kNan;
            const std::vector<float> out = siluOf(kernels, gate);
            for (int i = 0; i < width; ++i)
                QCOMPARE(std::isnan(out[static_cast<std::size_t>(i)]), i == place);
            EdgeRow<float> in(gate);
            EdgeRow<float> weight(randomRow(width, 16));
            EdgeRow<float> norm(width);
            kernels.rmsNorm(in.data(), weight.data(), 1e-5F, width, norm.data());
            QVERIFY(std::isnan(norm[0]));
        }
}

void RowKernelsTest::bothVectorSetsGiveTheSameBits() {
    FETCH_KERNELS;
    const RowKernels* other = runnableKernels("AVX2");
    if (variant != "AVX-512" || other == nullptr)
        QSKIP("there is nothing to compare with");
    for (const int width : testedWidths()) {
        EdgeRow<float> a(randomRow(width, 17, 10.0F));
        EdgeRow<float> b(randomRow(width, 18));
        EdgeRow<float> out(width);
        EdgeRow<float> otherOut(width);
        kernels.rmsNorm(a.data(), b.data(), 1e-5F, width, out.data());
        other->rmsNorm(a.data(), b.data(), 1e-5F, width, otherOut.data());
        QVERIFY(hasSameBits(out.values(), otherOut.values()));
        kernels.siluMultiply(a.data(), b.data(), width, out.data());
        other->siluMultiply(a.data(), b.data(), width, otherOut.data());
        QVERIFY(hasSameBits(out.values(), otherOut.values()));
        kernels.rotate(out.data(), a.data(), b.data(), width / 2);
        other->rotate(otherOut.data(), a.data(), b.data(), width / 2);
        QVERIFY(hasSameBits(out.values(), otherOut.values()));
        const SquareSums sums = kernels.squareSums(a.data(), b.data(), width);
        const SquareSums otherSums = other->squareSums(a.data(), b.data(), width);
        QCOMPARE(sums.added, otherSums.added);
        QCOMPARE(sums.stream, otherSums.stream);
    }
    std::vector<float> range; // where the exponential underflows step by step
    for (int i = 0; i < 40000; ++i)
        range.push_back(-110.0F + static_cast<float>(i) * 5e-3F);
    QVERIFY(hasSameBits(siluOf(kernels, range), siluOf(*other, range)));
}

QTEST_GUILESS_MAIN(RowKernelsTest)
#include "row_kernels_test.moc"
