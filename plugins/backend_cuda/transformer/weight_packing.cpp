// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/weight_packing.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace backend_cuda {

using namespace engine;

namespace {

constexpr int kWarpOutputs = 16;

/// There are fewer quantised forms here: what is not 4 bits in groups of 32 is held as 8 bits.
Form formOf(const TileFormat& format) {
    switch (format.form) {
    case TileForm::F32:
        return Form::F32;
    case TileForm::F16:
        return Form::F16;
    case TileForm::Bf16:
        return Form::Bf16;
    case TileForm::Int8:
    case TileForm::Int6:
    case TileForm::Table4:
        return Form::Int8;
    case TileForm::Int4:
        return format.groupColumns == kGroup ? Form::Int4 : Form::Int8;
    }
    return Form::F32;
}

/// Writes numbers to the places in which stored_weights.h reads them.
class RecordWriter {
public:
    RecordWriter(const DeviceMatrix& matrix, std::vector<std::byte>& to)
        : m_matrix(matrix)
        , m_to(to) {}

    void writePlain(int output, int column, float number) {
        std::byte* record = recordOf(output, column);
        const int inRecord = column % recordColumns(m_matrix.form);
        const int g = output % 8;
        const int high = output % kWarpOutputs / 8;
        if (m_matrix.form == Form::F32) {
            const int lane = g * 4 + inRecord % 8 / 2;
            const int at = (inRecord / 8 * 32 + lane) * 4 + high * 2 + inRecord % 2;
            std::memcpy(record + toSize(at) * 4, &number, 4);
            return;
        }
        const int lane = g * 4 + inRecord / 16;
        const int at =
            (inRecord % 16 / 4 * 32 + lane) * 8 + (inRecord % 4 / 2 * 2 + high) * 2 + inRecord % 2;
        const std::uint16_t bits =
            m_matrix.form == Form::F16 ? halfFromFloat(number) : bfloat16FromFloat(number);
        const unsigned exponent = m_matrix.form == Form::F16 ? 0x7c00U : 0x7f80U;
        m_fits = m_fits && (bits & exponent) != exponent;
        std::memcpy(record + toSize(at) * 2, &bits, 2);
    }

    /// A group of 32 or 16 columns.
    void writeGroup(int output, int column, int columns, const PackedGroup& group) {
        std::byte* record = recordOf(output, column);
        const int inRecord = column % recordColumns(m_matrix.form);
        const int place = inRecord / kGroup;
        const int g = output % 8;
        const int high = output % kWarpOutputs / 8;
        const bool isInt4 = m_matrix.form == Form::Int4;
        for (int i = 0; i < columns; ++i) {
            const int inGroup = inRecord % kGroup + i;
            const int lane = g * 4 + inGroup % 16 / 4;
            const int at = 32 * m_matrix.scaleBytes + (isInt4 ? place / 2 : place) * kStepBytes +
                           lane * 16 + (inGroup / 16 * 2 + high) * 4 + inGroup % 4;
            const auto number = static_cast<unsigned>(group.quants[toSize(i)]);
            record[at] |= static_cast<std::byte>(isInt4 ? (number & 15U) << place % 2 * 4 : number);
        }
        std::byte* scales = record + (g * 4 + place) * m_matrix.scaleBytes;
        writeScale(scales,
                   m_matrix.bySixteens != 0 ? inRecord % kGroup / 16 * 2 + high : high,
                   group.scale);
        if (m_matrix.hasMinima != 0)
            writeScale(scales, 2 + high, group.minimum);
    }

    bool fits() const { return m_fits; }

private:
    std::byte* recordOf(int output, int column) {
        const int columns = recordColumns(m_matrix.form);
        const int slabRecords = kSlab / columns;
        const int slab = column / kSlab;
        const int inSlab = std::min(slabRecords, m_matrix.records - slab * slabRecords);
        const std::size_t record = toSize(slab) * toSize(slabRecords) * toSize(m_matrix.strips) +
                                   toSize(output / kStrip) * toSize(inSlab) +
                                   toSize(column % kSlab / columns);
        return m_to.data() + (record * kWarps + toSize(output % kStrip / kWarpOutputs)) *
                                 toSize(recordBytes(m_matrix));
    }

    void writeScale(std::byte* scales, int index, float value) const {
        if (m_matrix.hasWideScales != 0) {
            std::memcpy(scales + index * 4, &value, 4);
            return;
        }
        const std::uint16_t half = halfFromFloat(value);
        std::memcpy(scales + index * 2, &half, 2);
    }

    const DeviceMatrix& m_matrix;
    std::vector<std::byte>& m_to; // zeros at first
    bool m_fits = true;
};

} // namespace

DeviceMatrix outlineMatrix(int outputs, int columns, const TileFormat& format) {
    DeviceMatrix matrix;
    matrix.outputs = outputs;
    matrix.columns = columns;
    matrix.form = formOf(format);
    if (isQuantised(matrix.form)) {
        matrix.hasWideScales = format.scaleForm == ScaleForm::F16 ? 0 : 1;
        matrix.hasMinima = format.hasMinima ? 1 : 0;
        matrix.bySixteens = format.groupColumns == kGroup ? 0 : 1;
        matrix.scaleBytes = (matrix.hasMinima != 0 || matrix.bySixteens != 0 ? 4 : 2) *
                            (matrix.hasWideScales != 0 ? 4 : 2);
    }
    const int wide = recordColumns(matrix.form);
    matrix.strips = (outputs + kStrip - 1) / kStrip;
    matrix.records = (columns + wide - 1) / wide;
    matrix.slabs = (matrix.records * wide + kSlab - 1) / kSlab;
    return matrix;
}

std::size_t matrixBytes(const DeviceMatrix& matrix) {
    return toSize(matrix.strips) * toSize(matrix.records) * kWarps * toSize(recordBytes(matrix));
}

std::vector<std::byte> packMatrix(const DeviceMatrix& matrix,
                                  const std::function<TileRow(int output)>& rowOf,
                                  WorkerPool& pool) {
    std::vector<std::byte> packed(matrixBytes(matrix));
    std::vector<std::vector<float>> rows( // tiles are filled up to whole groups
        toSize(pool.threads()),
        std::vector<float>(toSize(matrix.columns + kSlab)));
    std::atomic<bool> fits = true;
    const auto packStrip = [&](int strip, int thread) { // no byte is of two outputs
        RecordWriter writer(matrix, packed);
        const int end = std::min((strip + 1) * kStrip, matrix.outputs);
        for (int output = strip * kStrip; output < end; ++output) {
            const auto [tiles, row] = rowOf(output);
            if (tiles == nullptr)
                continue;
            if (isQuantised(matrix.form)) {
                const int columns = tiles->groupColumns;
                for (int group = 0; group * columns < tiles->columns; ++group)
                    writer.writeGroup(
                        output, group * columns, columns, readPackedGroup(*tiles, row, group));
                continue;
            }
            const auto numbers = std::span(rows[toSize(thread)]).first(toSize(tiles->columns));
            readPackedRow(*tiles, row, numbers);
            for (int column = 0; column < matrix.columns; ++column)
                writer.writePlain(output, column, numbers[toSize(column)]);
        }
        if (!writer.fits())
            fits = false;
    };
    pool.run(matrix.strips, packStrip);
    if (!fits)
        packed.clear();
    return packed;
}

} // namespace backend_cuda
