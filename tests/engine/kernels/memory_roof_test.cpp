// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/memory_roof.h"

#include <QTest>

using namespace engine;

namespace {

constexpr std::size_t kMib = std::size_t{1} << 20U;

/// Sum of 0, 1, ... over all 64-bit words of so many bytes.
std::uint64_t expectedSum(std::size_t bytes) {
    const std::uint64_t words = bytes / 8;
    return words * (words - 1) / 2;
}

} // namespace

class MemoryRoofTest : public QObject {
    Q_OBJECT

private slots:
    void everyByteIsReadOnceByAnyNumberOfThreads();
    void sizesAreRoundedUpToWholeChunks();
    void aRoofIsHalvedUntilItFits();
};

void MemoryRoofTest::everyByteIsReadOnceByAnyNumberOfThreads() {
    for (const int threads : {1, 2, 5}) {
        auto roof = MemoryRoof::make(7 * kMib, threads);
        QVERIFY(roof.hasValue());
        QCOMPARE(roof.value()->threadCount(), threads);
        for (int reading = 0; reading < 20; ++reading) {
            QVERIFY(roof.value()->readGbps().value() > 0.0);
            QCOMPARE(roof.value()->lastSum(), expectedSum(7 * kMib));
        }
    }
}

void MemoryRoofTest::sizesAreRoundedUpToWholeChunks() {
    auto roof = MemoryRoof::make(kMib + 1, 0);
    QVERIFY(roof.hasValue());
    QCOMPARE(roof.value()->byteSize(), 2 * kMib);
    QCOMPARE(roof.value()->threadCount(), 1);
    QVERIFY(roof.value()->readGbps().hasValue());
    QCOMPARE(roof.value()->lastSum(), expectedSum(2 * kMib));
}

void MemoryRoofTest::aRoofIsHalvedUntilItFits() {
    QCOMPARE(roofBytesThatFit(1024 * kMib, 8192.0 * kMib), 1024 * kMib);
    QCOMPARE(roofBytesThatFit(1024 * kMib, 4096.0 * kMib), 1024 * kMib);
    QCOMPARE(roofBytesThatFit(1024 * kMib, 4095.0 * kMib), 512 * kMib);
    QCOMPARE(roofBytesThatFit(1024 * kMib, 1.0), 64 * kMib);
    QCOMPARE(roofBytesThatFit(8 * kMib, 1.0), 8 * kMib); // never made larger
}

QTEST_GUILESS_MAIN(MemoryRoofTest)
#include "memory_roof_test.moc"
