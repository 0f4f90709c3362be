// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cache/kv_cache.h"

#include <QTest>

#include <limits>

using namespace engine;

namespace {

KvCache makeCache(Position capacity) {
    return KvCache(HostKvStorage::make({2, 3, 4, capacity, KvType::F32}).value());
}

/// Writes `value` into every key (and its negative into every value) of a slot.
void fillSlot(KvCache& cache, Position slot, float value) {
    auto& storage = dynamic_cast<HostKvStorage&>(cache.storage());
    for (int layer = 0; layer < 2; ++layer)
        for (int head = 0; head < 3; ++head)
            for (int d = 0; d < 4; ++d) {
                const auto at = static_cast<std::size_t>((head * cache.capacity() + slot) * 4 + d);
                reinterpret_cast<float*>(storage.keys(layer))[at] = value;
                reinterpret_cast<float*>(storage.values(layer))[at] = -value;
            }
}

/// The number a slot was filled with; fails when its entries disagree.
float slotValue(KvCache& cache, Position slot) {
    auto& storage = dynamic_cast<HostKvStorage&>(cache.storage());
    const float first = reinterpret_cast<float*>(storage.keys(0))[slot * 4];
    for (int layer = 0; layer < 2; ++layer)
        for (int head = 0; head < 3; ++head)
            for (int d = 0; d < 4; ++d) {
                const auto at = static_cast<std::size_t>((head * cache.capacity() + slot) * 4 + d);
                if (reinterpret_cast<float*>(storage.keys(layer))[at] != first ||
                    reinterpret_cast<float*>(storage.values(layer))[at] != -first)
                    return std::numeric_limits<float>::quiet_NaN();
            }
    return first;
}

} // namespace

class KvCacheTest : public QObject {
    Q_OBJECT

private slots:
    void truncateForgetsRejectedTokens();
    void keepPathMovesAcceptedSlotsTogether();
    void aChainThatIsAcceptedIsNotCopied();
    void committingBeyondTheEndIsABug();
    void aCacheTooLargeToAddressIsRefused();
};

void KvCacheTest::truncateForgetsRejectedTokens() {
    KvCache cache = makeCache(8);
    cache.commit(5);
    cache.truncate(3);
    QCOMPARE(cache.length(), 3);
    QVERIFY_EXCEPTION_THROWN(cache.truncate(4), EngineBug);
}

void KvCacheTest::keepPathMovesAcceptedSlotsTogether() {
    KvCache cache = makeCache(8);
    for (Position slot = 0; slot < 8; ++slot)
        fillSlot(cache, slot, static_cast<float>(slot) + 1.0F);
    cache.commit(2);
    const std::vector<Position> accepted = {3, 6};
    cache.keepPath(accepted);
    QCOMPARE(cache.length(), 4);
    QCOMPARE(slotValue(cache, 1), 2.0F);
    QCOMPARE(slotValue(cache, 2), 4.0F);
    QCOMPARE(slotValue(cache, 3), 7.0F);
}

void KvCacheTest::aChainThatIsAcceptedIsNotCopied() {
    KvCache cache = makeCache(4);
    for (Position slot = 0; slot < 4; ++slot)
        fillSlot(cache, slot, static_cast<float>(slot) + 1.0F);
    const std::vector<Position> accepted = {0, 1, 2};
    cache.keepPath(accepted);
    QCOMPARE(cache.length(), 3);
    QCOMPARE(slotValue(cache, 2), 3.0F);
}

void KvCacheTest::committingBeyondTheEndIsABug() {
    KvCache cache = makeCache(4);
    QVERIFY_EXCEPTION_THROWN(cache.commit(5), EngineBug);
    const std::vector<Position> beyond = {4};
    QVERIFY_EXCEPTION_THROWN(cache.keepPath(beyond), EngineBug);
}

void KvCacheTest::aCacheTooLargeToAddressIsRefused() {
    constexpr int kMost = std::numeric_limits<int>::max();
    const auto refused = HostKvStorage::make({kMost, kMost, kMost, kMost, KvType::F64});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
}

QTEST_GUILESS_MAIN(KvCacheTest)
#include "kv_cache_test.moc"
