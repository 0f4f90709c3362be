// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/cache/kv_cache.h"
#include "engine/model/cpu/cpu_pass.h"

#include <cstddef>
#include <span>
#include <vector>

namespace engine::cpu {

/// The operations of all layers, cut for so many threads. The weights must outlive them.
std::vector<LayerOperations> cutLayers(const Weights& weights, int threads);

/// Which bytes of `memory` the threads of each node begin with, by the matrices that lie in it.
/// Every expert is shared by all nodes, because nobody knows which ones a token will choose.
std::vector<NodeBytes>
weightReads(const Weights& weights, std::span<const std::byte> memory, const NodeThreads& threads);

/// Places a memory of weights by who reads it: the matrices in it have their data, but nobody has
/// touched it yet. On a machine with one node it does nothing.
void placeWeights(const Weights& weights, std::span<std::byte> memory, const NodeThreads& threads);

/// The same for new keys and values: attention gives the threads of a node heads that follow one
/// another. A head that two nodes share is cut by its slots.
void placeCache(HostKvStorage& storage, const NodeThreads& threads);

} // namespace engine::cpu
