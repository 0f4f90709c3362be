// SPDX-License-Identifier: Apache-2.0
// Metadata by which some architecture computes otherwise, and the values that change nothing.
#include "engine/loading/gguf/gguf_keys.h"

#include <array>

namespace engine {

namespace {

struct NeutralKey {
    std::string_view key;
    double neutral;
    bool isReadByMultipliers = false;
};

/// Numbers by which some family computes otherwise, and what changes nothing; neither does 0.
constexpr auto kNeutralKeys = std::to_array<NeutralKey>({
    {"attention.clamp_kqv", 0},
    {"attention.max_alibi_bias", 0},
    {"attention.temperature_scale", 0},
    {"attn_logit_softcapping", 0},
    {"embedding_scale", 1, true},
    {"expert_gating_func", 1}, // 1: softmax
    {"expert_group_count", 1},
    {"expert_shared_count", 0},
    {"expert_weights_scale", 1},
    {"final_logit_softcapping", 0},
    {"logit_scale", 1, true},
    {"residual_scale", 1, true},
    {"router_logit_softcapping", 0},
});

Result<void> refuseOtherNumbers(const ArchitectureKeys& keys, const Family& family) {
    for (const auto& [key, neutral, isReadByMultipliers] : kNeutralKeys) {
        const double found = keys.number(key).value_or(neutral);
        // Caps have the names that they have in config.json.
        const bool isRead = (isReadByMultipliers && family.hasMultipliers) || family.reads(key);
        if (!isRead && found != neutral && found != 0)
            return unsupportedGguf(
                fmt::format("the metadata key {} of {} is not supported for architecture {}",
                            key,
                            found,
                            family.modelType));
    }
    if (keys.flag("use_parallel_residual") == true)
        return unsupportedGguf("sublayers side by side (use_parallel_residual) are not supported");
    return {};
}

} // namespace

Result<void>
refuseOtherArithmetic(const GgufFile& file, ArchitectureKeys& keys, const Family& family) {
    ENGINE_TRY_DO(refuseOtherNumbers(keys, family));
    const double scale = keys.ownNumber("attention.scale", 0.0);
    if (scale != 0 && !family.hasMultipliers)
        return unsupportedGguf("an attention.scale of the model's own is not supported");
    const double factor = keys.ownNumber("rope.scaling.attn_factor", 1.0);
    if (factor != 1 && family.longRopeContext == 0)
        return unsupportedGguf("a rope.scaling.attn_factor other than 1 is not supported");
    if (file.find("blk.0.attn_qkv.bias"))
        return unsupportedGguf("a bias of q, k and v together (attn_qkv.bias) is not supported");
    if (keys.flag("attention.causal") == false)
        return unsupportedGguf("attention to later tokens (attention.causal) is not supported");
    return {};
}

} // namespace engine
