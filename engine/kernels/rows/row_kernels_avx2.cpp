// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2, FMA and F16C: intrinsics and plain loops only (README.md says why).
#include "engine/kernels/rows/row_kernels.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#include <immintrin.h>

namespace engine {

namespace {

/// 16 numbers that are processed at once.
struct Lanes {
    __m256 low;
    __m256 high;
};

/// What a register holds of them.
using Piece = __m256;
constexpr int kPieces = 2;
constexpr int kPieceLanes = 8;

// Heads, and pieces of values, whose sums attention keeps in the 16 registers.
constexpr int kScoreHeads = 3;
constexpr int kValueHeads = 3;
constexpr int kValueWidth = 4;

// Vectors of queries, keys and numbers of a head whose sums attendRows keeps in the registers.
constexpr int kQueryVectors = 1;
constexpr int kRowKeys = 4;
constexpr int kRowNumbers = 4;

alignas(64) constexpr std::int32_t kLaneMasks[32] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/// Ones in the lanes [first, first + 8) that are below `count`.
inline __m256i lanesBelow(int count, int first) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMasks + 16 - count + first));
}

inline Piece& pieceOf(Lanes& lanes, int piece) { return piece == 0 ? lanes.low : lanes.high; }

inline Piece zeroPiece() { return _mm256_setzero_ps(); }

inline Piece broadcastPiece(float value) { return _mm256_set1_ps(value); }

inline Piece loadPiece(const float* from) { return _mm256_loadu_ps(from); }

inline void storePiece(float* to, Piece x) { _mm256_storeu_ps(to, x); }

inline Lanes broadcast(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }

inline Lanes load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }

