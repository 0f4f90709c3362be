// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_model.h"

#include "engine/base/checked_math.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/gguf_keys.h"
#include "engine/loading/gguf/gguf_tensors.h"
#include "engine/loading/network/family_table.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/tensor_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kFrequencyFactors = "rope_freqs.weight";
constexpr std::string_view kEpsilon = "attention.layer_norm_rms_epsilon";

Error unsupportedGgufArchitecture(std::string_view name) {
    std::string known;
    for (const Family& family : families())
        if (known.find(family.ggufArchitecture) == std::string::npos)
            known += fmt::format("{}{}", known.empty() ? "" : ", ", family.ggufArchitecture);
    return {ErrorCode::Unsupported,
            fmt::format("architecture {} is not supported; supported: {}", readable(name), known),
            "Choose a model of a supported architecture."};
}

Result<void> readSizes(const ArchitectureKeys& keys, const Family& family, ModelConfig& config) {
    ENGINE_TRY(config.layerCount, keys.size("block_count"));
    ENGINE_TRY(config.hiddenSize, keys.size("embedding_length"));
    ENGINE_TRY(config.mlpSize, keys.size("feed_forward_length"));
    ENGINE_TRY(config.headCount, keys.size("attention.head_count"));
    ENGINE_TRY(config.kvHeadCount, keys.sizeOr("attention.head_count_kv", config.headCount));
    ENGINE_TRY(config.contextLength, keys.size("context_length"));
    const auto epsilon = keys.number(kEpsilon);
    if (!epsilon && (family.ollamaFactor <= 0 || keys.holds(kEpsilon)))
        return keys.missing(kEpsilon, "number");
    config.normEpsilon = epsilon.value_or(family.unsaidEpsilon);
    if (config.headCount == 0)
        return corruptGguf("the model is said to have no attention heads");
    ENGINE_TRY(config.headDim,
               keys.sizeOr("attention.key_length", config.hiddenSize / config.headCount));
    ENGINE_TRY(const int valueLength, keys.sizeOr("attention.value_length", config.headDim));
    ENGINE_TRY(const int rotated, keys.sizeOr("rope.dimension_count", config.headDim));
    const bool mayRotate = rotated == config.headDim || (rotated > 0 && family.hasPartialRotation);
    if (valueLength != config.headDim || !mayRotate)
        return unsupportedGguf(
            fmt::format("heads with {} key, {} value and {} rotated dimensions are "
                        "not supported: they must be equal",
                        config.headDim,
                        valueLength,
                        rotated));
    config.rotatedDim = rotated == config.headDim ? 0 : rotated;
    return {};
}

/// Layers without a router keep a whole MLP.
Result<void> readExperts(const GgufFile& file,
                         const ArchitectureKeys& keys,
                         const Family& family,
                         ModelConfig& config) {
    if (family.experts == ExpertRule::None)
        return {};
    ENGINE_TRY(config.experts.count, keys.size("expert_count"));
    ENGINE_TRY(config.experts.used, keys.size("expert_used_count"));
    ENGINE_TRY(config.experts.size, keys.sizeOr("expert_feed_forward_length", config.mlpSize));
    config.experts.renormalises =
        keys.flag("expert_weights_norm").value_or(family.renormalisesInGguf);
    for (int layer = 0; layer < config.layerCount; ++layer)
        if (!file.find(fmt::format("blk.{}.ffn_gate_inp.weight", layer)))
            config.denseLayers.push_back(layer);
    return {};
}

/// For each layer whether it has a window, where the family has any: as the file lists it, or by a
/// period, which few files say.
Result<std::vector<bool>>
windowedLayers(const GgufFile& file, ArchitectureKeys& keys, const Family& family, int layerCount) {
    constexpr std::string_view kPattern = "attention.sliding_window_pattern";
    std::vector<bool> windowed(static_cast<std::size_t>(layerCount), true);
    if (family.window != WindowRule::AllButEveryNth)
        return windowed;
    static_cast<void>(keys.ownNumber(kPattern, 0.0));
    if (const auto* listed = file.boolArray(keys.whole(kPattern))) {
        if (listed->size() != windowed.size())
            return corruptGguf(fmt::format("the metadata key {} lists {} layers, not {}",
                                           keys.whole(kPattern),
                                           listed->size(),
                                           layerCount));
        return *listed;
    }
    ENGINE_TRY(const int said, keys.sizeOr(kPattern, 0));
    const auto period = static_cast<std::size_t>(said > 0 ? said : family.windowPeriod);
    for (std::size_t layer = 0; layer < windowed.size(); ++layer)
        windowed[layer] = (layer + 1) % period != 0;
    return windowed;
}

