// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/model_config.h"

#include "engine/loading/config/model_limits.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace engine {

void adoptMaskToken(std::int64_t id, ModelConfig& config) {
    if (id >= 0 && id < config.vocabSize)
        config.maskTokenId = static_cast<TokenId>(id);
    else if (id != kNoToken)
        config.notes.push_back(
            fmt::format("the mask token {} is outside the vocabulary of {} and is not used",
                        id,
                        config.vocabSize));
}

void leaveOutUnknownIds(ModelConfig& config) {
    const auto isUnknown = [&config](std::string_view use, TokenId id) {
        if (id < config.vocabSize)
            return false;
        std::string note =
            fmt::format("The {} token {} is outside the vocabulary of {} and is not used.",
                        use,
                        id,
                        config.vocabSize);
        if (std::find(config.notes.begin(), config.notes.end(), note) == config.notes.end())
            config.notes.push_back(std::move(note)); // more files than one may name it
        return true;
    };
    if (isUnknown("begin", config.bosId))
        config.bosId = kNoToken;
    std::erase_if(config.eosIds, [&](TokenId id) { return isUnknown("end", id); });
}

namespace {

Error inconsistent(std::string_view problem) {
    return {ErrorCode::CorruptFile,
            std::string(problem),
            "The model's configuration is damaged: fetch it again."};
}

Result<void> checkRange(std::string_view name, int value, std::int64_t max) {
    if (value >= 1 && value <= max)
        return {};
    return inconsistent(fmt::format("{} is {}, not from 1 to {}", name, value, max));
}

Result<void> checkPositive(std::string_view name, double value) {
    if (std::isfinite(value) && value > 0)
        return {};
    return inconsistent(fmt::format("{} is {}, not a positive number", name, value));
}

Result<void> checkHeads(const ModelConfig& config) {
    if (config.headCount % config.kvHeadCount != 0)
        return inconsistent(fmt::format("{} attention heads cannot share {} key-value heads evenly",
                                        config.headCount,
                                        config.kvHeadCount));
    if (config.headDim % 2 != 0)
        return inconsistent(
            fmt::format("the head dimension {} is odd: no rotary pairs", config.headDim));
    if (config.rotatedDim < 0 || config.rotatedDim > config.headDim || config.rotatedDim % 2 != 0)
        return inconsistent(fmt::format("{} rotated dimensions of heads of {}: not an even part",
                                        config.rotatedDim,
                                        config.headDim));
    if (std::int64_t(config.headCount) * config.headDim > model_limits::kRowValues)
        return inconsistent(fmt::format("{} heads of {} exceed {} values a row",
                                        config.headCount,
                                        config.headDim,
                                        model_limits::kRowValues));
    return {};
}

Result<void> checkRotary(const ModelConfig& config) {
    ENGINE_TRY_DO(checkPositive("the rotary base", config.ropeTheta));
    ENGINE_TRY_DO(checkPositive("the rotary scaling factor", config.ropeScaling.factor));
    if (config.ropeScaling.kind == RopeScalingKind::Llama3) {
        const RopeScaling& scaling = config.ropeScaling;
        ENGINE_TRY_DO(checkPositive("low_freq_factor", scaling.lowFrequencyFactor));
        ENGINE_TRY_DO(checkPositive("original context length", scaling.originalContextLength));
        if (!(scaling.highFrequencyFactor > scaling.lowFrequencyFactor))
            return inconsistent("high_freq_factor is not above low_freq_factor");
    }
    const auto pairs = static_cast<std::size_t>(config.rotatedWidth() / 2);
    if (config.ropeScaling.kind == RopeScalingKind::LongRope) {
        const RopeScaling& scaling = config.ropeScaling;
        ENGINE_TRY_DO(checkPositive("original context length", scaling.originalContextLength));
        for (const auto* factors : {&scaling.shortFactors, &scaling.longFactors}) {
            if (factors->size() != pairs)
                return inconsistent(
                    fmt::format("{} longrope factors for {} rotary pairs", factors->size(), pairs));
            for (const float factor : *factors)
                ENGINE_TRY_DO(checkPositive("a longrope factor", static_cast<double>(factor)));
        }
    }
    ENGINE_TRY_DO(checkPositive("the rotary attention factor", config.ropeScaling.attentionFactor));
    const bool usesWindowRope =
        std::find(config.layerRopes.begin(), config.layerRopes.end(), LayerRope::Window) !=
        config.layerRopes.end();
    if (usesWindowRope)
        ENGINE_TRY_DO(checkPositive("the rotary base of windows", config.windowRopeTheta));
    if (!config.layerRopes.empty() &&
        config.layerRopes.size() != static_cast<std::size_t>(config.layerCount))
        return inconsistent(fmt::format(
            "rotary kinds of {} layers for {}", config.layerRopes.size(), config.layerCount));
    if (!config.ropeFrequencyFactors.empty() && config.ropeFrequencyFactors.size() != pairs)
        return inconsistent(fmt::format(
            "{} rotary frequency factors for {} pairs", config.ropeFrequencyFactors.size(), pairs));
    for (const float factor : config.ropeFrequencyFactors)
        ENGINE_TRY_DO(checkPositive("a rotary frequency factor", static_cast<double>(factor)));
    return {};
}

Result<void> checkScales(const ModelConfig& config) {
    for (const auto& [name, value] : {std::pair("the attention scale", config.attentionScale),
                                      std::pair("the soft-cap of scores", config.attentionSoftCap),
                                      std::pair("the soft-cap of logits", config.logitSoftCap)})
        if (value != 0.0)
            ENGINE_TRY_DO(checkPositive(name, value));
    ENGINE_TRY_DO(checkPositive("the embedding scale", config.embeddingScale));
    ENGINE_TRY_DO(checkPositive("the residual scale", config.residualScale));
    return checkPositive("the logit scale", config.logitScale);
}

Result<void> checkExperts(const ModelConfig& config) {
    const ExpertChoice& experts = config.experts;
    if (experts.count == 0)
        return {};
    ENGINE_TRY_DO(checkRange("the number of experts", experts.count, model_limits::kExperts));
    // A damaged file could name more in a few bytes than fit into memory.
    if (std::int64_t(experts.count) * config.storedLayerCount() > model_limits::kAllExperts)
        return inconsistent(fmt::format("{} layers of {} experts exceed {} in all",
                                        config.storedLayerCount(),
                                        experts.count,
                                        model_limits::kAllExperts));
    ENGINE_TRY_DO(checkRange("the number of experts of a token", experts.used, experts.count));
    return checkRange("the size of an expert", experts.size, model_limits::kRowValues);
}

Result<void> checkTokenIds(const ModelConfig& config) {
    std::vector<TokenId> ids = config.eosIds;
    ids.push_back(config.bosId == kNoToken ? 0 : config.bosId);
    for (const TokenId id : ids) {
        if (id < 0 || id >= config.vocabSize)
            return inconsistent(fmt::format(
                "special token id {} is outside the vocabulary of {}", id, config.vocabSize));
    }
    return {};
}

} // namespace

