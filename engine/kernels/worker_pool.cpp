// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/worker_pool.h"

#include "engine/base/result.h"

#include <chrono>
#include <immintrin.h>

namespace engine {

namespace {

/// Looks at the clock only so often: that costs more than a pause.
constexpr int kPausesPerLook = 64;

} // namespace

WorkerPool::WorkerPool(int threads, std::chrono::microseconds spinTime)
    : m_spinTime(spinTime) {
    ENGINE_CHECK(threads >= 1, "a pool of {} threads", threads);
    for (int thread = 1; thread < threads; ++thread)
        m_workers.emplace_back([this, thread] { workerLoop(thread); });
}

WorkerPool::~WorkerPool() {
    m_isEnding = true;
    m_taskNumber.value.fetch_add(1);
    m_taskNumber.value.notify_all();
}

void WorkerPool::runTask(const Task& task) {
    if (task.parts <= 1 || m_workers.empty()) {
        for (int part = 0; part < task.parts; ++part)
            task.call(task.object, part, 0);
        return;
    }
    m_task = task;
    m_doneParts.value.store(0, std::memory_order_relaxed);
    const std::uint32_t number = m_taskNumber.value.load(std::memory_order_relaxed) + 1;
    const auto parts = static_cast<std::uint32_t>(task.parts);
    m_open.value.store(std::uint64_t{number} << 32U | parts, std::memory_order_release);
    m_taskNumber.value.store(number);
    if (m_sleepers.value.load() > 0)
        m_taskNumber.value.notify_all();
    while (takePart(number, 0)) {
    }
    while (m_doneParts.value.load(std::memory_order_acquire) < parts)
        _mm_pause();
}

/// False when no part of this task is left to take.
bool WorkerPool::takePart(std::uint32_t number, int thread) {
    std::uint64_t open = m_open.value.load(std::memory_order_acquire);
    do {
        if (open >> 32U != number || static_cast<std::uint32_t>(open) == 0)
            return false;
    } while (!m_open.value.compare_exchange_weak(
        open, open - 1, std::memory_order_acq_rel, std::memory_order_acquire));
    const int left = static_cast<int>(static_cast<std::uint32_t>(open));
    m_task.call(m_task.object, m_task.parts - left, thread);
    m_doneParts.value.fetch_add(1, std::memory_order_release);
    return true;
}

void WorkerPool::workerLoop(int thread) {
    std::uint32_t number = 0;
    while (true) {
        number = waitForTask(number);
        if (m_isEnding)
            return;
        while (takePart(number, thread)) {
        }
    }
}

/// The number of the newest task, once it is no longer `seen`.
std::uint32_t WorkerPool::waitForTask(std::uint32_t seen) {
    const auto end = std::chrono::steady_clock::now() + m_spinTime;
    do {
        for (int i = 0; i < kPausesPerLook; ++i) {
            const std::uint32_t now = m_taskNumber.value.load(std::memory_order_acquire);
            if (now != seen)
                return now;
            _mm_pause();
        }
    } while (std::chrono::steady_clock::now() < end);
    m_sleepers.value.fetch_add(1);
    m_taskNumber.value.wait(seen);
    m_sleepers.value.fetch_sub(1);
    return m_taskNumber.value.load(std::memory_order_acquire);
}

} // namespace engine
