// SPDX-License-Identifier: Apache-2.0
// Numbers of quantised tiles (tile_matrix.h) widened to vectors, for files of AVX-512 and AMX only.
#pragma once

#include "engine/kernels/tiles/quant_kernels.h"

#include <immintrin.h>

namespace engine {

namespace {

inline __m512 widenFloats(const std::byte* halves) {
    return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(halves)));
}

/// Reads the header of a chunk, and its numbers when they are asked for.
template <ScaleForm Form, int GroupColumns, bool HasMinima> struct ChunkScales {
    static constexpr int kNumberBytes = Form == ScaleForm::F32 ? 64 : 32; // of 16 scales
    static constexpr int kKinds = HasMinima ? 2 : 1;
    static constexpr int kGroups = kNumberBytes * kKinds < 64 ? 2 : 1;
    static constexpr int kHeaderBytes = kGroups * kNumberBytes * kKinds;

    explicit ChunkScales(const std::byte* at)
        : header(at) {}

    __m512 number(int index) const {
        if constexpr (Form == ScaleForm::F32)
            return _mm512_load_ps(header + index * 64);
        else
            return widenFloats(header + index * 32);
    }

    __m512 scale(int group) const { return number(group); }

    __m512 minimum(int group) const { return number(kGroups + group); }

    const std::byte* header;
};

template <int GroupColumns, bool HasMinima>
struct ChunkScales<ScaleForm::Nested, GroupColumns, HasMinima> {
    static constexpr int kGroups = kNestedColumns / GroupColumns;
    static constexpr int kFactorBytes = kGroups * kTileRows * (HasMinima ? 2 : 1);
    static constexpr int kHeaderBytes = kFactorBytes + 64;

    explicit ChunkScales(const std::byte* at)
        : header(at)
        , blockScale(widenFloats(at + kFactorBytes))
        , blockMinimum(widenFloats(at + kFactorBytes + 32)) {}

    __m512 factor(int index) const {
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(
            _mm_load_si128(reinterpret_cast<const __m128i*>(header + index * kTileRows))));
    }

    __m512 scale(int group) const { return _mm512_mul_ps(blockScale, factor(group)); }

    __m512 minimum(int group) const { return _mm512_mul_ps(blockMinimum, factor(kGroups + group)); }

    const std::byte* header;
    __m512 blockScale;
    __m512 blockMinimum;
};

/// Two vectors of stored numbers.
struct WideHalves {
    __m512i low;
    __m512i high;
};

/// The bits 4 and 5 of vector `Vector` of a group, above others.
template <TileForm Form, int GroupColumns, int Vector>
inline __m512i highBits(const std::byte* stored) {
    constexpr int kLine = GroupLines<Form, GroupColumns>::kHalves + Vector / 4;
    const __m512i bits = _mm512_load_si512(stored + kLine * 64);
    if constexpr (Vector % 4 == 0)
        return _mm512_slli_epi16(bits, 4);
    else if constexpr (Vector % 4 == 1)
        return _mm512_slli_epi16(bits, 2);
    else if constexpr (Vector % 4 == 2)
        return bits;
    else
        return _mm512_srli_epi16(bits, 2);
}

/// The numbers of line `Line` of a group of Int4, Int6 or Table4.
template <TileForm Form, int GroupColumns, int Line>
inline WideHalves widenHalves([[maybe_unused]] const TileMatrix& matrix, const std::byte* stored) {
    const __m512i bytes = _mm512_load_si512(stored + Line * 64);
    const __m512i low = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
    if constexpr (Form == TileForm::Int4) {
        return {low, high};
    } else if constexpr (Form == TileForm::Table4) {
        const __m512i table =
            _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(matrix.table)));
        return {_mm512_shuffle_epi8(table, low), _mm512_shuffle_epi8(table, high)};
    } else {
        constexpr int kSecond = Line + GroupLines<Form, GroupColumns>::kHalves;
        constexpr int kFirstOrBoth = 0xF8; // a | (b & c)
        const __m512i mask = _mm512_set1_epi8(48);
        return {_mm512_ternarylogic_epi32(
                    low, highBits<Form, GroupColumns, Line>(stored), mask, kFirstOrBoth),
                _mm512_ternarylogic_epi32(
                    high, highBits<Form, GroupColumns, kSecond>(stored), mask, kFirstOrBoth)};
    }
}

} // namespace

} // namespace engine
