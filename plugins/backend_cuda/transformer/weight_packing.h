// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/tiles/packing/tile_packing.h"
#include "engine/kernels/worker_pool.h"
#include "plugins/backend_cuda/kernels/pass_arguments.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace backend_cuda {

/// Strips, slabs and records of a matrix of this format; its weights stay null.
DeviceMatrix outlineMatrix(int outputs, int columns, const engine::TileFormat& format);

/// Of the matrix in memory.
std::size_t matrixBytes(const DeviceMatrix& matrix);

/// A row of a matrix as the cpu backend packs it; without tiles an output that is filled up.
struct TileRow {
    const engine::TileMatrix* tiles = nullptr;
    int row = 0;
};

/// The matrix as kernels read it, from tiles of the same format. `rowOf` tells where the numbers of
/// an output come from; threads ask it side by side. Nothing is rounded. Nothing if a number is
/// infinite in 16 bits.
std::vector<std::byte> packMatrix(const DeviceMatrix& matrix,
                                  const std::function<TileRow(int output)>& rowOf,
                                  engine::WorkerPool& pool);

} // namespace backend_cuda
