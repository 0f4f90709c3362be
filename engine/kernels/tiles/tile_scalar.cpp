// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/packing/group_place.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <cmath>
#include <cstring>

namespace engine {

namespace {

/// One output row of a tile against one row of input.
struct Lane {
    const TileMatrix& matrix;
    const std::byte* tile;
    std::size_t lane;
    const TileInput& input;
    std::size_t row;
};

template <typename Value> Value read(const std::byte* at, std::size_t index) {
    Value value;
    std::memcpy(&value, at + index * sizeof(Value), sizeof(Value));
    return value;
}

float plainProduct(const Lane& at) {
    const float* values = at.input.values + at.row * at.input.stride;
    float sum = 0.0F;
    for (std::size_t column = 0; column < static_cast<std::size_t>(at.matrix.columns); ++column) {
        const std::size_t place = column * kTileRows + at.lane;
        const float weight = at.matrix.form == TileForm::F32
                                 ? read<float>(at.tile, place)
                                 : floatFromHalf(read<std::uint16_t>(at.tile, place));
        sum = std::fma(weight, values[column], sum);
    }
    return sum;
}

/// The even columns of all pairs and the odd ones apart, as vectors of 32-bit pairs are summed.
float bf16Product(const Lane& at) {
    const std::uint16_t* values = at.input.bf16 + at.row * at.input.stride;
    float even = 0.0F;
    float odd = 0.0F;
    for (std::size_t column = 0; column < static_cast<std::size_t>(at.matrix.columns);
         column += 2) {
        const std::size_t place = column * kTileRows + 2 * at.lane;
        even = std::fma(floatFromBfloat16(read<std::uint16_t>(at.tile, place)),
                        floatFromBfloat16(values[column]),
                        even);
        odd = std::fma(floatFromBfloat16(read<std::uint16_t>(at.tile, place + 1)),
                       floatFromBfloat16(values[column + 1]),
                       odd);
    }
    return even + odd;
}

float quantProduct(const Lane& at) {
    const TileMatrix& matrix = at.matrix;
    const auto groupColumns = static_cast<std::size_t>(matrix.groupColumns);
    const std::size_t groups = static_cast<std::size_t>(matrix.columns) / groupColumns;
    const std::int8_t* quants = at.input.quants + at.row * at.input.stride;
    const float* scales = at.input.scales + at.row * at.input.groupStride;
    float sum = 0.0F;
    for (std::size_t group = 0; group < groups; ++group) {
        const GroupPlace place = groupPlace(matrix, group);
        const auto [scale, minimum] =
            readGroupScale(matrix, at.tile + place.header, place.inChunk, at.lane);
        std::int32_t dot = at.input.offsets[at.row * at.input.offsetStride + group];
        for (std::size_t i = 0; i < groupColumns; ++i)
            dot += static_cast<int>(readStored(matrix, at.tile + place.storedAt, at.lane, i)) *
                   quants[group * groupColumns + i];
        const float scaled = static_cast<float>(dot) * scales[group * groupColumns / kGroupColumns];
        sum = std::fma(scale, scaled, sum);
        if (matrix.hasMinima)
            sum = std::fma(minimum, at.input.sums[at.row * at.input.groupStride + group], sum);
    }
    return sum;
}

float product(const Lane& at) {
    switch (at.matrix.form) {
    case TileForm::F32:
    case TileForm::F16:
        return plainProduct(at);
    case TileForm::Bf16:
        return bf16Product(at);
    case TileForm::Int8:
    case TileForm::Int6:
    case TileForm::Table4:
    case TileForm::Int4:
        return quantProduct(at);
    }
    return 0.0F;
}

} // namespace

void multiplyTilesScalar(const TileMatrix& matrix,
                         const TileInput& input,
                         int firstTile,
                         int tileCount,
                         const TileOutput& out) {
    for (int tile = firstTile; tile < firstTile + tileCount; ++tile)
        for (std::size_t row = 0; row < static_cast<std::size_t>(input.rows); ++row)
            for (std::size_t lane = 0; lane < kTileRows; ++lane)
                out.values[row * out.stride + static_cast<std::size_t>(tile) * kTileRows + lane] =
                    product({matrix,
                             matrix.data + static_cast<std::size_t>(tile) * matrix.tileBytes,
                             lane,
                             input,
                             row});
}

} // namespace engine
