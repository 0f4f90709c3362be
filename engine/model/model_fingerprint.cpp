// SPDX-License-Identifier: Apache-2.0
#include "engine/model/model_fingerprint.h"

#include "engine/loading/cache/content_sum.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

namespace engine {

namespace {

constexpr std::uint64_t kSampleBytes = 65536;
/// Samples are whole rows. No real model has longer ones, and a file must not make us allocate.
constexpr std::uint64_t kMaxRowBytes = 4'194'304;
constexpr std::size_t kSamplesOfOneKind = 4;
constexpr std::size_t kMaxSamples = 256;

/// The sum of values whose ends are unmistakable: texts and lists carry their length.
class ContentHash {
public:
    void addBytes(std::span<const std::byte> bytes) { m_sum.add(bytes); }

    void addInteger(std::int64_t value) { addBytes(std::as_bytes(std::span(&value, 1))); }

    void addNumber(double value) { addInteger(std::bit_cast<std::int64_t>(value)); }

    void addText(std::string_view text) {
        addInteger(static_cast<std::int64_t>(text.size()));
        addBytes(std::as_bytes(std::span(text)));
    }

    template <typename Number> void addList(const std::vector<Number>& numbers) {
        addInteger(static_cast<std::int64_t>(numbers.size()));
        for (const Number number : numbers) {
            if constexpr (std::is_floating_point_v<Number>)
                addNumber(number);
            else
                addInteger(static_cast<std::int64_t>(number));
        }
    }

    std::string hexDigits() const { return m_sum.hexDigits(); }

private:
    ContentSum m_sum;
};

/// What a LLaMA does without.
std::string digitsBeyondLlama(const ModelConfig& config) {
    ContentHash parts;
    const RopeScaling& scaling = config.ropeScaling;
    parts.addInteger(config.rotatedDim);
    parts.addList(scaling.shortFactors);
    parts.addList(scaling.longFactors);
    parts.addList(config.denseLayers);
    parts.addInteger(static_cast<std::int64_t>(config.layerRopes.size()));
    for (const LayerRope rope : config.layerRopes)
        parts.addInteger(static_cast<std::int64_t>(rope));
    for (const auto choice : {static_cast<int>(config.normPlace),
                              static_cast<int>(config.headNorm),
                              static_cast<int>(config.activation),
                              config.experts.count,
                              config.experts.used,
                              config.experts.size,
                              static_cast<int>(config.experts.renormalises)})
        parts.addInteger(choice);
    for (const double number : {scaling.attentionFactor,
                                config.windowRopeTheta,
                                config.attentionScale,
                                config.attentionSoftCap,
                                config.embeddingScale,
                                config.residualScale,
                                config.logitScale,
                                config.logitSoftCap})
        parts.addNumber(number);
    return parts.hexDigits();
}

/// It counts only where it is there, so that models which do without it keep the names that they
/// have in skip sets and packed weights on disk.
void addBeyondLlama(const ModelConfig& config, ContentHash& hash) {
    static const std::string kNothing = digitsBeyondLlama(ModelConfig());
    if (const std::string digits = digitsBeyondLlama(config); digits != kNothing)
        hash.addText(digits);
}

/// Everything but what is written for people.
void addConfig(const ModelConfig& config, ContentHash& hash) {
    hash.addText(config.architecture);
    for (const int size : {config.layerCount,
                           config.hiddenSize,
                           config.mlpSize,
                           config.headCount,
                           config.kvHeadCount,
                           config.headDim,
                           config.vocabSize,
                           config.contextLength})
        hash.addInteger(size);
    hash.addNumber(config.normEpsilon);
    hash.addNumber(config.ropeTheta);
    hash.addInteger(static_cast<int>(config.ropeScaling.kind));
    hash.addNumber(config.ropeScaling.factor);
    hash.addNumber(config.ropeScaling.lowFrequencyFactor);
    hash.addNumber(config.ropeScaling.highFrequencyFactor);
    hash.addNumber(config.ropeScaling.originalContextLength);
    hash.addList(config.ropeFrequencyFactors);
    hash.addList(config.layerWindows);
    for (const bool choice : {config.qkvBias, config.outputBias, config.mlpBias, config.tiedHead})
        hash.addInteger(choice ? 1 : 0);
    hash.addInteger(config.bosId);
    hash.addList(config.eosIds);
    addBeyondLlama(config, hash);
    if (config.isPlanted)
        hash.addText("each layer with a near-silent copy");
}

/// Sorted by name: the order in the file says nothing about the model.
std::vector<const TensorInfo*> sortedTensors(const WeightSource& weights) {
    std::vector<const TensorInfo*> tensors;
    for (const TensorInfo& tensor : weights.tensors())
        tensors.push_back(&tensor);
    // Shorter names first brings layer 9 before layer 10.
    std::sort(tensors.begin(), tensors.end(), [](const TensorInfo* a, const TensorInfo* b) {
        return a->name.size() != b->name.size() ? a->name.size() < b->name.size()
                                                : a->name < b->name;
    });
    return tensors;
}

/// The name with each number in it replaced by '#'.
std::string kindOf(std::string_view name) {
    std::string kind;
    for (const char c : name) {
        if (c < '0' || c > '9')
            kind += c;
        else if (kind.empty() || kind.back() != '#')
            kind += '#';
    }
    return kind;
}

/// First, last and between, of every kind.
std::vector<const TensorInfo*> chooseSamples(const std::vector<const TensorInfo*>& tensors) {
    std::map<std::string, std::vector<const TensorInfo*>> kinds;
    for (const TensorInfo* tensor : tensors)
        kinds[kindOf(tensor->name)].push_back(tensor);
    std::vector<const TensorInfo*> chosen;
    for (const auto& [kind, members] : kinds) {
        const std::size_t count = std::min(members.size(), kSamplesOfOneKind);
        for (std::size_t i = 0; i < count && chosen.size() < kMaxSamples; ++i)
            chosen.push_back(members[count == 1 ? 0 : i * (members.size() - 1) / (count - 1)]);
    }
    return chosen;
}

/// Whole rows out of the tensor's middle.
Result<void> addSample(const WeightSource& weights, const TensorInfo& tensor, ContentHash& hash) {
    const std::uint64_t rows = tensor.rows();
    const std::uint64_t rowBytes = rows == 0 ? 0 : tensor.byteSize / rows;
    if (rowBytes == 0 || rowBytes > kMaxRowBytes)
        return {};
    const std::uint64_t count = std::clamp<std::uint64_t>(kSampleBytes / rowBytes, 1, rows);
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * rowBytes));
    ENGINE_TRY_DO(weights.readRawRows(tensor, (rows - count) / 2, count, bytes));
    hash.addText(tensor.name);
    hash.addBytes(bytes);
    return {};
}

} // namespace

Result<std::string> modelFingerprint(const ModelConfig& config, const WeightSource& weights) {
    ContentHash hash;
    hash.addText("SWIFT Studio model fingerprint 1");
    addConfig(config, hash);
    const std::vector<const TensorInfo*> tensors = sortedTensors(weights);
    hash.addInteger(static_cast<std::int64_t>(tensors.size()));
    for (const TensorInfo* tensor : tensors) {
        hash.addText(tensor->name);
        hash.addText(tensor->typeName());
        hash.addList(tensor->shape);
        hash.addInteger(static_cast<std::int64_t>(tensor->byteSize));
    }
    for (const TensorInfo* tensor : chooseSamples(tensors))
        ENGINE_TRY_DO(addSample(weights, *tensor, hash));
    return hash.hexDigits();
}

} // namespace engine
