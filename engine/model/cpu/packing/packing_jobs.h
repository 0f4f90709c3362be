// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/tiles/packing/tile_packing.h"
#include "engine/kernels/worker_pool.h"

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>

namespace engine::cpu {

/// A tensor that is to be packed, and where.
struct PackingJob {
    const TensorInfo* tensor = nullptr;
    TileFormat format = {};
    TileMatrix* matrix = nullptr; ///< outlined
    std::size_t offset = 0;       ///< of its tiles in the memory of all
};

/// How packing is watched and ended from outside.
struct PackingWatch {
    std::stop_token stop = {}; ///< polled between tensors
    std::function<void(double)> progress =
        {}; ///< told the part done, 0 to 1, by the caller's thread
};

/// Packs all matrices into `memory`, zeros at first, on the threads of the pool; each reads about a
/// megabyte of the file at a time. Returns the milliseconds of processor time that this took, all
/// threads together. Errors: of the tensors that cannot be packed the first one's, whatever the
/// threads do; Cancelled.
Result<double> packAllMatrices(const WeightSource& source,
                               std::span<const PackingJob> jobs,
                               std::span<std::byte> memory,
                               const PackingWatch& watch,
                               WorkerPool& pool);

} // namespace engine::cpu