/// Windows and the layers that turn nothing. The period of the latter is no metadata, and neither
/// is the switch of families whose windows must be switched on: their files have none.
Result<void> readLayers(const GgufFile& file,
                        ArchitectureKeys& keys,
                        const Family& family,
                        ModelConfig& config) {
    const bool hasWindows =
        (family.window == WindowRule::EveryLayer || family.window == WindowRule::AllButEveryNth) &&
        !family.reads("use_sliding_window");
    if (hasWindows)
        static_cast<void>(keys.ownNumber("attention.sliding_window", 0.0));
    const int unsaidWindow = family.saysWindowInGguf ? 0 : family.unsaidWindow;
    ENGINE_TRY(const int window,
               hasWindows ? keys.sizeOr("attention.sliding_window", unsaidWindow) : Result<int>(0));
    if (family.window == WindowRule::Never) {
        ENGINE_TRY(const int asked, keys.sizeOr("attention.sliding_window", 0));
        if (asked > 0 && asked < config.contextLength)
            return unsupportedGguf(
                fmt::format("a sliding window (attention.sliding_window of {}) is not supported "
                            "for architecture {}",
                            asked,
                            config.architecture));
    }
    ENGINE_TRY(const std::vector<bool> windowed,
               windowedLayers(file, keys, family, config.layerCount));
    for (int layer = 1; layer <= config.layerCount; ++layer) {
        const bool isWindowed = window > 0 && windowed[static_cast<std::size_t>(layer) - 1];
        config.layerWindows.push_back(isWindowed ? window : 0);
        if (family.windowTheta > 0)
            config.layerRopes.push_back(isWindowed ? LayerRope::Window : LayerRope::Model);
        if (family.ropelessPeriod > 0)
            config.layerRopes.push_back(layer % family.ropelessPeriod == 0 ? LayerRope::None
                                                                           : LayerRope::Model);
    }
    return {};
}

void readScales(ArchitectureKeys& keys, const Family& family, ModelConfig& config) {
    if (family.scalesEmbedding)
        config.embeddingScale =
            static_cast<double>(std::sqrt(static_cast<float>(config.hiddenSize)));
    if (family.unsaidScoreScalar > 0) {
        // The largest of the family divides the width by the heads; no metadata tells.
        if (config.layerCount == family.widthScaledLayers)
            config.attentionScale =
                1.0 / std::sqrt(static_cast<double>(config.hiddenSize) / config.headCount);
        if (family.reads("attn_logit_softcapping"))
            config.attentionSoftCap =
                keys.ownNumber("attn_logit_softcapping", family.unsaidScoreCap);
        config.logitSoftCap = keys.ownNumber("final_logit_softcapping", family.unsaidLogitCap);
    }
    if (family.hasMultipliers) {
        config.embeddingScale = keys.ownNumber("embedding_scale", 1.0);
        config.residualScale = keys.ownNumber("residual_scale", 1.0);
        config.attentionScale = keys.ownNumber("attention.scale", 0.0);
        config.logitScale = 1.0 / keys.ownNumber("logit_scale", 1.0);
    }
}

/// The factors of long contexts are tensors, without which no position would be turned rightly.
Result<void> readLongRope(const GgufFile& file, ArchitectureKeys& keys, ModelConfig& config) {
    const std::uint64_t pairs = static_cast<std::uint64_t>(std::max(config.rotatedWidth(), 0)) / 2;
    RopeScaling& scaling = config.ropeScaling;
    scaling.kind = RopeScalingKind::LongRope;
    ENGINE_TRY(scaling.longFactors,
               readTensor(file, "rope_factors_long.weight", std::array{pairs}));
    ENGINE_TRY(scaling.shortFactors,
               readTensor(file, "rope_factors_short.weight", std::array{pairs}));
    scaling.originalContextLength =
        keys.ownNumber("rope.scaling.original_context_length", config.contextLength);
    scaling.attentionFactor = keys.ownNumber("rope.scaling.attn_factor", 1.0);
    return {};
}

