// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/huge_memory.h"
#include "engine/kernels/tiles/tile_matrix.h"
#include "engine/loading/gguf/quant_groups.h"
#include "engine/loading/weight_source.h"

#include <array>
#include <span>
#include <string_view>

namespace engine {

/// The form in which weights are held in memory.
enum class WeightForm {
    Auto, ///< as File; as F32 where the whole model fits into the processor's caches
    File, ///< none with less precision than the file
    F32,  ///< widened: the most exact, the most memory
    Int8, ///< 4-bit numbers widened without loss; plain ones rounded to 8 bits, a scale per 32
    Bf16, ///< rounded to bfloat16
};

/// The packed form of a file's matrix, which determines widths and offsets.
struct TileFormat {
    TileForm form = TileForm::F32;
    ScaleForm scaleForm = ScaleForm::F16;
    int groupColumns = kGroupColumns;
    bool hasMinima = false;
    int offset = 0;
    const FourBitValues* table = nullptr;

    bool operator==(const TileFormat&) const = default;
};

/// Only for types that kernels can compute with.
TileFormat tileFormat(TensorType type, WeightForm wanted);

/// For people: "4-bit, scale and minimum per 32", "bfloat16".
std::string_view tileFormatName(const TileFormat& format);

/// An empty matrix of this format: sizes set, no data. Bytes: tiles times tileBytes.
TileMatrix outlineMatrix(const TileFormat& format, int rows, int columns);

inline int tileCount(const TileMatrix& matrix) { return (matrix.rows + kTileRows - 1) / kTileRows; }

std::size_t matrixBytes(const TileMatrix& matrix);

/// Reads a matrix and writes its tiles to `memory`, matrixBytes() bytes of zeros on a 64-byte
/// boundary. Errors: those of reading; Numeric when a weight is not finite: names the tensor.
/// Shapes: tensor [matrix.rows, columns].
Result<void> packMatrix(const WeightSource& source,
                        const TensorInfo& tensor,
                        const TileFormat& format,
                        std::byte* memory);

/// A group of a quantised row as it is held: number i is scale * quants[i] + minimum.
struct PackedGroup {
    std::array<std::int8_t, kGroupColumns> quants = {}; ///< the first groupColumns ones
    float scale = 0.0F;
    float minimum = 0.0F; ///< 0 without minima
};

/// Of a quantised matrix. `group` counts in matrix.groupColumns.
PackedGroup readPackedGroup(const TileMatrix& matrix, int row, int group);

/// One row as float32, exactly as used in products. Shapes: out [matrix.columns].
void readPackedRow(const TileMatrix& matrix, int row, std::span<float> out);

} // namespace engine
