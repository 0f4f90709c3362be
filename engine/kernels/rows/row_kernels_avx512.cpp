// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512: intrinsics and plain loops only (README.md says why).
#include "engine/kernels/rows/row_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

#include <immintrin.h>

namespace engine {

namespace {

/// 16 numbers that are processed at once.
using Lanes = __m512;

/// What a register holds of them.
using Piece = Lanes;
constexpr int kPieces = 1;
constexpr int kPieceLanes = 16;

// Heads, and pieces of values, whose sums attention keeps in the 32 registers.
constexpr int kScoreHeads = 4;
constexpr int kValueHeads = 4;
constexpr int kValueWidth = 4;

// Vectors of queries, keys and numbers of a head whose sums attendRows keeps in the registers.
constexpr int kQueryVectors = 2;
constexpr int kRowKeys = 4;
constexpr int kRowNumbers = 8;

inline __mmask16 firstLanes(int count) { return static_cast<__mmask16>((1U << count) - 1U); }

inline Piece& pieceOf(Lanes& lanes, int) { return lanes; }

inline Piece zeroPiece() { return _mm512_setzero_ps(); }

inline Piece broadcastPiece(float value) { return _mm512_set1_ps(value); }

inline Piece loadPiece(const float* from) { return _mm512_loadu_ps(from); }

inline void storePiece(float* to, Piece x) { _mm512_storeu_ps(to, x); }

inline Lanes broadcast(float value) { return _mm512_set1_ps(value); }

inline Lanes load(const float* from) { return _mm512_loadu_ps(from); }

/// The first `count` numbers, 0 .. 16, then those of `rest`.
inline Lanes loadFirst(const float* from, int count, Lanes rest) {
    return _mm512_mask_loadu_ps(rest, firstLanes(count), from);
}

inline void store(float* to, Lanes x) { _mm512_storeu_ps(to, x); }

inline void storeFirst(float* to, int count, Lanes x) {
    _mm512_mask_storeu_ps(to, firstLanes(count), x);
}

inline Lanes sum(Lanes a, Lanes b) { return _mm512_add_ps(a, b); }

inline Lanes difference(Lanes a, Lanes b) { return _mm512_sub_ps(a, b); }

inline Lanes product(Lanes a, Lanes b) { return _mm512_mul_ps(a, b); }

inline Lanes quotient(Lanes a, Lanes b) { return _mm512_div_ps(a, b); }

/// a * b + c, rounded once.
inline Lanes productPlus(Lanes a, Lanes b, Lanes c) { return _mm512_fmadd_ps(a, b, c); }

/// c - a * b, rounded once.
inline Lanes minusProduct(Lanes c, Lanes a, Lanes b) { return _mm512_fnmadd_ps(a, b, c); }

/// The higher number; b if one is NaN.
inline Lanes higher(Lanes a, Lanes b) { return _mm512_max_ps(a, b); }

/// The lower number; b if one is NaN.
inline Lanes lower(Lanes a, Lanes b) { return _mm512_min_ps(a, b); }

inline Lanes nearestWhole(Lanes x) {
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// x * 2^power for whole powers, rounded once.
inline Lanes timesPowerOfTwo(Lanes x, Lanes power) { return _mm512_scalef_ps(x, power); }

/// Bit i is set where a[i] >= b[i].
inline std::uint32_t lanesAtLeast(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }

/// x where a > b, y elsewhere.
inline Lanes whereAbove(Lanes a, Lanes b, Lanes x, Lanes y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}

inline bool hasNan(Lanes x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0; }

/// Lanes i and i + 8, then i + 4, i + 2, i + 1: the order of every sum over lanes.
inline float sumOfLanes(Lanes x) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// Four times sumOfLanes, in the same order; to [4].
inline void sumOfFourLanes(const Lanes* x, float* to) {
    // Each shuffle halves the rest of two vectors: it first combines their lanes i and i + 8, then
    // ...
    constexpr __mmask16 kUpper = 0xFF00;
    const __m512 ab = _mm512_add_ps(_mm512_mask_blend_ps(kUpper, x[0], x[1]),
                                    _mm512_shuffle_f32x4(x[0], x[1], 0x4E));
    const __m512 cd = _mm512_add_ps(_mm512_mask_blend_ps(kUpper, x[2], x[3]),
                                    _mm512_shuffle_f32x4(x[2], x[3], 0x4E));
    const __m512 four =
        _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xDD));
    const __m512 two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4E));
    const __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xB1));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm_storeu_ps(to, _mm512_castps512_ps128(_mm512_permutexvar_ps(order, one)));
}

inline float highestLane(Lanes x) {
    const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline Lanes widenBf16(const std::uint16_t* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

/// With integers, because the AVX-512 BF16 instruction would turn subnormal numbers into 0.
inline void storeBf16(std::uint16_t* to, Lanes x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i upper = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
    const __m512i quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
    const __mmask16 isNan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i result = _mm512_mask_blend_epi32(isNan, rounded, quiet);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(result));
}

inline Lanes widenF16(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

inline void storeF16(std::uint16_t* to, Lanes x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

inline Lanes widenBytes(const std::int8_t* from, float scale) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)), _mm512_set1_ps(scale));
}

/// The bits of the largest magnitude; NaN counts as above infinity.
inline std::int32_t highestMagnitude(Lanes a, Lanes b) {
    const __m512i mask = _mm512_set1_epi32(0x7FFFFFFF);
    return _mm512_reduce_max_epi32(
        _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(a), mask),
                         _mm512_and_si512(_mm512_castps_si512(b), mask)));
}

/// Sum of 16 numbers. Differences to -128 are summed as bytes without a sign.
inline std::int32_t sumOfBytes(__m128i x) {
    const __m128i raised = _mm_xor_si128(x, _mm_set1_epi8(-128));
    const __m128i sums = _mm_sad_epu8(raised, _mm_setzero_si128()); // of eight each
    return _mm_cvtsi128_si32(sums) + _mm_extract_epi32(sums, 2) - 16 * 128;
}

/// Writes 16 numbers within +-127.5 to [16], rounded to nearest even; returns the sum of these.
inline std::int32_t storeBytes(std::int8_t* to, Lanes x) {
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    return sumOfBytes(bytes);
}

} // namespace

} // namespace engine

#include "engine/kernels/rows/row_bodies.inl"

namespace engine {

const RowKernels* avx512RowKernels() { return &kLaneKernels; }

} // namespace engine

#else

namespace engine {

const RowKernels* avx512RowKernels() { return nullptr; }

} // namespace engine

#endif
