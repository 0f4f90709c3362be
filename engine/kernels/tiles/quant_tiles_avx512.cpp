// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/tile_loop.h"

#include <immintrin.h>

namespace engine {

namespace {

constexpr FetchRows kFetch{.near = 2, .far = 3}; // measured on Zen 4

template <ScaleForm Form> __m512 loadScales(const std::byte* header, int group) {
    if constexpr (Form == ScaleForm::F32)
        return _mm512_load_ps(header + group * 64);
    else
        return _mm512_cvtph_ps(
            _mm256_load_si256(reinterpret_cast<const __m256i*>(header + group * 32)));
}

/// Adds the products of four columns' weights and activations, which are the same for all lanes. By
/// hand, because g++ 12 reads the activations with an instruction of their own.
inline __m512i addFour(__m512i dots, __m512i weights, const std::int8_t* quants) {
    using Four = const std::int8_t[4];
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(dots)
            : "v"(weights), "m"(*reinterpret_cast<Four*>(quants)));
    return dots;
}

/// Sums within a group are integers and therefore exact; groups are added in order of columns.
template <TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima> struct QuantKernel {
    static constexpr int kMostRows = 8;
    static constexpr int kSums = 8; // each with a whole and a real number, of 32 registers
    static constexpr int kVectors = Form == TileForm::Int4 ? GroupColumns / 8 : GroupColumns / 4;
    static constexpr int kGroupHeader = (Scale == ScaleForm::F32 ? 64 : 32) * (HasMinima ? 2 : 1);
    static constexpr int kChunkGroups = kGroupHeader < 64 ? 2 : 1;

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        for (int t = 0; t < Tiles; ++t)
            runTile<Rows>(run,
                          run.tile + static_cast<std::size_t>(t) * run.matrix.tileBytes,
                          run.out + t * kTileRows);
    }

    /// Reads the tile as one stream.
    template <int Rows> static void runTile(const TileRun& run, const std::byte* at, float* out) {
        const int groups = run.matrix.columns / GroupColumns;
        __m512 sums[Rows];
        for (int m = 0; m < Rows; ++m)
            sums[m] = _mm512_setzero_ps();
        for (int group = 0; group < groups; group += kChunkGroups) {
            const std::byte* header = at;
            if constexpr (Rows > 2)
                for (int line = 0; line < kChunkGroups * (kGroupHeader + kVectors * 64); line += 64)
                    fetchAhead<Rows, kFetch>(at + line);
            at += kChunkGroups * kGroupHeader;
#pragma GCC unroll 2
            for (int i = 0; i < kChunkGroups; ++i) {
                if (kChunkGroups > 1 && group + i == groups)
                    break;
                __m512i dots[Rows];
                groupDots<Rows>(run, group + i, at, dots);
                at += kVectors * 64;
                addGroup<Rows>(run, group + i, header, i, dots, sums);
            }
        }
        for (int m = 0; m < Rows; ++m)
            _mm512_storeu_ps(out + static_cast<std::size_t>(m) * run.outStride, sums[m]);
    }

    template <int Rows>
    static void addGroup(const TileRun& run,
                         int group,
                         const std::byte* header,
                         int inChunk,
                         const __m512i (&dots)[Rows],
                         __m512 (&sums)[Rows]) {
        const TileInput& in = run.input;
        const __m512 scale = loadScales<Scale>(header, inChunk);
        for (int m = 0; m < Rows; ++m) {
            const std::size_t at = static_cast<std::size_t>(run.row + m) * in.groupStride;
            const __m512 inputScale = _mm512_set1_ps(
                in.scales[at + static_cast<std::size_t>(group * GroupColumns / kGroupColumns)]);
            const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[m]), inputScale);
            sums[m] = _mm512_fmadd_ps(scale, dot, sums[m]);
            if constexpr (HasMinima)
                sums[m] =
                    _mm512_fmadd_ps(loadScales<Scale>(header, kChunkGroups + inChunk),
                                    _mm512_set1_ps(in.sums[at + static_cast<std::size_t>(group)]),
                                    sums[m]);
        }
    }

    template <int Rows>
    static void
    groupDots(const TileRun& run, int group, const std::byte* stored, __m512i (&dots)[Rows]) {
        const TileInput& in = run.input;
        const std::int8_t* quants[Rows];
        for (int m = 0; m < Rows; ++m) {
            const auto row = static_cast<std::size_t>(run.row + m);
            quants[m] =
                in.quants + row * in.stride + static_cast<std::size_t>(group) * GroupColumns;
            dots[m] = _mm512_set1_epi32(
                in.offsets[row * in.offsetStride + static_cast<std::size_t>(group)]);
        }
        for (int v = 0; v < kVectors; ++v) {
            if constexpr (Rows == 2)
                fetchAhead<Rows, kFetch>(stored + v * 64);
            const __m512i bytes = _mm512_load_si512(stored + v * 64);
            if constexpr (Form == TileForm::Int4) {
                const __m512i low = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
                const __m512i high =
                    _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
                for (int m = 0; m < Rows; ++m) {
                    dots[m] = addFour(dots[m], low, quants[m] + 4 * v);
                    dots[m] = addFour(dots[m], high, quants[m] + GroupColumns / 2 + 4 * v);
                }
            } else {
                for (int m = 0; m < Rows; ++m)
                    dots[m] = addFour(dots[m], bytes, quants[m] + 4 * v);
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
