// SPDX-License-Identifier: Apache-2.0
#include "engine/base/bounded_queue.h"

#include <QTest>

#include <atomic>
#include <numeric>
#include <thread>

using namespace engine;

class BoundedQueueTest : public QObject {
    Q_OBJECT

private slots:
    void valuesComeOutInOrder();
    void aFullQueueLetsTheWriterWaitAndLosesNothing();
    void aFullQueueRefusesTryPush();
    void aNewerPictureReplacesAWaitingOne();
    void aReplacementFitsIntoAFullQueue();
    void closeWakesAWaitingWriter();
    void closeWakesAWaitingReader();
    void aClosedQueueStillGivesWhatItHolds();
    void waitingForContentEndsWithItsTime();
};

void BoundedQueueTest::valuesComeOutInOrder() {
    BoundedQueue<int> queue(4);
    QVERIFY(queue.push(1) && queue.push(2) && queue.push(3));
    QVERIFY(queue.waitForContent());
    QCOMPARE(queue.takeAll(), (std::vector<int>{1, 2, 3}));
    QVERIFY(queue.takeAll().empty());
}

void BoundedQueueTest::aFullQueueLetsTheWriterWaitAndLosesNothing() {
    constexpr int kCount = 20'000;
    BoundedQueue<int> queue(3);
    std::jthread writer([&queue] {
        for (int i = 0; i < kCount; ++i)
            queue.push(i);
        queue.close();
    });
    std::vector<int> all;
    while (queue.waitForContent()) {
        const auto taken = queue.takeAll();
        QVERIFY(taken.size() <= 3);
        all.insert(all.end(), taken.begin(), taken.end());
    }
    std::vector<int> expected(kCount);
    std::iota(expected.begin(), expected.end(), 0);
    QCOMPARE(all, expected);
}

void BoundedQueueTest::aFullQueueRefusesTryPush() {
    BoundedQueue<int> queue(1);
    QVERIFY(queue.tryPush(1));
    QVERIFY(!queue.tryPush(2));
    queue.takeAll();
    QVERIFY(queue.tryPush(3));
}

void BoundedQueueTest::aNewerPictureReplacesAWaitingOne() {
    BoundedQueue<int> queue(8); // pictures are negative
    const auto isPicture = [](int value) { return value < 0; };
    queue.push(1);
    queue.pushReplacing(-1, isPicture);
    queue.push(2);
    queue.pushReplacing(-2, isPicture);
    queue.push(3);
    QCOMPARE(queue.takeAll(), (std::vector<int>{1, 2, -2, 3}));
    queue.pushReplacing(-3, isPicture);
    QCOMPARE(queue.takeAll(), (std::vector<int>{-3}));
}

void BoundedQueueTest::aReplacementFitsIntoAFullQueue() {
    BoundedQueue<int> queue(2);
    const auto isPicture = [](int value) { return value < 0; };
    queue.pushReplacing(-1, isPicture);
    queue.push(1);
    QVERIFY(queue.pushReplacing(-2, isPicture));
    QCOMPARE(queue.takeAll(), (std::vector<int>{1, -2}));
}

void BoundedQueueTest::closeWakesAWaitingWriter() {
    BoundedQueue<int> queue(1);
    queue.push(1);
    std::atomic<int> refused = 0;
    std::jthread writer([&] { refused += queue.push(2) ? 0 : 1; });
    std::jthread painter(
        [&] { refused += queue.pushReplacing(3, [](int) { return false; }) ? 0 : 1; });
    queue.close();
    writer.join();
    painter.join();
    QCOMPARE(refused.load(), 2);
    QCOMPARE(queue.takeAll(), (std::vector<int>{1}));
}

void BoundedQueueTest::closeWakesAWaitingReader() {
    BoundedQueue<int> queue(1);
    std::atomic<bool> hadContent = true;
    std::jthread reader([&] { hadContent = queue.waitForContent(); });
    queue.close();
    reader.join();
    QVERIFY(!hadContent);
}

void BoundedQueueTest::aClosedQueueStillGivesWhatItHolds() {
    BoundedQueue<int> queue(2);
    queue.push(1);
    queue.close();
    QVERIFY(!queue.push(2));
    QVERIFY(!queue.tryPush(2));
    QVERIFY(queue.waitForContent());
    QCOMPARE(queue.takeAll(), (std::vector<int>{1}));
    QVERIFY(!queue.waitForContent());
}

void BoundedQueueTest::waitingForContentEndsWithItsTime() {
    BoundedQueue<int> queue(2);
    QVERIFY(!queue.waitForContent(std::chrono::milliseconds(1)));
    queue.push(1);
    QVERIFY(queue.waitForContent(std::chrono::milliseconds(0)));
}

QTEST_APPLESS_MAIN(BoundedQueueTest)
#include "bounded_queue_test.moc"
