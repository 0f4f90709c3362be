// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/worker_pool.h"

#include "engine/base/result.h"
#include "engine/kernels/processor_share.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <immintrin.h>

namespace engine {

namespace {

/// Reads the clock only this often, because that costs more than a pause.
constexpr int kPausesPerLook = 64;

/// What sixteen bits hold.
constexpr int kMostParts = 0xFFFF;

/// Number of tasks after which all shares are marked again, long before task numbers could wrap
/// around.
constexpr std::uint32_t kRenewal = 1U << 30U;

/// The rest of a share of parts.
struct Share {
    std::uint32_t number;
    std::uint32_t begin;
    std::uint32_t end;
};

Share unpacked(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32U),
            static_cast<std::uint32_t>(word & 0xFFFFU),
            static_cast<std::uint32_t>(word >> 16U & 0xFFFFU)};
}

std::uint64_t packed(const Share& share) {
    return std::uint64_t{share.number} << 32U | std::uint64_t{share.end} << 16U | share.begin;
}

std::uint32_t firstOf(std::size_t thread, std::uint32_t parts, std::size_t threads) {
    return static_cast<std::uint32_t>(parts * thread / threads);
}

constexpr std::size_t kCacheLine = 64;

using Clock = std::chrono::steady_clock;

/// How long the caller spins until the workers' last parts are done. A part takes some ten
/// microseconds: a worker that needs longer has lost its processor.
constexpr auto kJoinSpin = std::chrono::microseconds(50);

/// How long a worker spins for its next task when other programs want its processor.
constexpr auto kCrowdedSpin = std::chrono::microseconds(50);

/// The period over which the caller's sleep is counted: a program that takes a processor
/// occasionally, for some milliseconds, must not count.
constexpr auto kSleepWindow = std::chrono::milliseconds(50);

/// The share of that time above which the caller is faster alone.
constexpr int kMostSleptOneIn = 4;

/// How long a processor counts as wanted by others after they took it.
constexpr auto kCrowdMemory = std::chrono::milliseconds(20);

} // namespace

/// Fetches one line after the other into the second cache.
class WorkerPool::Fetching {
public:
    Fetching() = default;

    Fetching(NextReads next, int thread) {
        const std::size_t first = static_cast<std::size_t>(thread) * kReadsPerThread;
        if (first + kReadsPerThread <= next.size())
            std::copy_n(next.begin() + static_cast<std::ptrdiff_t>(first),
                        kReadsPerThread,
                        m_reads.begin());
    }

    /// Fetches a line, or pauses if none is left.
    void step() {
        for (std::span<const std::byte>& read : m_reads) {
            if (read.empty())
                continue;
            _mm_prefetch(read.data(), _MM_HINT_T1);
            read = read.subspan(std::min(kCacheLine, read.size()));
            return;
        }
        _mm_pause();
    }

private:
    std::array<std::span<const std::byte>, kReadsPerThread> m_reads;
};

/// They do if the system has taken the processor from the thread while it was running.
class WorkerPool::Crowd {
public:
    bool isThere(Clock::time_point now) {
        rusage usage{};
        if (::getrusage(RUSAGE_THREAD, &usage) == 0 && usage.ru_nivcsw != m_taken) {
            m_taken = usage.ru_nivcsw;
            m_until = now + kCrowdMemory;
        }
        return now < m_until;
    }

private:
    long m_taken = 0; // times that the processor was taken
    Clock::time_point m_until;
};

struct WorkerPool::Outcome {
    std::uint32_t doneParts = 0;
    Fetching fetching; // copied while the task was not over; nothing if no part was done
};

std::pair<int, int> WorkerPool::shareOf(int thread, int parts, int threads) {
    const auto index = static_cast<std::size_t>(thread);
    const auto count = static_cast<std::size_t>(threads);
    const auto all = static_cast<std::uint32_t>(parts);
    return {static_cast<int>(firstOf(index, all, count)),
            static_cast<int>(firstOf(index + 1, all, count))};
}

