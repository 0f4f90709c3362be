// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/layer_cut.h"

#include "engine/base/to_size.h"

namespace engine::cpu {

namespace {

/// Keys and values are asked for in pieces of this size; there are no huge pages to keep whole.
constexpr std::size_t kCachePiece = std::size_t{64} << 10U;

} // namespace

std::vector<LayerOperations> cutLayers(const Weights& weights, int threads) {
    std::vector<LayerOperations> layers;
    for (const LayerWeights& layer : weights.layers) {
        LayerOperations& operations = layers.emplace_back();
        operations.queryKeyValue = LinearGroup({&layer.query, &layer.key, &layer.value}, threads);
        operations.output = LinearGroup({&layer.output}, threads);
        if (layer.router.matrix.rows == 0) {
            const GatedMlp& mlp = layer.mlps.front();
            operations.gateUp = LinearGroup({&mlp.gate, &mlp.up}, threads, true);
            operations.down = LinearGroup({&mlp.down}, threads);
            continue;
        }
        operations.router = LinearGroup({&layer.router}, threads);
        for (const GatedMlp& expert : layer.mlps) {
            operations.expertInput.add(expert.gate.matrix);
            operations.expertInput.add(expert.up.matrix);
            operations.expertInner.add(expert.down.matrix);
        }
    }
    return layers;
}

std::vector<NodeBytes>
weightReads(const Weights& weights, std::span<const std::byte> memory, const NodeThreads& threads) {
    std::vector<NodeBytes> reads;
    const auto add = [&](const LinearGroup& group) { group.addReads(threads, memory, reads); };
    for (const LayerOperations& layer : cutLayers(weights, threads.threads()))
        for (const LinearGroup* each :
             {&layer.queryKeyValue, &layer.output, &layer.gateUp, &layer.down, &layer.router})
            add(*each);
    for (const Linear* each : {&weights.outputHead(), &weights.draftInput})
        if (each->matrix.rows > 0)
            add(LinearGroup({each}, threads.threads()));
    for (const LayerWeights& layer : weights.layers) {
        if (layer.router.matrix.rows == 0)
            continue;
        for (const GatedMlp& expert : layer.mlps)
            for (const Linear* each : {&expert.gate, &expert.up, &expert.down})
                for (int node = 0; node < threads.nodeCount(); ++node) {
                    const auto [first, end] = threads.partOf(node, toSize(tileCount(each->matrix)));
                    addTileReads(each->matrix, {first, end, node}, memory, reads);
                }
    }
    return reads;
}

void placeWeights(const Weights& weights, std::span<std::byte> memory, const NodeThreads& threads) {
    if (threads.areSpread())
        threads.place(memory, weightReads(weights, memory, threads), kHugePage);
}

void placeCache(HostKvStorage& storage, const NodeThreads& threads) {
    if (!threads.areSpread())
        return;
    const std::size_t planes = 2 * toSize(storage.shape().layerCount);
    const std::size_t planeBytes = storage.byteSize() / planes;
    std::vector<NodeBytes> reads;
    for (std::size_t plane = 0; plane < planes; ++plane)
        for (int node = 0; node < threads.nodeCount(); ++node) {
            const auto [first, end] = threads.partOf(node, planeBytes);
            reads.push_back({plane * planeBytes + first, plane * planeBytes + end, node});
        }
    threads.place({storage.keys(0), storage.byteSize()}, reads, kCachePiece);
}

} // namespace engine::cpu
