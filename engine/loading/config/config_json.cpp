// SPDX-License-Identifier: Apache-2.0
// config.json to a ModelConfig. What a field means, what holds where it is absent and which of two
// that disagree counts is as in transformers 5.23 (tests/data/config_cases holds its answers).
#include "engine/loading/config/config_parts.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/model_config.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

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
    "cache_implementation",
    "chunk_size_feed_forward",
    "embd_pdrop",
    "id2label",
    "initializer_range",
    "is_decoder",
    "is_llama_config",
    "label2id",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "pad_token_id",
    "pretraining_tp",
    "resid_pdrop",
    "return_dict",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "tokenizer_class",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_version",
    "use_cache",
});

/// A text model's fields and its family's row.
struct TextModel {
    JsonValue fields;
    const Family* family = nullptr;
    bool isPart = false; ///< of a configuration that describes more
};

Result<const Family*> chooseFamily(const JsonFields& fields) {
    ENGINE_TRY(std::string name, fields.textOr("model_type", ""));
    if (name.empty()) {
        const auto classes = fields.value("architectures").items();
        name = classes.empty() ? "" : std::string(classes[0].asString().value_or(""));
    }
    if (name.empty())
        return corruptConfig(fields.value("model_type"), "the key \"model_type\" is missing");
    if (const Family* family = findFamily(name))
        return family;
    return unsupportedArchitecture(name);
}

/// The configuration itself, or its text_config where it describes a model of images and text.
Result<TextModel> chooseTextModel(const JsonValue& config) {
    const JsonFields outer(config);
    const auto type = config["model_type"].asString();
    const Family* const family = type ? findTextFamily(*type) : nullptr;
    if (family == nullptr) {
        ENGINE_TRY(const Family* const found, chooseFamily(outer));
        return TextModel{config, found};
    }
    const JsonValue fields = config["text_config"];
    if (!fields.isObject())
        return corruptConfig(config, "the key \"text_config\" is missing or no object");
    if (!fields.contains("model_type"))
        return TextModel{fields, family, true};
    ENGINE_TRY(const Family* const found, chooseFamily(JsonFields(fields)));
    return TextModel{fields, found, true};
}

/// Names that transformers has for one function.
std::vector<std::string_view> namesOf(Activation activation) {
    if (activation == Activation::Silu)
        return {"silu", "swish"};
    return {"gelu_pytorch_tanh"};
}

Result<void> readActivation(const JsonFields& fields, const Family& family, ModelConfig& config) {
    const std::vector<std::string_view> known = namesOf(family.activation);
    const std::string_view key =
        family.reads("hidden_activation") ? "hidden_activation" : "hidden_act";
    ENGINE_TRY(const std::string name, fields.textOr(key, known.front()));
    if (std::find(known.begin(), known.end(), name) == known.end())
        return unsupportedConfig(fmt::format(
            "activation \"{}\" is not supported; supported: {}", readable(name), known.front()));
    config.activation = family.activation;
    return {};
}

/// Fields that would change the arithmetic to one that no backend has.
Result<void> refuseOtherArithmetic(const JsonFields& fields, const Family& family) {
    for (const std::string_view name : {"quantization_config", "quantization"})
        if (fields.has(name))
            return Error{ErrorCode::Unsupported,
                         fmt::format("weights with a {} (GPTQ, AWQ, bitsandbytes, FP8, MLX) are "
                                     "not supported",
                                     name),
                         "Choose the unquantised checkpoint or a GGUF file of the model."};
    if (fields.contains("is_causal") && fields.value("is_causal").asBool() != true)
        return unsupportedConfig("attention to later tokens (\"is_causal\") is not supported");
    if (fields.value("per_layer_config").size() > 0)
        return unsupportedConfig(
            "layers of different sizes (\"per_layer_config\") are not supported");
    if (fields.has("attention_chunk_size"))
        return unsupportedConfig("attention in chunks (\"attention_chunk_size\") is not supported");
    constexpr std::string_view kSeesLater = "use_bidirectional_attention";
    ENGINE_TRY(const bool seesLater,
               family.reads(kSeesLater) ? fields.flagOr(kSeesLater, false) : Result<bool>(false));
    if (seesLater)
        return unsupportedConfig(
            "attention to later tokens (\"use_bidirectional_attention\") is not supported");
    if (family.reads("clip_qkv") && fields.has("clip_qkv"))
        return unsupportedConfig("clipped queries and keys (\"clip_qkv\") are not supported");
    return {};
}

/// A size that the file must say unless the family has one that holds otherwise.
Result<int>
sizeOrUnsaid(const JsonFields& fields, std::string_view key, std::int64_t max, int unsaid) {
    return unsaid > 0 && !fields.contains(key) ? Result<int>(unsaid) : fields.size(key, max);
}