WorkerPool::WorkerPool(int threads,
                       std::chrono::microseconds spinTime,
                       std::chrono::microseconds aloneTime,
                       NodeMachine& machine)
    : m_spinTime(spinTime)
    , m_aloneTime(aloneTime)
    , m_nodes(machine, threads)
    , m_shares(static_cast<std::size_t>(std::max(threads, 1))) {
    ENGINE_CHECK(threads >= 1, "a pool of {} threads", threads);
    try {
        for (int thread = 1; thread < threads; ++thread)
            m_workers.emplace_back([this, thread] { workerLoop(thread); });
    } catch (...) { // those that have started are waited for
        endWorkers();
        throw;
    }
}

WorkerPool::~WorkerPool() { endWorkers(); }

void WorkerPool::endWorkers() {
    m_isEnding = true;
    ++m_number;
    m_announced.numberAndParts.store(std::uint64_t{m_number} << 32U);
    m_wakeNumber.value.store(m_number);
    m_wakeNumber.value.notify_all();
}

void WorkerPool::runTask(const Task& task) {
    if (task.parts <= 1 || m_workers.empty() || worksAlone()) {
        for (int part = 0; part < task.parts; ++part)
            task.call(task.object, part, 0);
        return;
    }
    if (task.parts <= kMostParts)
        return runSome(task);

    struct Piece {
        const Task& whole;
        int first;
    };

    for (int first = 0; first < task.parts; first += kMostParts) {
        Piece piece{task, first};
        const auto call = [](void* object, int part, int thread) {
            const auto& [whole, offset] = *static_cast<Piece*>(object);
            whole.call(whole.object, offset + part, thread);
        };
        runSome({call, &piece, std::min(kMostParts, task.parts - first), {}});
    }
}

/// A task of at most kMostParts.
void WorkerPool::runSome(const Task& task) {
    const std::uint32_t number = ++m_number;
    const auto parts = static_cast<std::uint32_t>(task.parts);
    if (number % kRenewal == 0)
        for (Shared<std::uint64_t>& share : m_shares)
            share.value.store(packed({number - 1, 0, 0}));
    m_announced.task = task;
    m_announced.numberAndParts.store(std::uint64_t{number} << 32U | parts);
    m_wakeNumber.value.store(number);
    if (m_sleepers.value.load() > 0)
        m_wakeNumber.value.notify_all();
    Outcome own = workOn(number, parts, 0);
    m_givenToWorkers += parts - own.doneParts;
    waitForWorkers(own.fetching);
}

void WorkerPool::waitForWorkers(Fetching& fetching) {
    const auto areDone = [this] {
        return m_done.parts.load(std::memory_order_acquire) == m_givenToWorkers;
    };
    for (int i = 0; i < kPausesPerLook; ++i) {
        if (areDone())
            return;
        fetching.step();
    }
    const auto end = Clock::now() + kJoinSpin;
    do {
        for (int i = 0; i < kPausesPerLook; ++i) {
            if (areDone())
                return;
            fetching.step();
        }
    } while (Clock::now() < end);
    // The thread that counts the last part either sees this, or the check after it sees that
    // thread.
    const auto begin = Clock::now();
    m_done.isAwaited.store(true);
    for (std::uint32_t parts = m_done.parts.load(); parts != m_givenToWorkers;
         parts = m_done.parts.load())
        m_done.parts.wait(parts);
    m_done.isAwaited.store(false);
    noteSleep(begin);
}

void WorkerPool::noteSleep(Clock::time_point begin) {
    const auto now = Clock::now();
    if (begin - m_countedSince > 10 * kSleepWindow) { // nothing was waited for meanwhile
        m_countedSince = begin;
        m_slept = {};
    }
    m_slept += now - begin;
    const auto counted = now - m_countedSince;
    if (counted < kSleepWindow)
        return;
    m_isAlone = m_aloneTime.count() > 0 && kMostSleptOneIn * m_slept > counted;
    m_aloneUntil = now + m_aloneTime;
    m_countedSince = now;
    m_slept = {};
}

bool WorkerPool::worksAlone() {
    m_isAlone = m_isAlone && Clock::now() < m_aloneUntil;
    return m_isAlone;
}

