// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/nodes/node_machine.h"
#include "engine/kernels/read_roof.h"

#include <cstddef>
#include <memory>

namespace engine {

/// The processor's memory bandwidth. On a shared machine it varies by half within minutes, so it is
/// measured with each sample that is compared with it. It has its own threads, which sleep between
/// readings.
class MemoryRoof final : public ReadRoof {
public:
    /// Creates a buffer of `bytes` (rounded up to whole chunks), in huge pages if the system has
    /// them; `threads` threads read it, including the caller's. On a machine with several memory
    /// nodes each reads that of its own node, as weights are read. If the buffer is not far larger
    /// than the processor's caches, it measures the caches. Errors: NoMemory.
    static Result<std::unique_ptr<MemoryRoof>>
    make(std::size_t bytes, int threads, NodeMachine& machine = systemMachine());

    ~MemoryRoof() override;

    /// Never an error.
    Result<double> readGbps() override;

    std::size_t byteSize() const override;

    int threadCount() const;

    /// Sum of the buffer's 64-bit words from the last reading, as a proof that everything was read.
    std::uint64_t lastSum() const;

private:
    class Readers;

    explicit MemoryRoof(std::unique_ptr<Readers> readers);

    std::unique_ptr<Readers> m_readers;
};

/// A buffer size for `wanted` bytes: halved until it fits into 1/4 of the free memory, but not
/// below 64 MiB.
std::size_t roofBytesThatFit(std::size_t wanted, double availableBytes);

} // namespace engine
