// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_model.h"

#include "engine/base/checked_math.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/files/readable_text.h"
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
constexpr const char* kConvertAgain = "Fetch the file again, or convert the model again.";

Error corrupt(std::string problem) {
    return {ErrorCode::CorruptFile, std::move(problem), kConvertAgain};
}

Error unsupportedGguf(std::string problem) {
    return {ErrorCode::Unsupported, std::move(problem), "Choose a model that does without it."};
}

Error unsupportedGgufArchitecture(std::string_view name) {
    std::string known;
    for (const Family& family : families())
        if (known.find(family.ggufArchitecture) == std::string::npos)
            known += fmt::format("{}{}", known.empty() ? "" : ", ", family.ggufArchitecture);
    return {ErrorCode::Unsupported,
            fmt::format("architecture {} is not supported; supported: {}", readable(name), known),
            "Choose a model of a supported architecture."};
}

/// Metadata of an architecture that is read, or that says nothing about what is computed.
constexpr auto kKnownKeys = std::to_array<std::string_view>({
    "attention.causal",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.layer_norm_rms_epsilon",
    "attention.value_length",
    "block_count",
    "context_length",
    "embedding_length",
    "expert_count",
    "expert_feed_forward_length",
    "expert_used_count",
    "feed_forward_length",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "tensor_data_layout",
    "vocab_size",
});

/// Metadata keys of one architecture: "block_count" is "llama.block_count".
class ArchitectureKeys {
public:
    ArchitectureKeys(const GgufFile& file, std::string_view architecture)
        : m_file(file)
        , m_prefix(std::string(architecture) + ".") {}

    Result<int> size(std::string_view key) const {
        const auto value = m_file.unsignedValue(m_prefix + std::string(key));
        if (!value)
            return missing(key, "whole number");
        return narrow(key, *value);
    }

    Result<int> sizeOr(std::string_view key, int absent) const {
        const auto value = m_file.unsignedValue(m_prefix + std::string(key));
        return value ? narrow(key, *value) : Result<int>(absent);
    }

    std::optional<double> number(std::string_view key) const {
        return m_file.numberValue(m_prefix + std::string(key));
    }

    std::optional<std::string_view> text(std::string_view key) const {
        return m_file.stringValue(m_prefix + std::string(key));
    }

    std::optional<bool> flag(std::string_view key) const {
        return m_file.boolValue(m_prefix + std::string(key));
    }

    /// Of a whole key: it is one of this architecture, and nothing is known of it.
    bool isUnknown(std::string_view wholeKey) const {
        if (!wholeKey.starts_with(m_prefix))
            return false;
        const std::string_view key = wholeKey.substr(m_prefix.size());
        return std::find(kKnownKeys.begin(), kKnownKeys.end(), key) == kKnownKeys.end() &&
               std::find(m_read.begin(), m_read.end(), key) == m_read.end();
    }

    /// A number that counts for some families only; `absent` where the file does not say.
    double ownNumber(std::string_view key, double absent) {
        m_read.push_back(key);
        return number(key).value_or(absent);
    }

    Error missing(std::string_view key, std::string_view kind) const {
        return corrupt(
            fmt::format("the metadata key {}{} is missing or no {}", m_prefix, key, kind));
    }

private:
    Result<int> narrow(std::string_view key, std::uint64_t value) const {
        const auto narrowed = checked::narrow<int>(value);
        if (!narrowed)
            return corrupt(
                fmt::format("the metadata key {}{} is too large: {}", m_prefix, key, value));
        return *narrowed;
    }

    const GgufFile& m_file;
    std::string m_prefix;
    std::vector<std::string_view> m_read; // own numbers that were asked for
};

Result<void> readSizes(const ArchitectureKeys& keys, const Family& family, ModelConfig& config) {
    ENGINE_TRY(config.layerCount, keys.size("block_count"));
    ENGINE_TRY(config.hiddenSize, keys.size("embedding_length"));
    ENGINE_TRY(config.mlpSize, keys.size("feed_forward_length"));
    ENGINE_TRY(config.headCount, keys.size("attention.head_count"));
    ENGINE_TRY(config.kvHeadCount, keys.sizeOr("attention.head_count_kv", config.headCount));
    ENGINE_TRY(config.contextLength, keys.size("context_length"));
    const auto epsilon = keys.number("attention.layer_norm_rms_epsilon");
    if (!epsilon)
        return keys.missing("attention.layer_norm_rms_epsilon", "number");
    config.normEpsilon = *epsilon;
    if (config.headCount == 0)
        return corrupt("the model is said to have no attention heads");
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
    for (int layer = 0; layer < config.layerCount; ++layer)
        if (!file.find(fmt::format("blk.{}.ffn_gate_inp.weight", layer)))
            config.denseLayers.push_back(layer);
    return {};
}

