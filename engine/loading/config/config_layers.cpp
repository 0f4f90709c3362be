// SPDX-License-Identifier: Apache-2.0
// config.json: what differs from layer to layer, and the numbers that scale what a layer computes.
#include "engine/loading/config/config_parts.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/files/readable_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

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
            return unsupportedConfig(
                fmt::format("layer type \"{}\" is not supported", readable(type)));
        windowed.push_back(type == "sliding_attention");
    }
    return windowed;
}

/// Keys that a query of a windowed layer sees; 0: there is no window.
Result<int> readWindow(const JsonFields& fields, const Family& family) {
    if (family.reads("use_sliding_window")) {
        ENGINE_TRY(const bool isUsed, fields.flagOr("use_sliding_window", false));
        if (!isUsed)
            return 0;
    }
    const bool isUnsaid = !fields.contains("sliding_window");
    return fields.sizeOr(
        "sliding_window", model_limits::kContext, isUnsaid ? family.unsaidWindow : 0);
}

/// For each layer whether it has a window where layer_types does not say so.
Result<std::vector<bool>>
readWindowedLayers(const JsonFields& fields, const Family& family, int layerCount) {
    constexpr int kUnsaidFullLayers = 28;
    const auto count = static_cast<std::size_t>(layerCount);
    std::vector<bool> windowed(count, family.window == WindowRule::EveryLayer);
    if (family.window == WindowRule::FromLayer) {
        const JsonValue found = fields.value("max_window_layers");
        const auto full = found.isNull() ? kUnsaidFullLayers : found.asInteger();
        if (!full || *full < 0)
            return corruptConfig(found, "\"max_window_layers\" is no count");
        for (std::size_t layer = 0; layer < count; ++layer)
            windowed[layer] = static_cast<std::int64_t>(layer) >= *full;
    }
    if (family.window == WindowRule::AllButEveryNth) {
        constexpr std::string_view kPattern = "sliding_window_pattern";
        int period = family.windowPeriod;
        if (family.reads(kPattern)) {
            ENGINE_TRY(period, fields.sizeOr(kPattern, model_limits::kLayers, period));
        }
        for (std::size_t layer = 0; layer < count; ++layer)
            windowed[layer] = (layer + 1) % static_cast<std::size_t>(period) != 0;
    }
    return windowed;
}

/// Llama has no windows: what asks for one that would act is refused, for transformers' own answers
/// then depend on whether it keeps a cache.
Result<void>
refuseWindow(const std::vector<bool>& windowed, int window, const ModelConfig& config) {
    const bool isAsked = std::find(windowed.begin(), windowed.end(), true) != windowed.end();
    if (!isAsked && (!windowed.empty() || window == 0 || window >= config.contextLength))
        return {};
    return unsupportedConfig(
        fmt::format("a sliding window (\"{}\") is not supported for architecture {}",
                    isAsked ? "layer_types" : "sliding_window",
                    config.architecture));
}

/// A soft-cap: null means that there is none.
Result<double> readCap(const JsonFields& fields, std::string_view key, double unsaid) {
    if (!fields.contains(key))
        return unsaid;
    return fields.has(key) ? fields.positive(key) : Result<double>(0.0);
}

/// Layers that keep a whole MLP: those that mlp_only_layers lists, and those between every
/// decoder_sparse_step-th one.
Result<std::vector<int>> readDenseLayers(const JsonFields& fields, int layerCount) {
    ENGINE_TRY(const int step, fields.sizeOr("decoder_sparse_step", model_limits::kLayers, 1));
    const JsonValue listed = fields.value("mlp_only_layers");
    if (!listed.isNull() && !listed.isArray())
        return corruptConfig(listed, "\"mlp_only_layers\" is no list");
    std::vector<int> dense;
    for (const JsonValue& item : listed.items()) {
        const auto layer = item.asInteger();
        if (!layer || *layer < 0 || *layer >= layerCount)
            return corruptConfig(listed, "\"mlp_only_layers\" holds what is no layer");
        dense.push_back(static_cast<int>(*layer));
    }
    for (int layer = 0; layer < layerCount; ++layer)
        if ((layer + 1) % step != 0)
            dense.push_back(layer);
    std::sort(dense.begin(), dense.end());
    dense.erase(std::unique(dense.begin(), dense.end()), dense.end());
    return dense;
}

} // namespace

