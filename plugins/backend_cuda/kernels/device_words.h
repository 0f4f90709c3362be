// SPDX-License-Identifier: Apache-2.0
// The few words in which kernels speak to the machine: PTX on a GPU, fibers on a processor. The
// only file that knows which of the two it is.
#pragma once

#include "plugins/backend_cuda/kernels/faults.h"

#include <cstdint>

#if defined(__CUDACC__)

#define DEVICE __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define ARGUMENTS const __grid_constant__
#define UNROLL _Pragma("unroll")
#define KEEP_LOOP _Pragma("unroll 1") // where registers matter more than time

namespace backend_cuda {

/// Faults are planted under emulation only, where a test must find each of them.
DEVICE constexpr bool hasFault(Fault) { return false; }

DEVICE int threadIndex() { return static_cast<int>(threadIdx.x); }

DEVICE int laneIndex() { return static_cast<int>(threadIdx.x & 31U); }

DEVICE int warpIndex() { return static_cast<int>(threadIdx.x >> 5U); }

DEVICE int blockIndex() { return static_cast<int>(blockIdx.x); }

DEVICE int gridBlocks() { return static_cast<int>(gridDim.x); }

DEVICE void syncBlock() { __syncthreads(); }

/// The four warps of one half of the block wait for each other, the lanes of each first.
DEVICE void syncHalf(int half) {
    __syncwarp();
    asm volatile("bar.sync %0, 128;" ::"r"(half + 1) : "memory");
}

template <typename Number> DEVICE Number shuffleXor(Number value, int mask) {
    return __shfl_xor_sync(0xffffffffU, value, mask);
}

template <typename Number> DEVICE Number shuffleFrom(Number value, int lane) {
    return __shfl_sync(0xffffffffU, value, lane);
}

DEVICE char* sharedMemory() {
    extern __shared__ uint4 shared[];
    return reinterpret_cast<char*>(shared);
}

/// c += a b of a 16 x 16 tile of weights and a 16 x 8 tile of rows, in the layout of m16n8k16.
DEVICE void multiplyBf16(float (&c)[4], uint4 a, uint2 b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

DEVICE void multiplyHalf(float (&c)[4], uint4 a, uint2 b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

/// c += a b of a 16 x 32 tile of weights and a 32 x 8 tile of rows, exactly, in the layout of
/// m16n8k32.
DEVICE void multiplyInt8(int (&c)[4], uint4 a, uint2 b) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

/// The same of 16 columns, in the layout of m16n8k16.
DEVICE void multiplyInt8(int (&c)[4], uint2 a, unsigned b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, "
                 "{%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a.x), "r"(a.y), "r"(b));
}

/// Bytes: 4, 8 or 16.
template <int Bytes> DEVICE void copyAsync(void* shared, const void* global) {
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes)
                     : "memory");
}

DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int Open> DEVICE void waitCopies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Open) : "memory");
}

/// Of memory that this launch writes: the first-level cache does not see other multiprocessors.
template <typename Value> DEVICE Value loadFresh(const Value* from) { return __ldcg(from); }

/// Counts an arrival, behind which all that this thread has seen written is there for others.
DEVICE unsigned arrive(unsigned* counter) {
    __threadfence();
    const unsigned before = atomicAdd(counter, 1U);
    __threadfence();
    return before;
}

DEVICE unsigned readAcquire(const unsigned* from) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/// Between two looks at what other blocks write. A look takes half a microsecond or more: so many
/// are seconds, and give the launch up with an error of the driver.
DEVICE void pause(unsigned looks) {
    if (looks == 1U << 24U)
        asm volatile("trap;");
}

DEVICE void lowerTo(unsigned* place, unsigned value) { atomicMin(place, value); }

DEVICE unsigned packBf16(float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

DEVICE unsigned packHalf(float low, float high) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

DEVICE float halfToFloat(unsigned bits) {
    float value;
    asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(value) : "r"(bits & 0xffffU));
    return value;
}

DEVICE float floatOfBits(unsigned bits) { return __uint_as_float(bits); }

DEVICE unsigned bitsOfFloat(float value) { return __float_as_uint(value); }

DEVICE float multiplyAdd(float a, float b, float c) { return __fmaf_rn(a, b, c); }

DEVICE float squareRoot(float value) { return __fsqrt_rn(value); }

} // namespace backend_cuda

#else
#include "plugins/backend_cuda/emulation/emulated_words.h"
#endif

namespace backend_cuda {

DEVICE float bf16ToFloat(unsigned bits) { return floatOfBits(bits << 16U); }

DEVICE bool isFinite(float value) { return (bitsOfFloat(value) & 0x7f800000U) != 0x7f800000U; }

} // namespace backend_cuda
