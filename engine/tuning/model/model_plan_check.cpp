// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/trainer.h"

namespace engine {

namespace {

/// Whether the trainer computes what this model computes.
Result<void> checkComputable(const ModelConfig& config) {
    const auto refused = [&config](std::string_view what) {
        return Error{ErrorCode::Unsupported,
                     fmt::format("Models of the family {} cannot be trained: {}.",
                                 config.architecture,
                                 what),
                     "Choose another model, or --recipe draft, which leaves the model as it is."};
    };
    if (config.experts.count > 0)
        return refused("the trainer does not know MLPs that are cut into experts");
    if (config.attentionSoftCap > 0.0 || config.logitSoftCap > 0.0)
        return refused("the trainer does not know caps of scores and logits");
    if (config.normPlace != NormPlace::Before)
        return refused("the trainer does not know norms behind a sublayer");
    if (config.headNorm == HeadNorm::FullWidth)
        return refused("the trainer does not know norms over all heads together");
    if (config.activation != Activation::Silu)
        return refused("the trainer does not know its activation");
    if (config.rotatedWidth() != config.headDim)
        return refused("the trainer does not know heads of which only a part is turned");
    if (config.ropeScaling.kind == RopeScalingKind::LongRope)
        return refused("the trainer does not know LongRope");
    if (config.isPlanted || config.isDraft())
        return refused("it is no model as its files store it");
    return {};
}

} // namespace

Result<void> checkModelPlan(const ModelTrainerPlan& plan, const ModelConfig& config) {
    ENGINE_TRY_DO(checkComputable(config));
    const auto refused = [](std::string_view why) {
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The model cannot be trained so: {}.", why),
                     "Choose other settings, or another model."};
    };
    const bool isSpace = plan.recipe == TuningRecipe::Space;
    if (plan.recipe == TuningRecipe::Draft)
        return refused("the recipe draft leaves the model as it is");
    if (plan.rank < 1 || !(plan.averaging >= 0.0 && plan.averaging < 1.0) || plan.threads < 1)
        return refused("its rank, its averaging or its number of threads is out of range");
    if (!isSpace && config.layerCount < 3)
        return refused(fmt::format("it has {} layers, and exits that can be trained need three",
                                   config.layerCount));
    if (!isSpace && (plan.judgedExit < 1 || plan.judgedExit >= config.layerCount))
        return refused(fmt::format("an exit stands behind 1 to {} of its {} layers",
                                   config.layerCount - 1,
                                   config.layerCount));
    if (!isSpace && (!(plan.dropout >= 0.0 && plan.dropout < 1.0) || !(plan.exitScale >= 0.0) ||
                     plan.rotation < 1))
        return refused("its dropout, the scale of its exits or their rotation is out of range");
    if (isSpace && (plan.maskToken < 0 || plan.maskToken >= config.vocabSize))
        return refused(fmt::format(
            "the mask token {} is none of its {} tokens", plan.maskToken, config.vocabSize));
    if (isSpace &&
        (plan.masks < 1 || plan.places < 1 || !(plan.plainShare >= 0.0 && plan.plainShare <= 1.0)))
        return refused("its masks, their places or the share of plain texts is out of range");
    return {};
}

} // namespace engine
