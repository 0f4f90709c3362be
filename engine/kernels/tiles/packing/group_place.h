// SPDX-License-Identifier: Apache-2.0
// Not for files of one instruction set: an inline function compiled there could be the one that the
// linker keeps for all.
#pragma once

#include "engine/base/to_size.h"
#include "engine/kernels/tiles/tile_matrix.h"
#include "engine/loading/gguf/quant_groups.h"

#include <array>
#include <cstring>

namespace engine {

/// The position of a group's scales and stored bytes within its tile.
struct GroupPlace {
    std::size_t header;   ///< bytes
    std::size_t inChunk;  ///< of the groups that share the header
    std::size_t storedAt; ///< bytes
};

inline GroupPlace groupPlace(const TileMatrix& matrix, std::size_t group) {
    const auto chunkGroups = static_cast<std::size_t>(matrix.chunkGroups);
    const std::size_t chunk = group / chunkGroups;
    return {chunk * (matrix.headerBytes + chunkGroups * matrix.groupBytes),
            group % chunkGroups,
            (chunk + 1) * matrix.headerBytes + group * matrix.groupBytes};
}

inline constexpr std::size_t kLineBytes = 64;

/// Some bits of a stored number: of which byte of the group, above which bits of that byte.
struct BitsPlace {
    std::size_t byte;
    unsigned shift;
};

/// All bits of Int8, the lowest four of the others.
inline BitsPlace lowBits(const TileMatrix& matrix, std::size_t lane, std::size_t inGroup) {
    const std::size_t half = toSize(matrix.groupColumns) / 2;
    const bool isHigh = matrix.form != TileForm::Int8 && inGroup >= half;
    const std::size_t column = isHigh ? inGroup - half : inGroup;
    return {column / 4 * kLineBytes + lane * 4 + column % 4, isHigh ? 4U : 0U};
}

/// The highest two bits of Int6.
inline BitsPlace highBits(const TileMatrix& matrix, std::size_t lane, std::size_t inGroup) {
    const std::size_t vector = inGroup / 4;
    const std::size_t line = toSize(matrix.groupColumns) / 8 + vector / 4;
    return {line * kLineBytes + lane * 4 + inGroup % 4, 2 * static_cast<unsigned>(vector % 4)};
}

/// Writes the numbers of a group for one output row, `lane` 0 to 15. `group`: the group's bytes;
/// `stored` [matrix.groupColumns], places in the table for Table4.
inline void writeStored(const TileMatrix& matrix,
                        std::byte* group,
                        std::size_t lane,
                        const std::uint8_t* stored) {
    constexpr std::uint32_t kLow = 0x0F0F0F0FU;
    constexpr std::uint32_t kHigh = 0x03030303U;
    std::array<std::uint32_t, kGroupColumns / 4> fours = {}; // columns side by side
    const std::size_t vectors = toSize(matrix.groupColumns) / 4;
    std::memcpy(fours.data(), stored, vectors * 4);
    const auto put = [&](std::size_t line, std::uint32_t four) {
        std::memcpy(group + line * kLineBytes + lane * 4, &four, 4);
    };
    if (matrix.form == TileForm::Int8) {
        for (std::size_t i = 0; i < vectors; ++i)
            put(i, fours[i]);
        return;
    }
    const std::size_t halves = vectors / 2;
    for (std::size_t i = 0; i < halves; ++i)
        put(i, (fours[i] & kLow) | (fours[i + halves] & kLow) << 4U);
    for (std::size_t i = 0; matrix.form == TileForm::Int6 && i < vectors; i += 4) {
        std::uint32_t high = 0;
        for (std::size_t k = 0; k < 4; ++k)
            high |= (fours[i + k] >> 4U & kHigh) << 2U * k;
        put(halves + i / 4, high);
    }
}

/// The number of column `inGroup`, looked up for Table4.
inline unsigned readStored(const TileMatrix& matrix,
                           const std::byte* stored,
                           std::size_t lane,
                           std::size_t inGroup) {
    const BitsPlace low = lowBits(matrix, lane, inGroup);
    const unsigned bits = std::to_integer<unsigned>(stored[low.byte]) >> low.shift;
    if (matrix.form == TileForm::Int8)
        return bits;
    if (matrix.form == TileForm::Table4)
        return matrix.table[bits & 15U];
    if (matrix.form == TileForm::Int4)
        return bits & 15U;
    const BitsPlace high = highBits(matrix, lane, inGroup);
    return (bits & 15U) | (std::to_integer<unsigned>(stored[high.byte]) >> high.shift & 3U) << 4U;
}

/// A group's scale and minimum for one output row. Minimum: 0 if the matrix has none.
struct GroupScale {
    float scale;
    float minimum;
};

/// `header`: of the group's chunk, `inChunk` as in GroupPlace, `lane` 0 to 15.
GroupScale readGroupScale(const TileMatrix& matrix,
                          const std::byte* header,
                          std::size_t inChunk,
                          std::size_t lane);

/// Writes those of values 0-15 (`part` 0) or 16-31 (1) of a file's group.
void writeGroupScale(const TileMatrix& matrix,
                     std::byte* header,
                     std::size_t inChunk,
                     std::size_t lane,
                     const QuantGroup& values,
                     std::size_t part);

} // namespace engine
