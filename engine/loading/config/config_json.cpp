// SPDX-License-Identifier: Apache-2.0
// config.json to a ModelConfig. What a field means, what holds where it is absent and which of two
// that disagree counts is as in transformers 5.23 (tests/data/config_cases holds its answers).
#include "engine/loading/config/json_fields.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/model_config.h"
#include "engine/loading/readable_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

namespace {

constexpr int kUnsaidWindow = 4096;     // Mistral, Qwen2
constexpr int kUnsaidFullLayers = 28;   // Qwen2
constexpr double kUnsaidEpsilon = 1e-6; // all families

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
    int unsaidKvHeads; ///< 0: as many as attention heads
    std::vector<std::string_view> ownFields;
};

const std::array<Family, 3>& families() {
    static const std::array<Family, 3> kFamilies = {{
        {"llama",
         "LlamaForCausalLM",
         BiasRule::ByKeys,
         WindowRule::Never,
         0,
         {"attention_bias", "mlp_bias"}},
        {"mistral", "MistralForCausalLM", BiasRule::None, WindowRule::EveryLayer, 8, {}},
        {"qwen2",
         "Qwen2ForCausalLM",
         BiasRule::QkvOnly,
         WindowRule::Qwen2,
         32,
         {"use_sliding_window", "max_window_layers"}},
    }};
    return kFamilies;
}

/// Fields that are read for every family, and those that say nothing about what is computed.
constexpr std::array kCommonFields = std::to_array<std::string_view>({
    "architectures",
    "model_type",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
    "original_max_position_embeddings",
    "rms_norm_eps",
    "hidden_act",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "partial_rotary_factor",
    "sliding_window",
    "layer_types",
    "tie_word_embeddings",
    "is_causal",
    "bos_token_id",
    "eos_token_id",
    "mask_token_id",
    "torch_dtype",
    "dtype",
    // Training, bookkeeping, and how the work is split.
    "_name_or_path",
    "attention_dropout",
    "chunk_size_feed_forward",
    "id2label",
    "initializer_range",
    "is_decoder",
    "is_llama_config",
    "label2id",
    "output_attentions",
    "output_hidden_states",
    "pad_token_id",
    "pretraining_tp",
    "return_dict",
    "tokenizer_class",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_version",
    "use_cache",
});

Error unsupported(std::string_view what) {
    return {ErrorCode::Unsupported, std::string(what), "Choose a model that does without it."};
}

Result<Family> findFamily(const JsonFields& fields) {
    ENGINE_TRY(std::string name, fields.textOr("model_type", ""));
    if (name.empty()) {
        const auto classes = fields.value("architectures").items();
        name = classes.empty() ? "" : std::string(classes[0].asString().value_or(""));
    }
    if (name.empty())
        return corruptConfig(fields.value("model_type"), "the key \"model_type\" is missing");
    for (const Family& family : families()) {
        if (name == family.modelType || name == family.className)
            return family;
    }
    return unsupportedArchitecture(name);
}

/// Fields that would change the arithmetic to one that no backend has.
Result<void> refuseOtherArithmetic(const JsonFields& fields) {
    ENGINE_TRY(const std::string activation, fields.textOr("hidden_act", "silu"));
    if (activation != "silu" && activation != "swish") // two names of one function
        return unsupported(fmt::format("activation \"{}\" is not supported; supported: silu",
                                       readable(activation)));
    if (fields.has("quantization_config"))
        return Error{ErrorCode::Unsupported,
                     "weights with a quantization_config (GPTQ, AWQ, bitsandbytes, FP8) are not "
                     "supported",
                     "Choose the unquantised checkpoint or a GGUF file of the model."};
    if (fields.contains("is_causal") && fields.value("is_causal").asBool() != true)
        return unsupported("attention to later tokens (\"is_causal\") is not supported");
    if (fields.value("per_layer_config").size() > 0)
        return unsupported("layers of different sizes (\"per_layer_config\") are not supported");
    if (fields.has("attention_chunk_size"))
        return unsupported("attention in chunks (\"attention_chunk_size\") is not supported");
    return {};
}

