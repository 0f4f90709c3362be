// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/locks/processor_loan.h"
#include "engine/kernels/nodes/node_threads.h"

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

/// Threads that work on the parts of one task at a time. Between the tasks of a pass they spin, so
/// that fork and join take far less than a microsecond. After a pause of about a millisecond they
/// sleep. They sleep much sooner if other programs want the same processors, because a spinning
/// thread would take time from the thread it waits for. Each thread starts with an equal,
/// contiguous share of the parts, so that it reads memory as one stream and rarely meets the
/// others. A thread that has finished takes parts from the end of another's share, so a thread that
/// loses its processor delays the others by at most its current part. On a machine with several
/// memory nodes the threads are spread over them and stay there (NodeThreads), and take from others
/// of their node first. If the threads take all processors, the last one lends its own to whoever
/// asks (ProcessorLoan). Thread: one caller at a time.
class WorkerPool {
public:
    static constexpr auto kUsualSpin = std::chrono::microseconds(1'000);
    static constexpr auto kUsualAlone = std::chrono::microseconds(500'000);

    /// `threads` counts the caller; at least 1. Workers spin for `spinTime` before they sleep. If
    /// the caller has recently slept for a quarter of its time, because its workers had no
    /// processor, it works alone for `aloneTime`; 0 = never. The machine, of which a test may bring
    /// its own, must outlive the pool. Throws std::system_error where the system starts no further
    /// thread.
    explicit WorkerPool(int threads,
                        std::chrono::microseconds spinTime = kUsualSpin,
                        std::chrono::microseconds aloneTime = kUsualAlone,
                        NodeMachine& machine = systemMachine());

    WorkerPool(int threads, NodeMachine& machine)
        : WorkerPool(threads, kUsualSpin, kUsualAlone, machine) {}

    ~WorkerPool();

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int threads() const { return static_cast<int>(m_workers.size()) + 1; }

    const NodeThreads& nodes() const { return m_nodes; }

    /// Memory that threads will read first in the next task: [threads(), kReadsPerThread]. A
    /// waiting thread prefetches it into its cache.
    using NextReads = std::span<const std::span<const std::byte>>;

    static constexpr std::size_t kReadsPerThread = 2;

    /// The parts [first, second) with which a thread starts.
    static std::pair<int, int> shareOf(int thread, int parts, int threads);

    /// Calls `work(part, thread)` once for each part of [0, parts), `thread` in [0, threads()), and
    /// returns when all are done. `work` must not throw. The memory named by `next` must exist
    /// until the end of the next task, the list itself only until the end of this one.
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

    /// The memory that is still to be fetched while a thread waits.
    class Fetching;

    /// A thread's part of a task.
    struct Outcome;

    /// Whether other programs want a thread's processor.
    class Crowd;

    /// On a cache line of its own: data that different threads write must not share one.
    template <typename Value> struct alignas(64) Shared { std::atomic<Value> value = 0; };

    /// The data that workers read while they spin, together on one line. The task is valid while
    /// one of its parts is not done.
    struct alignas(64) Announced {
        std::atomic<std::uint64_t> numberAndParts = 0;
        Task task;
    };

    void endWorkers();
    void runTask(const Task& task);
    void runSome(const Task& task);
    Outcome workOn(std::uint32_t number,
                   std::uint32_t parts,
                   int thread,
                   const ProcessorLender* lender = nullptr);
    int takePart(std::uint32_t number, std::uint32_t parts, int owner, bool isOwn);
    void workerLoop(int thread);
    std::uint64_t
    waitForTask(std::uint32_t seen, Fetching& fetching, Crowd& crowd, ProcessorLender& lender);
    void waitForWorkers(Fetching& fetching);
    void noteSleep(std::chrono::steady_clock::time_point begin);
    bool worksAlone();

    std::chrono::microseconds m_spinTime;
    std::chrono::microseconds m_aloneTime;
    NodeThreads m_nodes;
    // For the caller: when it started to count its sleep, and until when it works alone.
    std::chrono::steady_clock::time_point m_countedSince;
    std::chrono::steady_clock::duration m_slept{};
    std::chrono::steady_clock::time_point m_aloneUntil;
    bool m_isAlone = false;
    Announced m_announced;
    /// For each thread the rest of its share: the task's number in the upper 32 bits, end and begin
    /// below. An older number means that nobody has taken from the share yet. One atomic exchange
    /// takes a part and checks that it belongs to this task, so nobody waits for a thread that
    /// comes late, even after the end of the task.
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
