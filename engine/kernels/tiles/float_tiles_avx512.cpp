// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/tile_loop.h"

#include <immintrin.h>

namespace engine {

namespace {

constexpr FetchRows kFetch{.near = 2, .far = 3}; // measured on Zen 4

template <TileForm Form> __m512 loadColumn(const std::byte* tile, int column) {
    const std::size_t at = static_cast<std::size_t>(column) * kTileRows;
    if constexpr (Form == TileForm::F32)
        return _mm512_load_ps(reinterpret_cast<const float*>(tile) + at);
    else
        return _mm512_cvtph_ps(_mm256_load_si256(
            reinterpret_cast<const __m256i*>(reinterpret_cast<const std::uint16_t*>(tile) + at)));
}

/// One fused multiply and add for each column, in order.
template <TileForm Form> struct FloatKernel {
    static constexpr int kMostRows = 8;
    static constexpr int kSums = 24;

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        const TileInput& in = run.input;
        const float* values = in.values + static_cast<std::size_t>(run.row) * in.stride;
        __m512 sums[Tiles][Rows];
        for (int t = 0; t < Tiles; ++t)
            for (int m = 0; m < Rows; ++m)
                sums[t][m] = _mm512_setzero_ps();
        for (int column = 0; column < run.matrix.columns; ++column)
            for (int t = 0; t < Tiles; ++t) {
                const std::byte* tile =
                    run.tile + static_cast<std::size_t>(t) * run.matrix.tileBytes;
                if (Form == TileForm::F32 || column % 2 == 0)
                    fetchAhead<Rows, kFetch>(tile + column * (Form == TileForm::F32 ? 64 : 32));
                const __m512 weights = loadColumn<Form>(tile, column);
                for (int m = 0; m < Rows; ++m)
                    sums[t][m] = _mm512_fmadd_ps(
                        weights,
                        _mm512_set1_ps(values[static_cast<std::size_t>(m) * in.stride +
                                              static_cast<std::size_t>(column)]),
                        sums[t][m]);
            }
        for (int t = 0; t < Tiles; ++t)
            for (int m = 0; m < Rows; ++m)
                _mm512_storeu_ps(run.out + static_cast<std::size_t>(m) * run.outStride +
                                     t * kTileRows,
                                 sums[t][m]);
    }
};

/// Pairs of columns, in order, as the processor's dot product adds them.
struct Bf16Kernel {
    static constexpr int kMostRows = 8;
    static constexpr int kSums = 24;

    static __m512bh pair(const std::uint16_t* values) {
        int two;
        __builtin_memcpy(&two, values, sizeof(two));
        return reinterpret_cast<__m512bh>(_mm512_set1_epi32(two));
    }

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        const TileInput& in = run.input;
        const std::uint16_t* values = in.bf16 + static_cast<std::size_t>(run.row) * in.stride;
        __m512 sums[Tiles][Rows];
        for (int t = 0; t < Tiles; ++t)
            for (int m = 0; m < Rows; ++m)
                sums[t][m] = _mm512_setzero_ps();
        const int pairs = run.matrix.columns / 2;
        for (int p = 0; p < pairs; ++p)
            for (int t = 0; t < Tiles; ++t) {
                const std::byte* line = run.tile +
                                        static_cast<std::size_t>(t) * run.matrix.tileBytes +
                                        static_cast<std::size_t>(p) * 64;
                fetchAhead<Rows, kFetch>(line);
                const auto weights = reinterpret_cast<__m512bh>(_mm512_load_si512(line));
                for (int m = 0; m < Rows; ++m)
                    sums[t][m] = _mm512_dpbf16_ps(
                        sums[t][m],
                        weights,
                        pair(values + static_cast<std::size_t>(m) * in.stride + 2 * p));
            }
        for (int t = 0; t < Tiles; ++t)
            for (int m = 0; m < Rows; ++m)
                _mm512_storeu_ps(run.out + static_cast<std::size_t>(m) * run.outStride +
                                     t * kTileRows,
                                 sums[t][m]);
    }
};

} // namespace

void multiplyFloatTilesAvx512(const TileMatrix& matrix,
                              const TileInput& input,
                              int firstTile,
                              int tileCount,
                              const TileOutput& out) {
    if (matrix.form == TileForm::Bf16)
        multiplyWith<Bf16Kernel>(matrix, input, firstTile, tileCount, out);
    else if (matrix.form == TileForm::F16)
        multiplyWith<FloatKernel<TileForm::F16>>(matrix, input, firstTile, tileCount, out);
    else
        multiplyWith<FloatKernel<TileForm::F32>>(matrix, input, firstTile, tileCount, out);
}

void multiplyTilesAvx512(const TileMatrix& matrix,
                         const TileInput& input,
                         int firstTile,
                         int tileCount,
                         const TileOutput& out) {
    if (holdsQuants(matrix.form))
        multiplyQuantTilesAvx512(matrix, input, firstTile, tileCount, out);
    else
        multiplyFloatTilesAvx512(matrix, input, firstTile, tileCount, out);
}

} // namespace engine
