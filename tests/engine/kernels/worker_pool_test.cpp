// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/processor_share.h"
#include "engine/kernels/worker_pool.h"

#include <QTest>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

using namespace engine;

namespace {

/// While it lives, a thread takes 256 MiB of address space, of which 400 MiB are left.
class AddressSpaceOfOneThread {
public:
    AddressSpaceOfOneThread() {
        pthread_getattr_default_np(&m_usualThread);
        pthread_attr_t large = m_usualThread;
        pthread_attr_setstacksize(&large, std::size_t{256} << 20U);
        pthread_setattr_default_np(&large);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        getrlimit(RLIMIT_AS, &m_usualSpace);
        rlimit space = m_usualSpace;
        space.rlim_cur =
            pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{400} << 20U);
        setrlimit(RLIMIT_AS, &space);
    }

    ~AddressSpaceOfOneThread() {
        setrlimit(RLIMIT_AS, &m_usualSpace);
        pthread_setattr_default_np(&m_usualThread);
        pthread_attr_destroy(&m_usualThread);
    }

    AddressSpaceOfOneThread(const AddressSpaceOfOneThread&) = delete;
    AddressSpaceOfOneThread& operator=(const AddressSpaceOfOneThread&) = delete;

private:
    pthread_attr_t m_usualThread{};
    rlimit m_usualSpace{};
};

} // namespace

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

    void sharesFollowOneAnotherAndHoldAllParts() {
        for (const int threads : {1, 2, 3, 8})
            for (int parts = 0; parts < 40; ++parts) {
                int next = 0;
                for (int thread = 0; thread < threads; ++thread) {
                    const auto [first, end] = WorkerPool::shareOf(thread, parts, threads);
                    QCOMPARE(first, next);
                    QVERIFY(end - first <= parts / threads + 1);
                    next = end;
                }
                QCOMPARE(next, parts);
            }
    }

    void morePartsThanAShareCanCountAreAllDone() {
        WorkerPool pool(2);
        constexpr int kParts = 200'000;
        std::vector<std::atomic<std::uint8_t>> done(kParts);
        pool.run(kParts, [&](int part, int) { ++done[static_cast<std::size_t>(part)]; });
        for (const std::atomic<std::uint8_t>& count : done)
            QCOMPARE(int{count.load()}, 1);
    }

    /// A thread of which the others take everything, and one that takes from others.
    void partsOfAThreadThatIsHeldUpAreDoneByTheOthers() {
        WorkerPool pool(
            2, std::chrono::milliseconds(1), std::chrono::microseconds(0)); // never alone
        for (int task = 0; task < 50; ++task) {
            std::atomic<int> others = 0;
            // Whoever gets the first part keeps it until all the others are done.
            pool.run(32, [&](int part, int) {
                if (part > 0)
                    ++others;
                else
                    while (others < 31)
                        std::this_thread::yield();
            });
            QCOMPARE(others.load(), 31);
        }
    }

    void whatIsReadNextIsFetchedWithoutATrace() {
        WorkerPool pool(2, std::chrono::microseconds(50));
        std::vector<std::byte> memory(10'000, std::byte{7});
        const std::vector<std::byte> before = memory;
        const std::span<const std::byte> all = memory;
        std::vector<std::span<const std::byte>> reads;
        int sum = 0;
        for (int task = 0; task < 2000; ++task) {
            std::atomic<int> count = 0;
            // The list of the task before is gone.
            reads.assign({all, {}, all.first(1), all.subspan(static_cast<std::size_t>(task))});
            pool.run(
                7,
                [&](int, int) { ++count; },
                task % 3 == 0 ? WorkerPool::NextReads(reads) : WorkerPool::NextReads());
            sum += count;
        }
        QCOMPARE(sum, 14000);
        QVERIFY(memory == before);
    }

    /// The caller sleeps until the worker's part is done, and is woken by it.
    void aCallerThatHasToWaitLongIsWoken() {
        WorkerPool pool(
            2, std::chrono::milliseconds(1), std::chrono::microseconds(0)); // never alone
        for (int task = 0; task < 20; ++task) {
            std::atomic<int> count = 0;
            std::atomic<bool> isOtherBusy = false;
            pool.run(2, [&](int, int thread) {
                if (thread == 0) {
                    while (!isOtherBusy)
                        std::this_thread::yield();
                } else {
                    isOtherBusy = true;
                    const auto start = std::chrono::steady_clock::now();
                    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(2))
                        std::this_thread::yield(); // longer than anybody spins
                }
                ++count;
            });
            QCOMPARE(count.load(), 2);
        }
    }

    /// As if others took the worker's processor most of the time.
    void aCallerWhoseWorkersHaveNoProcessorWorksAlone() {
        WorkerPool pool(2, std::chrono::milliseconds(1), std::chrono::hours(1));
        int aloneInTurn = 0;
        for (int task = 0; task < 100'000 && aloneInTurn < 50; ++task) {
            std::atomic<int> byWorker = 0;
            std::atomic<bool> hasBegun = false;
            pool.run(2, [&](int, int thread) {
                if (thread == 0) {
                    // Parts never wait for each other in earnest: for a while only.
                    for (int look = 0; look < 1000 && !hasBegun; ++look)
                        std::this_thread::yield();
                    return;
                }
                hasBegun = true;
                ++byWorker;
                const auto start = std::chrono::steady_clock::now();
                while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1))
                    std::this_thread::yield();
            });
            aloneInTurn = byWorker == 0 ? aloneInTurn + 1 : 0;
        }
        QCOMPARE(aloneInTurn, 50);
    }

    /// Only a pool that takes all processors lends one.
    void theLastThreadLendsItsProcessorAndTheOthersDoItsParts() {
        const int threads = std::max(2, processorShare().processors);
        WorkerPool pool(threads);
        ProcessorLoan loan;
        for (int round = 0; round < 20; ++round) {
            std::vector<std::atomic<int>> done(64);
            std::atomic<bool> isLent = true;
            const auto work = [&](int part, int thread) {
                ++done[static_cast<std::size_t>(part)];
                if (thread + 1 == threads)
                    isLent = false;
            };
            loan.take();
            for (int task = 0; task < 100; ++task)
                pool.run(64, work);
            QVERIFY(isLent);
            loan.giveBack();
            for (int task = 0; task < 100; ++task)
                pool.run(64, work);
            for (const std::atomic<int>& count : done)
                QCOMPARE(count.load(), 200);
        }
        // It works again: there is no task without it but for a while.
        std::atomic<bool> hasWorked = false;
        while (!hasWorked)
            pool.run(64, [&](int, int thread) {
                if (thread + 1 == threads)
                    hasWorked = true;
            });
    }

    /// As in a container that allows few threads.
    void aPoolWhoseSecondWorkerCannotStartEndsTheFirst() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("a sanitizer takes address space of its own for each thread");
#else
        const AddressSpaceOfOneThread limit;
        bool hasThrown = false;
        try {
            WorkerPool pool(3);
        } catch (const std::system_error&) {
            hasThrown = true;
        }
        QVERIFY(hasThrown);
#endif
    }

    void aPoolCanGoWithoutEverHavingWorked() {
        for (int i = 0; i < 50; ++i)
            WorkerPool pool(3);
    }
};

QTEST_GUILESS_MAIN(WorkerPoolTest)
#include "worker_pool_test.moc"
