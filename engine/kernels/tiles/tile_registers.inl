// SPDX-License-Identifier: Apache-2.0
// The tile registers of AMX, by hand, because the intrinsics of g++ 12 do not say that they read
// memory. Source: Intel's Software Developer's Manual, volume 1, chapter 18.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine {

namespace {

/// Rows of a tile register.
constexpr int kRegisterRows = 16;

/// What `ldtilecfg` reads.
struct alignas(64) RegisterShapes {
    std::uint8_t palette = 1;
    std::uint8_t startRow = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t rowBytes[16] = {};
    std::uint8_t rows[16] = {};

    void set(int tile, int rowCount, int bytes) {
        rows[tile] = static_cast<std::uint8_t>(rowCount);
        rowBytes[tile] = static_cast<std::uint16_t>(bytes);
    }
};

inline void shapeRegisters(const RegisterShapes& shapes) {
    __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
}

/// Otherwise the system would keep them for this thread at each switch.
inline void releaseRegisters() { __asm__ volatile("tilerelease"); }

template <int Tile> inline void clearTile() { __asm__ volatile("tilezero %%tmm%c0" ::"n"(Tile)); }

/// `stride`: bytes from one row to the next.
template <int Tile> inline void loadTile(const void* from, std::size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "n"(Tile)
                     : "memory");
}

template <int Tile> inline void storeTile(void* to, std::size_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "n"(Tile) : "memory");
}

/// sums += rows * weights, fours of signed bytes
template <int Sums, int Rows, int Weights> inline void addBytes() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(Sums), "n"(Rows), "n"(Weights));
}

/// sums += rows * weights, pairs of bfloat16
template <int Sums, int Rows, int Weights> inline void addBf16() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(Sums), "n"(Rows), "n"(Weights));
}

} // namespace

} // namespace engine
