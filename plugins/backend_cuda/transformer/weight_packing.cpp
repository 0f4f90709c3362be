// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/weight_packing.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <algorithm>
#include <cstring>

namespace backend_cuda {

using engine::toSize;

namespace {

constexpr int kWarpOutputs = 16;

/// Infinite in 16 bits.
bool overflows(std::uint16_t bits, Form form) {
    const unsigned exponent = form == Form::F16 ? 0x7c00U : 0x7f80U;
    return (bits & exponent) == exponent;
}

} // namespace

DeviceMatrix outlineMatrix(int outputs, int columns, Form form) {
    DeviceMatrix matrix;
    matrix.outputs = outputs;
    matrix.columns = columns;
    matrix.form = form;
    matrix.strips = (outputs + kStrip - 1) / kStrip;
    matrix.chunks = (columns + chunkColumns(form) - 1) / chunkColumns(form);
    const int slabChunks = kSlab / chunkColumns(form);
    matrix.slabs = (matrix.chunks + slabChunks - 1) / slabChunks;
    return matrix;
}

std::size_t matrixBytes(const DeviceMatrix& matrix) {
    return toSize(matrix.strips) * toSize(matrix.chunks) * kWarps * kSteps * kRecordBytes;
}

std::vector<std::byte> packMatrix(const DeviceMatrix& matrix,
                                  const OutputNumbers& numbersOf,
                                  const std::vector<int>& columnOf) {
    std::vector<std::byte> packed(matrixBytes(matrix));
    const int columns = chunkColumns(matrix.form);
    const int slabChunks = kSlab / columns;
    const bool isWide = matrix.form == Form::F32;
    bool fits = true;
    for (int output = 0; output < matrix.outputs; ++output) {
        const float* numbers = numbersOf(output);
        if (numbers == nullptr)
            continue;
        const int strip = output / kStrip;
        const int warp = output % kStrip / kWarpOutputs;
        const int g = output % 8;
        const int high = output % kWarpOutputs / 8;
        for (int column = 0; column < matrix.columns; ++column) {
            const int from = columnOf.empty() ? column : columnOf[toSize(column)];
            if (from < 0)
                continue;
            const int slab = column / kSlab;
            const int inSlab = std::min(slabChunks, matrix.chunks - slab * slabChunks);
            const std::size_t chunk = toSize(slab) * toSize(slabChunks) * toSize(matrix.strips) +
                                      toSize(strip) * toSize(inSlab) +
                                      toSize(column % kSlab / columns);
            const int inChunk = column % columns;
            const std::size_t record = (chunk * kWarps + toSize(warp)) * kSteps;
            if (isWide) {
                const std::size_t lane = toSize(g * 4 + inChunk % 8 / 2);
                const std::size_t at = ((record + toSize(inChunk / 8)) * 32 + lane) * 4 +
                                       toSize(high * 2 + inChunk % 2);
                std::memcpy(packed.data() + at * 4, numbers + from, 4);
                continue;
            }
            const std::size_t lane = toSize(g * 4 + inChunk / 16);
            const std::size_t at = ((record + toSize(inChunk % 16 / 4)) * 32 + lane) * 8 +
                                   toSize((inChunk % 4 / 2 * 2 + high) * 2 + inChunk % 2);
            const std::uint16_t bits = matrix.form == Form::F16
                                           ? engine::halfFromFloat(numbers[from])
                                           : engine::bfloat16FromFloat(numbers[from]);
            fits = fits && !overflows(bits, matrix.form);
            std::memcpy(packed.data() + at * 2, &bits, 2);
        }
    }
    if (!fits)
        packed.clear();
    return packed;
}

} // namespace backend_cuda
