// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/auto_settings.h"

#include "engine/decoding/drafts/draft_settings.h"
#include "engine/decoding/free/free_settings.h"

namespace automatic {

using namespace engine;

namespace {

/// Nodes that are considered unless the user says otherwise; costs decide how many are drafted.
constexpr int kUsualNodes = 15;

} // namespace

AutoSettings AutoSettings::make(const SettingValues& values) {
    const int nodes = integerOf(values, "max_nodes");
    return {nodes == 0 ? kUsualNodes : nodes,
            numberOf(values, "margin"),
            freeSourcesOf(values),
            flagOf(values, "skip_layers"),
            flagOf(values, "early_exit"),
            flagOf(values, "draft_adapter"),
            flagOf(values, "low_precision"),
            numberOf(values, "probing"),
            flagOf(values, "search_beside"),
            flagOf(values, "remember"),
            numberOf(values, "draft_vocabulary")};
}

DecoderInfo autoInfo() {
    DecoderInfo info;
    info.name = "auto";
    info.title = "Auto";
    info.summary =
        "Chooses before each round what pays on this machine: drafting tokens seen before, "
        "drafting with a trained layer, with a 4-bit copy of the weights or with layers left out, "
        "or not drafting.";
    info.source = "arXiv 2304.04487, arXiv 2408.08696, arXiv 2410.06916, arXiv 2404.16710, "
                  "arXiv 2401.15077, arXiv 2503.13565";
    info.explanation =
        "Before each round it compares what each way of drafting promises with what it costs on "
        "this machine: no draft, tokens that were seen before, or a chain of passes that leave "
        "layers out, exit early, read a copy of the weights in 4 bits (if the model is held in "
        "more) or run a small trained layer (a draft adapter, if there is one for the model). "
        "Behind an early exit the full model goes on where the draft "
        "stopped. Costs are the milliseconds that passes really took; what a draft promises is "
        "estimated from every token so far. It drafts only if that gives more tokens in the "
        "same time, so it should never be slower than vanilla, and it tries again, in a small "
        "share of the time, what did not pay before. It helps wherever one of the other "
        "decoders helps, and you need not choose one. It may miss a gain that its few trials "
        "have not shown yet. Where nothing pays it works like vanilla.";
    info.lockedLayers = {0, -1}; // as SkipSpace::inner
    info.hasDraftRatio = false;
    info.settings = {
        stepSetting(
            integerSetting("max_nodes", "Draft tree nodes", 0, {0, kMostNodes}),
            "nodes",
            "The most nodes that a draft tree may have; 0 = as many as can pay on a processor."),
        marginSetting(),
        stepSetting(flagSetting("skip_layers", "Skipped layers", true),
                    "",
                    "Draft with a skip set if that pays, and search for a set if one could pay."),
        stepSetting(flagSetting("early_exit", "Early exit", true),
                    "",
                    "Draft with the first layers and verify with the others, if that pays."),
        stepSetting(flagSetting("draft_adapter", "Draft adapter", true),
                    "",
                    "Draft with the small layer that was trained for this model, if there is one "
                    "and that pays."),
        stepSetting(flagSetting("low_precision", "4-bit copy", true),
                    "",
                    "Draft with a copy of the weights in 4 bits if that pays: of a model that is "
                    "held in 16 or 32 bits, where twice the copy's memory is free."),
        draftVocabularySetting(kDraftVocabulary),
        stepSetting(
            numberSetting("probing", "Time for probing", 0.005, {0.0, 1.0}),
            "",
            "Share of the time that may be spent on trying drafts that are not known to pay."),
        stepSetting(
            flagSetting("search_beside", "Search beside the answers", true),
            "",
            "While no skip set pays, search for one as SWIFT does: to look at, and for SWIFT to "
            "begin with. Beside an answer it takes at most 2 % of the time, all that Auto tries "
            "included; in the pauses between answers it goes on."),
    };
    appendSettings(info.settings, freeDraftSettings());
    return info;
}

} // namespace automatic
