// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/packing/group_place.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <cstring>

namespace engine {

namespace {

void writeFloat(std::byte* numbers, std::size_t place, float value) {
    std::memcpy(numbers + place * 4, &value, 4);
}

float readFloat(const std::byte* numbers, std::size_t place) {
    float value = 0.0F;
    std::memcpy(&value, numbers + place * 4, 4);
    return value;
}

void writeHalf(std::byte* numbers, std::size_t place, float value) {
    const std::uint16_t half = halfFromFloat(value);
    std::memcpy(numbers + place * 2, &half, 2);
}

float readHalf(const std::byte* numbers, std::size_t place) {
    std::uint16_t half = 0;
    std::memcpy(&half, numbers + place * 2, 2);
    return floatFromHalf(half);
}

/// Where scales and minima of a group stand in a header, in numbers of the matrix' scale form
/// (bytes if nested).
std::size_t scalePlace(std::size_t inChunk, std::size_t lane) { return inChunk * kTileRows + lane; }

std::size_t minimumPlace(const TileMatrix& matrix, std::size_t inChunk, std::size_t lane) {
    return scalePlace(toSize(matrix.chunkGroups) + inChunk, lane);
}

/// The float16 numbers of a nested header: scales, then minima.
std::size_t blockNumbersAt(const TileMatrix& matrix) {
    return toSize(matrix.chunkGroups) * kTileRows * (matrix.hasMinima ? 2U : 1U);
}

} // namespace

GroupScale readGroupScale(const TileMatrix& matrix,
                          const std::byte* header,
                          std::size_t inChunk,
                          std::size_t lane) {
    const std::size_t scale = scalePlace(inChunk, lane);
    const std::size_t minimum = minimumPlace(matrix, inChunk, lane);
    switch (matrix.scaleForm) {
    case ScaleForm::F32:
        return {readFloat(header, scale), matrix.hasMinima ? readFloat(header, minimum) : 0.0F};
    case ScaleForm::F16:
        return {readHalf(header, scale), matrix.hasMinima ? readHalf(header, minimum) : 0.0F};
    case ScaleForm::Nested:
        break;
    }
    const std::byte* const block = header + blockNumbersAt(matrix);
    const auto factor = [&](std::size_t place) {
        return static_cast<float>(static_cast<std::int8_t>(header[place]));
    };
    return {readHalf(block, lane) * factor(scale),
            matrix.hasMinima ? readHalf(block, kTileRows + lane) * factor(minimum) : 0.0F};
}

void writeGroupScale(const TileMatrix& matrix,
                     std::byte* header,
                     std::size_t inChunk,
                     std::size_t lane,
                     const QuantGroup& values,
                     std::size_t part) {
    const std::size_t scale = scalePlace(inChunk, lane);
    const std::size_t minimum = minimumPlace(matrix, inChunk, lane);
    const bool hasMinima = matrix.hasMinima;
    switch (matrix.scaleForm) {
    case ScaleForm::F32:
        writeFloat(header, scale, values.scales[part]);
        if (hasMinima)
            writeFloat(header, minimum, values.minima[part]);
        break;
    case ScaleForm::F16:
        writeHalf(header, scale, values.scales[part]);
        if (hasMinima)
            writeHalf(header, minimum, values.minima[part]);
        break;
    case ScaleForm::Nested: {
        std::byte* const block = header + blockNumbersAt(matrix);
        header[scale] = static_cast<std::byte>(values.nestedScales.factors[part]);
        writeHalf(block, lane, values.nestedScales.block);
        if (!hasMinima)
            break;
        header[minimum] = static_cast<std::byte>(values.nestedMinima.factors[part]);
        writeHalf(block, kTileRows + lane, values.nestedMinima.block);
        break;
    }
    }
}

} // namespace engine
