// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/quant_kernels.h"
#include "engine/kernels/tiles/tile_loop.h"

#include <immintrin.h>

namespace engine {

namespace {

constexpr FetchRows kFetch{.near = 1, .far = 16}; // far: none. Measured on Zen 3

__m256 widenHalves(const std::byte* halves) {
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves)));
}

/// Eight scales or minima of a group; `part` counts eights from the header's begin, `half` is their
/// half of the tile.
template <ScaleForm Form, int FactorBytes>
__m256 loadScales(const std::byte* header, int part, int half, bool isMinimum) {
    if constexpr (Form == ScaleForm::F32)
        return _mm256_load_ps(reinterpret_cast<const float*>(header + part * 32));
    else if constexpr (Form == ScaleForm::F16)
        return widenHalves(header + part * 16);
    else
        return _mm256_mul_ps(widenHalves(header + FactorBytes + (isMinimum ? 32 : 0) + half * 16),
                             _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(
                                 reinterpret_cast<const __m128i*>(header + part * 8)))));
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
template <TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima> struct QuantKernel {
    using Lines = GroupLines<Form, GroupColumns>;
    /// Stored numbers are 128 above the values.
    static constexpr bool kIsSigned =
        Form == TileForm::Table4 || (Form == TileForm::Int8 && !HasMinima);
    static constexpr bool kIsNested = Scale == ScaleForm::Nested;
    static constexpr int kKinds = HasMinima ? 2 : 1;
    static constexpr int kNumberBytes = Scale == ScaleForm::F32 ? 64 : 32; // of 16 scales
    static constexpr int kChunkGroups = kIsNested                    ? kNestedColumns / GroupColumns
                                        : kNumberBytes * kKinds < 64 ? 2
                                                                     : 1;
    static constexpr int kFactorBytes = kChunkGroups * kTileRows * kKinds; // if nested
    static constexpr int kHeaderBytes =
        kIsNested ? kFactorBytes + 64 : kChunkGroups * kNumberBytes * kKinds;
    static constexpr int kGroupBytes = Lines::kAll * 64;
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
                stored += kHeaderBytes;
            }
            for (int line = 0; line < kGroupBytes; line += 64)
                fetchAhead<Rows, kFetch>(stored + line);
            __m256i dots[2][Rows];
            groupDots<Rows>(matrix,
                            stored,
                            in.quants + row * in.stride + group * GroupColumns,
                            in.stride,
                            dots);
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
        const int part = 2 * place.inChunk + place.half;
        const __m256 scale = loadScales<Scale, kFactorBytes>(place.header, part, place.half, false);
        __m256 minimum = _mm256_setzero_ps();
        if constexpr (HasMinima)
            minimum = loadScales<Scale, kFactorBytes>(
                place.header, 2 * kChunkGroups + part, place.half, true);
        for (int m = 0; m < Rows; ++m) {
            const std::size_t at = row + static_cast<std::size_t>(m);
            if constexpr (!kIsSigned && !HasMinima)
                dots[m] = _mm256_add_epi32(
                    dots[m], _mm256_set1_epi32(in.offsets[at * in.offsetStride + group]));
            const __m256 dot = _mm256_mul_ps(
                _mm256_cvtepi32_ps(dots[m]),
                _mm256_set1_ps(
                    in.scales[at * in.groupStride + group * GroupColumns / kGroupColumns]));
            sums[m] = _mm256_fmadd_ps(scale, dot, sums[m]);
            if constexpr (HasMinima)
                sums[m] = _mm256_fmadd_ps(
                    minimum, _mm256_set1_ps(in.sums[at * in.groupStride + group]), sums[m]);
        }
    }

    /// Signed: the whole sum; otherwise the offset is still to be added, where there is one.
    template <int Rows>
    static void groupDots([[maybe_unused]] const TileMatrix& matrix,
                          const std::byte* stored,
                          const std::int8_t* quants,
                          std::size_t stride,
                          __m256i (&dots)[2][Rows]) {
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < Rows; ++m)
                dots[half][m] = _mm256_setzero_si256();
        if constexpr (Form == TileForm::Int4)
            addHalves<Rows>(stored, quants, stride, dots);
        else if constexpr (Form == TileForm::Int6)
            addSixBits<0, Rows>(stored, quants, stride, dots);
        else if constexpr (Form == TileForm::Table4)
            addLookedUp<Rows>(matrix.table, stored, quants, stride, dots);
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
        for (int v = 0; v < Lines::kHalves; ++v) {
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
                const __m256i second = fourQuants(at + GroupColumns / 2);
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

    /// The bits 4 and 5 of vector `Vector` of a group.
    template <int Vector> static __m256i highBits(const std::byte* stored, int half) {
        __m256i bits = loadBytes(stored + (Lines::kHalves + Vector / 4) * 64 + half * 32);
        if constexpr (Vector % 4 == 0)
            bits = _mm256_slli_epi16(bits, 4);
        else if constexpr (Vector % 4 == 1)
            bits = _mm256_slli_epi16(bits, 2);
        else if constexpr (Vector % 4 == 3)
            bits = _mm256_srli_epi16(bits, 2);
        return _mm256_and_si256(bits, _mm256_set1_epi8(48));
    }

    /// From line `Line` on, as far as lines hold low bits. Sixteen bits hold two sums of two
    /// products: 4 * 63 * 127 = 32,004.
    template <int Line, int Rows>
    static void addSixBits(const std::byte* stored,
                           const std::int8_t* quants,
                           std::size_t stride,
                           __m256i (&dots)[2][Rows]) {
        if constexpr (Line < Lines::kHalves) {
            const __m256i mask = _mm256_set1_epi8(15);
            for (int half = 0; half < 2; ++half) {
                __m256i bytes = loadBytes(stored + Line * 64 + half * 32);
                computeHere(bytes);
                __m256i low =
                    _mm256_or_si256(_mm256_and_si256(bytes, mask), highBits<Line>(stored, half));
                computeHere(low);
                __m256i high = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask),
                                               highBits<Line + Lines::kHalves>(stored, half));
                computeHere(high);
                for (int m = 0; m < Rows; ++m) {
                    const std::int8_t* at =
                        quants + static_cast<std::size_t>(m) * stride + 4 * Line;
                    const __m256i products = _mm256_add_epi16(
                        _mm256_maddubs_epi16(low, fourQuants(at)),
                        _mm256_maddubs_epi16(high, fourQuants(at + GroupColumns / 2)));
                    dots[half][m] = _mm256_add_epi32(
                        dots[half][m], _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
                    computeHere(dots[half][m]);
                }
            }
            addSixBits<Line + 1, Rows>(stored, quants, stride, dots);
        }
    }

    /// Two products of a signed byte, 2 * 128 * 127, fill sixteen bits: its size meets the
    /// activation with its sign.
    template <int Rows>
    static void addSigned(__m256i weights,
                          const std::int8_t* quants,
                          std::size_t stride,
                          __m256i (&sums)[Rows]) {
        const __m256i sizes = _mm256_abs_epi8(weights);
        for (int m = 0; m < Rows; ++m) {
            const __m256i four = _mm256_sign_epi8(
                fourQuants(quants + static_cast<std::size_t>(m) * stride), weights);
            sums[m] = _mm256_add_epi32(
                sums[m],
                _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, four), _mm256_set1_epi16(1)));
            computeHere(sums[m]);
        }
    }

    template <int Rows>
    static void addLookedUp(const std::uint8_t* numbers,
                            const std::byte* stored,
                            const std::int8_t* quants,
                            std::size_t stride,
                            __m256i (&dots)[2][Rows]) {
        const __m256i mask = _mm256_set1_epi8(15);
        const __m256i table = _mm256_xor_si256(
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(numbers))),
            _mm256_set1_epi8(-128));
        for (int v = 0; v < Lines::kHalves; ++v)
            for (int half = 0; half < 2; ++half) {
                __m256i bytes = loadBytes(stored + v * 64 + half * 32);
                computeHere(bytes);
                const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(bytes, mask));
                const __m256i high =
                    _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask));
                addSigned<Rows>(low, quants + 4 * v, stride, dots[half]);
                addSigned<Rows>(high, quants + GroupColumns / 2 + 4 * v, stride, dots[half]);
            }
    }

    template <int Rows>
    static void addBytes(const std::byte* stored,
                         const std::int8_t* quants,
                         std::size_t stride,
                         __m256i (&dots)[2][Rows]) {
        for (int v = 0; v < GroupColumns / 4; ++v)
            for (int half = 0; half < 2; ++half) {
                const __m256i weights = loadBytes(stored + v * 64 + half * 32);
                if constexpr (kIsSigned) {
                    addSigned<Rows>(_mm256_xor_si256(weights, _mm256_set1_epi8(-128)),
                                    quants + 4 * v,
                                    stride,
                                    dots[half]);
                    continue;
                }
                for (int m = 0; m < Rows; ++m) {
                    const __m256i four =
                        fourQuants(quants + static_cast<std::size_t>(m) * stride + 4 * v);
                    dots[half][m] =
                        _mm256_add_epi32(dots[half][m],
                                         _mm256_madd_epi16(_mm256_maddubs_epi16(weights, four),
                                                           _mm256_set1_epi16(1)));
                    computeHere(dots[half][m]);
                }
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

} // namespace

void multiplyQuantTilesAvx2(const TileMatrix& matrix,
                            const TileInput& input,
                            int firstTile,
                            int tileCount,
                            const TileOutput& out) {
    quantKernel<QuantKernel>(matrix)(matrix, input, firstTile, tileCount, out);
}

} // namespace engine