Result<void> readSizes(const JsonFields& fields, const Family& family, ModelConfig& config) {
    namespace limits = model_limits;
    ENGINE_TRY(config.layerCount, fields.size("num_hidden_layers", limits::kLayers));
    ENGINE_TRY(config.hiddenSize, fields.size("hidden_size", limits::kRowValues));
    ENGINE_TRY(config.mlpSize, fields.size("intermediate_size", limits::kRowValues));
    ENGINE_TRY(config.headCount,
               sizeOrUnsaid(fields, "num_attention_heads", limits::kRowValues, family.unsaidHeads));
    const bool areKvHeadsUnsaid = !fields.contains("num_key_value_heads");
    const int unsaidKvHeads =
        areKvHeadsUnsaid && family.unsaidKvHeads > 0 ? family.unsaidKvHeads : config.headCount;
    ENGINE_TRY(config.kvHeadCount,
               fields.sizeOr("num_key_value_heads", limits::kRowValues, unsaidKvHeads));
    const bool isDimUnsaid = !fields.contains("head_dim");
    ENGINE_TRY(config.headDim,
               fields.sizeOr("head_dim",
                             limits::kHeadDim,
                             isDimUnsaid && family.unsaidHeadDim > 0
                                 ? family.unsaidHeadDim
                                 : config.hiddenSize / config.headCount));
    ENGINE_TRY(config.vocabSize,
               sizeOrUnsaid(fields, "vocab_size", limits::kVocabulary, family.unsaidVocabSize));
    ENGINE_TRY(
        config.contextLength,
        sizeOrUnsaid(fields, "max_position_embeddings", limits::kContext, family.unsaidContext));
    ENGINE_TRY(config.normEpsilon, fields.positiveOr("rms_norm_eps", family.unsaidEpsilon));
    return {};
}

Result<void> readBiases(const JsonFields& fields, const Family& family, ModelConfig& config) {
    if (family.bias == BiasRule::ByKeys) {
        ENGINE_TRY(config.qkvBias, fields.flagOr("attention_bias", false));
        config.outputBias = config.qkvBias;
        if (family.reads("mlp_bias")) {
            ENGINE_TRY(config.mlpBias, fields.flagOr("mlp_bias", false));
        }
    }
    if (family.bias == BiasRule::QkvOnly)
        config.qkvBias = true;
    if (family.bias == BiasRule::Apart) {
        ENGINE_TRY(config.qkvBias, fields.flagOr("attention_bias", true));
        ENGINE_TRY(config.outputBias, fields.flagOr("attention_out_bias", false));
        ENGINE_TRY(config.mlpBias, fields.flagOr("mlp_bias", false));
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

/// The type of the stored numbers, for people.
Result<std::string> readStoredType(const JsonFields& fields) {
    ENGINE_TRY(const std::string older, fields.textOr("torch_dtype", ""));
    ENGINE_TRY(const std::string name, fields.textOr("dtype", older));
    return readable(name);
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

namespace {

/// What a configuration of images and text says about the text model in its own fields.
Result<void> readOuterFields(const JsonValue& outer, ModelConfig& config) {
    const JsonFields fields(outer);
    ENGINE_TRY(config.tiedHead, fields.flagOr("tie_word_embeddings", config.tiedHead));
    ENGINE_TRY_DO(readTokenIds(fields, config));
    if (config.storedType.empty()) {
        ENGINE_TRY(config.storedType, readStoredType(fields));
    }
    config.notes.push_back(
        fmt::format("config.json describes a model of images and text ({}): its text model alone "
                    "is used.",
                    readable(outer["model_type"].asString().value_or(""))));
    return {};
}

} // namespace

Result<ModelConfig> readModelConfig(const JsonValue& config) {
    if (!config.isObject())
        return corruptConfig(config, "the configuration is no JSON object");
    ENGINE_TRY(const TextModel text, chooseTextModel(config));
    const JsonFields fields(text.fields);
    const Family& family = *text.family;
    ENGINE_TRY_DO(refuseOtherArithmetic(JsonFields(config), family));
    ENGINE_TRY_DO(refuseOtherArithmetic(fields, family));
    ModelConfig read;
    read.architecture = family.modelType;
    read.normPlace = family.normPlace;
    read.headNorm = family.headNorm;
    ENGINE_TRY_DO(readActivation(fields, family, read));
    ENGINE_TRY_DO(readSizes(fields, family, read));
    ENGINE_TRY_DO(refuseUnreadArithmetic(fields, family, read));
    ENGINE_TRY_DO(readBiases(fields, family, read));
    ENGINE_TRY_DO(readWindows(fields, family, read));
    ENGINE_TRY_DO(readRotary(fields, family, read));
    ENGINE_TRY_DO(readScales(fields, family, read));
    ENGINE_TRY_DO(readExperts(fields, family, read));
    ENGINE_TRY(read.tiedHead, fields.flagOr("tie_word_embeddings", family.ties));
    ENGINE_TRY_DO(readTokenIds(fields, read));
    ENGINE_TRY(read.storedType, readStoredType(fields));
    if (text.isPart)
        ENGINE_TRY_DO(readOuterFields(config, read));
    leaveOutUnknownIds(read);
    const auto unused = fieldsWithoutEffect(text.fields, kCommonFields, family.ownFields);
    if (!unused.empty())
        read.notes.push_back(
            fmt::format("config.json holds fields that have no effect on architecture {}: {}.",
                        read.architecture,
                        listOf(unused)));
    ENGINE_TRY_DO(read.validate());
    return read;
}

} // namespace engine