Result<void> refusePartialRotation(const JsonFields& fields) {
    ENGINE_TRY(const double rotatedPart,
               fields.has("partial_rotary_factor") ? fields.positive("partial_rotary_factor")
                                                   : Result<double>(1.0));
    if (rotatedPart != 1.0)
        return unsupported("a partial_rotary_factor other than 1 is not supported");
    return {};
}

/// Which fields count for a kind of scaling; the others have no effect.
std::vector<std::string_view> fieldsOf(RopeScalingKind kind) {
    std::vector<std::string_view> names = {
        "rope_type", "type", "rope_theta", "partial_rotary_factor"};
    if (kind != RopeScalingKind::None)
        names.push_back("factor");
    if (kind == RopeScalingKind::Llama3)
        names.insert(names.end(),
                     {"low_freq_factor", "high_freq_factor", "original_max_position_embeddings"});
    return names;
}

/// Tokens that the model was first trained for: said beside the rotary parameters, or in them.
Result<double> originalContext(const JsonFields& outer, const JsonFields& inner, int context) {
    constexpr std::string_view kName = "original_max_position_embeddings";
    if (outer.has(kName))
        return outer.positive(kName);
    return inner.positiveOr(kName, context);
}

Result<RopeScaling> readRopeScaling(const JsonFields& outer, const JsonFields& inner, int context) {
    RopeScaling scaling;
    ENGINE_TRY(const std::string olderName, inner.textOr("type", "default"));
    ENGINE_TRY(const std::string kind, inner.textOr("rope_type", olderName));
    ENGINE_TRY_DO(refusePartialRotation(outer));
    ENGINE_TRY_DO(refusePartialRotation(inner));
    if (kind == "default")
        return scaling;
    if (kind != "linear" && kind != "llama3")
        return unsupported(
            fmt::format("rope scaling \"{}\" is not supported; supported: default, linear, llama3",
                        readable(kind)));
    ENGINE_TRY(scaling.factor, inner.positive("factor"));
    scaling.kind = kind == "linear" ? RopeScalingKind::Linear : RopeScalingKind::Llama3;
    if (scaling.kind == RopeScalingKind::Linear)
        return scaling;
    ENGINE_TRY(scaling.lowFrequencyFactor, inner.positive("low_freq_factor"));
    ENGINE_TRY(scaling.highFrequencyFactor, inner.positive("high_freq_factor"));
    ENGINE_TRY(scaling.originalContextLength, originalContext(outer, inner, context));
    return scaling;
}

/// Newer files keep theta and scaling in rope_parameters, older ones in two keys of their own. A
/// rope_scaling that holds something counts even beside rope_parameters.
Result<void> readRotary(const JsonFields& fields, ModelConfig& config) {
    const JsonValue older = fields.value("rope_scaling");
    const bool isOlder = !older.isNull() && !(older.isObject() && older.size() == 0);
    const std::string_view name = isOlder ? "rope_scaling" : "rope_parameters";
    const JsonValue object = fields.value(name);
    if (!object.isNull() && !object.isObject())
        return corruptConfig(object, fmt::format("\"{}\" is no object", name));
    for (const auto& [key, value] : object.members()) {
        if (value.isObject())
            return unsupported("rotary parameters by kind of layer are not supported");
    }
    const JsonFields inner(object);
    ENGINE_TRY(config.ropeScaling, readRopeScaling(fields, inner, config.contextLength));
    ENGINE_TRY(const double outerTheta, fields.positiveOr("rope_theta", config.ropeTheta));
    ENGINE_TRY(config.ropeTheta, inner.positiveOr("rope_theta", outerTheta));
    const auto unused = fieldsWithoutEffect(object, fieldsOf(config.ropeScaling.kind), {});
    if (!unused.empty())
        config.notes.push_back(fmt::format(
            "{} in config.json holds fields that have no effect: {}.", name, listOf(unused)));
    return {};
}

