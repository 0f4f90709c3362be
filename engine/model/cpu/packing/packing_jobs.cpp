// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/packing/packing_jobs.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <time.h>
#include <vector>

namespace engine::cpu {

namespace {

/// A matrix of more than this part of all begins early: as the last one it would keep one thread at
/// work while the others have none.
constexpr std::size_t kLargeShare = 8;

double threadMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// What the threads share while they pack.
class PackingRun {
public:
    PackingRun(const WeightSource& source,
               std::span<const PackingJob> jobs,
               std::span<std::byte> memory,
               const PackingWatch& watch)
        : m_source(source)
        , m_jobs(jobs)
        , m_memory(memory)
        , m_watch(watch) {
        m_order.reserve(jobs.size());
        for (std::size_t i = 0; i < jobs.size(); ++i)
            m_order.push_back(i);
        std::stable_partition(m_order.begin(), m_order.end(), [&](std::size_t i) {
            return matrixBytes(*jobs[i].matrix) > memory.size() / kLargeShare;
        });
    }

    /// Never throws: what a thread throws is thrown again by result().
    void work(int part, int thread) {
        const std::size_t index = m_order[static_cast<std::size_t>(part)];
        if (m_firstFailed.load() < index || m_watch.stop.stop_requested())
            return;
        const double startMs = threadMs();
        try {
            const PackingJob& job = m_jobs[index];
            if (auto packed =
                    packMatrix(m_source, *job.tensor, job.format, m_memory.data() + job.offset);
                !packed)
                fail(index, std::move(packed).error(), nullptr);
            tell(matrixBytes(*job.matrix), thread);
        } catch (...) {
            fail(index, {}, std::current_exception());
        }
        const std::scoped_lock lock(m_mutex);
        m_workMs += threadMs() - startMs;
    }

    Result<double> result() {
        if (m_thrown)
            std::rethrow_exception(m_thrown);
        if (m_error)
            return *std::move(m_error);
        if (m_watch.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
        return m_workMs;
    }

private:
    /// Of several failures the first tensor's counts: no other is sure to be tried each time.
    void fail(std::size_t index, Error error, std::exception_ptr thrown) {
        const std::scoped_lock lock(m_mutex);
        if (m_firstFailed.load() < index)
            return;
        m_firstFailed = index;
        m_error = std::move(error);
        m_thrown = std::move(thrown);
    }

    void tell(std::size_t bytes, int thread) {
        const std::size_t done = m_doneBytes.fetch_add(bytes) + bytes;
        if (m_watch.progress && thread == 0)
            m_watch.progress(static_cast<double>(done) / static_cast<double>(m_memory.size()));
    }

    const WeightSource& m_source;
    std::span<const PackingJob> m_jobs;
    std::span<std::byte> m_memory;
    const PackingWatch& m_watch;
    std::vector<std::size_t> m_order;
    std::atomic<std::size_t> m_firstFailed = std::numeric_limits<std::size_t>::max();
    std::atomic<std::size_t> m_doneBytes = 0;
    std::mutex m_mutex; // guards the three below
    std::optional<Error> m_error;
    std::exception_ptr m_thrown;
    double m_workMs = 0.0;
};

} // namespace

Result<double> packAllMatrices(const WeightSource& source,
                               std::span<const PackingJob> jobs,
                               std::span<std::byte> memory,
                               const PackingWatch& watch,
                               WorkerPool& pool) {
    PackingRun run(source, jobs, memory, watch);
    pool.run(static_cast<int>(jobs.size()), [&](int part, int thread) { run.work(part, thread); });
    ENGINE_TRY(const double workMs, run.result());
    if (watch.progress)
        watch.progress(1.0);
    return workMs;
}

} // namespace engine::cpu
