// SPDX-License-Identifier: Apache-2.0
// The words of device_words.h for a processor: every thread of a launch is a fiber.
#pragma once

#include "plugins/backend_cuda/emulation/emulated_tiles.h"
#include "plugins/backend_cuda/emulation/fibers.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#define DEVICE inline
#define KERNEL(threads) void
#define ARGUMENTS const
#define UNROLL
#define KEEP_LOOP

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

struct alignas(8) uint2 {
    unsigned x, y;
};

struct alignas(8) float2 {
    float x, y;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

namespace backend_cuda {

namespace emulation {

inline void wait(Barrier& barrier, int threads) {
    const unsigned turn = barrier.turn;
    if (++barrier.arrived == threads) {
        barrier.arrived = 0;
        ++barrier.turn;
        noteProgress();
        return;
    }
    waitWhile(barrier.turn, turn);
}

/// Every lane brings an operand and gets a result; `work` makes all of them once.
template <typename Work> void warpWide(const void* operand, void* result, Work&& work) {
    Warp& warp = *current->warp;
    const int lane = current->thread % 32;
    const unsigned turn = warp.turn;
    warp.operands[lane] = operand;
    warp.results[lane] = result;
    if (++warp.arrived == 32) {
        work(warp);
        warp.arrived = 0;
        ++warp.turn;
        noteProgress();
        return;
    }
    waitWhile(warp.turn, turn);
}

template <typename Number> struct Shuffled {
    Number value;
    int lane; // whose value this lane wants
};

template <typename Number> Number shuffle(Number value, int lane) {
    const Shuffled<Number> in{value, lane};
    Number out;
    warpWide(&in, &out, [](Warp& warp) {
        const auto of = [&warp](int at) {
            return static_cast<const Shuffled<Number>*>(warp.operands[at]);
        };
        for (int at = 0; at < 32; ++at)
            *static_cast<Number*>(warp.results[at]) = of(of(at)->lane)->value;
    });
    return out;
}

} // namespace emulation

inline bool hasFault(Fault fault) { return emulation::plantedFault == fault; }

inline int threadIndex() { return emulation::current->thread; }

inline int laneIndex() { return emulation::current->thread % 32; }

inline int warpIndex() { return emulation::current->thread / 32; }

inline int blockIndex() { return emulation::current->block->index; }

inline int gridBlocks() { return emulation::gridSize; }

inline void syncBlock() {
    emulation::Block& block = *emulation::current->block;
    emulation::wait(block.all, static_cast<int>(block.warps.size()) * 32);
}

inline void syncHalf(int half) {
    emulation::Block& block = *emulation::current->block;
    emulation::wait(block.halves[half], static_cast<int>(block.warps.size()) * 16);
}

template <typename Number> Number shuffleXor(Number value, int mask) {
    return emulation::shuffle(value, laneIndex() ^ mask);
}

template <typename Number> Number shuffleFrom(Number value, int lane) {
    return emulation::shuffle(value, lane);
}

inline char* sharedMemory() {
    return reinterpret_cast<char*>(emulation::current->block->shared.data());
}

inline float floatOfBits(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline unsigned bitsOfFloat(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct TileOperands {
    uint4 a;
    uint2 b;
};

template <bool IsBf16> void emulateProduct(float (&c)[4], uint4 a, uint2 b) {
    const TileOperands in{a, b};
    emulation::warpWide(&in, &c, [](emulation::Warp& warp) {
        emulation::multiplyTiles(warp.operands, warp.results, IsBf16);
    });
}

inline void multiplyBf16(float (&c)[4], uint4 a, uint2 b) { emulateProduct<true>(c, a, b); }

inline void multiplyHalf(float (&c)[4], uint4 a, uint2 b) { emulateProduct<false>(c, a, b); }

template <typename A, typename B> void emulateInt8(int (&c)[4], A a, B b) {
    struct Operands {
        A a;
        B b;
    };

    const Operands in{a, b};
    emulation::warpWide(&in, &c, [](emulation::Warp& warp) {
        emulation::multiplyInt8Tiles(warp.operands, warp.results, sizeof(A) / 8);
    });
}

inline void multiplyInt8(int (&c)[4], uint4 a, uint2 b) { emulateInt8(c, a, b); }

inline void multiplyInt8(int (&c)[4], uint2 a, unsigned b) { emulateInt8(c, a, b); }

template <int Bytes> void copyAsync(void* shared, const void* global) {
    emulation::current->copies.push_back({shared, global, Bytes, emulation::current->group});
}

inline void commitCopies() { ++emulation::current->group; }

template <int Open> void waitCopies() {
    emulation::Fiber& fiber = *emulation::current;
    std::size_t done = 0;
    for (; done < fiber.copies.size() && fiber.copies[done].group < fiber.group - Open; ++done)
        std::memcpy(fiber.copies[done].to, fiber.copies[done].from, fiber.copies[done].bytes);
    fiber.copies.erase(fiber.copies.begin(), fiber.copies.begin() + static_cast<long>(done));
}

template <typename Value> Value loadFresh(const Value* from) { return *from; }

inline unsigned arrive(unsigned* counter) {
    emulation::noteProgress();
    return (*counter)++;
}

inline unsigned readAcquire(const unsigned* from) { return *from; }

inline void pause(unsigned) { emulation::yield(); }

inline void lowerTo(unsigned* place, unsigned value) {
    if (value < *place)
        *place = value;
}

inline unsigned packBf16(float low, float high) {
    return emulation::toBf16(low) | emulation::toBf16(high) << 16U;
}

inline unsigned packHalf(float low, float high) {
    return emulation::toHalf(low) | emulation::toHalf(high) << 16U;
}

inline float halfToFloat(unsigned bits) { return emulation::fromHalf(bits); }

inline float multiplyAdd(float a, float b, float c) { return std::fma(a, b, c); }

inline float squareRoot(float value) { return std::sqrt(value); }

} // namespace backend_cuda
