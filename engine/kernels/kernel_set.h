// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/processor.h"
#include "engine/kernels/rows/row_kernels.h"
#include "engine/kernels/tiles/tile_matrix.h"

namespace engine {

/// All kernels of one instruction set.
struct KernelSet {
    InstructionSet instructionSet;
    const RowKernels& rows;
    TileKernel multiplyTiles;
};

/// The kernels of an instruction set of this processor, or of the next lower set for which kernels
/// were compiled.
KernelSet kernelSet(InstructionSet set);

} // namespace engine
