// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/aligned_buffer.h"
#include "engine/kernels/kernel_set.h"

#include <array>
#include <vector>

namespace engine::cpu {

/// The forms in which the matrices of one operation read their input.
class InputForms {
public:
    void add(const TileMatrix& matrix);

    bool wantsBf16() const { return m_wantsBf16; }

    bool wantsQuants() const { return m_kindCount > 0; }

    /// Matrices of the same offset and group share the sums that take the offset out.
    struct OffsetKind {
        int offset;
        int groupColumns;

        bool operator==(const OffsetKind&) const = default;
    };

    int kindCount() const { return m_kindCount; }

    OffsetKind kind(int index) const { return m_kinds[static_cast<std::size_t>(index)]; }

    /// Of a quantised matrix that was added.
    int kindOf(const TileMatrix& matrix) const;

    /// Offsets 0, 8, 16 and 128; by sixteens 4, 32 and 128.
    static constexpr std::size_t kMostKinds = 7;

private:
    bool m_wantsBf16 = false;
    int m_kindCount = 0;
    std::array<OffsetKind, kMostKinds> m_kinds = {};
};

/// The input rows of an operation: float32, and made from those whatever its matrices read.
class ActivationRows {
public:
    /// Room for rows of this width; the columns up to the next multiple of 32 stay zero.
    /// `hasColumns`: scales and sums are kept group by group, too, which only the kernels of AMX
    /// read: rows that different threads make would share cache lines.
    void reserve(int rows, int width, bool hasColumns);

    float* row(int index) { return m_values.data() + static_cast<std::size_t>(index) * m_stride; }

    const float* row(int index) const {
        return m_values.data() + static_cast<std::size_t>(index) * m_stride;
    }

    /// Numbers from one row to the next.
    std::size_t stride() const { return m_stride; }

    /// Makes the other forms of one row. Thread: any, one a row.
    void prepare(int index, const InputForms& forms, const RowKernels& kernels) {
        prepareColumns(index, {0, m_width}, forms, kernels);
    }

    struct Columns {
        int first; // a multiple of kGroupColumns
        int count; // likewise, or up to the row's end
    };

    /// The same for some columns. Thread: any, one a piece of a row.
    void prepareColumns(int index,
                        const Columns& columns,
                        const InputForms& forms,
                        const RowKernels& kernels);

    /// What kernels read: rows [firstRow, firstRow + rowCount). `forms` as in prepare().
    TileInput
    input(const TileMatrix& matrix, const InputForms& forms, int rowCount, int firstRow = 0) const;

private:
    int m_rows = 0;
    int m_width = 0;
    std::size_t m_stride = 0;       // elements of a row
    std::size_t m_groups = 0;       // groups of 32 of a row
    std::size_t m_columnStride = 0; // 0: without columns
    AlignedBuffer<float> m_values;
    AlignedBuffer<std::uint16_t> m_bf16;
    AlignedBuffer<float> m_rounded; // the numbers of m_bf16
    AlignedBuffer<std::int8_t> m_quants;
    AlignedBuffer<float> m_scales;         // [rows, groups]
    AlignedBuffer<float> m_scaledSums;     // [rows, groups]
    AlignedBuffer<float> m_scaleColumns;   // [groups, m_columnStride]
    AlignedBuffer<float> m_sumColumns;     // [groups, m_columnStride]
    AlignedBuffer<std::int32_t> m_offsets; // [kinds, rows, 2 * groups]
};

} // namespace engine::cpu
