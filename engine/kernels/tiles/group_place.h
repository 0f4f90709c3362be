// SPDX-License-Identifier: Apache-2.0
// Not for files of one instruction set: an inline function compiled there could be the one that the
// linker keeps for all.
#pragma once

#include "engine/kernels/tiles/tile_matrix.h"

namespace engine {

/// The position of a group's scales and stored bytes within its tile.
struct GroupPlace {
    std::size_t header;   ///< bytes
    std::size_t scale;    ///< of lane 0, counted in numbers from the header
    std::size_t minimum;  ///< likewise
    std::size_t storedAt; ///< bytes
};

inline GroupPlace groupPlace(const TileMatrix& matrix, std::size_t group) {
    const auto chunkGroups = static_cast<std::size_t>(matrix.chunkGroups);
    const std::size_t chunk = group / chunkGroups;
    const std::size_t inChunk = group % chunkGroups;
    return {chunk * (matrix.headerBytes + chunkGroups * matrix.groupBytes),
            inChunk * kTileRows,
            (chunkGroups + inChunk) * kTileRows,
            (chunk + 1) * matrix.headerBytes + group * matrix.groupBytes};
}

} // namespace engine
