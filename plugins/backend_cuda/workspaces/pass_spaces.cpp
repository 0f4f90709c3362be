// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/workspaces/pass_spaces.h"

#include "engine/base/to_size.h"

#include <algorithm>

namespace backend_cuda {

using namespace engine;

namespace {

/// Streams that a decoder has handed out by one pass.
constexpr std::size_t kHandOuts = 4;

/// Slots of a row behind its prefix, and slots that move at once: a piece of a prompt, or a draft.
constexpr std::size_t kPathSlots = 256;

/// Units of the matrix with most of them.
int mostUnits(const DeviceWeights& weights) {
    int most = 0;
    const auto count = [&most](const DeviceLinear& linear) {
        most = std::max(most, linear.matrix.strips * linear.matrix.slabs);
    };
    if (weights.hasHead)
        count(weights.outputHead());
    for (const DeviceLayer& layer : weights.layers) {
        count(layer.output);
        count(layer.router);
        for (const DeviceLinear& linear : layer.queryKeyValue)
            count(linear);
        for (const DeviceLinear& linear : layer.gateUp)
            count(linear);
        for (const DeviceLinear& linear : layer.down)
            count(linear);
    }
    return most;
}

int gateUpStrips(const DeviceLayer& layer) {
    return layer.gateUp.empty() ? 0 : layer.gateUp.front().matrix.strips;
}

int mostStrips(const DeviceWeights& weights) {
    int most = weights.hasHead ? weights.outputHead().matrix.strips : 0;
    for (const DeviceLayer& layer : weights.layers) {
        most = std::max(
            {most, layer.output.matrix.strips, layer.router.matrix.strips, gateUpStrips(layer)});
        for (const DeviceLinear& linear : layer.queryKeyValue)
            most = std::max(most, linear.matrix.strips);
    }
    return most;
}

} // namespace

Kernel kernelFor(int rows) {
    if (rows <= 8)
        return Kernel::Pass8;
    return rows <= 16 ? Kernel::Pass16 : rows <= 32 ? Kernel::Pass32 : Kernel::Pass64;
}

int rowsAtOnce(const DeviceWeights& weights) { return weights.isWide ? kMaxRowsF32 : kMaxRows; }

int innerStride(const DeviceWeights& weights) {
    int most = 0;
    for (const DeviceLayer& layer : weights.layers)
        most = std::max(most, gateUpStrips(layer) * kStrip / 2);
    return most;
}

std::size_t counterCount(const DeviceWeights& weights) { return toSize(mostStrips(weights)) + 1; }

PassExtent largestExtent(const DeviceWeights& weights, Position contextLength) {
    const std::size_t rows = toSize(rowsAtOnce(weights));
    const std::size_t positions = toSize(contextLength) + rows; // drafts go beyond the context
    const std::size_t headRows = weights.hasHead ? rows : 0;
    return {.rows = rows,
            .sections = (positions + kSectionKeys - 1) / kSectionKeys,
            .headRows = headRows,
            .logitRows = headRows,
            .handOuts = kHandOuts + (weights.hasHead ? 0 : 1), // and what the next GPU gets
            .wantsInfluence = true};
}

PassSpaces
spacesOf(const ModelConfig& config, const DeviceWeights& weights, const PassExtent& extent) {
    const std::size_t rows = extent.rows;
    const std::size_t strips = (toSize(config.hiddenSize) + kStrip - 1) / kStrip;
    const std::size_t heads = toSize(config.headCount);
    const std::size_t width = toSize(headWidthOf(config));
    const std::size_t vocabStrips = // of no rows where the head is elsewhere
        toSize(weights.outputHead().matrix.strips);
    PassSpaces spaces;
    spaces.stream = rows * 2 * (strips * kStrip + strips);
    const std::size_t projected = (heads + 2 * toSize(config.kvHeadCount)) * width;
    spaces.projected = rows * ((projected + kStrip - 1) / kStrip * kStrip);
    spaces.inner = rows * (toSize(innerStride(weights)) + toSize(kMostExperts));
    spaces.context = rows * 2 * heads * width;
    spaces.sums = rows * heads * extent.sections * (width + 2);
    spaces.partials = toSize(mostUnits(weights)) * rows * kStrip;
    spaces.headPartials = extent.headRows * vocabStrips;
    spaces.logits = extent.logitRows * vocabStrips * kStrip;
    spaces.border = weights.span.first > 0 ? kBorderRows * toSize(config.hiddenSize) : 0;
    return spaces;
}

PassFindings findingsOf(const ModelConfig& config,
                        std::size_t rows,
                        std::size_t handOuts,
                        bool wantsInfluence,
                        std::size_t headRows) {
    constexpr std::size_t kAlignment = 16;
    const auto rounded = [](std::size_t bytes) {
        return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    const std::size_t strips = (toSize(config.hiddenSize) + kStrip - 1) / kStrip;
    PassFindings found;
    found.influenceAt = rounded(handOuts * rows * toSize(config.hiddenSize) * sizeof(float));
    const std::size_t influence =
        wantsInfluence ? 2 * toSize(config.layerCount) * rows * strips * 2 * sizeof(float) : 0;
    found.resultsAt = found.influenceAt + rounded(influence);
    found.flagAt = found.resultsAt + rounded(headRows * sizeof(HeadResult));
    return found;
}

std::size_t tableBytes(const ModelConfig& config, const PassExtent& extent) {
    constexpr std::size_t kTables = 20;
    constexpr std::size_t kAlignment = 16;
    const std::size_t operations =
        3 + toSize(config.layerCount) * (12 + 2 * toSize(config.experts.count));
    const std::size_t integersOfRow = 5 + kPathSlots; // token, counts and places, path
    const std::size_t floatsOfRow = toSize(config.hiddenSize) + 3 * toSize(config.headDim);
    const std::size_t row =
        integersOfRow * sizeof(int) + floatsOfRow * sizeof(float) + extent.sections * sizeof(Part);
    const PassFindings found =
        findingsOf(config, extent.rows, extent.handOuts, extent.wantsInfluence, extent.headRows);
    return found.flagAt + kTables * kAlignment + operations * sizeof(Operation) +
           kPathSlots * sizeof(Move) + extent.rows * row;
}

std::uint64_t
workspaceBytes(const ModelConfig& config, const DeviceWeights& weights, Position contextLength) {
    const PassExtent extent = largestExtent(weights, contextLength);
    const PassSpaces spaces = spacesOf(config, weights, extent);
    const std::size_t floats = spaces.stream + spaces.projected + spaces.inner + spaces.context +
                               spaces.sums + spaces.partials + spaces.logits + spaces.border;
    return floats * sizeof(float) + spaces.headPartials * sizeof(HeadPartial) +
           counterCount(weights) * sizeof(unsigned) + tableBytes(config, extent);
}

} // namespace backend_cuda
