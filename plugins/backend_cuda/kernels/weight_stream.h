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

/// Records of a unit; units are numbered slab by slab.
DEVICE int recordsOf(const DeviceMatrix& matrix, int slab) {
    const int most = kSlab / recordColumns(matrix.form);
    const int left = matrix.records - slab * most;
    return left < most ? left : most;
}

DEVICE int chunksOf(const DeviceMatrix& matrix, int unit) {
    return recordsOf(matrix, unit / matrix.strips) * recordChunks(matrix.form);
}

/// A warp's record, the index-th of a unit.
DEVICE const char* recordAt(const DeviceMatrix& matrix, int slab, int strip, int index, int warp) {
    const long long record =
        static_cast<long long>(slab) * (kSlab / recordColumns(matrix.form)) * matrix.strips +
        static_cast<long long>(strip) * recordsOf(matrix, slab) + index;
    return static_cast<const char*>(matrix.weights) +
           (record * kWarps + warp) * recordBytes(matrix);
}

/// Where the ring has got to.
class WeightStream {
public:
    /// The ring lies at the beginning of shared memory.
    DEVICE explicit WeightStream(const PassArguments& pass)
        : m_pass(pass) {
        m_operation = pass.first - 1;
        m_units = {0, 0};
        findUnit();
        for (int slot = 0; slot < kRing; ++slot)
            ask(slot);
    }

    /// The steps of this thread's next chunk; behind the two of a chunk that begins a record of
    /// quantised numbers the scales.
    template <int Steps> DEVICE void take(uint4 (&steps)[Steps]) {
        if (hasFault(Fault::ShortWait))
            waitCopies<kRing>();
        else
            waitCopies<kRing - 1>();
        UNROLL
        for (int step = 0; step < Steps; ++step)
            steps[step] = ring(m_slot)[step * kThreads];
    }

    /// Asks for the chunk that is a whole ring ahead, behind the products that used this one.
    DEVICE void goOn() {
        ask(m_slot);
        m_slot = m_slot + 1 == kRing ? 0 : m_slot + 1;
    }

private:
    /// This thread's places in a slot, [steps, threads].
    static DEVICE uint4* ring(int slot) {
        return reinterpret_cast<uint4*>(sharedMemory()) + slot * kSteps * kThreads + threadIndex();
    }

    DEVICE void findUnit() {
        while (m_units.next >= m_units.end) {
            if (++m_operation >= m_pass.end)
                return;
            const Operation& operation = m_pass.operations[m_operation];
            if (operation.kind == Kind::Linear)
                m_units = shareOf(unitsOf(operation.matrix), operation.offset);
        }
        const DeviceMatrix& matrix = m_pass.operations[m_operation].matrix;
        m_chunks = chunksOf(matrix, m_units.next);
        m_scaleBytes = matrix.form == Form::Int4 ? -matrix.scaleBytes : matrix.scaleBytes;
        m_next = recordAt(matrix,
                          m_units.next / matrix.strips,
                          m_units.next % matrix.strips,
                          0,
                          warpIndex()) +
                 laneIndex() * 16;
    }

    DEVICE void ask(int slot) {
        if (m_operation < m_pass.end) {
            uint4* to = ring(slot);
            const bool isPlain = m_scaleBytes == 0;
            const bool isInHalves = m_scaleBytes > 0; // a record is two chunks
            const bool isSecond = isInHalves && m_chunks % 2 != 0;
            const int scaleBytes = isInHalves ? m_scaleBytes : -m_scaleBytes;
            if (!isPlain && !isSecond) {
                askScales(to + 2 * kThreads, scaleBytes);
                m_next += 32 * scaleBytes;
            }
            UNROLL
            for (int step = 0; step < kSteps; ++step)
                if (step < 2 || isPlain)
                    copyAsync<16>(to + step * kThreads, m_next + step * kStepBytes);
            m_next += (isPlain ? kSteps : 2) * kStepBytes;
            if (isSecond || !isInHalves) // past the records of the other warps
                m_next += (kWarps - 1) *
                          (32 * scaleBytes + (isPlain || isInHalves ? kSteps : 2) * kStepBytes);
            if (--m_chunks == 0) {
                ++m_units.next;
                findUnit();
            }
        }
        commitCopies();
    }

    DEVICE void askScales(uint4* to, int scaleBytes) {
        const char* from = m_next + laneIndex() * (scaleBytes - 16);
        if (scaleBytes == 4)
            copyAsync<4>(to, from);
        else if (scaleBytes == 8)
            copyAsync<8>(to, from);
        else
            copyAsync<16>(to, from);
    }

    const PassArguments& m_pass;
    const char* m_next = nullptr; // of this lane
    UnitRange m_units;
    int m_operation;
    int m_scaleBytes = 0; // of a lane; below 0 those of Int4; 0: plain numbers
    int m_chunks = 0;     // of the unit that are not asked for yet; of Int8 an even number at first
    int m_slot = 0;
};

} // namespace backend_cuda