Error unsupportedConfig(std::string_view what) {
    return {ErrorCode::Unsupported, std::string(what), "Choose a model that does without it."};
}

Result<void> readWindows(const JsonFields& fields, const Family& family, ModelConfig& config) {
    config.layerWindows.assign(static_cast<std::size_t>(config.layerCount), 0);
    ENGINE_TRY(const std::vector<bool> listed, readLayerTypes(fields, config.layerCount));
    ENGINE_TRY(const int window, readWindow(fields, family));
    if (family.window == WindowRule::Never)
        return refuseWindow(listed, window, config);
    const bool isListRead = family.window != WindowRule::EveryLayer || family.reads("layer_types");
    const bool hasFullLayer = std::find(listed.begin(), listed.end(), false) != listed.end();
    if (!isListRead && hasFullLayer && window > 0 && window < config.contextLength)
        return unsupportedConfig(fmt::format(
            "a sliding window in some layers alone (\"layer_types\") is not supported for "
            "architecture {}, whose layers all have it",
            config.architecture));
    ENGINE_TRY(const std::vector<bool> unlisted,
               readWindowedLayers(fields, family, config.layerCount));
    for (std::size_t layer = 0; layer < config.layerWindows.size(); ++layer) {
        const bool isWindowed = listed.empty() ? unlisted[layer] : listed[layer];
        if (isWindowed && !listed.empty() && window == 0)
            return corruptConfig(fields.value("layer_types"),
                                 "\"layer_types\" asks for a sliding window, but the fields that "
                                 "give its size leave it out");
        config.layerWindows[layer] = isWindowed ? window : 0;
    }
    return {};
}

Result<void> readScales(const JsonFields& fields, const Family& family, ModelConfig& config) {
    if (family.scalesEmbedding)
        config.embeddingScale =
            static_cast<double>(std::sqrt(static_cast<float>(config.hiddenSize)));
    if (family.unsaidScoreScalar > 0) {
        ENGINE_TRY(const double scalar,
                   fields.positiveOr("query_pre_attn_scalar", family.unsaidScoreScalar));
        config.attentionScale = 1.0 / std::sqrt(scalar);
        if (family.reads("attn_logit_softcapping")) {
            ENGINE_TRY(config.attentionSoftCap,
                       readCap(fields, "attn_logit_softcapping", family.unsaidScoreCap));
        }
        ENGINE_TRY(config.logitSoftCap,
                   readCap(fields, "final_logit_softcapping", family.unsaidLogitCap));
    }
    if (family.hasMultipliers) {
        ENGINE_TRY(config.embeddingScale, fields.positiveOr("embedding_multiplier", 1.0));
        ENGINE_TRY(config.residualScale, fields.positiveOr("residual_multiplier", 1.0));
        ENGINE_TRY(config.attentionScale, fields.positiveOr("attention_multiplier", 1.0));
        ENGINE_TRY(const double divisor, fields.positiveOr("logits_scaling", 1.0));
        config.logitScale = 1.0 / divisor;
    }
    return {};
}

Result<void> readExperts(const JsonFields& fields, const Family& family, ModelConfig& config) {
    if (family.experts == ExpertRule::None)
        return {};
    const std::string_view counted = family.reads("num_experts") && fields.has("num_experts")
                                         ? "num_experts"
                                         : "num_local_experts";
    ENGINE_TRY(config.experts.count, fields.size(counted, model_limits::kExperts));
    ENGINE_TRY(config.experts.used, fields.size("num_experts_per_tok", model_limits::kExperts));
    config.experts.size = config.mlpSize;
    if (family.reads("moe_intermediate_size")) {
        ENGINE_TRY(config.experts.size,
                   fields.size("moe_intermediate_size", model_limits::kRowValues));
        ENGINE_TRY(config.denseLayers, readDenseLayers(fields, config.layerCount));
    }
    if (family.experts == ExpertRule::BySetting) {
        ENGINE_TRY(config.experts.renormalises, fields.flagOr("norm_topk_prob", false));
    }
    return {};
}

} // namespace engine
