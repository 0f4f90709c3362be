// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/memory_roof.h"

#include "engine/base/to_size.h"
#include "engine/kernels/huge_memory.h"
#include "engine/kernels/nodes/node_threads.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace engine {

namespace {

constexpr std::size_t kSmallestRoof = std::size_t{64} << 20U;

/// The size of a thread's piece: large enough for the prefetcher to run, small enough that all
/// threads end together.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;

// The vector types are members because attributes are lost on template arguments.
struct Lanes16 {
    using Vector = std::uint64_t __attribute__((vector_size(16)));
};

struct Lanes32 {
    using Vector = std::uint64_t __attribute__((vector_size(32)));
};

struct Lanes64 {
    using Vector = std::uint64_t __attribute__((vector_size(64)));
};

/// Sums one chunk with eight accumulators, so that loads never wait for additions.
template <typename Lanes>
[[gnu::always_inline]] inline std::uint64_t sumWith(const std::byte* chunk) {
    using Vector = typename Lanes::Vector;
    const auto* at = reinterpret_cast<const Vector*>(chunk);
    const auto* const end = at + kChunkBytes / sizeof(Vector);
    Vector s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
    for (; at != end; at += 8) {
        s0 += at[0];
        s1 += at[1];
        s2 += at[2];
        s3 += at[3];
        s4 += at[4];
        s5 += at[5];
        s6 += at[6];
        s7 += at[7];
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    std::uint64_t sum = 0;
    for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(std::uint64_t); ++lane)
        sum += s0[lane];
    return sum;
}

using SumChunk = std::uint64_t (*)(const std::byte*);

std::uint64_t sumPlain(const std::byte* chunk) { return sumWith<Lanes16>(chunk); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::uint64_t sumAvx2(const std::byte* chunk) {
    return sumWith<Lanes32>(chunk);
}

__attribute__((target("avx512f"))) std::uint64_t sumAvx512(const std::byte* chunk) {
    return sumWith<Lanes64>(chunk);
}

SumChunk widestSum() {
    if (__builtin_cpu_supports("avx512f"))
        return sumAvx512;
    return __builtin_cpu_supports("avx2") ? sumAvx2 : sumPlain;
}
#else
SumChunk widestSum() { return sumPlain; }
#endif

} // namespace

/// The buffer and the threads that read it; each free thread takes the next chunk, as long as there
/// are some of those of its own memory node.
class MemoryRoof::Readers {
public:
    Readers(std::size_t bytes, int threads, NodeMachine& machine)
        : m_chunkCount((bytes + kChunkBytes - 1) / kChunkBytes)
        , m_buffer(HugeMemory::make(m_chunkCount * kChunkBytes, "the roof's buffer"))
        , m_threadCount(threads > 1 ? threads : 1)
        , m_nodes(machine, m_threadCount)
        , m_left(toSize(m_nodes.nodeCount())) {}

    ~Readers() {
        {
            const std::lock_guard lock(m_mutex);
            m_isEnding = true;
        }
        m_changed.notify_all();
        for (std::thread& thread : m_threads)
            thread.join();
    }

    Readers(const Readers&) = delete;
    Readers& operator=(const Readers&) = delete;

    bool hasMemory() const { return m_buffer.hasValue(); }

    void start() {
        std::vector<NodeBytes> reads;
        for (int node = 0; node < m_nodes.nodeCount(); ++node) {
            const auto [first, end] = m_nodes.partOf(node, m_chunkCount);
            reads.push_back({first * kChunkBytes, end * kChunkBytes, node});
        }
        m_nodes.place({m_buffer.value().data(), byteSize()}, reads, kHugePage);
        auto* words = reinterpret_cast<std::uint64_t*>(m_buffer.value().data());
        for (std::size_t i = 0; i < byteSize() / sizeof *words; ++i)
            words[i] = i;
        for (int i = 1; i < m_threadCount; ++i)
            m_threads.emplace_back([this, i] { serve(i); });
    }