Result<void> readSizes(const JsonFields& fields, const Family& family, ModelConfig& config) {
    namespace limits = model_limits;
    ENGINE_TRY(config.layerCount, fields.size("num_hidden_layers", limits::kLayers));
    ENGINE_TRY(config.hiddenSize, fields.size("hidden_size", limits::kRowValues));
    ENGINE_TRY(config.mlpSize, fields.size("intermediate_size", limits::kRowValues));
    ENGINE_TRY(config.headCount, fields.size("num_attention_heads", limits::kRowValues));
    const bool areKvHeadsUnsaid = !fields.contains("num_key_value_heads");
    const int unsaidKvHeads =
        areKvHeadsUnsaid && family.unsaidKvHeads > 0 ? family.unsaidKvHeads : config.headCount;
    ENGINE_TRY(config.kvHeadCount,
               fields.sizeOr("num_key_value_heads", limits::kRowValues, unsaidKvHeads));
    ENGINE_TRY(config.headDim,
               fields.sizeOr("head_dim", limits::kHeadDim, config.hiddenSize / config.headCount));
    ENGINE_TRY(config.vocabSize, fields.size("vocab_size", limits::kVocabulary));
    ENGINE_TRY(config.contextLength, fields.size("max_position_embeddings", limits::kContext));
    ENGINE_TRY(config.normEpsilon, fields.positiveOr("rms_norm_eps", kUnsaidEpsilon));
    return {};
}

Result<void> readBiases(const JsonFields& fields, BiasRule rule, ModelConfig& config) {
    if (rule == BiasRule::ByKeys) {
        ENGINE_TRY(config.qkvBias, fields.flagOr("attention_bias", false));
        ENGINE_TRY(config.mlpBias, fields.flagOr("mlp_bias", false));
        config.outputBias = config.qkvBias;
    }
    if (rule == BiasRule::QkvOnly)
        config.qkvBias = true;
    return {};
}

/// For each layer whether layer_types gives it a window; empty where the field is absent.
Result<std::vector<bool>> readLayerTypes(const JsonFields& fields, int layerCount) {
    std::vector<bool> windowed;
    const JsonValue types = fields.value("layer_types");
    if (types.isNull())
        return windowed;
    if (!types.isArray() || types.size() != static_cast<std::size_t>(layerCount))
        return corruptConfig(types,
                             fmt::format("\"layer_types\" does not list {} layers", layerCount));
    for (const JsonValue& item : types.items()) {
        const std::string_view type = item.asString().value_or("");
        if (type != "full_attention" && type != "attention" && type != "sliding_attention")
            return unsupported(fmt::format("layer type \"{}\" is not supported", readable(type)));
        windowed.push_back(type == "sliding_attention");
    }
    return windowed;
}

/// Keys that a query of a windowed layer sees; 0: there is no window.
Result<int> readWindow(const JsonFields& fields, WindowRule rule) {
    if (rule == WindowRule::Qwen2) {
        ENGINE_TRY(const bool isUsed, fields.flagOr("use_sliding_window", false));
        if (!isUsed)
            return 0;
    }
    const bool isUnsaid = !fields.contains("sliding_window");
    return fields.sizeOr("sliding_window",
                         model_limits::kContext,
                         isUnsaid && rule != WindowRule::Never ? kUnsaidWindow : 0);
}

/// The layers in front that see everything where layer_types does not say which do.
Result<int> readFullLayers(const JsonFields& fields, WindowRule rule) {
    const JsonValue found = fields.value("max_window_layers");
    if (rule != WindowRule::Qwen2 || found.isNull())
        return rule == WindowRule::Qwen2 ? kUnsaidFullLayers : 0;
    const auto full = found.asInteger();
    if (!full || *full < 0)
        return corruptConfig(found, "\"max_window_layers\" is no count");
    return static_cast<int>(std::min(*full, model_limits::kLayers));
}

