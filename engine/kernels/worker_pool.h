// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace engine {

/// Threads that work on the parts of one task at a time. Between the tasks of a pass they wait by
/// spinning, for a fork and join far below a microsecond; after a pause of about a millisecond
/// they sleep, and much sooner where other programs want the same processors: there a thread that
/// spins takes the time of the one that it waits for. Each thread begins with an even, unbroken
/// share of the parts, so that it reads memory as one stream and meets the others seldom; who is
/// done takes over parts from the end of another's share, so a thread that the system takes away
/// delays the others by no more than its part. Thread: one caller at a time.
class WorkerPool {
public:
    /// `threads` counts the caller; at least 1. Workers spin for `spinTime` before they sleep. When
    /// the caller has lately slept for a quarter of its time, because its workers had no processor,
    /// it works alone for `aloneTime`; 0 = never.
    explicit WorkerPool(int threads,
                        std::chrono::microseconds spinTime = std::chrono::milliseconds(1),
                        std::chrono::microseconds aloneTime = std::chrono::milliseconds(500));
    ~WorkerPool();

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int threads() const { return static_cast<int>(m_workers.size()) + 1; }

    /// Memory that threads will read first in the task after this one: [threads(),
    /// kReadsPerThread]. A thread that has to wait fetches it into its cache meanwhile.
    using NextReads = std::span<const std::span<const std::byte>>;

    static constexpr std::size_t kReadsPerThread = 2;

    /// The parts [first, second) with which a thread begins.
    static std::pair<int, int> shareOf(int thread, int parts, int threads);

    /// Calls `work(part, thread)` once for each part of [0, parts), `thread` in [0, threads()), and
    /// comes back when all are done. `work` must not throw; the memory that `next` names must live
    /// until the end of the next task, the list itself only until this one's.
    template <typename Work> void run(int parts, Work&& work, NextReads next = {}) {
        using Function = std::remove_reference_t<Work>;
        Task task;
        task.call = [](void* object, int part, int thread) {
            (*static_cast<Function*>(object))(part, thread);
        };
        task.object = const_cast<void*>(static_cast<const void*>(std::addressof(work)));
        task.parts = parts;
        task.next = next;
        runTask(task);
    }

private:
    struct Task {
        void (*call)(void*, int, int) = nullptr;
        void* object = nullptr;
        int parts = 0;
        NextReads next;
    };

    /// What is left to fetch while a thread waits.
    class Fetching;

    /// What a thread did of a task.
    struct Outcome;

    /// Whether others want a thread's processor.
    class Crowd;

    /// On a cache line of its own: what different threads write must not share one.
    template <typename Value> struct alignas(64) Shared { std::atomic<Value> value = 0; };

    /// What workers look at while they spin, together on one line. The task is valid as long as a
    /// part of it is not done.
    struct alignas(64) Announced {
        std::atomic<std::uint64_t> numberAndParts = 0;
        Task task;
    };

    void runTask(const Task& task);
    void runSome(const Task& task);
    Outcome workOn(std::uint32_t number, std::uint32_t parts, int thread);
    int takePart(std::uint32_t number, std::uint32_t parts, int owner, bool isOwn);
    void workerLoop(int thread);
    std::uint64_t waitForTask(std::uint32_t seen, Fetching& fetching, Crowd& crowd);
    void waitForWorkers(Fetching& fetching);
    void noteSleep(std::chrono::steady_clock::time_point begin);
    bool worksAlone();

    std::chrono::microseconds m_spinTime;
    std::chrono::microseconds m_aloneTime;
    // Of the caller: since when it counts for how long it has slept, and until when it is alone.
    std::chrono::steady_clock::time_point m_countedSince;
    std::chrono::steady_clock::duration m_slept{};
    std::chrono::steady_clock::time_point m_aloneUntil;
    bool m_isAlone = false;
    Announced m_announced;
    /// For each thread what is left of its share: the number of the task above 32 bits, end and
    /// begin below. Of an older task: nobody has taken from it yet. Taking a part and knowing that
    /// it is of this task is one exchange, so a thread that comes late, even after the task is
    /// over, is not waited for.
    std::vector<Shared<std::uint64_t>> m_shares;

    struct alignas(64) Done {
        std::atomic<std::uint32_t> parts = 0; // by workers, of all tasks
        std::atomic<bool> isAwaited = false;  // the caller sleeps until there are enough
    };

    Done m_done;
    Shared<std::uint32_t> m_wakeNumber; // sleeping workers wait for it to change
    Shared<std::uint32_t> m_sleepers;
    std::uint32_t m_givenToWorkers = 0; // parts of all tasks that the caller did not do itself
    std::uint32_t m_number = 0;         // of the newest task
    std::atomic<bool> m_isEnding = false;
    std::vector<std::jthread> m_workers;
};

} // namespace engine
