// SPDX-License-Identifier: Apache-2.0
#include "engine/model/memory_need.h"

#include "engine/base/system_memory.h"
#include "engine/kernels/rows/attention/attend_arguments.h"
#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// Rows of a piece of a prompt, the widest pass without logits.
constexpr int kPromptRows = 128;

/// Rows whose logits are held at once: a usual window, or a large draft tree.
constexpr int kLogitRows = 64;

/// Rows of a usual draft tree, whose attention is summed up section by section.
constexpr int kTreeRows = 8;

/// Bytes of a number that packed weights are multiplied with: float32, and all the forms that they
/// may read (cpu/activation_rows.h).
constexpr double kPackedInput = 13.5;

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

/// Of each row what matrices read, `inputBytes` a number: the normed stream, the attention's output
/// and the inner numbers of the MLP or of the row's experts. And all the others: the stream, what
/// is added to it, queries, keys, values, gates and ups; logits as they are computed and as they
/// are handed out (double).
double passOf(const ModelConfig& config, const Widths& widths, double inputBytes) {
    const double hidden = config.hiddenSize;
    const double queries = static_cast<double>(config.headCount) * config.headDim;
    const double keys = static_cast<double>(config.kvHeadCount) * config.headDim;
    const ExpertChoice& experts = config.experts;
    const bool hasMlp = experts.count == 0 || !config.denseLayers.empty();
    const double mlp = hasMlp ? config.mlpSize : 0.0;
    const double inputs = hidden + queries + mlp + experts.used * (hidden + experts.size);
    const double others = 2.0 * hidden + 3.0 * queries + 2.0 * keys + 2.0 * mlp +
                          experts.used * (hidden + 2.0 * experts.size);
    return kPromptRows * (inputs * inputBytes + others * widths.math) +
           static_cast<double>(kLogitRows) * config.vocabSize * (widths.stored + sizeof(double));
}

/// What the cpu backend's attention holds of each row, head and section of the keys: the sums of
/// the values, the highest score and the sum of the weights.
double sectionSumsOf(const ModelConfig& config, int contextLength) {
    int keys = 0; // that a row of some layer sees
    for (const int window : config.layerWindows)
        keys = std::max(keys,
                        window > 0 ? std::min(window + kAttendSectionKeys - 1, contextLength)
                                   : contextLength);
    const double sections = std::ceil(static_cast<double>(keys) / kAttendSectionKeys);
    return kTreeRows * sections * config.headCount * (config.headDim + 2.0) * sizeof(float);
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
            .passBytes = bytesOf(passOf(config, widths, widths.math))};
}

MemoryNeed
memoryNeed(const ModelConfig& config, std::uint64_t weightBytes, KvType kvType, int contextLength) {
    const double slot = slotOf(config, static_cast<double>(kvRowBytes(kvType, config.headDim)));
    return {.weightBytes = weightBytes,
            .cacheBytes = bytesOf(slot * contextLength),
            .scratchBytes = bytesOf(slot * kScratchSlots),
            .passBytes = bytesOf(passOf(config, widthsOf(Precision::F32), kPackedInput) +
                                 sectionSumsOf(config, contextLength))};
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

Result<void> checkLoad(const MemoryNeed& need, int contextLength, std::string_view what) {
    return checkMemoryFor(
        static_cast<double>(need.weightBytes) + static_cast<double>(need.cacheBytes),
        contextLength > 0 ? fmt::format("{} and a context of {} tokens", what, contextLength)
                          : std::string(what));
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
