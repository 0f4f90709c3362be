// SPDX-License-Identifier: Apache-2.0
#include "plugins/space/space_settings.h"

#include "engine/base/setting_makers.h"
#include "plugins/space/place_rates.h"

#include <fmt/format.h>

#include <algorithm>

namespace space {

using namespace engine;

namespace {

constexpr int kPaperMasks = 5;
constexpr int kMostTokenId = 4'194'303;

CandidateChoice choiceNamed(const std::string& name) {
    if (name == "sampled")
        return CandidateChoice::Sampled;
    return name == "noise" ? CandidateChoice::Noise : CandidateChoice::Argmax;
}

/// The number of masks that the model was trained with, else the paper's, or fewer where the
/// k (k + 2) rows that a round adds are more than the backend likes to verify at once.
int masksFor(const Transformer& transformer) {
    const int tuned = transformer.config().tunedMasks;
    int masks = tuned > 0 ? std::min(tuned, kMostMasks) : kPaperMasks;
    while (masks > 1 && masks * (masks + 2) > transformer.preferredTreeNodes() + 1)
        --masks;
    return masks;
}

Result<TokenId> maskTokenOf(const SettingValues& values, const ModelConfig& config) {
    const TokenId given = integerOf(values, "mask_token");
    const TokenId id = given == kNoToken ? config.maskTokenId : given;
    if (id == kNoToken)
        return Error{ErrorCode::Unsupported,
                     "SPACE drafts with a mask token that the model has been trained to fill in, "
                     "and this model names none.",
                     "Choose a model tuned for SPACE (arXiv 2402.11809) whose config.json has a "
                     "mask_token_id, make one with swift-run tune --recipe space, or set "
                     "mask_token to the id."};
    if (id >= config.vocabSize)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The mask token {} is outside the vocabulary of {}.", id, config.vocabSize),
            "Set mask_token to an id of this model, or to -1 for the model's own."};
    return id;
}

std::vector<SettingInfo> settingInfos() {
    return {
        stepSetting(
            integerSetting("masks", "Masks k", 0, {0, kMostMasks}),
            "tokens",
            "Masks of a group, which is also the most candidates of a round; 0 = what suits the "
            "backend, at most as many as a model made by tune was trained with, else 5 (the "
            "paper's)."),
        stepSetting(
            choiceSetting("candidates", "Candidates", {"argmax", "noise", "sampled"}),
            "",
            "argmax: each mask's most probable token; noise: drawn with vanilla's own random "
            "numbers, gives vanilla's tokens as argmax does; sampled: drawn from the masks' "
            "distribution, gives tokens of vanilla's own distribution; greedy decoding is the same "
            "under all."),
        stepSetting(
            flagSetting("adaptive", "Adaptive rows", true),
            "",
            "Leaves out candidates that are seldom reached and mask groups that are seldom used; "
            "off runs k (k + 2) rows in every round, as the paper does."),
        stepSetting(
            numberSetting("least_reach", "Least reach", 0.2, {0.0, 1.0}),
            "",
            "With adaptive: the share of rounds in which a candidate must be looked at, or a mask "
            "group used, to be worth its rows."),
        stepSetting(
            integerSetting("mask_token", "Mask token", kNoToken, {kNoToken, kMostTokenId}),
            "id",
            "The token that the model was trained to fill in; -1 = the one that its files name; "
            "one that is set by hand may be emitted as any other."),
        stepSetting(
            flagSetting("space_paper_sampling", "Sampling as published (biased)", false),
            "",
            "CHANGES THE DISTRIBUTION of what is emitted; only to show the published fault, with "
            "candidates=sampled: after a rejected candidate the model's whole distribution is "
            "drawn from, not what is left of it."),
    };
}

} // namespace

Result<SpaceSettings> SpaceSettings::make(const SettingValues& values,
                                          const Transformer& transformer) {
    SpaceSettings made;
    ENGINE_TRY(made.maskToken, maskTokenOf(values, transformer.config()));
    const int masks = integerOf(values, "masks");
    made.masks = masks == 0 ? masksFor(transformer) : masks;
    made.choice = choiceNamed(textOf(values, "candidates"));
    made.leastReach = flagOf(values, "adaptive") ? numberOf(values, "least_reach") : 0.0;
    made.usesPaperSampling = flagOf(values, "space_paper_sampling");
    if (made.usesPaperSampling && made.choice != CandidateChoice::Sampled)
        return Error{ErrorCode::InvalidInput,
                     "space_paper_sampling shows a fault of sampled candidates, and none are "
                     "sampled.",
                     "Set candidates to sampled as well, or switch it off."};
    return made;
}

DecoderInfo spaceInfo() {
    DecoderInfo info;
    info.name = "space";
    info.title = "SPACE";
    info.summary = "Drafts with mask tokens in the very pass that verifies; needs a model trained "
                   "to fill them in.";
    info.source = "arXiv 2402.11809";
    info.settings = settingInfos();
    info.profiles = {{"adaptive", "Rows that seldom matter are left out.", {}},
                     {"paper",
                      "Five masks, all groups in every round, sampled candidates.",
                      {{"masks", double{kPaperMasks}},
                       {"adaptive", 0.0},
                       {"candidates", std::string("sampled")}}}};
    info.explanation =
        "The model itself guesses several tokens at once. Mask tokens follow the newest token, and "
        "the model has been trained so that each mask predicts the token one place further on. "
        "These guesses are the candidates of the next round, which checks them and makes new ones "
        "in the same pass: because it is not known yet how many candidates will be accepted, a "
        "group of masks follows each of them, and the group after the last accepted one is used. "
        "There is no second model and no extra pass, but up to k (k + 2) more rows. It helps with "
        "a model tuned for it where more rows cost little, as on a graphics processor, and where "
        "the text is easy to foresee; on a CPU each row costs time, so few masks and adaptive rows "
        "do best. It does not help with other models: masks that were never trained predict "
        "nothing useful, and such a model is refused unless a mask token is set by hand.";
    return info;
}

} // namespace space
