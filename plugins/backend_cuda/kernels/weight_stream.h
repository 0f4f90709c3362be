// SPDX-License-Identifier: Apache-2.0
// Weights flow into a ring of shared memory that runs ahead over the ends of operations. A thread
// reads back what it asked for itself, so the ring needs no barrier.
#pragma once

#include "plugins/backend_cuda/kernels/device_words.h"
#include "plugins/backend_cuda/kernels/pass_arguments.h"

namespace backend_cuda {

#if defined(__CUDA_ARCH__)
constexpr int kRing = ringSlots(__CUDA_ARCH__ / 10);
#else
constexpr int kRing = 3;
#endif

/// A block's units of an operation: the neighbours [next, end).
struct UnitRange {
    int next;
    int end;
};

/// The shares of the blocks differ by one unit at most; `offset` moves the larger ones on, so that
/// no block has the larger share of every operation. Which block computes a unit decides no bit.
DEVICE UnitRange shareOf(int units, int offset) {
    const int blocks = gridBlocks();
    const int place = (blockIndex() + offset) % blocks;
    return {static_cast<int>(static_cast<long long>(units) * place / blocks),
            static_cast<int>(static_cast<long long>(units) * (place + 1) / blocks)};
}

DEVICE int unitsOf(const DeviceMatrix& matrix) { return matrix.strips * matrix.slabs; }

DEVICE int slabChunks(const DeviceMatrix& matrix) { return kSlab / chunkColumns(matrix.form); }

/// Chunks of a unit; units are numbered slab by slab.
DEVICE int chunksOf(const DeviceMatrix& matrix, int unit) {
    const int most = slabChunks(matrix);
    const int left = matrix.chunks - unit / matrix.strips * most;
    return left < most ? left : most;
}

/// Where the ring has got to.
class WeightStream {
public:
    DEVICE WeightStream(const PassArguments& pass, char* shared)
        : m_pass(pass)
        , m_ring(reinterpret_cast<uint4*>(shared) + threadIndex()) {
        m_operation = pass.first - 1;
        m_units = {0, 0};
        findUnit();
        for (int slot = 0; slot < kRing; ++slot)
            ask(slot);
    }

    /// The four steps of this thread's next chunk.
    DEVICE void take(uint4 (&steps)[kSteps]) {
        if (hasFault(Fault::ShortWait))
            waitCopies<kRing>();
        else
            waitCopies<kRing - 1>();
        UNROLL
        for (int step = 0; step < kSteps; ++step)
            steps[step] = m_ring[(m_slot * kSteps + step) * kThreads];
    }

    /// Asks for the chunk that is a whole ring ahead, behind the products that used this one.
    DEVICE void goOn() {
        ask(m_slot);
        m_slot = m_slot + 1 == kRing ? 0 : m_slot + 1;
    }

private:
    DEVICE void findUnit() {
        m_chunk = 0;
        while (m_units.next >= m_units.end) {
            if (++m_operation >= m_pass.end)
                return;
            const Operation& operation = m_pass.operations[m_operation];
            if (operation.kind == Kind::Linear)
                m_units = shareOf(unitsOf(operation.matrix), operation.offset);
        }
        const DeviceMatrix& matrix = m_pass.operations[m_operation].matrix;
        const int slab = m_units.next / matrix.strips;
        const int strip = m_units.next % matrix.strips;
        m_chunks = chunksOf(matrix, m_units.next);
        const long long chunk = static_cast<long long>(slab) * slabChunks(matrix) * matrix.strips +
                                static_cast<long long>(strip) * m_chunks;
        m_next = static_cast<const uint4*>(matrix.weights) +
                 (chunk * kWarps + warpIndex()) * (kSteps * 32) + laneIndex();
    }

    DEVICE void ask(int slot) {
        if (m_operation < m_pass.end) {
            UNROLL
            for (int step = 0; step < kSteps; ++step)
                copyAsync16(m_ring + (slot * kSteps + step) * kThreads, m_next + step * 32);
            m_next += kWarps * kSteps * 32;
            if (++m_chunk == m_chunks) {
                ++m_units.next;
                findUnit();
            }
        }
        commitCopies();
    }

    const PassArguments& m_pass;
    uint4* m_ring; // [slots, steps, threads]
    const uint4* m_next = nullptr;
    UnitRange m_units;
    int m_operation;
    int m_chunk = 0;
    int m_chunks = 0;
    int m_slot = 0;
};

} // namespace backend_cuda
