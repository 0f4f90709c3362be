// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/model_config.h"

#include "engine/loading/readable_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace engine {

namespace {

constexpr const char* kFetchConfigAgain = "Fetch config.json again, or check what wrote it.";
constexpr std::int64_t kMaxLayers = 1024;
/// Far above every known model, and products of two sizes stay far below 2^63.
constexpr std::int64_t kMaxSize = std::int64_t(1) << 24U;
constexpr std::int64_t kMaxHeadDim = std::int64_t(1) << 16U;
constexpr std::int64_t kMaxVocabulary = 4'194'304;
constexpr std::int64_t kMaxContext = std::int64_t(1) << 30U;

/// How a family chooses the layers that see a window only.
enum class WindowRule { Never, EveryLayer, Qwen2 };

/// Which projections carry a bias.
enum class BiasRule { ByKeys, None, QkvOnly };

/// One row a model family: what its config.json leaves unsaid.
struct Family {
    std::string_view modelType;
    std::string_view className;
    BiasRule bias;
    WindowRule window;
};

constexpr std::array<Family, 3> kFamilies = {{
    {"llama", "LlamaForCausalLM", BiasRule::ByKeys, WindowRule::Never},
    {"mistral", "MistralForCausalLM", BiasRule::None, WindowRule::EveryLayer},
    {"qwen2", "Qwen2ForCausalLM", BiasRule::QkvOnly, WindowRule::Qwen2},
}};

Error corrupt(const JsonValue& place, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{} (byte {})", problem, place.offset()),
            kFetchConfigAgain};
}

Error unsupported(std::string_view what) {
    return {ErrorCode::Unsupported, std::string(what), "Choose a model that does without it."};
}

/// Reads typed members of one object; a null counts as absent.
class Fields {
public:
    explicit Fields(const JsonValue& object)
        : m_object(object) {}

    JsonValue value(std::string_view key) const { return m_object[key]; }

    bool has(std::string_view key) const { return !m_object[key].isNull(); }

    Result<int> size(std::string_view key, std::int64_t max) const {
        const JsonValue found = m_object[key];
        if (found.isNull())
            return missing(key);
        const auto number = found.asInteger();
        if (!number || *number < 1 || *number > max)
            return corrupt(found, fmt::format("\"{}\" is no whole number from 1 to {}", key, max));
        return static_cast<int>(*number);
    }

    Result<int> sizeOr(std::string_view key, std::int64_t max, int absent) const {
        return has(key) ? size(key, max) : Result<int>(absent);
    }

    Result<double> positive(std::string_view key) const {
        const JsonValue found = m_object[key];
        if (found.isNull())
            return missing(key);
        const auto number = found.asNumber();
        if (!number || !std::isfinite(*number) || *number <= 0)
            return corrupt(found, fmt::format("\"{}\" is no positive number", key));
        return *number;
    }

    Result<double> positiveOr(std::string_view key, double absent) const {
        return has(key) ? positive(key) : Result<double>(absent);
    }

    Result<bool> flagOr(std::string_view key, bool absent) const {
        const JsonValue found = m_object[key];
        if (found.isNull())
            return absent;
        const auto flag = found.asBool();
        if (!flag)
            return corrupt(found, fmt::format("\"{}\" is neither true nor false", key));
        return *flag;
    }

    Result<std::string> textOr(std::string_view key, std::string_view absent) const {
        const JsonValue found = m_object[key];
        if (found.isNull())
            return std::string(absent);
        const auto text = found.asString();
        if (!text)
            return corrupt(found, fmt::format("\"{}\" is no string", key));
        return std::string(*text);
    }

private:
    Error missing(std::string_view key) const {
        return corrupt(m_object, fmt::format("the key \"{}\" is missing", key));
    }

    JsonValue m_object;
};

Result<Family> findFamily(const Fields& fields) {
    ENGINE_TRY(std::string name, fields.textOr("model_type", ""));
    if (name.empty()) {
        const auto classes = fields.value("architectures").items();
        name = classes.empty() ? "" : std::string(classes[0].asString().value_or(""));
    }
    if (name.empty())
        return corrupt(fields.value("model_type"), "the key \"model_type\" is missing");
    for (const Family& family : kFamilies) {
        if (name == family.modelType || name == family.className)
            return family;
    }
    return unsupportedArchitecture(name);
}

