// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/free/free_candidates.h"
#include "engine/decoding/setting_makers.h"

#include <vector>

namespace engine {

/// The settings that every decoder with free drafts has: what they are made from, and whether
/// successors outlive the run.
inline std::vector<SettingInfo> freeDraftSettings() {
    return {stepSetting(flagSetting("lookup", "Earlier places", true),
                        "",
                        "Draft what followed the newest tokens in prompt and answer."),
            stepSetting(flagSetting("successors", "Successors", true),
                        "",
                        "Draft what the model last had follow the newest token or two."),
            describedSetting(flagSetting("remember", "Remember successors", true),
                             "",
                             SettingEffect::NextAnswer,
                             "Go on from the successors of earlier runs with this model, and store "
                             "them; off: drafts depend on this run alone.")};
}

/// What the first two of them say.
inline FreeSources freeSourcesOf(const SettingValues& values) {
    return {flagOf(values, "lookup"), flagOf(values, "successors")};
}

} // namespace engine
