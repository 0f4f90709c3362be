// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/tile_loop.h"

#include <immintrin.h>

namespace engine {

namespace {

constexpr FetchRows kFetch{.near = 1, .far = 16}; // far: none. Measured on Zen 3

/// The contents of stored bytes: two 4-bit numbers; values below 32; signed values plus 128.
enum class Bytes { Halves, Small, Signed };

/// `part` counts eight numbers.
template <ScaleForm Form> __m256 loadScales(const std::byte* header, int part) {
    if constexpr (Form == ScaleForm::F32)
        return _mm256_load_ps(reinterpret_cast<const float*>(header + part * 32));
    else
        return _mm256_cvtph_ps(
            _mm_load_si128(reinterpret_cast<const __m128i*>(header + part * 16)));
}

__m256i fourQuants(const std::int8_t* quants) {
    int four;
    __builtin_memcpy(&four, quants, sizeof(four));
    return _mm256_set1_epi32(four);
}

__m256i loadBytes(const std::byte* at) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
}

/// Makes g++ compute the value here and now. Left alone, g++ 12 loads a vector twice rather than
/// keep it, and adds the products of a group in a tree, which needs more registers than there are:
/// four rows of 4-bit weights then take 1.5 times as long.
void computeHere(__m256i& value) { __asm__("" : "+x"(value)); }

/// The lower and the upper eight rows of a tile share each activation. Sums within a group are
/// integers and therefore exact; groups are added in order of columns, exactly as with the wider
/// vectors.
template <Bytes Kind, int GroupColumns, ScaleForm Scale, bool HasMinima> struct QuantKernel {
    static constexpr int kGroupHeader = (Scale == ScaleForm::F32 ? 64 : 32) * (HasMinima ? 2 : 1);
    static constexpr int kChunkGroups = kGroupHeader < 64 ? 2 : 1;
    static constexpr int kGroupBytes = Kind == Bytes::Halves ? 256 : GroupColumns * 16;
    static constexpr int kMostRows = 4;
    static constexpr int kSums = 4; // tiles at once: more sums than that leave the registers

    template <int Rows, int Tiles> static void run(const TileRun& run) {
        for (int t = 0; t < Tiles; ++t)
            runTile<Rows>(run, t);
    }

    template <int Rows> static void runTile(const TileRun& run, int tileIndex) {
        const TileMatrix& matrix = run.matrix;
        const TileInput& in = run.input;
        const std::byte* stored = run.tile + static_cast<std::size_t>(tileIndex) * matrix.tileBytes;
        const auto row = static_cast<std::size_t>(run.row);
        const auto groups = static_cast<std::size_t>(matrix.columns / GroupColumns);
        const std::byte* header = stored;
        __m256 sums[2][Rows];
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                sums[half][m] = _mm256_setzero_ps();
        for (std::size_t group = 0; group < groups; ++group) {
            const int inChunk = static_cast<int>(group % kChunkGroups);
            if (inChunk == 0) {
                header = stored;
                stored += kChunkGroups * kGroupHeader;
            }
            for (int line = 0; line < kGroupBytes; line += 64)
                fetchAhead<Rows, kFetch>(stored + line);
            __m256i dots[2][Rows];
            groupDots<Rows>(
                stored, in.quants + row * in.stride + group * GroupColumns, in.stride, dots);
            for (int half = 0; half < 2; ++half)
                addGroup<Rows>(run, group, {header, inChunk, half}, dots[half], sums[half]);
            stored += kGroupBytes;
        }
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                _mm256_storeu_ps(run.out + static_cast<std::size_t>(m) * run.outStride +
                                     tileIndex * kTileRows + half * 8,
                                 sums[half][m]);
    }

    /// Where the scales of a group's half lie.
    struct HalfPlace {
        const std::byte* header;
        int inChunk;
        int half;
    };

    template <int Rows>
    static void addGroup(const TileRun& run,
                         std::size_t group,
                         const HalfPlace& place,
                         __m256i (&dots)[Rows],
                         __m256 (&sums)[Rows]) {
        const TileInput& in = run.input;
        const auto row = static_cast<std::size_t>(run.row);
        const __m256 scale = loadScales<Scale>(place.header, 2 * place.inChunk + place.half);
        for (int m = 0; m < Rows; ++m) {
            const std::size_t at = row + static_cast<std::size_t>(m);
            if constexpr (Kind != Bytes::Signed && !HasMinima)
                dots[m] = _mm256_add_epi32(
                    dots[m], _mm256_set1_epi32(in.offsets[at * in.offsetStride + group]));
            const __m256 dot = _mm256_mul_ps(
                _mm256_cvtepi32_ps(dots[m]),
                _mm256_set1_ps(
                    in.scales[at * in.groupStride + group * GroupColumns / kGroupColumns]));
            sums[m] = _mm256_fmadd_ps(scale, dot, sums[m]);
            if constexpr (HasMinima)
                sums[m] = _mm256_fmadd_ps(
                    loadScales<Scale>(place.header,
                                      2 * (kChunkGroups + place.inChunk) + place.half),
                    _mm256_set1_ps(in.sums[at * in.groupStride + group]),
                    sums[m]);
        }
    }

    /// Signed: the whole sum; otherwise the offset is still to be added, where there is one.
    template <int Rows>
    static void groupDots(const std::byte* stored,
                          const std::int8_t* quants,
                          std::size_t stride,
                          __m256i (&dots)[2][Rows]) {
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                dots[half][m] = _mm256_setzero_si256();
        if constexpr (Kind == Bytes::Halves)
            addHalves<Rows>(stored, quants, stride, dots);
        else
            addBytes<Rows>(stored, quants, stride, dots);
    }

    /// Sums of sixteen bits hold a whole group of 4-bit weights: at most 8 * 2 * 15 * 127 = 30,480.
    template <int Rows>
    static void addHalves(const std::byte* stored,
                          const std::int8_t* quants,
                          std::size_t stride,
                          __m256i (&dots)[2][Rows]) {
        const __m256i mask = _mm256_set1_epi8(15);
        for (int v = 0; v < 4; ++v) {
            __m256i low[2];
            __m256i high[2];
            for (int half = 0; half < 2; ++half) {
                __m256i bytes = loadBytes(stored + v * 64 + half * 32);
                computeHere(bytes);
                low[half] = _mm256_and_si256(bytes, mask);
                high[half] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask);
            }
            for (int m = 0; m < Rows; ++m) {
                const std::int8_t* at = quants + static_cast<std::size_t>(m) * stride + 4 * v;
                const __m256i first = fourQuants(at);
                const __m256i second = fourQuants(at + 16);
                for (int half = 0; half < 2; ++half) {
                    __m256i& sum = dots[half][m];
                    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(low[half], first));
                    computeHere(sum);
                    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(high[half], second));
                    computeHere(sum);
                }
            }
        }
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                dots[half][m] = _mm256_madd_epi16(dots[half][m], _mm256_set1_epi16(1));
    }

    /// Two products of a signed byte, 2 * 128 * 127, fill sixteen bits: its size meets the
    /// activation with its sign.
    template <int Rows>
    static void addBytes(const std::byte* stored,
                         const std::int8_t* quants,
                         std::size_t stride,
                         __m256i (&dots)[2][Rows]) {
        for (int v = 0; v < GroupColumns / 4; ++v)
            for (int half = 0; half < 2; ++half) {
                __m256i weights = loadBytes(stored + v * 64 + half * 32);
                if constexpr (Kind == Bytes::Signed)
                    weights = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
                const __m256i sizes = Kind == Bytes::Signed ? _mm256_abs_epi8(weights) : weights;
                for (int m = 0; m < Rows; ++m) {
                    __m256i four =
                        fourQuants(quants + static_cast<std::size_t>(m) * stride + 4 * v);
                    if constexpr (Kind == Bytes::Signed)
                        four = _mm256_sign_epi8(four, weights);
                    dots[half][m] = _mm256_add_epi32(
                        dots[half][m],
                        _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, four), _mm256_set1_epi16(1)));
                    computeHere(dots[half][m]);
                }
            }
    }
};