Result<RopeScaling> readRopeScaling(const JsonValue& object) {
    RopeScaling scaling;
    if (object.isNull())
        return scaling;
    if (!object.isObject())
        return corrupt(object, "the rotary parameters are no object");
    const Fields fields(object);
    ENGINE_TRY(const std::string olderName, fields.textOr("type", "default"));
    ENGINE_TRY(const std::string kind, fields.textOr("rope_type", olderName));
    ENGINE_TRY(const double rotatedPart, fields.positiveOr("partial_rotary_factor", 1.0));
    if (rotatedPart != 1.0)
        return unsupported("a partial_rotary_factor other than 1 is not supported");
    if (kind == "default")
        return scaling;
    if (kind != "linear" && kind != "llama3")
        return unsupported(
            fmt::format("rope scaling \"{}\" is not supported; supported: default, linear, llama3",
                        readable(kind)));
    ENGINE_TRY(scaling.factor, fields.positive("factor"));
    scaling.kind = kind == "linear" ? RopeScalingKind::Linear : RopeScalingKind::Llama3;
    if (scaling.kind == RopeScalingKind::Linear)
        return scaling;
    ENGINE_TRY(scaling.lowFrequencyFactor, fields.positive("low_freq_factor"));
    ENGINE_TRY(scaling.highFrequencyFactor, fields.positive("high_freq_factor"));
    ENGINE_TRY(scaling.originalContextLength, fields.positive("original_max_position_embeddings"));
    return scaling;
}

/// Newer files keep theta and scaling in rope_parameters, older ones in two keys of their own.
Result<void> readRotary(const Fields& fields, ModelConfig& config) {
    const JsonValue parameters = fields.value("rope_parameters");
    const JsonValue scaling = parameters.isNull() ? fields.value("rope_scaling") : parameters;
    ENGINE_TRY(config.ropeScaling, readRopeScaling(scaling));
    ENGINE_TRY(const double outerTheta, fields.positiveOr("rope_theta", config.ropeTheta));
    ENGINE_TRY(config.ropeTheta, Fields(parameters).positiveOr("rope_theta", outerTheta));
    return {};
}

Result<void> readSizes(const Fields& fields, ModelConfig& config) {
    ENGINE_TRY(config.layerCount, fields.size("num_hidden_layers", kMaxLayers));
    ENGINE_TRY(config.hiddenSize, fields.size("hidden_size", kMaxSize));
    ENGINE_TRY(config.mlpSize, fields.size("intermediate_size", kMaxSize));
    ENGINE_TRY(config.headCount, fields.size("num_attention_heads", kMaxSize));
    ENGINE_TRY(config.kvHeadCount,
               fields.sizeOr("num_key_value_heads", kMaxSize, config.headCount));
    ENGINE_TRY(config.headDim,
               fields.sizeOr("head_dim", kMaxHeadDim, config.hiddenSize / config.headCount));
    ENGINE_TRY(config.vocabSize, fields.size("vocab_size", kMaxVocabulary));
    ENGINE_TRY(config.contextLength, fields.size("max_position_embeddings", kMaxContext));
    ENGINE_TRY(config.normEpsilon, fields.positive("rms_norm_eps"));
    return {};
}

Result<void> readBiases(const Fields& fields, BiasRule rule, ModelConfig& config) {
    if (rule == BiasRule::ByKeys) {
        ENGINE_TRY(config.qkvBias, fields.flagOr("attention_bias", false));
        ENGINE_TRY(config.mlpBias, fields.flagOr("mlp_bias", false));
        config.outputBias = config.qkvBias;
    }
    if (rule == BiasRule::QkvOnly)
        config.qkvBias = true;
    return {};
}