/// Llama has no windows: what asks for one that would act is refused, for transformers' own answers
/// then depend on whether it keeps a cache.
Result<void>
refuseWindow(const std::vector<bool>& windowed, int window, const ModelConfig& config) {
    const bool isAsked = std::find(windowed.begin(), windowed.end(), true) != windowed.end();
    if (!isAsked && (!windowed.empty() || window == 0 || window >= config.contextLength))
        return {};
    return unsupported(fmt::format("a sliding window (\"{}\") is not supported for architecture {}",
                                   isAsked ? "layer_types" : "sliding_window",
                                   config.architecture));
}

Result<void> readWindows(const JsonFields& fields, WindowRule rule, ModelConfig& config) {
    config.layerWindows.assign(static_cast<std::size_t>(config.layerCount), 0);
    ENGINE_TRY(const std::vector<bool> windowed, readLayerTypes(fields, config.layerCount));
    ENGINE_TRY(const int window, readWindow(fields, rule));
    if (rule == WindowRule::Never)
        return refuseWindow(windowed, window, config);
    ENGINE_TRY(const int fullLayers, readFullLayers(fields, rule));
    for (std::size_t layer = 0; layer < config.layerWindows.size(); ++layer) {
        const bool isWindowed =
            windowed.empty() ? static_cast<int>(layer) >= fullLayers : windowed[layer];
        if (isWindowed && !windowed.empty() && window == 0)
            return corruptConfig(fields.value("layer_types"),
                                 "\"layer_types\" asks for a sliding window, but the fields that "
                                 "give its size leave it out");
        config.layerWindows[layer] = isWindowed ? window : 0;
    }
    return {};
}

Result<TokenId> readTokenId(const JsonValue& value, std::string_view key) {
    const auto id = value.asInteger();
    if (!id || *id < kNoToken || *id > model_limits::kVocabulary)
        return corruptConfig(value, fmt::format("\"{}\" holds what is no token id", key));
    return static_cast<TokenId>(*id);
}

Result<void> readTokenIds(const JsonFields& fields, ModelConfig& config) {
    if (fields.has("bos_token_id")) {
        ENGINE_TRY(config.bosId, readTokenId(fields.value("bos_token_id"), "bos_token_id"));
    }
    ENGINE_TRY_DO(addEosIds(fields.value("eos_token_id"), config.eosIds));
    if (fields.has("mask_token_id")) {
        ENGINE_TRY(const TokenId id, readTokenId(fields.value("mask_token_id"), "mask_token_id"));
        adoptMaskToken(id, config);
    }
    return {};
}

} // namespace

Error unsupportedArchitecture(std::string_view name) {
    std::string known;
    for (const Family& family : families())
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

Result<ModelConfig> readModelConfig(const JsonValue& config) {
    if (!config.isObject())
        return corruptConfig(config, "the configuration is no JSON object");
    const JsonFields fields(config);
    ENGINE_TRY(const Family family, findFamily(fields));
    ENGINE_TRY_DO(refuseOtherArithmetic(fields));
    ModelConfig read;
    read.architecture = family.modelType;
    ENGINE_TRY_DO(readSizes(fields, family, read));
    ENGINE_TRY_DO(readRotary(fields, read));
    ENGINE_TRY_DO(readBiases(fields, family.bias, read));
    ENGINE_TRY_DO(readWindows(fields, family.window, read));
    ENGINE_TRY(read.tiedHead, fields.flagOr("tie_word_embeddings", false));
    ENGINE_TRY_DO(readTokenIds(fields, read));
    ENGINE_TRY(const std::string olderType, fields.textOr("torch_dtype", ""));
    ENGINE_TRY(read.storedType, fields.textOr("dtype", olderType));
    read.storedType = readable(read.storedType);
    const auto unused = fieldsWithoutEffect(config, kCommonFields, family.ownFields);
    if (!unused.empty())
        read.notes.push_back(
            fmt::format("config.json holds fields that have no effect on architecture {}: {}.",
                        read.architecture,
                        listOf(unused)));
    ENGINE_TRY_DO(read.validate());
    return read;
}

} // namespace engine
