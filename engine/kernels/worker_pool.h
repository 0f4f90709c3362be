// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace engine {

/// Threads that work on the parts of one task at a time. Between the tasks of a pass they wait by
/// spinning, for a fork and join far below a microsecond; after a pause of about a millisecond
/// they sleep. Parts are handed out one by one, so a thread that the system takes away delays the
/// others by no more than its part. Thread: one caller at a time.
class WorkerPool {
public:
    /// `threads` counts the caller; at least 1. Workers spin for `spinTime` before they sleep.
    explicit WorkerPool(int threads,
                        std::chrono::microseconds spinTime = std::chrono::milliseconds(1));
    ~WorkerPool();

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int threads() const { return static_cast<int>(m_workers.size()) + 1; }

    /// Calls `work(part, thread)` once for each part of [0, parts), `thread` in [0, threads()), and
    /// comes back when all are done. `work` must not throw.
    template <typename Work> void run(int parts, Work&& work) {
        using Function = std::remove_reference_t<Work>;
        Task task;
        task.call = [](void* object, int part, int thread) {
            (*static_cast<Function*>(object))(part, thread);
        };
        task.object = const_cast<void*>(static_cast<const void*>(std::addressof(work)));
        task.parts = parts;
        runTask(task);
    }

private:
    struct Task {
        void (*call)(void*, int, int) = nullptr;
        void* object = nullptr;
        int parts = 0;
    };

    /// Each on a cache line of its own: they are written by different threads.
    template <typename Value> struct alignas(64) Shared { std::atomic<Value> value = 0; };

    void runTask(const Task& task);
    bool takePart(std::uint32_t number, int thread);
    void workerLoop(int thread);
    std::uint32_t waitForTask(std::uint32_t seen);

    std::chrono::microseconds m_spinTime;
    Task m_task; // valid as long as a part of it is not done
    /// The task's number above 32 bits, the parts that nobody has taken below: taking one and
    /// knowing that it is of this task is one exchange, so a thread that comes late, even after
    /// the task is over, is not waited for.
    Shared<std::uint64_t> m_open;
    Shared<std::uint32_t> m_doneParts;
    Shared<std::uint32_t> m_taskNumber; // sleeping workers wait for it to change
    Shared<std::uint32_t> m_sleepers;
    std::atomic<bool> m_isEnding = false;
    std::vector<std::jthread> m_workers;
};

} // namespace engine
