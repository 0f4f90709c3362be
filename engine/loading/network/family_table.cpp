// SPDX-License-Identifier: Apache-2.0
// What the files of each family leave unsaid is as in transformers 5.23.
#include "engine/loading/network/family_table.h"

#include <algorithm>

namespace engine {

namespace {

std::vector<Family> makeTable() {
    return {
        {.modelType = "llama",
         .className = "LlamaForCausalLM",
         .ggufArchitecture = "llama",
         .isInterleavedInGguf = true,
         .ownFields = {"attention_bias", "mlp_bias"}},
        {.modelType = "mistral",
         .className = "MistralForCausalLM",
         .outerType = "mistral3",
         .bias = BiasRule::None,
         .window = WindowRule::EveryLayer,
         .unsaidWindow = 4096,
         .unsaidKvHeads = 8,
         .ownFields = {"layer_types"}},
        {.modelType = "qwen2",
         .className = "Qwen2ForCausalLM",
         .ggufArchitecture = "qwen2",
         .bias = BiasRule::QkvOnly,
         .window = WindowRule::FromLayer,
         .unsaidWindow = 4096,
         .unsaidKvHeads = 32,
         .ownFields = {"use_sliding_window", "max_window_layers"}},
        {.modelType = "qwen3",
         .className = "Qwen3ForCausalLM",
         .ggufArchitecture = "qwen3",
         .window = WindowRule::FromLayer,
         .unsaidWindow = 4096,
         .unsaidKvHeads = 32,
         .unsaidHeadDim = 128,
         .headNorm = HeadNorm::EachHead,
         .ownFields = {"attention_bias", "use_sliding_window", "max_window_layers"}},
        {.modelType = "qwen3_moe",
         .className = "Qwen3MoeForCausalLM",
         .ggufArchitecture = "qwen3moe",
         .window = WindowRule::EveryLayer,
         .unsaidWindow = 4096,
         .unsaidKvHeads = 4,
         .headNorm = HeadNorm::EachHead,
         .experts = ExpertRule::BySetting,
         .ownFields = {"attention_bias",
                       "use_sliding_window",
                       "max_window_layers", // of no effect there
                       "moe_intermediate_size",
                       "num_experts",
                       "num_local_experts",
                       "num_experts_per_tok",
                       "norm_topk_prob",
                       "decoder_sparse_step",
                       "mlp_only_layers"}},
        {.modelType = "mixtral",
         .className = "MixtralForCausalLM",
         .ggufArchitecture = "llama",
         .bias = BiasRule::None,
         .window = WindowRule::EveryLayer,
         .unsaidKvHeads = 8,
         .unsaidEpsilon = 1e-5,
         .unsaidTheta = 1e6,
         .experts = ExpertRule::Always,
         .expertBlock = "block_sparse_moe.",
         .isInterleavedInGguf = true,
         .ownFields = {"num_local_experts", "num_experts", "num_experts_per_tok"}},
        {.modelType = "olmoe",
         .className = "OlmoeForCausalLM",
         .ggufArchitecture = "olmoe",
         .unsaidEpsilon = 1e-5,
         .headNorm = HeadNorm::FullWidth,
         .experts = ExpertRule::BySetting,
         .renormalisesInGguf = false,
         .ownFields = {"attention_bias",
                       "clip_qkv",
                       "num_experts",
                       "num_local_experts",
                       "num_experts_per_tok",
                       "norm_topk_prob"}},
        {.modelType = "olmo2",
         .className = "Olmo2ForCausalLM",
         .ggufArchitecture = "olmo2",
         .unsaidEpsilon = 1e-5,
         .normPlace = NormPlace::Behind,
         .headNorm = HeadNorm::FullWidth,
         .ownFields = {"attention_bias"}},
        {.modelType = "gemma2",
         .className = "Gemma2ForCausalLM",
         .ggufArchitecture = "gemma2",
         .window = WindowRule::AllButEveryNth,
         .unsaidWindow = 4096,
         .windowPeriod = 2,
         .unsaidKvHeads = 4,
         .unsaidHeadDim = 256,
         .ties = true,
         .normPlace = NormPlace::Around,
         .storedNormOffset = 1.0F,
         .activation = Activation::GeluTanh,
         .scalesEmbedding = true,
         .unsaidScoreScalar = 256,
         .widthScaledLayers = 46,
         .unsaidScoreCap = 50.0,
         .unsaidLogitCap = 30.0,
         .ownFields = {"attention_bias",
                       "hidden_activation",
                       "use_bidirectional_attention",
                       "query_pre_attn_scalar",
                       "attn_logit_softcapping",
                       "final_logit_softcapping"}},
        {.modelType = "gemma3_text",
         .className = "Gemma3ForCausalLM",
         .ggufArchitecture = "gemma3",
         .outerType = "gemma3",
         .window = WindowRule::AllButEveryNth,
         .unsaidWindow = 4096,
         .saysWindowInGguf = true,
         .windowPeriod = 6,
         .unsaidHeads = 8,
         .unsaidKvHeads = 4,
         .unsaidHeadDim = 256,
         .unsaidVocabSize = 262'208,
         .unsaidContext = 131'072,
         .unsaidTheta = 1e6,
         .windowTheta = 10000.0,
         .ties = true,
         .normPlace = NormPlace::Around,
         .headNorm = HeadNorm::EachHead,
         .storedNormOffset = 1.0F,
         .activation = Activation::GeluTanh,
         .scalesEmbedding = true,
         .unsaidScoreScalar = 256,
         .widthScaledLayers = 62,
         .ollamaFactor = 8.0,
         .ollamaScaledLayers = {34, 48, 62},
         .ollamaUncappedLayers = 26,
         .ownFields = {"attention_bias",
                       "hidden_activation",
                       "use_bidirectional_attention",
                       "query_pre_attn_scalar",
                       "final_logit_softcapping",
                       "sliding_window_pattern",
                       "_sliding_window_pattern", // of no effect: layer_types says it
                       "rope_local_base_freq"}},
        {.modelType = "phi3",
         .className = "Phi3ForCausalLM",
         .ggufArchitecture = "phi3",
         .bias = BiasRule::None,
         .window = WindowRule::EveryLayer,
         .unsaidEpsilon = 1e-5,
         .hasPartialRotation = true,
         .longRopeContext = 4096,
         .isFused = true},
        {.modelType = "smollm3",
         .className = "SmolLM3ForCausalLM",
         .ggufArchitecture = "smollm3",
         .unsaidKvHeads = 4,
         .unsaidTheta = 2e6,
         .ropelessPeriod = 4,
         .ties = true,
         .isInterleavedInGguf = true,
         .ownFields = {"attention_bias",
                       "mlp_bias",
                       "no_rope_layers",
                       "no_rope_layer_interval",
                       "use_sliding_window"}},
        {.modelType = "seed_oss",
         .className = "SeedOssForCausalLM",
         .bias = BiasRule::Apart,
         .unsaidKvHeads = 8,
         .unsaidHeadDim = 128,
         .ownFields = {"attention_bias", "attention_out_bias", "mlp_bias"}},
        {.modelType = "granite",
         .className = "GraniteForCausalLM",
         .ggufArchitecture = "granite",
         .hasMultipliers = true,
         .isInterleavedInGguf = true,
         .ownFields = {"attention_bias",
                       "mlp_bias",
                       "embedding_multiplier",
                       "residual_multiplier",
                       "attention_multiplier",
                       "logits_scaling"}},
    };
}

} // namespace

bool Family::reads(std::string_view field) const {
    return std::find(ownFields.begin(), ownFields.end(), field) != ownFields.end();
}

std::span<const Family> families() {
    static const std::vector<Family> kFamilies = makeTable();
    return kFamilies;
}

const Family* findFamily(std::string_view name) {
    for (const Family& family : families())
        if (name == family.modelType || name == family.className)
            return &family;
    return nullptr;
}

const Family* findTextFamily(std::string_view outerType) {
    for (const Family& family : families())
        if (!family.outerType.empty() && family.outerType == outerType)
            return &family;
    return nullptr;
}

const Family* findGgufFamily(std::string_view architecture, bool hasExperts) {
    for (const Family& family : families())
        if (!family.ggufArchitecture.empty() && family.ggufArchitecture == architecture &&
            (family.experts != ExpertRule::None) == hasExperts)
            return &family;
    return nullptr;
}

const Family& familyOf(const ModelConfig& config) {
    const Family* family = findFamily(config.architecture);
    ENGINE_CHECK(family != nullptr, "no family is called {}", config.architecture);
    return *family;
}

} // namespace engine
