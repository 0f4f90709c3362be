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
    F32,    ///< [C][16] float32
    F16,    ///< [C][16] half precision
    Bf16,   ///< [C / 2][16][2] bfloat16
    Int8,   ///< for each group [columns / 4][16][4] bytes
    Int4,   ///< for each group [columns / 8][16][4] bytes: the low halves are the first half of the
            ///< group's columns, the high halves the second
    Int6,   ///< the same, and behind it [columns / 16][16][4] bytes: two further bits for each of
            ///< four columns that lie four apart, the first of them lowest
    Table4, ///< as Int4, where four bits are a place in the matrix' table
};

/// How the scales and minima of quantised weights are stored.
enum class ScaleForm : std::uint8_t {
    F16,
    F32,
    Nested, ///< a float16 number for 256 columns, times a signed byte for each group
};

/// Columns that share a block scale of ScaleForm::Nested.
inline constexpr int kNestedColumns = 256;

/// A packed matrix as kernels see it: tiles of 16 rows one after another, the last one filled up
/// with zeros. A weight is scale * (stored - offset) + minimum. Quantised tiles are read as one
/// stream: a header of scales [chunkGroups][16] and minima [chunkGroups][16], the chunk's groups,
/// the next header; the last chunk may hold fewer groups. A nested header has bytes there, and
/// behind them the block's scales [16] and minima [16] as float16; its chunks are whole. A plain
/// value.
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
    int groupColumns = kGroupColumns; ///< 32, or 16 with nested scales
    bool hasMinima = false;
    int offset = 0;                      ///< 0 with minima, else 128 with Int8 and Table4
    const std::uint8_t* table = nullptr; ///< [16], the numbers of Table4
};

/// Whether the weights are small whole numbers with scales.
constexpr bool holdsQuants(TileForm form) {
    return form == TileForm::Int8 || form == TileForm::Int6 || form == TileForm::Int4 ||
           form == TileForm::Table4;
}

/// Rows of activations as kernels read them, in the one of three kinds that the matrix needs. Every
/// row is filled up with zeros to the matrix' columns. Strides count elements.
struct TileInput {
    const float* values = nullptr;         ///< [rows, stride] for F32 and F16
    const std::uint16_t* bf16 = nullptr;   ///< [rows, stride] for Bf16
    const float* rounded = nullptr;        ///< [rows, stride] for Bf16 too: the same numbers
    const std::int8_t* quants = nullptr;   ///< [rows, stride] for quantised forms, -127 to 127
    const float* scales = nullptr;         ///< [rows, groups of 32] one quant's worth
    const float* sums = nullptr;           ///< [rows, groups of 32] scale * sum
    const std::int32_t* offsets = nullptr; ///< [rows, groups of groupColumns] -offset * sum
    std::size_t stride = 0;                ///< of values, bf16 or quants
    std::size_t groupStride = 0;           ///< of scales and sums
    const float* scaleColumns = nullptr;   ///< [groups of 32, columnStride] the scales once more
    const float* sumColumns = nullptr;     ///< likewise the sums
    std::size_t columnStride = 0;
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
void multiplyTilesAmx(const TileMatrix&, const TileInput&, int, int, const TileOutput&);

// The parts of those above: forms of plain numbers, and quantised ones.
void multiplyFloatTilesAvx2(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyQuantTilesAvx2(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyFloatTilesAvx512(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyQuantTilesAvx512(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyQuantTilesAmx(const TileMatrix&, const TileInput&, int, int, const TileOutput&);
void multiplyFewQuantRowsAmx(const TileMatrix&, const TileInput&, int, int, const TileOutput&);

} // namespace engine