Result<void> ModelConfig::validate() const {
    ENGINE_TRY_DO(checkRange("the number of layers", layerCount, model_limits::kLayers));
    ENGINE_TRY_DO(checkRange("the hidden size", hiddenSize, model_limits::kRowValues));
    ENGINE_TRY_DO(checkRange("the MLP size", mlpSize, model_limits::kRowValues));
    ENGINE_TRY_DO(checkRange("the number of attention heads", headCount, model_limits::kRowValues));
    ENGINE_TRY_DO(
        checkRange("the number of key-value heads", kvHeadCount, model_limits::kRowValues));
    ENGINE_TRY_DO(checkRange("the head dimension", headDim, model_limits::kHeadDim));
    ENGINE_TRY_DO(checkRange("the vocabulary size", vocabSize, model_limits::kVocabulary));
    ENGINE_TRY_DO(checkRange("the context length", contextLength, model_limits::kContext));
    ENGINE_TRY_DO(checkPositive("the norm epsilon", normEpsilon));
    ENGINE_TRY_DO(checkHeads(*this));
    ENGINE_TRY_DO(checkRotary(*this));
    ENGINE_TRY_DO(checkScales(*this));
    ENGINE_TRY_DO(checkExperts(*this));
    if (layerWindows.size() != static_cast<std::size_t>(layerCount))
        return inconsistent(
            fmt::format("{} attention windows for {} layers", layerWindows.size(), layerCount));
    for (const int window : layerWindows) {
        if (window < 0)
            return inconsistent(fmt::format("an attention window of {} keys", window));
    }
    return checkTokenIds(*this);
}

bool ModelConfig::isSilentCopy(int layer) const {
    if (!isPlanted)
        return false;
    const int stored = layer / 2;
    const bool isLast = stored == storedLayerCount() - 1;
    const bool copyComesFirst = isLast || (stored > 0 && stored * 7 % 5 < 2);
    return (layer % 2 == 0) == copyComesFirst;
}

