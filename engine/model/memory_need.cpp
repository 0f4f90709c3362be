// SPDX-License-Identifier: Apache-2.0
#include "engine/model/memory_need.h"

#include "engine/loading/network/network_tensors.h"

#include <algorithm>

namespace engine {

namespace {

/// Rows of a piece of a prompt, the widest pass without logits.
constexpr int kPromptRows = 128;

/// Rows whose logits are held at once: a usual window, or a large draft tree.
constexpr int kLogitRows = 64;

struct Widths {
    double stored; // bytes of a weight, an activation, a key
    double math;   // bytes of a norm's weight
};

Widths widthsOf(Precision precision) {
    switch (precision) {
    case Precision::F32:
        return {4.0, 4.0};
    case Precision::F64:
        return {8.0, 8.0};
    case Precision::BF16:
        return {2.0, 4.0};
    }
    return {4.0, 4.0};
}

/// Sizes of a file may multiply to more than 64 bits hold.
std::uint64_t bytesOf(double bytes) {
    constexpr double kMost = 4e18;
    return static_cast<std::uint64_t>(std::min(bytes, kMost));
}

double weightsOf(const ModelConfig& config, const Widths& widths) {
    double stored = 0.0;
    double norms = 0.0;
    const auto add = [&](const TensorSpec& tensor, double times) {
        const double outputs = tensor.outputs;
        if (tensor.isNorm())
            norms += times * outputs;
        else
            stored += times * (outputs * tensor.inputs + (tensor.hasBias ? outputs : 0.0));
    };
    add(embeddingTensor(config), config.tiedHead ? 1.0 : 2.0);
    add(finalNormTensor(config), 1.0);
    // Layers with experts have the same sizes, and so have those without.
    const bool hasExperts = config.experts.count > 0;
    const double dense =
        hasExperts ? static_cast<double>(config.denseLayers.size()) : config.layerCount;
    int expertLayer = 0;
    while (hasExperts && expertLayer < config.layerCount && !config.hasExperts(expertLayer))
        ++expertLayer;
    const double runs = config.firstLayerWith(1); // of each stored layer
    if (dense > 0)
        for (const TensorSpec& tensor :
             layerTensors(config, hasExperts ? config.denseLayers.front() : 0))
            add(tensor, dense / runs);
    if (dense < config.layerCount)
        for (const TensorSpec& tensor : layerTensors(config, expertLayer))
            add(tensor, (config.layerCount - dense) / runs);
    return stored * widths.stored + norms * widths.math;
}

/// The stream, its normed copy, queries, the attention's output and the MLP's, or the input and the
/// outputs of a row's experts; logits as they are computed and as they are handed out (double).
double passOf(const ModelConfig& config, const Widths& widths) {
    const double queries = static_cast<double>(config.headCount) * config.headDim;
    const double keys = static_cast<double>(config.kvHeadCount) * config.headDim;
    const double experts =
        config.experts.used * (2.0 * config.hiddenSize + 3.0 * config.experts.size);
    const double row = 3.0 * config.hiddenSize + 4.0 * queries + 2.0 * keys +
                       std::max(3.0 * config.mlpSize, experts);
    return kPromptRows * row * widths.math +
           static_cast<double>(kLogitRows) * config.vocabSize * (widths.stored + sizeof(double));
}

double slotOf(const ModelConfig& config, double rowBytes) {
    return 2.0 * config.layerCount * config.kvHeadCount * rowBytes;
}

} // namespace

MemoryNeed memoryNeed(const ModelConfig& config, Precision precision, int contextLength) {
    const Widths widths = widthsOf(precision);
    const double slot = slotOf(config, config.headDim * widths.stored);
    return {.weightBytes = bytesOf(weightsOf(config, widths)),
            .cacheBytes = bytesOf(slot * contextLength),
            .scratchBytes = bytesOf(slot * kScratchSlots),
            .passBytes = bytesOf(passOf(config, widths))};
}

MemoryNeed
memoryNeed(const ModelConfig& config, std::uint64_t weightBytes, KvType kvType, int contextLength) {
    const double slot = slotOf(config, static_cast<double>(kvRowBytes(kvType, config.headDim)));
    return {.weightBytes = weightBytes,
            .cacheBytes = bytesOf(slot * contextLength),
            .scratchBytes = bytesOf(slot * kScratchSlots),
            .passBytes = bytesOf(passOf(config, widthsOf(Precision::F32)))};
}

std::uint64_t storedBytes(const WeightSource& weights) {
    std::uint64_t bytes = 0; // the file's size bounds it
    for (const TensorInfo& tensor : weights.tensors())
        bytes += tensor.byteSize;
    return bytes;
}

std::string
wideningNote(std::uint64_t heldBytes, std::uint64_t fileBytes, std::string_view reason) {
    const double times = static_cast<double>(heldBytes) / static_cast<double>(fileBytes);
    return times < kClearlyWider
               ? std::string()
               : fmt::format("The weights take {:.1f} times the memory that they take in the file, "
                             "because {}.",
                             times,
                             reason);
}

Result<LoadForecast> widenedForecast(const ModelConfig& config,
                                     const WeightSource& weights,
                                     const TransformerOptions& options,
                                     int contextLength) {
    const std::string name(precisionName(options.precision));
    LoadForecast forecast{memoryNeed(config, options.precision, contextLength), name, name, ""};
    forecast.wideningNote = wideningNote(forecast.memory.weightBytes,
                                         storedBytes(weights),
                                         "this backend widens all of them to " + name);
    return forecast;
}

} // namespace engine
