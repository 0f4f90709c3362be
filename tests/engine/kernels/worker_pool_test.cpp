// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/worker_pool.h"

#include <QTest>

#include <atomic>
#include <numeric>
#include <vector>

using namespace engine;

class WorkerPoolTest : public QObject {
    Q_OBJECT

private slots:

    void everyPartIsDoneOnce_data() {
        QTest::addColumn<int>("threads");
        for (const int threads : {1, 2, 3, 8})
            QTest::addRow("%d threads", threads) << threads;
    }

    void everyPartIsDoneOnce() {
        QFETCH(const int, threads);
        WorkerPool pool(threads);
        QCOMPARE(pool.threads(), threads);
        for (int task = 0; task < 3000; ++task) {
            const int parts = task % 37;
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
            std::atomic<bool> isThreadKnown = true;
            pool.run(parts, [&](int part, int thread) {
                ++done[static_cast<std::size_t>(part)];
                if (thread < 0 || thread >= threads)
                    isThreadKnown = false;
            });
            QVERIFY(isThreadKnown);
            for (const std::atomic<int>& count : done)
                QCOMPARE(count.load(), 1);
        }
    }

    void whatATaskWroteIsSeenByTheNext() {
        WorkerPool pool(4);
        std::vector<int> values(64, 0);
        for (int task = 0; task < 2000; ++task)
            pool.run(64, [&](int part, int) {
                // Each part reads what another part of the task before wrote.
                static thread_local int seen = 0;
                seen = values[static_cast<std::size_t>(part)];
                values[static_cast<std::size_t>(part)] = seen + 1;
            });
        QCOMPARE(std::accumulate(values.begin(), values.end(), 0), 64 * 2000);
    }

    void workersThatSleepAtOnceAreWokenForEveryTask() {
        WorkerPool pool(3, std::chrono::microseconds(0));
        std::atomic<int> count = 0;
        for (int task = 0; task < 2000; ++task)
            pool.run(8, [&](int, int) { ++count; });
        QCOMPARE(count.load(), 16000);
    }

    void aPoolCanGoWithoutEverHavingWorked() {
        for (int i = 0; i < 50; ++i)
            WorkerPool pool(3);
    }
};

QTEST_GUILESS_MAIN(WorkerPoolTest)
#include "worker_pool_test.moc"