/// Qwen2: a window only where use_sliding_window asks for it, and in the layers that layer_types
/// names or, in older files, from max_window_layers on.
Result<void> readQwen2Windows(const Fields& fields, int window, ModelConfig& config) {
    const JsonValue types = fields.value("layer_types");
    const auto layers = static_cast<std::size_t>(config.layerCount);
    if (types.isNull()) {
        const JsonValue found = fields.value("max_window_layers");
        const std::int64_t full = found.isNull() ? 28 : found.asInteger().value_or(-1);
        if (full < 0)
            return corrupt(found, "\"max_window_layers\" is no count");
        for (std::size_t layer = 0; layer < layers; ++layer)
            config.layerWindows[layer] = static_cast<std::int64_t>(layer) >= full ? window : 0;
        return {};
    }
    if (types.size() != layers || !types.isArray())
        return corrupt(types, fmt::format("\"layer_types\" does not list {} layers", layers));
    const std::vector<JsonValue> items = types.items();
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::string_view type = items[layer].asString().value_or("");
        if (type != "full_attention" && type != "sliding_attention")
            return unsupported(fmt::format("layer type \"{}\" is not supported", readable(type)));
        config.layerWindows[layer] = type == "sliding_attention" ? window : 0;
    }
    return {};
}

Result<void> readWindows(const Fields& fields, WindowRule rule, ModelConfig& config) {
    config.layerWindows.assign(static_cast<std::size_t>(config.layerCount), 0);
    if (rule == WindowRule::Never || !fields.has("sliding_window"))
        return {};
    if (rule == WindowRule::Qwen2) {
        ENGINE_TRY(const bool isUsed, fields.flagOr("use_sliding_window", false));
        if (!isUsed)
            return {};
    }
    ENGINE_TRY(const int window, fields.size("sliding_window", kMaxContext));
    if (rule == WindowRule::Qwen2)
        return readQwen2Windows(fields, window, config);
    config.layerWindows.assign(config.layerWindows.size(), window);
    return {};
}

Result<TokenId> readTokenId(const JsonValue& value, std::string_view key) {
    const auto id = value.asInteger();
    if (!id || *id < kNoToken || *id > kMaxVocabulary)
        return corrupt(value, fmt::format("\"{}\" holds what is no token id", key));
    return static_cast<TokenId>(*id);
}

} // namespace

Error unsupportedArchitecture(std::string_view name) {
    std::string known;
    for (const Family& family : kFamilies)
        known += fmt::format("{}{}", known.empty() ? "" : ", ", family.modelType);
    return {ErrorCode::Unsupported,
            fmt::format("architecture {} is not supported; supported: {}", readable(name), known),
            "Choose a model of a supported architecture."};
}

Result<void> addEosIds(const JsonValue& value, std::vector<TokenId>& eosIds) {
    std::vector<JsonValue> items = value.items();
    if (!value.isArray() && !value.isNull())
        items = {value};
    for (const JsonValue& item : items) {
        ENGINE_TRY(const TokenId id, readTokenId(item, "eos_token_id"));
        if (id != kNoToken && std::find(eosIds.begin(), eosIds.end(), id) == eosIds.end())
            eosIds.push_back(id);
    }
    return {};
}

void adoptMaskToken(std::int64_t id, ModelConfig& config) {
    if (id >= 0 && id < config.vocabSize)
        config.maskTokenId = static_cast<TokenId>(id);
    else if (id != kNoToken)
        config.notes.push_back(
            fmt::format("the mask token {} is outside the vocabulary of {} and is not used",
                        id,
                        config.vocabSize));
}

