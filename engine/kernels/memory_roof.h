// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <memory>

namespace engine {

/// How fast this machine reads memory right now: the roof of everything that streams weights. On a
/// shared machine it swings by half within minutes, so it is read beside each sample that is
/// compared with it. Threads of its own sleep between readings. Thread: one at a time.
class MemoryRoof {
public:
    /// A buffer of `bytes` (rounded up to whole chunks) in huge pages where the system gives them,
    /// written once; `threads` read it, the caller's included. A buffer not far larger than the
    /// processor's caches measures those. Errors: NoMemory.
    static Result<std::unique_ptr<MemoryRoof>> make(std::size_t bytes, int threads);

    ~MemoryRoof();
    MemoryRoof(const MemoryRoof&) = delete;
    MemoryRoof& operator=(const MemoryRoof&) = delete;

    /// Reads the whole buffer once. Returns 1e9 bytes a second.
    double readGbps();

    std::size_t byteSize() const;

    int threadCount() const;

    /// Sum of the buffer's 64-bit words, as the last reading found it: proof that all was read.
    std::uint64_t lastSum() const;

private:
    class Readers;

    explicit MemoryRoof(std::unique_ptr<Readers> readers);

    std::unique_ptr<Readers> m_readers;
};

/// What a roof of `wanted` bytes can have: halved until it fits beside 1/4 of the free memory, not
/// below 64 MiB.
std::size_t roofBytesThatFit(std::size_t wanted, double availableBytes);

} // namespace engine