std::vector<int> ModelConfig::silentCopies() const {
    std::vector<int> copies;
    for (int layer = 0; layer < layerCount; ++layer)
        if (isSilentCopy(layer))
            copies.push_back(layer);
    return copies;
}

int ModelConfig::usualContext() const {
    constexpr int kMost = 8192;
    const int usual = std::min(contextLength, kMost);
    if (ropeScaling.kind != RopeScalingKind::LongRope)
        return usual;
    return static_cast<int>(std::clamp(
        ropeScaling.originalContextLength, 1.0, std::max(1.0, static_cast<double>(usual))));
}

double ModelConfig::residualScaleOf(int layer) const {
    constexpr double kNearSilence = 1e-3;
    return isSilentCopy(layer) ? residualScale * kNearSilence : residualScale;
}

namespace {

/// Each entry twice.
template <typename T> std::vector<T> doubled(const std::vector<T>& values) {
    std::vector<T> twice;
    for (const T value : values)
        twice.insert(twice.end(), 2, value);
    return twice;
}

} // namespace

Result<ModelConfig> withSilentCopies(ModelConfig config) {
    const std::int64_t layers = std::int64_t{2} * config.layerCount;
    if (config.isPlanted || config.layerCount < 2 || layers > model_limits::kLayers)
        return Error{ErrorCode::Unsupported,
                     config.isPlanted
                         ? std::string("This is a lesson model already.")
                         : fmt::format("A lesson model cannot be made from a model of {} layers.",
                                       config.layerCount),
                     fmt::format("Choose a model of 2 to {} layers.", model_limits::kLayers / 2)};
    std::vector<int> dense;
    for (const int layer : config.denseLayers)
        dense.insert(dense.end(), {2 * layer, 2 * layer + 1});
    config.denseLayers = std::move(dense);
    config.layerWindows = doubled(config.layerWindows);
    config.layerRopes = doubled(config.layerRopes);
    config.layerCount = static_cast<int>(layers);
    config.tunedExit *= 2;
    config.isPlanted = true;
    config.notes.push_back(fmt::format(
        "This is a lesson model: each layer of the files runs twice, and one of the two "
        "is a near-silent copy, so a search should find that the {} copies can be "
        "skipped.",
        config.storedLayerCount()));
    return config;
}

double ModelConfig::scoreScale() const {
    return attentionScale > 0.0 ? attentionScale : 1.0 / std::sqrt(static_cast<double>(headDim));
}

namespace {

/// The frequency of a pair after the scaling that depends on its wavelength.
double scaled(double frequency, const RopeScaling& scaling) {
    if (scaling.kind == RopeScalingKind::Linear)
        return frequency / scaling.factor;
    if (scaling.kind != RopeScalingKind::Llama3)
        return frequency;
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    const double turns = scaling.originalContextLength / wavelength;
    // Fast pairs stay, slow ones are stretched, those between are blended.
    const double kept = std::clamp((turns - scaling.lowFrequencyFactor) /
                                       (scaling.highFrequencyFactor - scaling.lowFrequencyFactor),
                                   0.0,
                                   1.0);
    return (1.0 - kept) * frequency / scaling.factor + kept * frequency;
}

/// What each frequency is divided by; empty: nothing.
const std::vector<float>& divisors(const ModelConfig& config, int contextLength) {
    const RopeScaling& scaling = config.ropeScaling;
    if (scaling.kind != RopeScalingKind::LongRope)
        return config.ropeFrequencyFactors;
    const int length = contextLength > 0 ? contextLength : config.contextLength;
    return length > scaling.originalContextLength ? scaling.longFactors : scaling.shortFactors;
}

} // namespace

std::vector<double>
rotaryFrequencies(const ModelConfig& config, LayerRope rope, int contextLength) {
    std::vector<double> frequencies;
    const bool isModel = rope == LayerRope::Model;
    const double base = isModel ? config.ropeTheta : config.windowRopeTheta;
    if (rope == LayerRope::None || !(base > 0.0)) // no layer turns so
        return frequencies;
    const std::vector<float>& factors = divisors(config, contextLength);
    const int width = config.rotatedWidth();
    for (int pair = 0; pair < width / 2; ++pair) {
        double frequency = std::pow(base, -2.0 * pair / width);
        if (isModel)
            frequency = scaled(frequency, config.ropeScaling);
        if (isModel && !factors.empty())
            frequency /= static_cast<double>(factors[static_cast<std::size_t>(pair)]);
        frequencies.push_back(frequency);
    }
    return frequencies;
}

} // namespace engine
