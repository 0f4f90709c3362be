// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/quant_bodies_avx512.inl"
#include "engine/kernels/tiles/tile_loop.h"

namespace engine {

namespace {

constexpr FetchRows kFetch{.near = 2, .far = 3}; // measured on Zen 4

/// Measured on Sapphire Rapids, two cores at 29 GB/s: one row of 4-bit weights takes .78 to .86 of
/// the time that it takes without.
constexpr FetchRows kAmxFetch{.near = 1, .far = 3, .nearBytes = 2048};

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
template <FetchRows Fetch, TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima>
struct QuantKernel {
    static constexpr int kMostRows = 8;
    static constexpr int kSums = 8; // each with a whole and a real number, of 32 registers
    using Lines = GroupLines<Form, GroupColumns>;
    static constexpr int kVectors = Lines::kAll;
    using Scales = ChunkScales<Scale, GroupColumns, HasMinima>;
    static constexpr int kChunkGroups = Scales::kGroups;

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        for (int t = 0; t < Tiles; ++t)
            runTile<Rows>(run,
                          run.tile + static_cast<std::size_t>(t) * run.matrix.tileBytes,
                          run.out + t * kTileRows);
    }

    // All of a tile in one function: g++ leaves some of these calls where it may, and then sums
    // pass through memory (8-bit weights and 2 to 4 rows: 27 cycles a group and row instead of 11).

    /// Reads the tile as one stream.
    template <int Rows> static void runTile(const TileRun& run, const std::byte* at, float* out) {
        const int groups = run.matrix.columns / GroupColumns;
        __m512 sums[Rows];
        for (int m = 0; m < Rows; ++m)
            sums[m] = _mm512_setzero_ps();
        for (int group = 0; group < groups; group += kChunkGroups) {
            const Scales scales(at);
            if constexpr (Rows > 2)
                for (int line = 0; line < Scales::kHeaderBytes; line += 64)
                    fetchAhead<Rows, Fetch>(at + line);
            at += Scales::kHeaderBytes;
#pragma GCC unroll 2
            for (int i = 0; i < kChunkGroups; ++i) {
                if (kChunkGroups == 2 && group + i == groups)
                    break;
                if constexpr (Rows > 2)
                    for (int line = 0; line < kVectors; ++line)
                        fetchAhead<Rows, Fetch>(at + line * 64);
                __m512i dots[Rows];
                groupDots<Rows>(run, group + i, at, dots);
                at += kVectors * 64;
                addGroup<Rows>(run, group + i, scales, i, dots, sums);
            }
        }
        for (int m = 0; m < Rows; ++m)
            _mm512_storeu_ps(out + static_cast<std::size_t>(m) * run.outStride, sums[m]);
    }

    template <int Rows>
    [[gnu::always_inline]] static void addGroup(const TileRun& run,
                                                int group,
                                                const Scales& scales,
                                                int inChunk,
                                                const __m512i (&dots)[Rows],
                                                __m512 (&sums)[Rows]) {
        const TileInput& in = run.input;
        const __m512 scale = scales.scale(inChunk);
        const __m512 minimum = HasMinima ? scales.minimum(inChunk) : _mm512_setzero_ps();
        for (int m = 0; m < Rows; ++m) {
            const std::size_t at = static_cast<std::size_t>(run.row + m) * in.groupStride;
            const __m512 inputScale = _mm512_set1_ps(
                in.scales[at + static_cast<std::size_t>(group * GroupColumns / kGroupColumns)]);
            const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[m]), inputScale);
            sums[m] = _mm512_fmadd_ps(scale, dot, sums[m]);
            if constexpr (HasMinima)
                sums[m] =
                    _mm512_fmadd_ps(minimum,
                                    _mm512_set1_ps(in.sums[at + static_cast<std::size_t>(group)]),
                                    sums[m]);
        }
    }

    template <int Rows>
    [[gnu::always_inline]] static void
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
        if constexpr (Rows <= 2)
            for (int line = 0; line < kVectors; ++line)
                fetchAhead<Rows, Fetch>(stored + line * 64);
        addLines<0, Rows>(run.matrix, stored, quants, dots);
    }

    /// From line `Line` on, as far as lines hold low bits.
    template <int Line, int Rows>
    [[gnu::always_inline]] static void addLines(const TileMatrix& matrix,
                                                const std::byte* stored,
                                                const std::int8_t* (&quants)[Rows],
                                                __m512i (&dots)[Rows]) {
        if constexpr (Form == TileForm::Int8) {
            if constexpr (Line < kVectors) {
                const __m512i bytes = _mm512_load_si512(stored + Line * 64);
                for (int m = 0; m < Rows; ++m)
                    dots[m] = addFour(dots[m], bytes, quants[m] + 4 * Line);
                addLines<Line + 1, Rows>(matrix, stored, quants, dots);
            }
        } else if constexpr (Line < Lines::kHalves) {
            const auto [low, high] = widenHalves<Form, GroupColumns, Line>(matrix, stored);
            for (int m = 0; m < Rows; ++m) {
                dots[m] = addFour(dots[m], low, quants[m] + 4 * Line);
                dots[m] = addFour(dots[m], high, quants[m] + GroupColumns / 2 + 4 * Line);
            }
            addLines<Line + 1, Rows>(matrix, stored, quants, dots);
        }
    }

    static void multiply(const TileMatrix& matrix,
                         const TileInput& input,
                         int firstTile,
                         int tileCount,
                         const TileOutput& out) {
        multiplyWith<QuantKernel>(matrix, input, firstTile, tileCount, out);
    }
};

template <TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima>
using Avx512Kernel = QuantKernel<kFetch, Form, GroupColumns, Scale, HasMinima>;

template <TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima>
using FewRowsKernel = QuantKernel<kAmxFetch, Form, GroupColumns, Scale, HasMinima>;

} // namespace

void multiplyQuantTilesAvx512(const TileMatrix& matrix,
                              const TileInput& input,
                              int firstTile,
                              int tileCount,
                              const TileOutput& out) {
    quantKernel<Avx512Kernel>(matrix)(matrix, input, firstTile, tileCount, out);
}

void multiplyFewQuantRowsAmx(const TileMatrix& matrix,
                             const TileInput& input,
                             int firstTile,
                             int tileCount,
                             const TileOutput& out) {
    quantKernel<FewRowsKernel>(matrix)(matrix, input, firstTile, tileCount, out);
}

} // namespace engine
