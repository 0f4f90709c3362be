// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine {

/// Output rows of a tile: the lanes of a 512-bit vector of float32.
inline constexpr int kTileRows = 16;

/// Columns that share one scale of the activations, and of quantised weights unless they say 16.
inline constexpr int kGroupColumns = 32;

/// How the weights of a tile are stored. Bytes of one tile of C columns; quantised ones come in
/// groups of columns, unsigned, `offset` above the value:
enum class TileForm : std::uint8_t {
    F32,  ///< [C][16] float32
    F16,  ///< [C][16] half precision
    Bf16, ///< [C / 2][16][2] bfloat16
    Int8, ///< for each group [columns / 4][16][4] bytes
    Int4, ///< for each group of 32 [4][16][4] bytes: the low halves are the columns 0-15 of the
          ///< 32, the high halves 16-31
};

/// How the scales and minima of quantised weights are stored.
enum class ScaleForm : std::uint8_t { F16, F32 };

/// A packed matrix as kernels see it: tiles of 16 rows one after another, the last one filled up
/// with zeros. A weight is scale * (stored - offset) + minimum. Quantised tiles are read as one
/// stream: a header of scales [chunkGroups][16] and minima [chunkGroups][16], the chunk's groups,
/// the next header; the last chunk may hold fewer groups. A plain value.
struct TileMatrix {
    const std::byte* data = nullptr; ///< on a 64-byte boundary
    std::size_t tileBytes = 0;       ///< a multiple of 64
    std::size_t headerBytes = 0;     ///< a multiple of 64; 0 unless quantised
    std::size_t groupBytes = 0;      ///< of a group's stored bytes, a multiple of 64
    int chunkGroups = 1;
    int rows = 0;
    int columns = 0; ///< a multiple of 32: filled up with zeros
    TileForm form = TileForm::F32;
    ScaleForm scaleForm = ScaleForm::F16;
    int groupColumns = kGroupColumns; ///< 32, or 16 with Int8
    bool hasMinima = false;
    int offset = 0; ///< 0 with minima, or 128 with Int8
};

/// Rows of activations as kernels read them, in the one of three kinds that the matrix needs. Every
/// row is filled up with zeros to the matrix' columns. Strides count elements.
struct TileInput {
    const float* values = nullptr;         ///< [rows, stride] for F32 and F16
    const std::uint16_t* bf16 = nullptr;   ///< [rows, stride] for Bf16
    const float* rounded = nullptr;        ///< [rows, stride] for Bf16 too: the same numbers
    const std::int8_t* quants = nullptr;   ///< [rows, stride] for Int8 and Int4, -127 to 127
    const float* scales = nullptr;         ///< [rows, groups of 32] one quant's worth
    const float* sums = nullptr;           ///< [rows, groups of 32] scale * sum
    const std::int32_t* offsets = nullptr; ///< [rows, groups of groupColumns] -offset * sum
    std::size_t stride = 0;                ///< of values, bf16 or quants
    std::size_t groupStride = 0;           ///< of scales and sums
    std::size_t offsetStride = 0;
    int rows = 0;
};

/// The destination of products: out[row * stride + tile * 16 + lane], with a full last tile.
struct TileOutput {
    float* values = nullptr;
    std::size_t stride = 0;
};

/// The product of some tiles with all rows of an input. Each number is summed over the columns in a
/// fixed order that depends only on the matrix. Thread: any.
using TileKernel = void (*)(const TileMatrix& matrix,
                            const TileInput& input,
                            int firstTile,
                            int tileCount,
                            const TileOutput& out);

void multiplyTilesScalar(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyTilesAvx2(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyTilesAvx512(const TileMatrix&, const TileInput&, int, int, const TileOutput&);

// The parts of the two above: forms of plain numbers, and quantised ones.
void multiplyFloatTilesAvx2(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyQuantTilesAvx2(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyFloatTilesAvx512(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyQuantTilesAvx512(const TileMatrix&, const TileInput&, int, int, const TileOutput&);

} // namespace engine
