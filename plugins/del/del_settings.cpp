// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/del_settings.h"

#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"
#include "engine/decoding/round/cached_sequence.h"

namespace del {

using namespace engine;

namespace {

DelRule ruleNamed(const std::string& name) {
    return name == "paper" ? DelRule::Paper : name == "code" ? DelRule::Code : DelRule::Ours;
}

/// What both decoders have.
std::vector<SettingInfo> sharedInfos(bool comparesLaws) {
    return {
        verificationSetting(),
        longestDraftSetting(18, kMostDraft),
        answerSetting(
            integerSetting("context_rows", "Prompt rows", 32, {0, kPrefillRows}),
            "tokens",
            "Prompt tokens before the last one at which the exits are compared in the first "
            "round."),
        stepSetting(numberSetting("w", "Memory of the statistics w", 0.95, {0.0, 1.0}),
                    "",
                    "Weight of a compared round relative to the next one."),
        stepSetting(integerSetting("near", "Exits near by", 3, {0, 256}),
                    "layers",
                    "Exits at most so far from the present one are compared."),
        stepSetting(integerSetting("every", "Exits far away", 4, {1, 256}),
                    "layers",
                    "Of the other exits, one in so many is compared; 1 compares all."),
        answerSetting(flagSetting("keep_statistics", "Keep statistics", false),
                      "",
                      "Keep the statistics from answer to answer instead of starting anew."),
        stepSetting(flagSetting("compare_laws", "Compare what is drawn", comparesLaws),
                    "",
                    "While sampling, count the part of an exit's distribution that the "
                    "model shares instead of equal best tokens."),
    };
}

std::vector<SettingInfo> delOnlyInfos() {
    return {
        stepSetting(choiceSetting("rule", "Details as in", {"ours", "paper", "code"}),
                    "",
                    "paper and code repeat what was printed and what was published, faults "
                    "included; the text stays vanilla's."),
        answerSetting(choiceSetting("start", "First round", {"fused", "prefill"}),
                      "",
                      "fused drafts one token at the first layer from the prompt; prefill is a "
                      "plain step."),
        exitLayerSetting("0 chooses the exit anew for each round; another number fixes it, and "
                         "only the length of drafts adapts (the paper's ablation DEL-γ)."),
        stepSetting(choiceSetting("length", "Draft length", {"threshold", "chosen"}),
                    "",
                    "threshold ends a draft after an unsure token; chosen drafts as many as "
                    "promise the most per layer at the exit (the paper's ablation DEL-E)."),
        stepSetting(flagSetting("official_nan", "Threshold without numbers", false),
                    "",
                    "As published: without matches or without mismatches there is no "
                    "threshold, and drafts run to their end."),
        stepSetting(integerSetting("compare_every", "Rounds compared", 4, {1, 1000}),
                    "rounds",
                    "Exits are compared in one round of so many; each comparison runs the head "
                    "once more for every exit and row."),
    };
}

std::vector<SettingInfo> delMsOnlyInfos() {
    return {
        stepSetting(numberSetting("compare_share", "Time for comparing", 0.05, {0.0, 1.0}),
                    "",
                    "Share of the time that comparing exits may take after the first round; "
                    "it decides how often and how many are compared."),
        marginSetting(),
    };
}

std::vector<SettingProfile> delProfiles() {
    return {{"ours",
             "What is printed, with its open cases settled and thinned out for processors.",
             {{"rule", "ours"}, {"start", "fused"}, {"every", 4.0}, {"compare_every", 4.0}}},
            {"paper",
             "What is printed, word for word, all exits in every round.",
             {{"rule", "paper"}, {"start", "prefill"}, {"every", 1.0}, {"compare_every", 1.0}}},
            {"code",
             "What was published as code, all exits in every round.",
             {{"rule", "code"},
              {"start", "fused"},
              {"official_nan", 1.0},
              {"every", 1.0},
              {"compare_every", 1.0}}}};
}

} // namespace

Result<DelSettings> DelSettings::make(const SettingValues& values, bool isByTime, int layerCount) {
    DelSettings made;
    made.isByTime = isByTime;
    made.verification = verifyRuleOf(values);
    made.mostDraft = integerOf(values, "max_draft");
    made.contextRows = integerOf(values, "context_rows");
    made.decay = numberOf(values, "w");
    made.near = integerOf(values, "near");
    made.stride = integerOf(values, "every");
    made.keepsStatistics = flagOf(values, "keep_statistics");
    made.comparesLaws = flagOf(values, "compare_laws");
    if (isByTime) {
        made.compareShare = numberOf(values, "compare_share");
        made.margin = numberOf(values, "margin");
        return made;
    }
    ENGINE_TRY(made.fixedExit, exitLayerOf(values, layerCount, "exit_layer=0 lets DEL choose."));
    made.rule = ruleNamed(textOf(values, "rule"));
    made.startsFused = textOf(values, "start") == "fused";
    made.isLengthChosen = textOf(values, "length") == "chosen";
    made.isOfficialNan = flagOf(values, "official_nan");
    made.compareEvery = integerOf(values, "compare_every");
    return made;
}

DecoderInfo delInfo() {
    DecoderInfo info;
    info.name = "del";
    info.title = "DEL";
    info.summary = "Drafts by leaving the model early, at the layer that has lately promised the "
                   "most tokens per layer read.";
    info.source = "arXiv 2504.05598";
    info.settings = sharedInfos(false);
    appendSettings(info.settings, delOnlyInfos());
    info.profiles = delProfiles();
    info.explanation =
        "The first layers of the model and its own output head make a draft; the remaining layers "
        "continue from there and check it. The layer at which drafting stops is not fixed: now and "
        "then the head also runs after other layers, for the same rows, and their predictions are "
        "compared with those of the whole model. How often they agreed lately says how many tokens "
        "per layer each exit and each draft length would give. The best exit drafts the next "
        "round, and a draft ends after a token that is less sure than such tokens usually have to "
        "be. If no exit pays, the next step is a plain one. It helps with models that were trained "
        "to be left early (LayerSkip's) and with text whose next words are easy. In other models, "
        "early layers rarely predict what the last one does; comparing exits then only costs time, "
        "and the larger the vocabulary is, the more it costs.";
    return info;
}

DecoderInfo delMsInfo() {
    DecoderInfo info;
    info.name = "del-ms";
    info.title = "DEL by milliseconds";
    info.summary = "DEL that weighs exits by the tokens they give per measured millisecond, the "
                   "output head's time counted.";
    info.source = "arXiv 2504.05598; ours: costs as measured, break-even drafts";
    info.settings = sharedInfos(true);
    appendSettings(info.settings, delMsOnlyInfos());
    info.explanation =
        "As DEL, but what counts is time. A draft token costs the layers up to the exit and one "
        "run of the output head, which in small models with large vocabularies takes as long as "
        "several layers; a checked row costs what such rows have been measured to cost on this "
        "machine. The exit is the one that promises the most tokens per millisecond. A draft goes "
        "on while its next token is worth more than its time, judged by how often tokens of such "
        "confidence were right, and comparing exits may take only a set share of the time. Where "
        "nothing pays, it makes plain steps at nearly the speed of vanilla decoding. It helps "
        "under the same conditions as DEL, and loses less where they do not hold.";
    return info;
}

} // namespace del
