// SPDX-License-Identifier: Apache-2.0
// config.json: fields by which some family computes otherwise, and the values that change nothing.
#include "engine/loading/config/config_parts.h"

#include <array>
#include <cmath>

namespace engine {

namespace {

struct NeutralNumber {
    std::string_view field;
    double neutral;
    double alsoNeutral = neutral;
};

/// Numbers that scale, bound or count what a family computes.
constexpr auto kNumbers = std::to_array<NeutralNumber>({
    {"attn_logit_softcapping", 0},
    {"clip_qkv", 0},
    {"embedding_multiplier", 1},
    {"final_logit_softcapping", 0},
    {"logit_scale", 1},
    {"logits_scaling", 1},
    {"n_routed_experts", 0, 1},
    {"n_shared_experts", 0},
    {"num_experts", 0, 1},
    {"num_kv_shared_layers", 0},
    {"num_local_experts", 0, 1},
    {"num_shared_experts", 0},
    {"residual_multiplier", 1},
    {"routed_scaling_factor", 1},
    {"scale_emb", 1},
    {"shared_expert_intermediate_size", 0},
});

/// Parts that a family adds where the field is true.
constexpr auto kFlags = std::to_array<std::string_view>({
    "alibi",
    "apply_residual_connection_post_layernorm",
    "attention_bias",
    "attention_out_bias",
    "lm_head_bias",
    "mlp_bias",
    "norm_after",
    "parallel_attn",
    "post_norm",
    "qk_layernorm",
    "qkv_bias",
    "rope_interleave",
    "rope_interleaved",
    "sandwich_norm",
    "scale_embedding",
    "use_parallel_residual",
    "use_post_norm",
    "use_qk_norm",
});

Error notComputed(std::string_view field, std::string_view value, const Family& family) {
    return unsupportedConfig(fmt::format(
        "\"{}\": {} is not supported for architecture {}", field, value, family.modelType));
}

/// Scales of scores that the family does not read: they change nothing where they say what holds
/// anyway.
Result<void>
checkScoreScales(const JsonFields& fields, const Family& family, const ModelConfig& config) {
    const double dim = config.headDim;
    for (const auto& [field, neutral] : {std::pair("query_pre_attn_scalar", dim),
                                         std::pair("attention_multiplier", 1.0 / std::sqrt(dim))}) {
        const auto found = fields.value(field).asNumber();
        if (found && !family.reads(field) && std::abs(*found - neutral) > 1e-6 * neutral)
            return notComputed(field, fmt::format("{}", *found), family);
    }
    return {};
}

} // namespace

Result<void>
refuseUnreadArithmetic(const JsonFields& fields, const Family& family, const ModelConfig& config) {
    for (const auto& [field, neutral, alsoNeutral] : kNumbers) {
        const auto found = fields.value(field).asNumber();
        const bool isNeutral = found == neutral || found == alsoNeutral;
        if (found && !family.reads(field) && !isNeutral)
            return notComputed(field, fmt::format("{}", *found), family);
    }
    for (const std::string_view field : kFlags) {
        // The biases of q, k and v are there anyway, and so are the norms of queries and keys.
        const bool isKnown = family.reads(field) ||
                             (field == "attention_bias" && family.bias == BiasRule::QkvOnly) ||
                             (field == "use_qk_norm" && family.headNorm != HeadNorm::None);
        if (!isKnown && fields.value(field).asBool() == true)
            return notComputed(field, "true", family);
    }
    return checkScoreScales(fields, family, config);
}

} // namespace engine