template <Bytes Kind, ScaleForm Scale>
void multiplyScaled(const TileMatrix& matrix,
                    const TileInput& input,
                    int firstTile,
                    int tileCount,
                    const TileOutput& out) {
    if (matrix.hasMinima)
        multiplyWith<QuantKernel<Kind, kGroupColumns, Scale, true>>(
            matrix, input, firstTile, tileCount, out);
    else
        multiplyWith<QuantKernel<Kind, kGroupColumns, Scale, false>>(
            matrix, input, firstTile, tileCount, out);
}

template <Bytes Kind>
void multiplyKind(const TileMatrix& matrix,
                  const TileInput& input,
                  int firstTile,
                  int tileCount,
                  const TileOutput& out) {
    if (matrix.scaleForm == ScaleForm::F16)
        multiplyScaled<Kind, ScaleForm::F16>(matrix, input, firstTile, tileCount, out);
    else
        multiplyScaled<Kind, ScaleForm::F32>(matrix, input, firstTile, tileCount, out);
}

} // namespace

void multiplyQuantTilesAvx2(const TileMatrix& matrix,
                            const TileInput& input,
                            int firstTile,
                            int tileCount,
                            const TileOutput& out) {
    if (matrix.groupColumns == 16)
        multiplyWith<QuantKernel<Bytes::Signed, 16, ScaleForm::F32, false>>(
            matrix, input, firstTile, tileCount, out);
    else if (matrix.form == TileForm::Int4)
        multiplyKind<Bytes::Halves>(matrix, input, firstTile, tileCount, out);
    else if (matrix.offset == 128)
        multiplyKind<Bytes::Signed>(matrix, input, firstTile, tileCount, out);
    else
        multiplyKind<Bytes::Small>(matrix, input, firstTile, tileCount, out);
}

} // namespace engine
