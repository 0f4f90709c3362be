// SPDX-License-Identifier: Apache-2.0
// config.json: how queries and keys are turned by their positions.
#include "engine/loading/config/config_parts.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/files/readable_text.h"

#include <cmath>
#include <cstdint>
#include <optional>

namespace engine {

namespace {

constexpr std::string_view kNewerName = "rope_parameters"; // than "rope_scaling"

/// Which fields count for a kind of scaling; the others have no effect.
std::vector<std::string_view> fieldsOf(RopeScalingKind kind) {
    std::vector<std::string_view> names = {
        "rope_type", "type", "rope_theta", "partial_rotary_factor"};
    if (kind != RopeScalingKind::None)
        names.push_back("factor");
    if (kind == RopeScalingKind::Llama3)
        names.insert(names.end(),
                     {"low_freq_factor", "high_freq_factor", "original_max_position_embeddings"});
    if (kind == RopeScalingKind::LongRope)
        names.insert(names.end(),
                     {"short_factor",
                      "long_factor",
                      "attention_factor",
                      "original_max_position_embeddings"});
    return names;
}

/// Tokens that the model was first trained for: said beside the rotary parameters, or in them. A
/// family that has a number for it where it is unsaid beside them does not look into them.
Result<double> originalContext(const JsonFields& outer,
                               const JsonFields& inner,
                               const Family& family,
                               int context) {
    constexpr std::string_view kName = "original_max_position_embeddings";
    if (outer.has(kName))
        return outer.positive(kName);
    if (family.longRopeContext > 0)
        return static_cast<double>(family.longRopeContext);
    return inner.positiveOr(kName, context);
}

Result<std::vector<float>> readFactors(const JsonFields& fields, std::string_view key) {
    const JsonValue found = fields.value(key);
    std::vector<float> factors;
    for (const JsonValue& item : found.items()) {
        const auto factor = item.asNumber();
        if (!factor)
            return corruptConfig(found, fmt::format("\"{}\" holds what is no number", key));
        factors.push_back(static_cast<float>(*factor));
    }
    return factors;
}

/// Without a factor of its own, attention is sharpened by how much longer the context has become.
/// Source: arXiv 2402.13753.
Result<RopeScaling>
readLongRope(const JsonFields& outer, const JsonFields& inner, const Family& family, int context) {
    RopeScaling scaling;
    scaling.kind = RopeScalingKind::LongRope;
    ENGINE_TRY(scaling.shortFactors, readFactors(inner, "short_factor"));
    ENGINE_TRY(scaling.longFactors, readFactors(inner, "long_factor"));
    ENGINE_TRY(scaling.originalContextLength, originalContext(outer, inner, family, context));
    const double longer = context / scaling.originalContextLength;
    ENGINE_TRY(const double stretch,
               inner.has("factor") ? inner.positive("factor") : Result<double>(longer));
    const double sharpened =
        stretch > 1.0 && scaling.originalContextLength > 1.0
            ? std::sqrt(1.0 + std::log(stretch) / std::log(scaling.originalContextLength))
            : 1.0;
    ENGINE_TRY(scaling.attentionFactor,
               inner.has("attention_factor") ? inner.positive("attention_factor")
                                             : Result<double>(sharpened));
    return scaling;
}

Result<RopeScaling> readRopeScaling(const JsonFields& outer,
                                    const JsonFields& inner,
                                    const Family& family,
                                    int context) {
    RopeScaling scaling;
    ENGINE_TRY(const std::string olderName, inner.textOr("type", "default"));
    ENGINE_TRY(const std::string kind, inner.textOr("rope_type", olderName));
    if (kind == "default")
        return scaling;
    const bool hasLongRope = family.longRopeContext > 0;
    if (hasLongRope && (kind == "longrope" || kind == "su"))
        return readLongRope(outer, inner, family, context);
    if (hasLongRope || (kind != "linear" && kind != "llama3"))
        return unsupportedConfig(
            fmt::format("rope scaling \"{}\" is not supported; supported: default, {}",
                        readable(kind),
                        hasLongRope ? "longrope" : "linear, llama3"));
    ENGINE_TRY(scaling.factor, inner.positive("factor"));
    scaling.kind = kind == "linear" ? RopeScalingKind::Linear : RopeScalingKind::Llama3;
    if (scaling.kind == RopeScalingKind::Linear)
        return scaling;
    ENGINE_TRY(scaling.lowFrequencyFactor, inner.positive("low_freq_factor"));
    ENGINE_TRY(scaling.highFrequencyFactor, inner.positive("high_freq_factor"));
    ENGINE_TRY(scaling.originalContextLength, originalContext(outer, inner, family, context));
    return scaling;
}

/// How much of each head is turned.
Result<void> readRotatedPart(const JsonFields& outer,
                             const JsonFields& inner,
                             const Family& family,
                             ModelConfig& config) {
    constexpr std::string_view kName = "partial_rotary_factor";
    for (const JsonFields* fields : {&outer, &inner}) {
        if (!fields->has(kName))
            continue;
        ENGINE_TRY(const double part, fields->positive(kName));
        if (part != 1.0 && !family.hasPartialRotation)
            return unsupportedConfig("a partial_rotary_factor other than 1 is not supported");
        if (part > 1.0)
            return corruptConfig(fields->value(kName), fmt::format("\"{}\" is more than 1", kName));
        config.rotatedDim = part == 1.0 ? 0 : static_cast<int>(config.headDim * part);
        if (part < 1.0 && config.rotatedDim == 0)
            return corruptConfig(fields->value(kName), fmt::format("\"{}\" is too small", kName));
    }
    return {};
}

/// Rotary numbers of the layers with a window, which have a base of their own and no scaling.
Result<void> readWindowRotary(const JsonFields& fields,
                              const JsonFields& inner,
                              const Family& family,
                              ModelConfig& config) {
    ENGINE_TRY(const std::string kind, inner.textOr("rope_type", "default"));
    if (kind != "default")
        return unsupportedConfig(fmt::format(
            "rope scaling \"{}\" of layers with a window is not supported", readable(kind)));
    ENGINE_TRY(const double outerTheta,
               fields.positiveOr("rope_local_base_freq", family.windowTheta));
    ENGINE_TRY(config.windowRopeTheta, inner.positiveOr("rope_theta", outerTheta));
    for (const int window : config.layerWindows)
        config.layerRopes.push_back(window > 0 ? LayerRope::Window : LayerRope::Model);
    return {};
}

/// Layers that turn nothing: listed as 0 in no_rope_layers, which may go on behind the last layer,
/// or every so many-th.
Result<void>
readRopelessLayers(const JsonFields& fields, const Family& family, ModelConfig& config) {
    const JsonValue listed = fields.value("no_rope_layers");
    const std::vector<JsonValue> items = listed.items();
    if (!listed.isNull() && items.size() < static_cast<std::size_t>(config.layerCount))
        return corruptConfig(
            listed, fmt::format("\"no_rope_layers\" does not list {} layers", config.layerCount));
    ENGINE_TRY(
        const int period,
        fields.sizeOr("no_rope_layer_interval", model_limits::kLayers, family.ropelessPeriod));
    for (int layer = 0; layer < config.layerCount; ++layer) {
        std::optional<std::int64_t> turned = (layer + 1) % period;
        if (!listed.isNull())
            turned = items[static_cast<std::size_t>(layer)].asInteger();
        if (!turned)
            return corruptConfig(listed, "\"no_rope_layers\" holds what is neither 0 nor 1");
        config.layerRopes.push_back(*turned != 0 ? LayerRope::Model : LayerRope::None);
    }
    return {};
}

/// The object that holds the scaling. Newer files keep theta and scaling in rope_parameters, older
/// ones in two keys of their own. A rope_scaling that holds something counts even beside
/// rope_parameters.
std::string_view scalingName(const JsonFields& fields) {
    const JsonValue older = fields.value("rope_scaling");
    const bool isOlder = !older.isNull() && !(older.isObject() && older.size() == 0);
    return isOlder ? "rope_scaling" : kNewerName;
}

} // namespace

Result<void> readRotary(const JsonFields& fields, const Family& family, ModelConfig& config) {
    const std::string_view name = scalingName(fields);
    JsonValue object = fields.value(name);
    if (!object.isNull() && !object.isObject())
        return corruptConfig(object, fmt::format("\"{}\" is no object", name));
    JsonValue windowed;
    const bool isByKind = family.windowTheta > 0 && object["full_attention"].isObject();
    // Where layers have two bases, only the older name holds the numbers of one kind alone.
    if (family.windowTheta > 0 && !isByKind && name == kNewerName && object.size() > 0)
        return unsupportedConfig("\"rope_parameters\" that do not tell apart the kinds of layers "
                                 "are not supported");
    if (family.windowTheta > 0 && name != kNewerName && fields.value(kNewerName).size() > 0)
        return unsupportedConfig("\"rope_scaling\" beside \"rope_parameters\" is not supported "
                                 "where kinds of layers are turned differently");
    if (isByKind) {
        windowed = object["sliding_attention"];
        object = object["full_attention"];
    }
    for (const auto& [key, value] : object.members()) {
        if (value.isObject())
            return unsupportedConfig("rotary parameters by kind of layer are not supported");
    }
    const JsonFields inner(object);
    ENGINE_TRY_DO(readRotatedPart(fields, inner, family, config));
    ENGINE_TRY(config.ropeScaling, readRopeScaling(fields, inner, family, config.contextLength));
    ENGINE_TRY(const double outerTheta, fields.positiveOr("rope_theta", family.unsaidTheta));
    ENGINE_TRY(config.ropeTheta, inner.positiveOr("rope_theta", outerTheta));
    if (family.windowTheta > 0)
        ENGINE_TRY_DO(readWindowRotary(fields, JsonFields(windowed), family, config));
    if (family.ropelessPeriod > 0)
        ENGINE_TRY_DO(readRopelessLayers(fields, family, config));
    const auto unused = fieldsWithoutEffect(object, fieldsOf(config.ropeScaling.kind), {});
    if (!unused.empty())
        config.notes.push_back(fmt::format(
            "{} in config.json holds fields that have no effect: {}.", name, listOf(unused)));
    return {};
}

} // namespace engine