/// First the thread's own share, then the rest of the others' shares, of its own memory node before
/// others. A thread that is asked for its processor leaves its rest to them.
WorkerPool::Outcome WorkerPool::workOn(std::uint32_t number,
                                       std::uint32_t parts,
                                       int thread,
                                       const ProcessorLender* lender) {
    Outcome outcome;
    const auto isAsked = [&] { return lender != nullptr && lender->isAsked(); };
    const int count = threads();
    for (int step = 0; step < count; ++step) {
        const int owner =
            m_nodes.areSpread() ? m_nodes.ownerAt(thread, step) : (thread + step) % count;
        while (!isAsked()) {
            const int part = takePart(number, parts, owner, step == 0);
            if (part < 0)
                break;
            m_announced.task.call(m_announced.task.object, part, thread);
            ++outcome.doneParts;
        }
    }
    // The task is not over before its parts are counted.
    if (outcome.doneParts > 0)
        outcome.fetching = Fetching(m_announced.task.next, thread);
    return outcome;
}

/// The next part of a share for its owner, the last one for another; -1 when none is left.
int WorkerPool::takePart(std::uint32_t number, std::uint32_t parts, int owner, bool isOwn) {
    const auto index = static_cast<std::size_t>(owner);
    std::atomic<std::uint64_t>& share = m_shares[index].value;
    std::uint64_t word = share.load(std::memory_order_acquire);
    while (true) {
        Share left = unpacked(word);
        const auto age = static_cast<std::int32_t>(number - left.number);
        if (age > 0)
            left = {number,
                    firstOf(index, parts, m_shares.size()),
                    firstOf(index + 1, parts, m_shares.size())};
        if (age < 0 || left.begin == left.end)
            return -1;
        const std::uint32_t part = isOwn ? left.begin++ : --left.end;
        if (share.compare_exchange_weak(
                word, packed(left), std::memory_order_acq_rel, std::memory_order_acquire))
            return static_cast<int>(part);
    }
}

void WorkerPool::workerLoop(int thread) {
    std::uint32_t number = 0;
    Fetching fetching;
    Crowd crowd;
    const int count = static_cast<int>(m_shares.size()); // not all of them may have started
    ProcessorLender lender(thread + 1 == count && count >= processorShare().processors);
    m_nodes.bind(thread);
    while (true) {
        const std::uint64_t announced = waitForTask(number, fetching, crowd, lender);
        if (m_isEnding)
            return;
        number = static_cast<std::uint32_t>(announced >> 32U);
        const Outcome outcome =
            workOn(number, static_cast<std::uint32_t>(announced), thread, &lender);
        if (outcome.doneParts > 0) {
            m_done.parts.fetch_add(outcome.doneParts);
            if (m_done.isAwaited.load())
                m_done.parts.notify_one();
        }
        fetching = outcome.fetching;
    }
}

/// Number and parts of the newest task, once it is no longer the one `seen`.
std::uint64_t WorkerPool::waitForTask(std::uint32_t seen,
                                      Fetching& fetching,
                                      Crowd& crowd,
                                      ProcessorLender& lender) {
    const auto begin = Clock::now();
    bool hasLooked = false;
    const auto isNew = [&](std::uint64_t announced) {
        return static_cast<std::uint32_t>(announced >> 32U) != seen;
    };
    while (true) {
        if (lender.isAsked())
            lender.lend();
        for (int i = 0; i < kPausesPerLook; ++i) {
            const std::uint64_t now = m_announced.numberAndParts.load(std::memory_order_acquire);
            if (isNew(now))
                return now;
            fetching.step();
        }
        const auto spun = Clock::now() - begin;
        const bool isLook = spun >= kCrowdedSpin && !std::exchange(hasLooked, true);
        if (spun >= m_spinTime || (isLook && crowd.isThere(begin + spun)))
            break;
    }
    lender.setAwake(false);
    m_sleepers.value.fetch_add(1);
    m_wakeNumber.value.wait(seen);
    m_sleepers.value.fetch_sub(1);
    lender.setAwake(true);
    if (lender.isAsked())
        lender.lend();
    return m_announced.numberAndParts.load(std::memory_order_acquire);
}

} // namespace engine