    double readOnce() {
        const CallerOnNode place(m_nodes);
        const auto begin = std::chrono::steady_clock::now();
        {
            const std::lock_guard lock(m_mutex);
            for (int node = 0; node < m_nodes.nodeCount(); ++node) {
                const auto [first, end] = m_nodes.partOf(node, m_chunkCount);
                m_left[toSize(node)].next = first;
                m_left[toSize(node)].end = end;
            }
            m_sum = 0;
            m_busy = m_threadCount - 1;
            ++m_round;
        }
        m_changed.notify_all();
        readChunks(0);
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_busy == 0; });
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        return static_cast<double>(byteSize()) / seconds.count() * 1e-9;
    }

    std::size_t byteSize() const { return m_chunkCount * kChunkBytes; }

    int threadCount() const { return m_threadCount; }

    std::uint64_t sum() const { return m_sum; }

private:
    /// Chunks of a node that are still to be read.
    struct alignas(64) Left {
        std::atomic<std::size_t> next = 0;
        std::size_t end = 0;
    };

    void serve(int thread) {
        m_nodes.bind(thread);
        std::uint64_t served = 0;
        while (true) {
            {
                std::unique_lock lock(m_mutex);
                m_changed.wait(lock, [&] { return m_isEnding || m_round != served; });
                if (m_isEnding)
                    return;
                served = m_round;
            }
            readChunks(thread);
            const std::lock_guard lock(m_mutex);
            if (--m_busy == 0)
                m_changed.notify_all();
        }
    }

    void readChunks(int thread) {
        std::uint64_t sum = 0;
        for (int step = 0; step < m_nodes.nodeCount(); ++step) {
            Left& left = m_left[toSize((m_nodes.nodeOf(thread) + step) % m_nodes.nodeCount())];
            for (std::size_t chunk = left.next++; chunk < left.end; chunk = left.next++)
                sum += m_sumChunk(m_buffer.value().data() + chunk * kChunkBytes);
        }
        m_sum += sum;
    }

    std::size_t m_chunkCount;
    Result<HugeMemory> m_buffer;
    int m_threadCount;
    NodeThreads m_nodes;
    std::vector<Left> m_left; // [nodes]
    SumChunk m_sumChunk = widestSum();
    std::vector<std::thread> m_threads;
    std::atomic<std::uint64_t> m_sum = 0;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::uint64_t m_round = 0; // guarded by m_mutex
    int m_busy = 0;            // guarded by m_mutex
    bool m_isEnding = false;   // guarded by m_mutex
};

MemoryRoof::MemoryRoof(std::unique_ptr<Readers> readers)
    : m_readers(std::move(readers)) {}

MemoryRoof::~MemoryRoof() = default;

Result<std::unique_ptr<MemoryRoof>>
MemoryRoof::make(std::size_t bytes, int threads, NodeMachine& machine) {
    auto readers = std::make_unique<Readers>(bytes, threads, machine);
    if (!readers->hasMemory())
        return Error{ErrorCode::NoMemory,
                     fmt::format("There is not enough memory to measure its speed: {} bytes.",
                                 readers->byteSize()),
                     "Close other programs."};
    readers->start();
    return std::unique_ptr<MemoryRoof>(new MemoryRoof(std::move(readers)));
}

Result<double> MemoryRoof::readGbps() { return m_readers->readOnce(); }

std::size_t MemoryRoof::byteSize() const { return m_readers->byteSize(); }

int MemoryRoof::threadCount() const { return m_readers->threadCount(); }

std::uint64_t MemoryRoof::lastSum() const { return m_readers->sum(); }

std::size_t roofBytesThatFit(std::size_t wanted, double availableBytes) {
    std::size_t bytes = wanted;
    while (bytes > kSmallestRoof && static_cast<double>(bytes) > 0.25 * availableBytes)
        bytes /= 2;
    return bytes;
}

} // namespace engine
