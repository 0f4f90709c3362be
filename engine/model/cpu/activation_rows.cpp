// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/activation_rows.h"

#include "engine/base/result.h"

#include <algorithm>
#include <bit>

namespace engine::cpu {

void InputForms::add(const TileMatrix& matrix) {
    if (matrix.form == TileForm::Bf16)
        m_wantsBf16 = true;
    if (!holdsQuants(matrix.form) || kindOf(matrix) >= 0)
        return;
    ENGINE_CHECK(m_kindCount < static_cast<int>(kMostKinds), "too many kinds of weights together");
    m_kinds[static_cast<std::size_t>(m_kindCount++)] = {matrix.offset, matrix.groupColumns};
}

int InputForms::kindOf(const TileMatrix& matrix) const {
    const auto end = m_kinds.begin() + m_kindCount;
    const auto found =
        std::find(m_kinds.begin(), end, OffsetKind{matrix.offset, matrix.groupColumns});
    return found == end ? -1 : static_cast<int>(found - m_kinds.begin());
}

void ActivationRows::reserve(int rows, int width, bool hasColumns) {
    const std::size_t stride =
        (static_cast<std::size_t>(width) + kGroupColumns - 1) / kGroupColumns * kGroupColumns;
    if (rows <= m_rows && width == m_width)
        return;
    ENGINE_CHECK(m_width == 0 || width == m_width, "rows of {} become rows of {}", m_width, width);
    m_rows = rows;
    m_width = width;
    m_stride = stride;
    m_groups = stride / kGroupColumns;
    const auto count = static_cast<std::size_t>(rows);
    m_values.reserve(count * stride);
    m_bf16.reserve(count * stride);
    m_rounded.reserve(count * stride);
    m_quants.reserve(count * stride);
    m_scales.reserve(count * m_groups);
    m_scaledSums.reserve(count * m_groups);
    if (hasColumns) {
        m_columnStride =
            (count + 15) / 16 * 16 + 16; // an odd number of lines, or they share cache sets
        if (m_columnStride % 32 == 0)
            m_columnStride += 16;
        m_scaleColumns.reserve(m_groups * m_columnStride);
        m_sumColumns.reserve(m_groups * m_columnStride);
    }
    m_offsets.reserve(InputForms::kMostKinds * count * 2 * m_groups);
}

void ActivationRows::prepareColumns(int index,
                                    const Columns& columns,
                                    const InputForms& forms,
                                    const RowKernels& kernels) {
    ENGINE_CHECK(columns.first % kGroupColumns == 0, "columns from {} on", columns.first);
    const std::size_t firstGroup = static_cast<std::size_t>(columns.first / kGroupColumns);
    const std::size_t groups =
        static_cast<std::size_t>((columns.count + kGroupColumns - 1) / kGroupColumns);
    const std::size_t row = static_cast<std::size_t>(index);
    const std::size_t at = row * m_stride + firstGroup * kGroupColumns;
    const int width = static_cast<int>(groups) * kGroupColumns;
    if (forms.wantsBf16()) {
        std::uint16_t* const bits = m_bf16.data() + at;
        kernels.toBf16(m_values.data() + at, width, bits);
        for (int i = 0; i < width; ++i)
            m_rounded.data()[at + static_cast<std::size_t>(i)] =
                std::bit_cast<float>(static_cast<std::uint32_t>(bits[i]) << 16);
    }
    if (!forms.wantsQuants())
        return;
    const std::size_t group = row * m_groups + firstGroup;
    std::array<OffsetSums, InputForms::kMostKinds> kinds;
    for (int kind = 0; kind < forms.kindCount(); ++kind) {
        const auto [offset, groupColumns] = forms.kind(kind);
        const bool isByHalves = groupColumns != kGroupColumns;
        kinds[static_cast<std::size_t>(kind)] = {
            offset,
            isByHalves,
            m_offsets.data() + (static_cast<std::size_t>(kind * m_rows) + row) * 2 * m_groups +
                (isByHalves ? 2 : 1) * firstGroup};
    }
    kernels.quantizeRow(m_values.data() + at,
                        width,
                        {m_quants.data() + at,
                         m_scales.data() + group,
                         m_scaledSums.data() + group,
                         kinds.data(),
                         forms.kindCount()});
    for (std::size_t i = 0; i < groups && m_columnStride > 0; ++i) {
        const std::size_t place = (firstGroup + i) * m_columnStride + row;
        m_scaleColumns.data()[place] = m_scales.data()[group + i];
        m_sumColumns.data()[place] = m_scaledSums.data()[group + i];
    }
}

TileInput ActivationRows::input(const TileMatrix& matrix,
                                const InputForms& forms,
                                int rowCount,
                                int firstRow) const {
    const auto first = static_cast<std::size_t>(firstRow);
    TileInput input{.values = m_values.data() + first * m_stride,
                    .bf16 = m_bf16.data() + first * m_stride,
                    .rounded = m_rounded.data() + first * m_stride,
                    .quants = m_quants.data() + first * m_stride,
                    .scales = m_scales.data() + first * m_groups,
                    .sums = m_scaledSums.data() + first * m_groups,
                    .stride = m_stride,
                    .groupStride = m_groups,
                    .scaleColumns = m_scaleColumns.data() + first,
                    .sumColumns = m_sumColumns.data() + first,
                    .columnStride = m_columnStride,
                    .rows = rowCount};
    if (holdsQuants(matrix.form)) {
        const int kind = forms.kindOf(matrix);
        input.offsets =
            m_offsets.data() + (static_cast<std::size_t>(kind * m_rows) + first) * 2 * m_groups;
        input.offsetStride = 2 * m_groups;
    }
    return input;
}

} // namespace engine::cpu
