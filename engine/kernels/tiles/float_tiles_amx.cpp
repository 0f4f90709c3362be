// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/tile_matrix.h"
#include "engine/kernels/tiles/tile_registers.inl"

namespace engine {

namespace {

/// Columns of a step: a register's row holds 64 bytes.
constexpr int kStepColumns = 32;

constexpr std::size_t kRegisterBytes = 1024;

// Tile registers: sums of two blocks of rows with two tiles of weights, then rows, then weights.
enum Register : int { Sums00, Sums01, Sums10, Sums11, Rows0, Rows1, Weights0, Weights1 };

/// One or two blocks of rows with one or two tiles of weights.
struct Bf16Block {
    const std::byte* tile;
    std::size_t tileBytes;
    int steps;
    const std::uint16_t* rows;
    std::size_t stride; ///< bytes from a row of activations to the next
    float* out;
    std::size_t outStride; ///< bytes
};

/// Few rows wait for memory: without it, one row takes 1.2 times as long on Sapphire Rapids.
[[gnu::always_inline]] inline void fetchAhead(const std::byte* weights) {
    for (std::size_t line = 0; line < kRegisterBytes; line += 64)
        __builtin_prefetch(weights + line + 2048, 0, 3);
}

template <int RowBlocks, int Tiles> void multiplyBlock(const Bf16Block& block) {
    clearTile<Sums00>();
    if constexpr (Tiles > 1)
        clearTile<Sums01>();
    if constexpr (RowBlocks > 1)
        clearTile<Sums10>();
    if constexpr (RowBlocks > 1 && Tiles > 1)
        clearTile<Sums11>();
    const std::uint16_t* rows = block.rows;
    const std::uint16_t* lower = rows + kRegisterRows * block.stride / sizeof(*rows);
    const std::byte* weights = block.tile;
    for (int step = 0; step < block.steps; ++step) {
        if constexpr (RowBlocks == 1) {
            fetchAhead(weights);
            if constexpr (Tiles > 1)
                fetchAhead(weights + block.tileBytes);
        }
        loadTile<Weights0>(weights, 64);
        loadTile<Rows0>(rows + step * kStepColumns, block.stride);
        addBf16<Sums00, Rows0, Weights0>();
        if constexpr (Tiles > 1) {
            loadTile<Weights1>(weights + block.tileBytes, 64);
            addBf16<Sums01, Rows0, Weights1>();
        }
        if constexpr (RowBlocks > 1) {
            loadTile<Rows1>(lower + step * kStepColumns, block.stride);
            addBf16<Sums10, Rows1, Weights0>();
        }
        if constexpr (RowBlocks > 1 && Tiles > 1)
            addBf16<Sums11, Rows1, Weights1>();
        weights += kRegisterBytes;
    }
    float* const lowerOut = block.out + kRegisterRows * block.outStride / sizeof(float);
    storeTile<Sums00>(block.out, block.outStride);
    if constexpr (Tiles > 1)
        storeTile<Sums01>(block.out + kTileRows, block.outStride);
    if constexpr (RowBlocks > 1)
        storeTile<Sums10>(lowerOut, block.outStride);
    if constexpr (RowBlocks > 1 && Tiles > 1)
        storeTile<Sums11>(lowerOut + kTileRows, block.outStride);
}

/// `rows`: 1 to 32.
void shapeFor(int rows) {
    RegisterShapes shapes;
    const int first = rows < kRegisterRows ? rows : kRegisterRows;
    shapes.set(Sums00, first, 64);
    shapes.set(Sums01, first, 64);
    shapes.set(Rows0, first, 64);
    if (rows > kRegisterRows) {
        shapes.set(Sums10, rows - kRegisterRows, 64);
        shapes.set(Sums11, rows - kRegisterRows, 64);
        shapes.set(Rows1, rows - kRegisterRows, 64);
    }
    shapes.set(Weights0, kStepColumns / 2, 64);
    shapes.set(Weights1, kStepColumns / 2, 64);
    shapeRegisters(shapes);
}

/// The registers sum even and odd columns apart and round them in their own way, for one row as for
/// many.
void multiplyBf16Tiles(const TileMatrix& matrix,
                       const TileInput& input,
                       int firstTile,
                       int tileCount,
                       const TileOutput& out) {
    int shaped = 0;
    for (int done = 0; done < tileCount; done += 2) {
        const auto tile = static_cast<std::size_t>(firstTile + done);
        const bool hasTwo = tileCount - done > 1;
        for (int row = 0; row < input.rows; row += 2 * kRegisterRows) {
            const int left = input.rows - row;
            const int rows = left < 2 * kRegisterRows ? left : 2 * kRegisterRows;
            if (rows != shaped)
                shapeFor(rows);
            shaped = rows;
            const auto at = static_cast<std::size_t>(row);
            const Bf16Block block{matrix.data + tile * matrix.tileBytes,
                                  matrix.tileBytes,
                                  matrix.columns / kStepColumns,
                                  input.bf16 + at * input.stride,
                                  input.stride * sizeof(std::uint16_t),
                                  out.values + at * out.stride + tile * kTileRows,
                                  out.stride * sizeof(float)};
            if (rows > kRegisterRows)
                hasTwo ? multiplyBlock<2, 2>(block) : multiplyBlock<2, 1>(block);
            else
                hasTwo ? multiplyBlock<1, 2>(block) : multiplyBlock<1, 1>(block);
        }
    }
    releaseRegisters();
}

} // namespace

void multiplyTilesAmx(const TileMatrix& matrix,
                      const TileInput& input,
                      int firstTile,
                      int tileCount,
                      const TileOutput& out) {
    switch (matrix.form) {
    case TileForm::Bf16:
        return multiplyBf16Tiles(matrix, input, firstTile, tileCount, out);
    case TileForm::Int8:
    case TileForm::Int6:
    case TileForm::Table4:
    case TileForm::Int4:
        return multiplyQuantTilesAmx(matrix, input, firstTile, tileCount, out);
    case TileForm::F16:
    case TileForm::F32:
        return multiplyFloatTilesAvx512(matrix, input, firstTile, tileCount, out);
    }
}

} // namespace engine
