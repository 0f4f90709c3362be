// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/tile_loop.h"

#include <immintrin.h>

namespace engine {

namespace {

constexpr FetchRows kFetch{.near = 1, .far = 16}; // far: none. Measured on Zen 3

template <TileForm Form> __m256 loadColumn(const std::byte* tile, std::size_t at) {
    if constexpr (Form == TileForm::F32)
        return _mm256_load_ps(reinterpret_cast<const float*>(tile) + at);
    else
        return _mm256_cvtph_ps(_mm_load_si128(
            reinterpret_cast<const __m128i*>(reinterpret_cast<const std::uint16_t*>(tile) + at)));
}

/// One fused multiply and add for each column, in order.
template <TileForm Form> struct FloatKernel {
    static constexpr int kMostRows = 4;
    static constexpr int kSums = 4; // tiles of two vectors each, of 16 registers

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        for (int t = 0; t < Tiles; ++t) {
            const TileInput& in = run.input;
            const float* values = in.values + static_cast<std::size_t>(run.row) * in.stride;
            const std::byte* tile = run.tile + static_cast<std::size_t>(t) * run.matrix.tileBytes;
            __m256 low[Rows];
            __m256 high[Rows];
            for (int m = 0; m < Rows; ++m)
                low[m] = high[m] = _mm256_setzero_ps();
            for (std::size_t column = 0; column < static_cast<std::size_t>(run.matrix.columns);
                 ++column) {
                if (Form == TileForm::F32 || column % 2 == 0)
                    fetchAhead<Rows, kFetch>(tile + column * (Form == TileForm::F32 ? 64 : 32));
                const __m256 first = loadColumn<Form>(tile, column * kTileRows);
                const __m256 second = loadColumn<Form>(tile, column * kTileRows + 8);
                for (int m = 0; m < Rows; ++m) {
                    const __m256 value =
                        _mm256_set1_ps(values[static_cast<std::size_t>(m) * in.stride + column]);
                    low[m] = _mm256_fmadd_ps(first, value, low[m]);
                    high[m] = _mm256_fmadd_ps(second, value, high[m]);
                }
            }
            for (int m = 0; m < Rows; ++m) {
                float* out = run.out + static_cast<std::size_t>(m) * run.outStride + t * kTileRows;
                _mm256_storeu_ps(out, low[m]);
                _mm256_storeu_ps(out + 8, high[m]);
            }
        }
    }
};

/// The even columns of all pairs and the odd ones apart, added at the end. The weights are the
/// upper halves of float32, so a shift or a mask makes them one.
struct Bf16Kernel {
    /// Both halves of a tile share each activation: 12 sums, two vectors of weights, a value and
    /// the mask are all the registers. Four rows of one half at a time are 1.2 times slower.
    static constexpr int kMostRows = 3;
    static constexpr int kSums = 4;

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        for (int t = 0; t < Tiles; ++t)
            runTile<Rows>(run, t);
    }

    template <int Rows> static void runTile(const TileRun& run, int tileIndex) {
        const TileInput& in = run.input;
        const float* values = in.rounded + static_cast<std::size_t>(run.row) * in.stride;
        const std::byte* tile =
            run.tile + static_cast<std::size_t>(tileIndex) * run.matrix.tileBytes;
        __m256 even[2][Rows];
        __m256 odd[2][Rows];
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                even[half][m] = odd[half][m] = _mm256_setzero_ps();
        const __m256i mask = _mm256_set1_epi32(static_cast<int>(0xFFFF0000U));
        for (std::size_t pair = 0; pair < static_cast<std::size_t>(run.matrix.columns) / 2;
             ++pair) {
            fetchAhead<Rows, kFetch>(tile + pair * 64);
            const auto* both = reinterpret_cast<const __m256i*>(tile + pair * 64);
            __m256 weights[2];
            for (int half = 0; half < 2; ++half)
                weights[half] =
                    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_load_si256(both + half), 16));
            addColumn<Rows>(values + 2 * pair, in.stride, weights, even);
            for (int half = 0; half < 2; ++half)
                weights[half] =
                    _mm256_castsi256_ps(_mm256_and_si256(_mm256_load_si256(both + half), mask));
            addColumn<Rows>(values + 2 * pair + 1, in.stride, weights, odd);
        }
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                _mm256_storeu_ps(run.out + static_cast<std::size_t>(m) * run.outStride +
                                     tileIndex * kTileRows + half * 8,
                                 _mm256_add_ps(even[half][m], odd[half][m]));
    }

    template <int Rows>
    static void addColumn(const float* values,
                          std::size_t stride,
                          const __m256 (&weights)[2],
                          __m256 (&sums)[2][Rows]) {
        for (int m = 0; m < Rows; ++m) {
            const __m256 value = _mm256_set1_ps(values[static_cast<std::size_t>(m) * stride]);
            for (int half = 0; half < 2; ++half)
                sums[half][m] = _mm256_fmadd_ps(weights[half], value, sums[half][m]);
        }
    }
};

} // namespace

void multiplyFloatTilesAvx2(const TileMatrix& matrix,
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

void multiplyTilesAvx2(const TileMatrix& matrix,
                       const TileInput& input,
                       int firstTile,
                       int tileCount,
                       const TileOutput& out) {
    if (holdsQuants(matrix.form))
        multiplyQuantTilesAvx2(matrix, input, firstTile, tileCount, out);
    else
        multiplyFloatTilesAvx2(matrix, input, firstTile, tileCount, out);
}

} // namespace engine
