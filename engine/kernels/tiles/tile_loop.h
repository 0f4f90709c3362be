// SPDX-License-Identifier: Apache-2.0
// The loop over tiles and rows that all vector kernels share. Included by files of one instruction
// set only, so everything here has internal linkage.
#pragma once

#include "engine/kernels/tiles/tile_matrix.h"

namespace engine {

namespace {

/// Number of tiles that all groups of rows process before the next ones are read from memory.
constexpr int kTilesInCache = 4;

/// From how many rows on a kernel prefetches the lines of a tile's stream into the first cache, how
/// many bytes ahead, and from how many rows on 8 KiB ahead into the second one, where that is
/// better. It depends on the processor.
struct FetchRows {
    int near;
    int far;
    int nearBytes = 4096;
};

/// Prefetches a line of a tile's stream that is needed much later: the hardware prefetcher stops at
/// each page of 4 KiB, and then the sums wait. With 8 rows of bfloat16 on Zen 4 a pass takes 1.3
/// times that of one row instead of 2.6.
template <int Rows, FetchRows From> static inline void fetchAhead(const std::byte* line) {
    if constexpr (Rows >= From.far)
        __builtin_prefetch(line + 8192, 0, 2);
    else if constexpr (Rows >= From.near)
        __builtin_prefetch(line + From.nearBytes, 0, 3);
}

/// One run of a kernel: `row` is its first row.
struct TileRun {
    const TileMatrix& matrix;
    const TileInput& input;
    const std::byte* tile;
    int row;
    float* out; ///< of the first tile and row
    std::size_t outStride;
};

/// Number of tiles that a kernel processes at once, so that all its sums have a register.
constexpr int widestRun(int rows, int sums) {
    return rows * 4 <= sums ? 4 : rows * 2 <= sums ? 2 : 1;
}

template <typename Kernel, int Rows, int Tiles> static void runTiles(TileRun run, int tileCount) {
    int done = 0;
    for (; done + Tiles <= tileCount; done += Tiles) {
        Kernel::template run<Rows, Tiles>(run);
        run.tile += Tiles * run.matrix.tileBytes;
        run.out += Tiles * kTileRows;
    }
    if constexpr (Tiles > 1)
        if (done < tileCount)
            runTiles<Kernel, Rows, Tiles / 2>(run, tileCount - done);
}

template <typename Kernel, int Rows> static void runRows(const TileRun& run, int tileCount) {
    runTiles<Kernel, Rows, widestRun(Rows, Kernel::kSums)>(run, tileCount);
}

/// `rows`: 1 to Rows.
template <typename Kernel, int Rows> static void runPiece(const TileRun& run, int rows, int tiles) {
    if constexpr (Rows > 1)
        if (rows < Rows)
            return runPiece<Kernel, Rows - 1>(run, rows, tiles);
    runRows<Kernel, Rows>(run, tiles);
}

/// A kernel takes at most Kernel::kMostRows rows; more rows run in groups while their tiles are
/// still in the cache.
template <typename Kernel>
static void multiplyWith(const TileMatrix& matrix,
                         const TileInput& input,
                         int firstTile,
                         int tileCount,
                         const TileOutput& out) {
    for (int done = 0; done < tileCount; done += kTilesInCache) {
        const int tiles = tileCount - done < kTilesInCache ? tileCount - done : kTilesInCache;
        const std::size_t tile = static_cast<std::size_t>(firstTile + done);
        for (int row = 0; row < input.rows; row += Kernel::kMostRows) {
            const int left = input.rows - row;
            const int rows = left < Kernel::kMostRows ? left : Kernel::kMostRows;
            const TileRun run{matrix,
                              input,
                              matrix.data + tile * matrix.tileBytes,
                              row,
                              out.values + static_cast<std::size_t>(row) * out.stride +
                                  tile * kTileRows,
                              out.stride};
            runPiece<Kernel, Kernel::kMostRows>(run, rows, tiles);
        }
    }
}

} // namespace

} // namespace engine