Result<void> readRotary(const GgufFile& file,
                        ArchitectureKeys& keys,
                        const Family& family,
                        ModelConfig& config) {
    double unsaidTheta = config.ropeTheta;
    if (family.windowTheta > 0) {
        // Some converters name the two bases by how far the layers see.
        unsaidTheta = keys.ownNumber("rope.global.freq_base", family.unsaidTheta);
        const double local = keys.ownNumber("rope.local.freq_base", family.windowTheta);
        config.windowRopeTheta = keys.ownNumber("rope.freq_base_swa", local);
    }
    config.ropeTheta = keys.number("rope.freq_base").value_or(unsaidTheta);
    const std::string_view kind = keys.text("rope.scaling.type").value_or("linear");
    if (family.longRopeContext > 0 && (kind == "longrope" || file.find("rope_factors_long.weight")))
        return readLongRope(file, keys, config);
    if (kind != "linear" && kind != "none")
        return unsupportedGguf(
            fmt::format("rope scaling \"{}\" is not supported; supported: none, linear, and "
                        "llama3 by rope_freqs.weight",
                        readable(kind)));
    const auto olderFactor = keys.number("rope.scale_linear");
    const double factor = keys.number("rope.scaling.factor").value_or(olderFactor.value_or(0));
    // Converters write 0 or 1 where nothing is to be scaled.
    if (kind == "linear" && factor != 0 && factor != 1)
        config.ropeScaling = {.kind = RopeScalingKind::Linear, .factor = factor};
    const TensorInfo* frequencies = file.find(kFrequencyFactors);
    if (!frequencies)
        return {};
    const std::uint64_t pairs = static_cast<std::uint64_t>(std::max(config.rotatedWidth(), 0)) / 2;
    ENGINE_TRY(config.ropeFrequencyFactors, readTensor(file, kFrequencyFactors, std::array{pairs}));
    return {};
}

/// Puts in what Ollama's converter leaves out of published models, and takes away the cap that
/// older versions of it made up, as Ollama's own loader does by the number of layers where the
/// window is shorter than the context. Source: convert_gemma3.go and model_text.go of Ollama.
void mendOllamasNumbers(const ArchitectureKeys& keys, const Family& family, ModelConfig& config) {
    const bool isOllamas = !keys.number(kEpsilon) || keys.number("rope.local.freq_base");
    const int window = *std::max_element(config.layerWindows.begin(), config.layerWindows.end());
    if (family.ollamaFactor <= 0 || !isOllamas || window >= config.contextLength)
        return;
    const bool saysScaling = keys.text("rope.scaling.type") || keys.number("rope.scaling.factor") ||
                             keys.number("rope.scale_linear");
    const std::vector<int>& scaled = family.ollamaScaledLayers;
    if (!saysScaling && std::find(scaled.begin(), scaled.end(), config.layerCount) != scaled.end())
        config.ropeScaling = {.kind = RopeScalingKind::Linear, .factor = family.ollamaFactor};
    if (config.layerCount == family.ollamaUncappedLayers)
        config.logitSoftCap = 0.0;
}

Result<void> readSpecialIds(const GgufFile& file, ModelConfig& config) {
    const auto readId = [&](std::string_view name) -> Result<TokenId> {
        const auto value = file.tokenId(name);
        if (!value)
            return kNoToken;
        const auto id = checked::narrow<TokenId>(*value);
        return id ? Result<TokenId>(*id)
                  : corruptGguf(fmt::format("the {} token id {} is no token id", name, *value));
    };
    ENGINE_TRY(config.bosId, readId("bos"));
    for (const std::string_view name : {"eos", "eot", "eom"}) {
        ENGINE_TRY(const TokenId id, readId(name));
        const auto& known = config.eosIds;
        if (id != kNoToken && std::find(known.begin(), known.end(), id) == known.end())
            config.eosIds.push_back(id);
    }
    ENGINE_TRY(const TokenId mask, readId("mask"));
    adoptMaskToken(mask, config);
    for (const std::string_view name : {"unknown", "padding"}) {
        const auto id = file.tokenId(name);
        if (id && *id >= static_cast<std::uint64_t>(config.vocabSize))
            config.notes.push_back(
                fmt::format("The {} token {} is outside the vocabulary of {} and is not used.",
                            name,
                            *id,
                            config.vocabSize));
    }
    return {};
}

/// The type that most bytes are stored as.
std::string mainType(const GgufFile& file) {
    std::map<std::string_view, std::uint64_t> bytes;
    for (const TensorInfo& tensor : file.tensors())
        bytes[tensor.typeName()] += tensor.byteSize;
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
    return most == bytes.end() ? std::string() : std::string(most->first);
}

Result<int> readVocabSize(const GgufFile& file, const ModelConfig& config) {
    const TensorInfo* embedding = file.find("token_embd.weight");
    if (!embedding)
        return corruptGguf("the tensor token_embd.weight is missing");
    const auto rows =
        embedding->shape.size() == 2 ? checked::narrow<int>(embedding->rows()) : std::nullopt;
    if (!rows || embedding->columns() != static_cast<std::uint64_t>(config.hiddenSize))
        return corruptGguf(fmt::format("the tensor token_embd.weight is no matrix with rows of {}",
                                       config.hiddenSize));
    return *rows;
}

