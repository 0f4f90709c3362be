// SPDX-License-Identifier: Apache-2.0
// Which number of a matrix lies where in its records. Lane 4 g + t of a warp has outputs g and
// g + 8 of its 16.
#pragma once

#include "plugins/backend_cuda/kernels/weight_stream.h"

namespace backend_cuda {

/// A lane's scales of a record of quantised numbers: those of outputs g and g + 8 in group t of its
/// four, and the minima of both, if any; by sixteens those of the groups 2 t and 2 t + 1 of its
/// eight.
struct LaneScales {
    float numbers[4];
};

DEVICE LaneScales readScales(const DeviceMatrix& matrix, uint4 bits) {
    if (matrix.hasWideScales != 0)
        return {
            {floatOfBits(bits.x), floatOfBits(bits.y), floatOfBits(bits.z), floatOfBits(bits.w)}};
    return {{halfToFloat(bits.x),
             halfToFloat(bits.x >> 16U),
             halfToFloat(bits.y),
             halfToFloat(bits.y >> 16U)}};
}

/// One number of a matrix of quantised ones. Steps of Int8 are groups of 32 columns; those of Int4
/// are two groups, the first one in the low halves of bytes. A lane's 16 bytes are columns 4 t to
/// 4 t + 3 of output g and of g + 8, then the same 16 columns further on.
DEVICE float
quantisedWeightAt(const DeviceMatrix& matrix, const char* record, int output, int column) {
    const int inRecord = column % recordColumns(matrix.form);
    const int group = inRecord / kGroup;
    const int half = inRecord % kGroup / 16;
    const int high = output % 16 / 8;
    const int g = output % 8;
    const int t = column % 16 / 4;
    const bool isInt4 = matrix.form == Form::Int4;
    const char* stored = record + 32 * matrix.scaleBytes +
                         (isInt4 ? group / 2 : group) * kStepBytes + (g * 4 + t) * 16 +
                         (half * 2 + high) * 4 + column % 4;
    int number = static_cast<signed char>(*stored);
    if (isInt4)
        number = number >> group % 2 * 4 & 15;
    if (isInt4 && matrix.hasMinima == 0 && number >= 8)
        number -= 16;
    const int place = matrix.bySixteens != 0 ? half * 2 + high : high;
    const int bytes = matrix.hasWideScales != 0 ? 4 : 2;
    const char* scales = record + (g * 4 + group) * matrix.scaleBytes;
    const auto scaleAt = [&](int index) {
        const char* at = scales + index * bytes;
        return bytes == 4 ? *reinterpret_cast<const float*>(at)
                          : halfToFloat(*reinterpret_cast<const std::uint16_t*>(at));
    };
    const float value = static_cast<float>(number) * scaleAt(place);
    return matrix.hasMinima != 0 ? value + scaleAt(2 + high) : value;
}

/// One number of a matrix as it is stored. Of 16 bits a lane has columns 16 t to 16 t + 15 of a
/// record, four a step; of float32 two neighbouring columns of eight.
DEVICE float weightAt(const DeviceMatrix& matrix, int output, int column) {
    const int columns = recordColumns(matrix.form);
    const char* record = recordAt(
        matrix, column / kSlab, output / kStrip, column % kSlab / columns, output % kStrip / 16);
    if (isQuantised(matrix.form))
        return quantisedWeightAt(matrix, record, output, column);
    const int inRecord = column % columns;
    const int high = output % 16 / 8; // the second output of a lane
    if (matrix.form == Form::F32) {
        const int lane = output % 8 * 4 + inRecord % 8 / 2;
        return reinterpret_cast<const float*>(
            record)[(inRecord / 8 * 32 + lane) * 4 + high * 2 + inRecord % 2];
    }
    const int lane = output % 8 * 4 + inRecord / 16;
    const int step = inRecord % 16 / 4;
    const int pair = inRecord % 4 / 2;
    const unsigned bits = reinterpret_cast<const std::uint16_t*>(
        record)[(step * 32 + lane) * 8 + (pair * 2 + high) * 2 + inRecord % 2];
    return matrix.form == Form::Bf16 ? bf16ToFloat(bits) : halfToFloat(bits);
}

} // namespace backend_cuda