/// Windows and the layers that turn nothing. The period of either is no metadata, and neither is
/// the switch of families whose windows must be switched on: their files have none.
Result<void> readLayers(ArchitectureKeys& keys, const Family& family, ModelConfig& config) {
    const bool hasWindows =
        (family.window == WindowRule::EveryLayer || family.window == WindowRule::AllButEveryNth) &&
        !family.reads("use_sliding_window");
    if (hasWindows)
        static_cast<void>(keys.ownNumber("attention.sliding_window", 0.0));
    ENGINE_TRY(const int window,
               hasWindows ? keys.sizeOr("attention.sliding_window", family.unsaidWindow)
                          : Result<int>(0));
    const int period = family.window == WindowRule::AllButEveryNth ? family.windowPeriod : 0;
    for (int layer = 1; layer <= config.layerCount; ++layer) {
        const bool isWindowed = window > 0 && (period == 0 || layer % period != 0);
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
        config.attentionSoftCap = keys.ownNumber("attn_logit_softcapping", family.unsaidScoreCap);
        config.logitSoftCap = keys.ownNumber("final_logit_softcapping", family.unsaidLogitCap);
    }
    if (family.hasMultipliers) {
        config.embeddingScale = keys.ownNumber("embedding_scale", 1.0);
        config.residualScale = keys.ownNumber("residual_scale", 1.0);
        config.attentionScale = keys.ownNumber("attention.scale", 0.0);
        config.logitScale = 1.0 / keys.ownNumber("logit_scale", 1.0);
    }
}

/// The factors of long contexts are tensors.
Result<void> readLongRope(const GgufFile& file, ArchitectureKeys& keys, ModelConfig& config) {
    if (!file.find("rope_factors_long.weight"))
        return {};
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
    config.ropeTheta = keys.number("rope.freq_base").value_or(config.ropeTheta);
    if (family.windowTheta > 0)
        config.windowRopeTheta = keys.ownNumber("rope.freq_base_swa", family.windowTheta);
    const std::string_view kind = keys.text("rope.scaling.type").value_or("linear");
    if (family.hasLongRope && (kind == "longrope" || file.find("rope_factors_long.weight")))
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

Result<void> readSpecialIds(const GgufFile& file, ModelConfig& config) {
    const auto readId = [&](std::string_view name) -> Result<TokenId> {
        const auto value = file.unsignedValue(fmt::format("tokenizer.ggml.{}_token_id", name));
        if (!value || *value == 0xFFFFFFFFU) // an unset id, written as a u32
            return kNoToken;
        const auto id = checked::narrow<TokenId>(*value);
        return id ? Result<TokenId>(*id)
                  : corrupt(fmt::format("the {} token id {} is no token id", name, *value));
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
        return corrupt("the tensor token_embd.weight is missing");
    const auto rows =
        embedding->shape.size() == 2 ? checked::narrow<int>(embedding->rows()) : std::nullopt;
    if (!rows || embedding->columns() != static_cast<std::uint64_t>(config.hiddenSize))
        return corrupt(fmt::format("the tensor token_embd.weight is no matrix with rows of {}",
                                   config.hiddenSize));
    return *rows;
}

/// Metadata that would change the arithmetic to one that no backend has.
Result<void>
refuseOtherArithmetic(const GgufFile& file, ArchitectureKeys& keys, const Family& family) {
    const double scale = keys.ownNumber("attention.scale", 0.0);
    if (scale != 0 && !family.hasMultipliers)
        return unsupportedGguf("an attention.scale of the model's own is not supported");
    const double factor = keys.ownNumber("rope.scaling.attn_factor", 1.0);
    if (factor != 1 && !family.hasLongRope)
        return unsupportedGguf("a rope.scaling.attn_factor other than 1 is not supported");
    if (file.find("blk.0.attn_qkv.bias"))
        return unsupportedGguf("a bias of q, k and v together (attn_qkv.bias) is not supported");
    if (keys.flag("attention.causal") == false)
        return unsupportedGguf("attention to later tokens (attention.causal) is not supported");
    return {};
}

/// Notes which tensors and which metadata of the architecture are not computed with.
void noteUnusedParts(const GgufFile& file, const ArchitectureKeys& keys, ModelConfig& config) {
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
        return; // told when the weights are asked for
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
    noteUnusedTensors(unused, config);
}

} // namespace

Result<ModelConfig> readGgufModelConfig(const GgufFile& file) {
    const auto architecture = file.stringValue("general.architecture");
    if (!architecture)
        return corrupt("the metadata key general.architecture is missing or no string");
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
        return corrupt(fmt::format("the number of layers is {}, not from 1 to {}",
                                   config.layerCount,
                                   model_limits::kLayers));
    ENGINE_TRY(config.vocabSize, readVocabSize(file, config));
    ENGINE_TRY_DO(readLayers(keys, family, config));
    ENGINE_TRY_DO(readRotary(file, keys, family, config));
    ENGINE_TRY_DO(readExperts(file, keys, family, config));
    readScales(keys, family, config);
    ENGINE_TRY_DO(readSpecialIds(file, config));
    config.qkvBias = family.bias == BiasRule::QkvOnly || file.find("blk.0.attn_q.bias");
    config.outputBias = file.find("blk.0.attn_output.bias") != nullptr;
    config.mlpBias = file.find("blk.0.ffn_gate.bias") != nullptr;
    config.tiedHead = file.find("output.weight") == nullptr;
    config.storedType = mainType(file);
    if (architecture == "llama")
        config.notes.push_back(
            "A GGUF file of architecture llama carries no sliding window: all layers see the whole "
            "context, also where the model was trained with a window (Mistral 7B v0.1).");
    ENGINE_TRY_DO(config.validate());
    noteUnusedParts(file, keys, config);
    return config;
}

Result<std::unique_ptr<WeightSource>> openGgufWeights(std::shared_ptr<const GgufFile> file) {
    ENGINE_TRY(const ModelConfig config, readGgufModelConfig(*file));
    ENGINE_TRY(std::vector<MappedTensor> tensors, mapGgufTensors(*file, config));
    const std::string where = file->path().string() + ": ";
    return mapWeights(std::move(file), std::move(tensors), where);
}

} // namespace engine
