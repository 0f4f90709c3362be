// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/auto_settings.h"

#include "engine/decoding/drafts/draft_settings.h"
#include "engine/decoding/free/free_settings.h"

namespace automatic {

using namespace engine;

namespace {

/// Nodes that are looked at unless the user says otherwise; how many are drafted, costs decide.
constexpr int kUsualNodes = 15;

} // namespace

AutoSettings AutoSettings::make(const SettingValues& values) {
    const int nodes = integerOf(values, "max_nodes");
    return {nodes == 0 ? kUsualNodes : nodes,
            numberOf(values, "margin"),
            freeSourcesOf(values),
            flagOf(values, "skip_layers"),
            flagOf(values, "early_exit"),
            numberOf(values, "probing"),
            flagOf(values, "remember")};
}

DecoderInfo autoInfo() {
    DecoderInfo info;
    info.name = "auto";
    info.title = "Auto";
    info.summary = "Drafts what has been seen before, with layers left out or not at all: what "
                   "pays by the milliseconds measured on this machine.";
    info.source = "arXiv 2304.04487, arXiv 2408.08696, arXiv 2410.06916, arXiv 2404.16710";
    info.explanation =
        "Before each round it weighs what each drafter promises against what it costs on this "
        "machine: no draft, what was seen before, or a chain of passes that leave layers out or "
        "exit early. Behind an early exit the full model goes on where the draft stopped. Costs "
        "are the milliseconds that passes really took; promises are learnt from every token. It "
        "drafts only where more tokens are expected in the same time, so it should nowhere be "
        "slower than vanilla, and tries what did not pay again in a small share "
        "of the time. It helps wherever the others help, without a choice to make. It gives up "
        "what one of them would give where its few trials have not shown that yet; and where "
        "nothing pays it is vanilla.";
    info.lockedLayers = {0, -1}; // as SkipSpace::inner
    info.settings = {
        stepSetting(
            integerSetting("max_nodes", "Draft tree nodes", 0, {0, kMostNodes}),
            "nodes",
            "A draft tree has at most so many nodes; 0 = as many as can pay on a processor."),
        marginSetting(),
        stepSetting(flagSetting("skip_layers", "Skipped layers", true),
                    "",
                    "Draft with a skip set where that pays, and search for one where it can."),
        stepSetting(flagSetting("early_exit", "Early exit", true),
                    "",
                    "Draft with the first layers and verify with the others, where that pays."),
        stepSetting(numberSetting("probing", "Time for probing", 0.005, {0.0, 1.0}),
                    "",
                    "Share of the time spent on drafters that are not known to pay yet."),
    };
    appendSettings(info.settings, freeDraftSettings());
    return info;
}

} // namespace automatic