/// Of the models whose files name the architecture llama, only Mistral 7B v0.1 and what was made of
/// it have a sliding window. Later versions have another rotary base.
bool hasShapeOfMistral7b(const ModelConfig& config) {
    return config.layerCount == 32 && config.hiddenSize == 4096 && config.mlpSize == 14336 &&
           config.kvHeadCount == 8 && config.ropeTheta == 10000.0;
}

/// Notes which tensors and which metadata of the architecture are not computed with. Errors:
/// Unsupported for a norm among them.
Result<void>
noteUnusedParts(const GgufFile& file, const ArchitectureKeys& keys, ModelConfig& config) {
    std::vector<std::string> unusedKeys;
    for (const auto& [key, value] : file.describeMetadata()) {
        if (keys.isUnknown(key))
            unusedKeys.push_back(key);
    }
    if (!unusedKeys.empty())
        config.notes.push_back(fmt::format(
            "The file's metadata holds keys that have no effect on architecture {}: {}.",
            config.architecture,
            listOf(unusedKeys)));
    const auto mapped = mapGgufTensors(file, config);
    if (!mapped)
        return {}; // told when the weights are asked for
    std::set<const TensorInfo*> used;
    for (const MappedTensor& tensor : mapped.value())
        if (!used.contains(tensor.stored) && computesWith(config, tensor.name))
            used.insert(tensor.stored);
    std::vector<std::string> unused;
    for (const TensorInfo& tensor : file.tensors()) {
        const bool isRotary = tensor.name == kFrequencyFactors ||
                              (config.ropeScaling.kind == RopeScalingKind::LongRope &&
                               tensor.name.starts_with("rope_factors_"));
        if (!used.contains(&tensor) && !isRotary)
            unused.push_back(tensor.name);
    }
    ENGINE_TRY_DO(refuseUnreadNorms(unused, config));
    noteUnusedTensors(unused, config);
    return {};
}

} // namespace

Result<ModelConfig> readGgufModelConfig(const GgufFile& file) {
    const auto architecture = file.stringValue("general.architecture");
    if (!architecture)
        return corruptGguf("the metadata key general.architecture is missing or no string");
    ArchitectureKeys keys(file, *architecture);
    ENGINE_TRY(const int experts, keys.sizeOr("expert_count", 0));
    const Family* const found = findGgufFamily(*architecture, experts != 0);
    if (!found)
        return experts != 0 && findGgufFamily(*architecture, false)
                   ? unsupportedGguf(fmt::format("a mixture of {} experts is not supported for "
                                                 "architecture {}",
                                                 experts,
                                                 *architecture))
                   : unsupportedGgufArchitecture(*architecture);
    const Family& family = *found;
    ModelConfig config;
    config.architecture = family.modelType;
    config.normPlace = family.normPlace;
    config.headNorm = family.headNorm;
    config.activation = family.activation;
    ENGINE_TRY_DO(refuseOtherArithmetic(file, keys, family));
    ENGINE_TRY_DO(readSizes(keys, family, config));
    if (config.layerCount < 1 || config.layerCount > model_limits::kLayers)
        return corruptGguf(fmt::format("the number of layers is {}, not from 1 to {}",
                                       config.layerCount,
                                       model_limits::kLayers));
    ENGINE_TRY(config.vocabSize, readVocabSize(file, config));
    ENGINE_TRY_DO(readLayers(file, keys, family, config));
    ENGINE_TRY_DO(readRotary(file, keys, family, config));
    ENGINE_TRY_DO(readExperts(file, keys, family, config));
    readScales(keys, family, config);
    mendOllamasNumbers(keys, family, config);
    ENGINE_TRY_DO(readSpecialIds(file, config));
    config.qkvBias = family.bias == BiasRule::QkvOnly || file.find("blk.0.attn_q.bias");
    config.outputBias = file.find("blk.0.attn_output.bias") != nullptr;
    config.mlpBias = file.find("blk.0.ffn_gate.bias") != nullptr;
    config.tiedHead = file.find("output.weight") == nullptr;
    config.storedType = mainType(file);
    if (architecture == "llama" && hasShapeOfMistral7b(config))
        config.notes.push_back(
            "A GGUF file of architecture llama carries no sliding window: all layers see the whole "
            "context, also if the model was trained with a window, as Mistral 7B v0.1 was.");
    ENGINE_TRY_DO(config.validate());
    ENGINE_TRY_DO(noteUnusedParts(file, keys, config));
    return config;
}

Result<std::unique_ptr<WeightSource>> openGgufWeights(std::shared_ptr<const GgufFile> file) {
    ENGINE_TRY(const ModelConfig config, readGgufModelConfig(*file));
    ENGINE_TRY(std::vector<MappedTensor> tensors, mapGgufTensors(*file, config));
    const std::string where = file->path().string() + ": ";
    return mapWeights(std::move(file), std::move(tensors), where);
}

} // namespace engine
