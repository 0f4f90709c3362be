// SPDX-License-Identifier: Apache-2.0
// Which quantised forms there are, for files of one instruction set: nothing here is shared.
#pragma once

#include "engine/kernels/tiles/tile_matrix.h"

namespace engine {

namespace {

/// Lines of 64 bytes of a group that hold halves of bytes, and of all of it.
template <TileForm Form, int GroupColumns> struct GroupLines {
    static constexpr int kHalves = GroupColumns / 8; // low and high halves are two vectors
    static constexpr int kAll = Form == TileForm::Int8   ? GroupColumns / 4
                                : Form == TileForm::Int6 ? kHalves + GroupColumns / 16
                                                         : kHalves;
};

/// The kernel for a matrix, of a template over its form, its group, its scales and whether it has
/// minima. What tileFormat() never makes is missing.
template <template <TileForm, int, ScaleForm, bool> typename Kernel>
static TileKernel quantKernel(const TileMatrix& matrix) {
    using enum TileForm;
    constexpr ScaleForm Nested = ScaleForm::Nested;
    const bool isBySixteens = matrix.groupColumns == 16;
    const bool hasMinima = matrix.hasMinima;
    const ScaleForm scales = matrix.scaleForm;
    if (matrix.form == Int4)
        return isBySixteens       ? Kernel<Int4, 16, Nested, false>::multiply
               : scales == Nested ? Kernel<Int4, 32, Nested, true>::multiply
               : hasMinima        ? Kernel<Int4, 32, ScaleForm::F16, true>::multiply
                                  : Kernel<Int4, 32, ScaleForm::F16, false>::multiply;
    if (matrix.form == Int6)
        return isBySixteens       ? Kernel<Int6, 16, Nested, false>::multiply
               : scales == Nested ? Kernel<Int6, 32, Nested, true>::multiply
               : hasMinima        ? Kernel<Int6, 32, ScaleForm::F16, true>::multiply
                                  : Kernel<Int6, 32, ScaleForm::F16, false>::multiply;
    if (matrix.form == Table4)
        return scales == Nested           ? Kernel<Table4, 32, Nested, false>::multiply
               : scales == ScaleForm::F32 ? Kernel<Table4, 32, ScaleForm::F32, false>::multiply
                                          : Kernel<Table4, 32, ScaleForm::F16, false>::multiply;
    if (isBySixteens)
        return Kernel<Int8, 16, Nested, false>::multiply;
    if (scales == Nested)
        return hasMinima ? Kernel<Int8, 32, Nested, true>::multiply
                         : Kernel<Int8, 32, Nested, false>::multiply;
    if (scales == ScaleForm::F32)
        return Kernel<Int8, 32, ScaleForm::F32, false>::multiply;
    return hasMinima ? Kernel<Int8, 32, ScaleForm::F16, true>::multiply
                     : Kernel<Int8, 32, ScaleForm::F16, false>::multiply;
}

} // namespace

} // namespace engine