Result<ModelConfig> readModelConfig(const JsonValue& config) {
    if (!config.isObject())
        return corrupt(config, "the configuration is no JSON object");
    const Fields fields(config);
    ENGINE_TRY(const Family family, findFamily(fields));
    ENGINE_TRY(const std::string activation, fields.textOr("hidden_act", "silu"));
    if (activation != "silu")
        return unsupported(fmt::format("activation \"{}\" is not supported; supported: silu",
                                       readable(activation)));
    if (fields.has("quantization_config"))
        return Error{ErrorCode::Unsupported,
                     "weights with a quantization_config (GPTQ, AWQ, bitsandbytes, FP8) are not "
                     "supported",
                     "Choose the unquantised checkpoint or a GGUF file of the model."};
    ModelConfig read;
    read.architecture = family.modelType;
    ENGINE_TRY_DO(readSizes(fields, read));
    ENGINE_TRY_DO(readRotary(fields, read));
    ENGINE_TRY_DO(readBiases(fields, family.bias, read));
    ENGINE_TRY_DO(readWindows(fields, family.window, read));
    ENGINE_TRY(read.tiedHead, fields.flagOr("tie_word_embeddings", false));
    if (fields.has("bos_token_id")) {
        ENGINE_TRY(read.bosId, readTokenId(fields.value("bos_token_id"), "bos_token_id"));
    }
    ENGINE_TRY_DO(addEosIds(fields.value("eos_token_id"), read.eosIds));
    if (fields.has("mask_token_id")) {
        ENGINE_TRY(const TokenId id, readTokenId(fields.value("mask_token_id"), "mask_token_id"));
        adoptMaskToken(id, read);
    }
    ENGINE_TRY(const std::string olderType, fields.textOr("torch_dtype", ""));
    ENGINE_TRY(read.storedType, fields.textOr("dtype", olderType));
    read.storedType = readable(read.storedType);
    ENGINE_TRY_DO(read.validate());
    return read;
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
    if (std::int64_t(config.headCount) * config.headDim > kMaxSize)
        return inconsistent(fmt::format(
            "{} heads of {} exceed {} values a row", config.headCount, config.headDim, kMaxSize));
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
    const auto pairs = static_cast<std::size_t>(config.headDim / 2);
    if (!config.ropeFrequencyFactors.empty() && config.ropeFrequencyFactors.size() != pairs)
        return inconsistent(fmt::format(
            "{} rotary frequency factors for {} pairs", config.ropeFrequencyFactors.size(), pairs));
    for (const float factor : config.ropeFrequencyFactors)
        ENGINE_TRY_DO(checkPositive("a rotary frequency factor", static_cast<double>(factor)));
    return {};
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
    ENGINE_TRY_DO(checkRange("the number of layers", layerCount, kMaxLayers));
    ENGINE_TRY_DO(checkRange("the hidden size", hiddenSize, kMaxSize));
    ENGINE_TRY_DO(checkRange("the MLP size", mlpSize, kMaxSize));
    ENGINE_TRY_DO(checkRange("the number of attention heads", headCount, kMaxSize));
    ENGINE_TRY_DO(checkRange("the number of key-value heads", kvHeadCount, kMaxSize));
    ENGINE_TRY_DO(checkRange("the head dimension", headDim, kMaxHeadDim));
    ENGINE_TRY_DO(checkRange("the vocabulary size", vocabSize, kMaxVocabulary));
    ENGINE_TRY_DO(checkRange("the context length", contextLength, kMaxContext));
    ENGINE_TRY_DO(checkPositive("the norm epsilon", normEpsilon));
    ENGINE_TRY_DO(checkHeads(*this));
    ENGINE_TRY_DO(checkRotary(*this));
    if (layerWindows.size() != static_cast<std::size_t>(layerCount))
        return inconsistent(
            fmt::format("{} attention windows for {} layers", layerWindows.size(), layerCount));
    for (const int window : layerWindows) {
        if (window < 0)
            return inconsistent(fmt::format("an attention window of {} keys", window));
    }
    return checkTokenIds(*this);
}

std::vector<double> rotaryFrequencies(const ModelConfig& config) {
    const RopeScaling& scaling = config.ropeScaling;
    std::vector<double> frequencies;
    for (int pair = 0; pair < config.headDim / 2; ++pair) {
        double frequency = std::pow(config.ropeTheta, -2.0 * pair / config.headDim);
        const double wavelength = 2.0 * std::numbers::pi / frequency;
        const double turns = scaling.originalContextLength / wavelength;
        if (scaling.kind == RopeScalingKind::Linear)
            frequency /= scaling.factor;
        if (scaling.kind == RopeScalingKind::Llama3) {
            // Fast pairs stay, slow ones are stretched, those between are blended.
            const double kept =
                std::clamp((turns - scaling.lowFrequencyFactor) /
                               (scaling.highFrequencyFactor - scaling.lowFrequencyFactor),
                           0.0,
                           1.0);
            frequency = (1.0 - kept) * frequency / scaling.factor + kept * frequency;
        }
        if (!config.ropeFrequencyFactors.empty())
            frequency /=
                static_cast<double>(config.ropeFrequencyFactors[static_cast<std::size_t>(pair)]);
        frequencies.push_back(frequency);
    }
    return frequencies;
}

} // namespace engine
