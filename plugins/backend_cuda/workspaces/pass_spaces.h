// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/transformer/cuda_weights.h"

namespace backend_cuda {

/// The kernel that takes so many rows.
Kernel kernelFor(int rows);

/// Rows of the largest launch.
int rowsAtOnce(const DeviceWeights& weights);

/// Numbers of a row between gate and down, whole strips.
int innerStride(const DeviceWeights& weights);

/// Rows whose stream has room where the GPU before puts it: a piece of a prompt, or a draft.
constexpr std::size_t kBorderRows = 256;

/// Counters of arriving blocks, and the one of the barrier.
std::size_t counterCount(const DeviceWeights& weights);

/// What a launch asks of the workspaces. A plain value.
struct PassExtent {
    std::size_t rows = 0;     ///< that its kernel takes
    std::size_t sections = 0; ///< over which attention is cut
    std::size_t headRows = 0;
    std::size_t logitRows = 0;
    std::size_t handOuts = 0;
    bool wantsInfluence = false;
};

/// The extent of a launch with as many rows as one has, behind a context of so many tokens. Logits
/// of more rows than that, and more hand-outs than a few, are the only ones that take more.
PassExtent largestExtent(const DeviceWeights& weights, engine::Position contextLength);

/// How large each workspace is, in numbers of its type.
struct PassSpaces {
    std::size_t stream = 0; ///< stream, added, and the squares of both
    std::size_t projected = 0;
    std::size_t inner = 0;   ///< and what the router gives
    std::size_t context = 0; ///< and the queries
    std::size_t sums = 0;    ///< of attention, and their totals
    std::size_t partials = 0;
    std::size_t headPartials = 0; ///< HeadPartial
    std::size_t logits = 0;
    std::size_t border = 0; ///< where the first layers are on another GPU
};

PassSpaces
spacesOf(const engine::ModelConfig& config, const DeviceWeights& weights, const PassExtent& extent);

/// Where what a launch finds out lies in front of its tables, in bytes: hand-outs first. All of it
/// comes back at once.
struct PassFindings {
    std::size_t influenceAt = 0;
    std::size_t resultsAt = 0; ///< HeadResult
    std::size_t flagAt = 0;    ///< the first of the tables
};

PassFindings findingsOf(const engine::ModelConfig& config,
                        std::size_t rows,
                        std::size_t handOuts,
                        bool wantsInfluence,
                        std::size_t headRows);

/// At least what the tables of such a launch take, with what it finds out in front, bytes.
std::size_t tableBytes(const engine::ModelConfig& config, const PassExtent& extent);

/// What a loaded model reserves besides weights and caches, bytes. Weights without a device do.
std::uint64_t workspaceBytes(const engine::ModelConfig& config,
                             const DeviceWeights& weights,
                             engine::Position contextLength);

} // namespace backend_cuda
