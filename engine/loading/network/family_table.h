// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"

#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// Which layers see a window of the keys only.
enum class WindowRule : std::uint8_t {
    Never,
    EveryLayer,    ///< layer by layer where the family reads `layer_types`
    FromLayer,     ///< from `max_window_layers` on
    AllButEveryNth ///< every layer but the Nth, the 2Nth and so on
};

/// Which projections carry a bias.
enum class BiasRule : std::uint8_t {
    ByKeys, ///< `attention_bias` says so for all four of the attention, `mlp_bias` for the MLP
    None,
    QkvOnly,
    Apart ///< `attention_bias`, which is true where unsaid, for q, k and v; `attention_out_bias`
          ///< for the output, `mlp_bias` for the MLP
};

/// What a family's files say about experts.
enum class ExpertRule : std::uint8_t {
    None,
    Always,    ///< weights of the chosen experts are made to sum up to 1
    BySetting, ///< `norm_topk_prob` says whether they are
};

/// One row a model family: what sets its network apart from LLaMA's, and what its files leave
/// unsaid. This table is the one place that knows families by name: readers of config.json and of
/// GGUF make a ModelConfig by it, and everything else computes by that description.
struct Family {
    std::string_view modelType; ///< `model_type` of config.json, also the name for people
    std::string_view className; ///< in `architectures`
    std::string_view ggufArchitecture = {}; ///< empty: no GGUF file is read
    /// `model_type` of a config.json whose `text_config` is such a model, beside parts for images.
    std::string_view outerType = {};

    BiasRule bias = BiasRule::ByKeys;
    WindowRule window = WindowRule::Never;
    int unsaidWindow = 0;          ///< keys, where the file does not say; 0: no window
    bool saysWindowInGguf = false; ///< a GGUF file that does not say has no window
    int windowPeriod = 0;          ///< N of AllButEveryNth where the file does not say
    int unsaidHeads = 0;           ///< 0: the file must say
    int unsaidKvHeads = 0;         ///< 0: as many as attention heads
    int unsaidHeadDim = 0;         ///< 0: hidden size / heads
    int unsaidVocabSize = 0;       ///< 0: the file must say
    int unsaidContext = 0;         ///< tokens; 0: the file must say
    double unsaidEpsilon = 1e-6;
    double unsaidTheta = 10000.0;
    double windowTheta = 0.0; ///< above 0: layers with a window have a rotary base of their own
    int ropelessPeriod = 0;   ///< above 0: every so many-th layer turns nothing, unless said
    bool ties = false;        ///< the head is the embedding unless said otherwise
    bool hasPartialRotation = false;
    /// Above 0: the family may have LongRope, for contexts beyond so many tokens where config.json
    /// does not say how many.
    int longRopeContext = 0;

    NormPlace normPlace = NormPlace::Before;
    HeadNorm headNorm = HeadNorm::None;
    float storedNormOffset = 0.0F; ///< is added to norm weights of a Hugging Face checkpoint
    Activation activation = Activation::Silu;
    bool scalesEmbedding = false; ///< by the square root of the hidden size
    int unsaidScoreScalar = 0;    ///< scores are multiplied by its inverse square root
    int widthScaledLayers = 0;    ///< the model of so many layers takes hidden size / heads for it
    double unsaidScoreCap = 0.0;
    double unsaidLogitCap = 0.0;
    bool hasMultipliers = false; ///< of embedding, residual, scores and logits
    ExpertRule experts = ExpertRule::None;
    /// Whether the weights of the chosen experts sum up to 1 where a GGUF file does not say.
    bool renormalisesInGguf = true;

    bool isFused = false; ///< q, k, v are one tensor, gate and up another
    /// What a checkpoint calls the block of experts, whose matrices are then w1, w3 and w2; empty:
    /// "mlp.", with gate_proj, up_proj and down_proj.
    std::string_view expertBlock = {};
    bool isInterleavedInGguf = false; ///< rows of q and k

    /// Above 0: GGUF files that Ollama's converter wrote may leave out the epsilon, which is then
    /// `unsaidEpsilon`, and this factor of a linear rotary scaling, for models of so many layers.
    double ollamaFactor = 0.0;
    std::vector<int> ollamaScaledLayers = {};
    int ollamaUncappedLayers = 0; ///< for a model of so many layers it made up a cap of the logits

    /// Fields of config.json that are read for this family beside the common ones.
    std::vector<std::string_view> ownFields = {};

    bool reads(std::string_view field) const;
};

std::span<const Family> families();

/// By `model_type` or class name; null: unknown.
const Family* findFamily(std::string_view name);

/// By the `model_type` of a config.json that holds a text model among others; null: unknown.
const Family* findTextFamily(std::string_view outerType);

/// By `general.architecture`, and whether the file holds experts; null: unknown.
const Family* findGgufFamily(std::string_view architecture, bool hasExperts);

/// Of a configuration that a reader made.
const Family& familyOf(const ModelConfig& config);

} // namespace engine