inline __m256 loadMasked(const float* from, __m256i mask, __m256 rest) {
    return _mm256_blendv_ps(rest, _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
}

/// The first `count` numbers, 0 .. 16, then those of `rest`.
inline Lanes loadFirst(const float* from, int count, Lanes rest) {
    return {loadMasked(from, lanesBelow(count, 0), rest.low),
            loadMasked(from + 8, lanesBelow(count, 8), rest.high)};
}

inline void store(float* to, Lanes x) {
    _mm256_storeu_ps(to, x.low);
    _mm256_storeu_ps(to + 8, x.high);
}

inline void storeFirst(float* to, int count, Lanes x) {
    _mm256_maskstore_ps(to, lanesBelow(count, 0), x.low);
    _mm256_maskstore_ps(to + 8, lanesBelow(count, 8), x.high);
}

inline Lanes sum(Lanes a, Lanes b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

inline Lanes difference(Lanes a, Lanes b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}

inline Lanes product(Lanes a, Lanes b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

inline Lanes quotient(Lanes a, Lanes b) {
    return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}

/// a * b + c, rounded once.
inline Lanes productPlus(Lanes a, Lanes b, Lanes c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

inline Piece productPlus(Piece a, Piece b, Piece c) { return _mm256_fmadd_ps(a, b, c); }

/// c - a * b, rounded once.
inline Lanes minusProduct(Lanes c, Lanes a, Lanes b) {
    return {_mm256_fnmadd_ps(a.low, b.low, c.low), _mm256_fnmadd_ps(a.high, b.high, c.high)};
}

/// The higher number; b if one is NaN.
inline Lanes higher(Lanes a, Lanes b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

/// The lower number; b if one is NaN.
inline Lanes lower(Lanes a, Lanes b) {
    return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}

inline Lanes nearestWhole(Lanes x) {
    constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    return {_mm256_round_ps(x.low, kMode), _mm256_round_ps(x.high, kMode)};
}

/// In two halves, each of which is a power that a float can hold; only the second one rounds.
inline __m256 timesPowerOfTwo(__m256 x, __m256 power) {
    const __m256i whole = _mm256_cvtps_epi32(power);
    const __m256i first = _mm256_srai_epi32(whole, 1);
    const __m256i second = _mm256_sub_epi32(whole, first);
    const __m256i bias = _mm256_set1_epi32(127);
    const __m256i firstBits = _mm256_slli_epi32(_mm256_add_epi32(first, bias), 23);
    const __m256i secondBits = _mm256_slli_epi32(_mm256_add_epi32(second, bias), 23);
    return _mm256_mul_ps(_mm256_mul_ps(x, _mm256_castsi256_ps(firstBits)),
                         _mm256_castsi256_ps(secondBits));
}

/// x * 2^power for x near 1 and whole powers within +-252, rounded once.
inline Lanes timesPowerOfTwo(Lanes x, Lanes power) {
    return {timesPowerOfTwo(x.low, power.low), timesPowerOfTwo(x.high, power.high)};
}

/// Bit i is set where a[i] >= b[i].
inline std::uint32_t lanesAtLeast(Lanes a, Lanes b) {
    const int low = _mm256_movemask_ps(_mm256_cmp_ps(a.low, b.low, _CMP_GE_OQ));
    const int high = _mm256_movemask_ps(_mm256_cmp_ps(a.high, b.high, _CMP_GE_OQ));
    return static_cast<std::uint32_t>(low | high << 8);
}

inline __m256 whereAbove(__m256 a, __m256 b, __m256 x, __m256 y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}

/// x where a > b, y elsewhere.
inline Lanes whereAbove(Lanes a, Lanes b, Lanes x, Lanes y) {
    return {whereAbove(a.low, b.low, x.low, y.low), whereAbove(a.high, b.high, x.high, y.high)};
}

inline bool hasNan(Lanes x) {
    const __m256 low = _mm256_cmp_ps(x.low, x.low, _CMP_UNORD_Q);
    const __m256 high = _mm256_cmp_ps(x.high, x.high, _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(low, high)) != 0;
}

/// Lanes i and i + 8, then i + 4, i + 2, i + 1: the order of every sum over lanes.
inline float sumOfLanes(Lanes x) {
    const __m256 eight = _mm256_add_ps(x.low, x.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// Four times sumOfLanes, in the same order; to [4].
inline void sumOfFourLanes(const Lanes* x, float* to) {
    const __m256 a = _mm256_add_ps(x[0].low, x[0].high);
    const __m256 b = _mm256_add_ps(x[1].low, x[1].high);
    const __m256 c = _mm256_add_ps(x[2].low, x[2].high);
    const __m256 d = _mm256_add_ps(x[3].low, x[3].high);
    const __m256 ac =
        _mm256_add_ps(_mm256_permute2f128_ps(a, c, 0x20), _mm256_permute2f128_ps(a, c, 0x31));
    const __m256 bd =
        _mm256_add_ps(_mm256_permute2f128_ps(b, d, 0x20), _mm256_permute2f128_ps(b, d, 0x31));
    // The two 128-bit halves hold a and c, b and d: in each, lanes i and i + 2 meet, then i + 1.
    const __m256 two =
        _mm256_add_ps(_mm256_shuffle_ps(ac, bd, 0x44), _mm256_shuffle_ps(ac, bd, 0xEE));
    const __m256 one = _mm256_add_ps(two, _mm256_movehdup_ps(two));
    const __m128 sums = _mm_shuffle_ps(
        _mm256_castps256_ps128(one), _mm256_extractf128_ps(one, 1), _MM_SHUFFLE(2, 0, 2, 0));
    _mm_storeu_ps(to, sums);
}

inline float highestLane(Lanes x) {
    const __m256 eight = _mm256_max_ps(x.low, x.high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline __m256 widenBf16(const std::uint16_t* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

/// Numbers of 16 bits in the lower halves of 32.
inline __m256i roundToBf16(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
    const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    const __m256i isNan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(rounded, quiet, isNan);
}

inline void storeBf16(std::uint16_t* to, Lanes x) {
    // Packing works within 128-bit halves; the permutation puts their quarters in order again.
    const __m256i packed = _mm256_packus_epi32(roundToBf16(x.low), roundToBf16(x.high));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0)));
}

inline __m256 widenF16(const std::uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

inline void storeF16(std::uint16_t* to, Lanes x) {
    constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    __m128i* halves = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(halves, _mm256_cvtps_ph(x.low, kMode));
    _mm_storeu_si128(halves + 1, _mm256_cvtps_ph(x.high, kMode));
}

inline __m256 widenBytes(const std::int8_t* from, float scale) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)), _mm256_set1_ps(scale));
}

inline __m256i magnitudes(__m256 x) {
    return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
}

/// The bits of the largest magnitude; NaN counts as above infinity.
inline std::int32_t highestMagnitude(Lanes a, Lanes b) {
    const __m256i eight = _mm256_max_epi32(_mm256_max_epi32(magnitudes(a.low), magnitudes(a.high)),
                                           _mm256_max_epi32(magnitudes(b.low), magnitudes(b.high)));
    const __m128i four =
        _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}

/// Sum of 16 numbers. Differences to -128 are summed as bytes without a sign.
inline std::int32_t sumOfBytes(__m128i x) {
    const __m128i raised = _mm_xor_si128(x, _mm_set1_epi8(-128));
    const __m128i sums = _mm_sad_epu8(raised, _mm_setzero_si128()); // of eight each
    return _mm_cvtsi128_si32(sums) + _mm_extract_epi32(sums, 2) - 16 * 128;
}

/// Writes 16 numbers within +-127.5 to [16], rounded to nearest even; returns the sum of these.
inline std::int32_t storeBytes(std::int8_t* to, Lanes x) {
    const __m256i low = _mm256_cvtps_epi32(x.low);
    const __m256i high = _mm256_cvtps_epi32(x.high);
    const __m256i words =
        _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), _MM_SHUFFLE(3, 1, 2, 0));
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    return sumOfBytes(bytes);
}

} // namespace

} // namespace engine

#include "engine/kernels/rows/row_bodies.inl"

namespace engine {

const RowKernels* avx2RowKernels() { return &kLaneKernels; }

} // namespace engine

#else

namespace engine {

const RowKernels* avx2RowKernels() { return nullptr; }

} // namespace engine

#endif
