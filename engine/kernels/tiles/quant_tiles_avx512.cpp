// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/tile_loop.h"

#include <immintrin.h>

namespace engine {

namespace {

template <ScaleForm Form> __m512 loadScales(const std::byte* scales, int group) {
    const std::size_t at = static_cast<std::size_t>(group) * kTileRows;
    if constexpr (Form == ScaleForm::F32)
        return _mm512_load_ps(reinterpret_cast<const float*>(scales) + at);
    else
        return _mm512_cvtph_ps(_mm256_load_si256(
            reinterpret_cast<const __m256i*>(reinterpret_cast<const std::uint16_t*>(scales) + at)));
}

/// Four activations of each group of four columns, the same for all lanes.
__m512i fourQuants(const std::int8_t* quants) {
    int four;
    __builtin_memcpy(&four, quants, sizeof(four));
    return _mm512_set1_epi32(four);
}

/// Sums within a group are whole numbers and so exact; groups are added in order of columns.
template <TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima> struct QuantKernel {
    static constexpr int kSums = 8; // each with a whole and a real number, of 32 registers

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        const TileMatrix& matrix = run.matrix;
        const TileInput& in = run.input;
        const auto row = static_cast<std::size_t>(run.row);
        const int groups = matrix.columns / GroupColumns;
        const std::size_t scaleBytes = (Scale == ScaleForm::F32 ? 4U : 2U) * kTileRows;
        __m512 sums[Tiles][Rows];
        for (int t = 0; t < Tiles; ++t)
            for (int m = 0; m < Rows; ++m)
                sums[t][m] = _mm512_setzero_ps();
        for (int group = 0; group < groups; ++group) {
            __m512i dots[Tiles][Rows];
            for (int t = 0; t < Tiles; ++t)
                for (int m = 0; m < Rows; ++m)
                    dots[t][m] = _mm512_set1_epi32(
                        in.offsets[(row + static_cast<std::size_t>(m)) * in.offsetStride +
                                   static_cast<std::size_t>(group)]);
            addDots<Rows, Tiles>(run, group, dots);
            for (int t = 0; t < Tiles; ++t) {
                const std::byte* tile = run.tile + static_cast<std::size_t>(t) * matrix.tileBytes;
                const __m512 scale = loadScales<Scale>(tile, group);
                const std::byte* minima = tile + static_cast<std::size_t>(groups) * scaleBytes;
                for (int m = 0; m < Rows; ++m) {
                    const std::size_t at = row + static_cast<std::size_t>(m);
                    const __m512 inputScale = _mm512_set1_ps(
                        in.scales[at * in.groupStride +
                                  static_cast<std::size_t>(group * GroupColumns / kGroupColumns)]);
                    const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[t][m]), inputScale);
                    sums[t][m] = _mm512_fmadd_ps(scale, dot, sums[t][m]);
                    if constexpr (HasMinima)
                        sums[t][m] = _mm512_fmadd_ps(
                            loadScales<Scale>(minima, group),
                            _mm512_set1_ps(
                                in.sums[at * in.groupStride + static_cast<std::size_t>(group)]),
                            sums[t][m]);
                }
            }
        }
        for (int t = 0; t < Tiles; ++t)
            for (int m = 0; m < Rows; ++m)
                _mm512_storeu_ps(run.out + static_cast<std::size_t>(m) * run.outStride +
                                     t * kTileRows,
                                 sums[t][m]);
    }

    template <int Rows, int Tiles>
    static void addDots(const TileRun& run, int group, __m512i (&dots)[Tiles][Rows]) {
        const TileInput& in = run.input;
        const std::int8_t* quants[Rows];
        for (int m = 0; m < Rows; ++m)
            quants[m] = in.quants + static_cast<std::size_t>(run.row + m) * in.stride +
                        static_cast<std::size_t>(group) * GroupColumns;
        constexpr int kVectors = Form == TileForm::Int4 ? GroupColumns / 8 : GroupColumns / 4;
        for (int t = 0; t < Tiles; ++t) {
            const std::byte* stored =
                run.tile + static_cast<std::size_t>(t) * run.matrix.tileBytes +
                run.matrix.quantsOffset + static_cast<std::size_t>(group) * kVectors * 64;
            for (int v = 0; v < kVectors; ++v) {
                const __m512i bytes = _mm512_load_si512(stored + v * 64);
                if constexpr (Form == TileForm::Int4) {
                    const __m512i low = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
                    const __m512i high =
                        _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
                    for (int m = 0; m < Rows; ++m) {
                        dots[t][m] =
                            _mm512_dpbusd_epi32(dots[t][m], low, fourQuants(quants[m] + 4 * v));
                        dots[t][m] = _mm512_dpbusd_epi32(
                            dots[t][m], high, fourQuants(quants[m] + GroupColumns / 2 + 4 * v));
                    }
                } else {
                    for (int m = 0; m < Rows; ++m)
                        dots[t][m] =
                            _mm512_dpbusd_epi32(dots[t][m], bytes, fourQuants(quants[m] + 4 * v));
                }
            }
        }
    }
};

template <TileForm Form, int GroupColumns, ScaleForm Scale>
void multiplyScaled(const TileMatrix& matrix,
                    const TileInput& input,
                    int firstTile,
                    int tileCount,
                    const TileOutput& out) {
    if (matrix.hasMinima)
        multiplyWith<QuantKernel<Form, GroupColumns, Scale, true>>(
            matrix, input, firstTile, tileCount, out);
    else
        multiplyWith<QuantKernel<Form, GroupColumns, Scale, false>>(
            matrix, input, firstTile, tileCount, out);
}

} // namespace

void multiplyQuantTilesAvx512(const TileMatrix& matrix,
                              const TileInput& input,
                              int firstTile,
                              int tileCount,
                              const TileOutput& out) {
    const bool isF16 = matrix.scaleForm == ScaleForm::F16;
    if (matrix.groupColumns == 16)
        multiplyWith<QuantKernel<TileForm::Int8, 16, ScaleForm::F32, false>>(
            matrix, input, firstTile, tileCount, out);
    else if (matrix.form == TileForm::Int4)
        isF16 ? multiplyScaled<TileForm::Int4, 32, ScaleForm::F16>(
                    matrix, input, firstTile, tileCount, out)
              : multiplyScaled<TileForm::Int4, 32, ScaleForm::F32>(
                    matrix, input, firstTile, tileCount, out);
    else
        isF16 ? multiplyScaled<TileForm::Int8, 32, ScaleForm::F16>(
                    matrix, input, firstTile, tileCount, out)
              : multiplyScaled<TileForm::Int8, 32, ScaleForm::F32>(
                    matrix, input, firstTile, tileCount, out);
}

} // namespace engine
